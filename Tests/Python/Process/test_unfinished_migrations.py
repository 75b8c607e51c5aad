"""Migrations that were killed before their services had moved."""

from __future__ import annotations

import signal
import subprocess

import pytest

from desktop_session import desktop, keyring_items
from prefs_testing import PATIENT, hinted
from test_moving import IN_VAULT, TO_KEYRING, TO_VAULT

IN_KEYRING = ("--store", "secret-service")
NOTES = "migration.copies"


@pytest.fixture
def keyring(home):
  """The variables of a desktop with gnome-keyring, in which the home's commands run."""
  with desktop(home) as variables:
    yield variables


def kill_before_change_over(home) -> None:
  """Kills a migration that has copied everything, before it records the new store of a service."""
  renaming = "rename,renameat,renameat2"
  killed = home.run(*TO_KEYRING, *PATIENT, code=None, through=[
    "strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={renaming}", "-e", f"inject={renaming}:signal=KILL"])
  assert killed.code == -signal.SIGKILL, killed


@pytest.fixture
def killed(home, keyring, tracing):
  """A home whose migration was killed when it had copied two credentials of a service, and one of another."""
  home.set("alice", b"1", "--service", "s", *IN_VAULT)
  home.set("bob", b"2", "--service", "s", *IN_VAULT)
  home.set("me", b"3", "--server", "example.org", *IN_VAULT)
  kill_before_change_over(home)
  assert len(keyring_items(keyring)) == 3
  return home


def test_concurrent_deletion_is_kept(killed, keyring):
  killed.run("delete", "alice", "--service", "s")
  for more in ("--dry-run",), (), ("--service", "s"):
    refused = killed.run(*TO_KEYRING, *PATIENT, *more, code=79)
    assert "'alice' of service 's' is in the target, where a migration copied it" in refused.error
    assert "delete" in hinted(refused) and "--overwrite" in hinted(refused)
    killed.run("get", "alice", "--service", "s", code=44)
    assert killed.get("bob", "--service", "s") == b"2"
  # The other service has changed over.
  assert killed.run("get", "me", "--server", "example.org", *IN_VAULT, code=None).code == 44
  assert killed.get("me", "--server", "example.org") == b"3"
  killed.run("delete", "alice", "--service", "s", *IN_KEYRING)
  killed.run(*TO_KEYRING, *PATIENT)
  killed.run("get", "alice", "--service", "s", code=44)
  assert killed.get("bob", "--service", "s") == b"2" and len(keyring_items(keyring)) == 2
  assert not (killed.state / NOTES).exists()


def test_last_item_of_service_does_not_return(killed, keyring):
  killed.run("delete", "me", "--server", "example.org")
  killed.run(*TO_KEYRING, *PATIENT, code=79)
  killed.run("get", "me", "--server", "example.org", code=44)
  # Whoever wants it back gets it: a lost source must not take the copies with it.
  kept = killed.run(*TO_KEYRING, *PATIENT, "--overwrite")
  assert kept.code == 0
  assert len(keyring_items(keyring)) == 3


def test_changed_item_in_the_target_is_not_a_copy(killed, keyring):
  killed.run("update", "alice", "--service", "s", "--label", "theirs", *IN_KEYRING)
  killed.run("delete", "alice", "--service", "s")
  killed.run(*TO_KEYRING, *PATIENT)
  assert killed.get("alice", "--service", "s") == b"1"


def test_the_same_command_goes_on(killed, keyring):
  found = killed.run("doctor", "--json").json
  assert found["unfinishedMigrations"] == [{"from": "vault", "to": "secret-service", "copies": 3}]
  told = killed.run("doctor").out.decode()
  assert "3 items that a migration copied into the desktop keyring" in told
  assert "migrate --from vault --to secret-service'" in told
  names = (killed.state / NOTES).read_bytes()
  assert b"alice" not in names and b"example" not in names
  assert (killed.state / NOTES).stat().st_mode & 0o777 == 0o600
  # A line that was torn says nothing, and neither does it change the next one.
  with open(killed.state / NOTES, "ab") as notes:
    notes.write(b"\n0123")
  killed.run(*TO_KEYRING, *PATIENT)
  assert killed.run("doctor", "--json").json["unfinishedMigrations"] == []
  assert not (killed.state / NOTES).exists()
  # Back again, with nothing removed by mistake.
  killed.run(*TO_VAULT, *PATIENT)
  assert killed.get("alice", "--service", "s", *IN_VAULT) == b"1"
  assert keyring_items(keyring) == [] and not (killed.state / NOTES).exists()


def test_items_in_both_stores_are_reported(home, keyring):
  """One item of a service must stay in the vault, so the whole service stays."""
  home.set("alice", b"1", "--service", "s", *IN_VAULT)
  home.set("bound", b"2", "--service", "s", "--accessibility", "alwaysThisDeviceOnly", *IN_VAULT)
  home.run(*TO_KEYRING, *PATIENT, code=79)
  assert "1 item that a migration copied" in home.run("doctor").out.decode()
  home.run("delete", "alice", "--service", "s")
  assert "may have been deleted there" in home.run(*TO_KEYRING, *PATIENT, code=79).error


def test_a_migration_waits_for_another(home, keyring):
  home.set("alice", b"1", "--service", "s", *IN_VAULT)
  home.run(*TO_KEYRING)
  lock = str(home.state / "migration.lock")
  assert "another process" in home.run(
    *TO_VAULT, "--deadline", "300ms", through=["flock", lock], code=75).error
  with subprocess.Popen(["flock", lock, "sh", "-c", "echo; sleep 1"], stdout=subprocess.PIPE) as holder:
    holder.stdout.readline()
    home.run(*TO_VAULT, *PATIENT)
    holder.stdout.read()
  assert home.get("alice", "--service", "s", *IN_VAULT) == b"1"
