"""A desktop keyring that is gone for good: its services get the vault, and lose nothing that is there."""

from __future__ import annotations

import os
import signal

import pytest

from desktop_session import desktop, lock_keyring
from prefs_testing import hinted
from test_stores import BUS, listener

ABANDON = ("migrate", "--from", "secret-service", "--to", "vault", "--abandon-source")


@pytest.fixture
def gone(home):
  """A home whose services `s` and `t` have their store in a keyring that is gone."""
  with desktop(home):
    home.set("alice", b"1", "--service", "s")
    home.set("bob", b"2", "--server", "t")
  return home


def test_services_of_a_keyring_that_is_gone_get_the_vault(gone):
  refused = gone.run("get", "alice", "--service", "s", code=69)
  assert "'prefs keychain migrate --from secret-service --to vault --abandon-source'" in hinted(refused)
  assert "1 service" in gone.run(*ABANDON, "--service", "s").error
  gone.run("get", "alice", "--service", "s", code=44)
  gone.run("get", "bob", "--server", "t", code=69)
  assert gone.set("alice", b"new", "--service", "s").error.count("created the vault") == 1
  assert gone.get("alice", "--service", "s") == b"new"
  assert "1 service" in gone.run(*ABANDON).error
  gone.run("get", "bob", "--server", "t", code=44)
  assert "no such service" in gone.run(*ABANDON).error
  assert gone.run("list", "--json").json[0]["account"] == "alice"


def test_items_of_the_vault_are_listed_meanwhile(gone):
  gone.set("alice", b"3", "--service", "s", "--store", "vault")
  gone.set("carol", b"4", "--service", "u", "--store", "vault")
  everything = gone.run("list", "--json", code=69)
  assert [(item["account"], item["store"]) for item in everything.json] == [
    ("alice", "vault"), ("carol", "vault")]
  assert "--abandon-source" in hinted(everything)
  one = gone.run("list", "--service", "s", "--json", code=69)
  assert [item["account"] for item in one.json] == ["alice"]
  assert gone.run("list", "--server", "t", code=69).out == b""
  # It is not what programs find, until the service has the vault.
  gone.run("get", "alice", "--service", "s", code=69)
  gone.run(*ABANDON)
  assert gone.get("alice", "--service", "s") == b"3"
  assert len(gone.run("list", "--json").json) == 2


def test_a_keyring_that_can_be_read_is_not_abandoned(home):
  with desktop(home) as variables:
    home.set("alice", b"1", "--service", "s")
    refused = home.run(*ABANDON, code=79)
    assert "can be read" in refused.error and "migrate" in hinted(refused)
    assert home.get("alice", "--service", "s") == b"1"
    os.kill(int(variables["DESKTOP_PROVIDER_PID"]), signal.SIGSTOP)
    home.run(*ABANDON, "--deadline", "1s", code=75)
    os.kill(int(variables["DESKTOP_PROVIDER_PID"]), signal.SIGCONT)
    # One that nobody can unlock any more is as good as gone.
    lock_keyring(variables)
    home.run(*ABANDON, "--service", "s")
    home.run("get", "alice", "--service", "s", code=44)
    home.set("alice", b"2", "--service", "s")
  assert home.get("alice", "--service", "s") == b"2"


def test_an_empty_new_keyring_can_be_left(gone):
  with desktop(gone):
    gone.run(*ABANDON, "--service", "s")
    assert "vault" in gone.set("alice", b"2", "--service", "s").error
  assert gone.get("alice", "--service", "s") == b"2"


def test_it_goes_with_few_other_options(home):
  for options in ("--remove-source",), ("--overwrite",), ("--other-programs",), ("--dry-run",), ("--json",), (
      "--access-group", "g"):
    home.run(*ABANDON, *options, code=64)
  home.run("migrate", "--from", "vault", "--to", "secret-service", "--abandon-source", code=64)


def test_a_bus_that_is_silent_is_not_gone(gone):
  with listener(str(gone.folder / "bus")) as address:
    away = {"environment": {BUS: address}}
    gone.run(*ABANDON, "--deadline", "1s", code=75, **away)
    gone.run("get", "alice", "--service", "s", "--deadline", "1s", code=75, **away)
