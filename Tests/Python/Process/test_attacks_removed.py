"""Attacks by removed members, and by who has an old copy and what opened it."""

from __future__ import annotations

import shutil

import pytest

from attack_testing import (
  MINE, Team, attacked, code_of, device_key, older, opened, put_in_place, refused,
  refused_everywhere, secrets_of)
from forging import Forger
from prefs_testing import PASSPHRASE, Home, hinted

import vault_keys as keys
from sample_vault import generic
from vault_errors import VaultError
from vault_opening import Secrets

API = generic("default", "api")
CODE = ("--recovery-code-file", "code")


@pytest.fixture
def team(home, make_home) -> Team:
  """Dave will be removed; Carol has seen the removal, and Erin has not: a stale, pinned reader."""
  made = Team(home, make_home)
  made.carol, made.erin = made.add("carol", "read"), made.add("erin", "read")
  return made


def removed(team: Team, may: str, *options: str, by: tuple[str, ...] = MINE) -> Home:
  """Adds Dave, who sees the vault, and removes him; Carol follows, and Erin stays behind."""
  dave = team.add("dave", may)
  for member in (team.carol, team.erin):
    team.give(member)
    member.get("api", *MINE)
  number = team.number("dave")
  team.home.run("slots", "remove", str(number), "--yes", *by, *options)
  team.home.set("api", b"secret", *MINE)
  team.give(team.carol)
  if may == "administer" and not options and by == MINE:
    # Nobody signed the new key who is trusted: people compare its check.
    check = team.home.run("status", "--json").json["check"]
    refused(team.carol, "get", "api", *MINE)
    team.carol.run("accept-restored", "--check", check, *MINE)
  assert team.carol.get("api", *MINE) == b"secret"
  return dave


def shown(member: Home, dave: Home) -> None:
  member.vault.write_bytes(dave.vault.read_bytes())
  member.vault.chmod(0o600)


@pytest.mark.parametrize("may", ["read", "write", "administer"])
def test_removed_member_reads_nothing_later(team, may):
  dave = removed(team, may)
  old = opened(dave.vault, secrets_of(dave)).tiers
  with attacked(team.home, *MINE, api=b"secret"):
    shown(dave, team.home)
    # The administration key changes with who administers, which shows first.
    refused(dave, "get", "api", *MINE, code=65 if may == "administer" else 78)
    with pytest.raises(VaultError):
      opened(team.home.vault, Secrets(tiers=tuple(old.values())))


@pytest.mark.parametrize("kept", [False, True], ids=["new keys", "kept keys"])
def test_state_of_a_removed_writer(team, kept):
  """An updated reader refuses it; a stale one cannot know of the removal."""
  dave = removed(team, "write", *(["--keep-keys"] if kept else []))
  dave.set("api", b"a forged value", *MINE)
  with attacked(team.home, *MINE, api=b"secret"):
    shown(team.carol, dave)
    refused_everywhere(team.carol, "api", *MINE, words="rolled back")
    shown(team.home, dave)
    refused_everywhere(team.home, "api", *MINE, words="rolled back")
  shown(team.erin, dave)
  assert team.erin.get("api", *MINE) == b"a forged value"


def test_change_of_a_removed_writer_in_the_new_vault(team):
  """With kept keys he opens the later file, and his change is by nobody who may write."""
  dave = removed(team, "write", "--keep-keys")
  given = Forger(dave.vault, secrets_of(dave))
  forger = Forger(team.home.vault, Secrets(tiers=tuple(given.tiers.values())))
  forger.writer = given.writer
  forger.put(API, b"forged", 0)
  put_in_place(team.home, forger)
  assert team.home.get("api", *MINE) == b"secret"
  for member in (team.carol, team.erin):
    shown(member, team.home)
    assert member.get("api", *MINE) == b"secret"


def test_kept_keys_read_later_copies(team):
  """The documented limit of `--keep-keys`, by the keys that were known and not by the command."""
  dave = removed(team, "administer", "--keep-keys")
  old = opened(dave.vault, secrets_of(dave))
  shown(dave, team.home)
  refused(dave, "get", "api", *MINE, code=78)
  found = opened(team.home.vault, Secrets(tiers=tuple(old.tiers.values())))
  assert [item.secret for item in found.items] == [b"secret"]
  assert found.head.administration == old.head.administration


def test_rival_list_under_the_old_key(team):
  """A limit: who has not seen the removal follows it, and refuses the right vault from then on."""
  dave = removed(team, "administer")
  dave.run("slots", "remove", str(team.number("carol")), "--keep-keys", "--yes", *MINE)
  dave.set("api", b"a forged value", *MINE)
  shown(team.erin, dave)
  assert team.erin.get("api", *MINE) == b"a forged value"
  shown(team.erin, team.home)
  assert "accept-restored" in hinted(refused(team.erin, "get", "api", *MINE))
  for member in (team.carol, team.home):
    shown(member, dave)
    refused(member, "get", "api", *MINE)


@pytest.mark.parametrize(("call", "place"), [
  ("rename,renameat2", None), ("fsync", "folder"), ("pwrite64,pwritev", "record")],
  ids=["before the change", "after the change", "before the record"])
def test_killed_removal_of_an_administrator(team, tracing, call, place):
  """Between the change and its record, neither key's fork is believed; the next command goes on."""
  dave = team.add("dave", "administer")
  dave.set("api", b"a forged value", *MINE)
  home, number = team.home, str(team.number("dave"))
  (record,) = (home.state / "seen").iterdir()
  only = {"folder": ["-P", str(home.vault.parent)], "record": ["-P", str(record)], None: []}[place]
  home.run("slots", "remove", number, "--yes", *MINE, code=None, through=[
    "strace", "-f", "-qq", "-o", "/dev/null", *only, "-e", f"trace={call}", "-e",
    f"inject={call}:signal=KILL:when={2 if place == 'record' else 1}"])
  good = home.vault.read_bytes()
  shown(home, dave)
  found = home.run("get", "api", *MINE, code=None)
  # Where nothing was changed yet, it is a change of who administers.
  assert found.code == 65 or (call.startswith("rename") and found.out == b"a forged value"), found
  if found.code == 65:
    home.vault.write_bytes(good)
    assert home.get("api", *MINE) == b"old secret"
    home.run("verify", *MINE)


def test_succession_by_the_recovery_code(team):
  """With the code's signature, who has seen the vault follows the new key by themselves."""
  dave = removed(team, "administer", by=CODE)
  shown(team.erin, team.home)
  assert team.erin.get("api", *MINE) == b"secret"
  shown(team.erin, dave)
  refused(team.erin, "get", "api", *MINE)


def test_first_use_under_a_key_taken_along(team):
  """A limit: somebody with a code of the old key trusts the vault on first use."""
  dave = removed(team, "administer")
  dave.set("api", b"a forged value", *MINE)
  newcomer = team.make_home()
  newcomer.vault.parent.mkdir(mode=0o700)
  shutil.copy(team.home.folder / "code", newcomer.folder / "code")
  shown(newcomer, dave)
  assert newcomer.get("api", *CODE) == b"a forged value"


def test_check_is_asked_for(team):
  """A code that is older than the administration key opens on first use only with the compared check."""
  removed(team, "administer")
  check = team.home.run("status", "--json").json["check"]
  newcomer = team.make_home()
  newcomer.vault.parent.mkdir(mode=0o700)
  shutil.copy(team.home.folder / "code", newcomer.folder / "code")
  shown(newcomer, team.home)
  told = refused(newcomer, "get", "api", *CODE, words="check")
  assert "--check" in hinted(told)
  refused(newcomer, "unlock", "--check", check[:-1] + ("0" if check[-1] != "0" else "1"), *CODE)
  newcomer.run("unlock", "--check", check, *CODE)
  assert newcomer.get("api") == b"secret"
  newcomer.run("lock", "--all")


def test_forged_epoch_of_a_removed_administrator(team):
  """New keys under a key of their own, with a succession that the code did not sign."""
  dave = removed(team, "administer")
  forger = Forger(dave.vault, secrets_of(dave))
  forger.claimed = None
  forger.rekey(new_administration=True, recovery_seed=forger.random.take(32))
  for member in (team.carol, team.erin, team.home):
    member.vault.write_bytes(forger.file())
    refused(member, "get", "api", *MINE)
  assert opened(team.home.vault, code_of(team.home)).root is not None


# Old copies.


def test_old_copy_and_its_secret(home):
  """It is read for ever; by its keys a later copy too, while the vault has the same keys."""
  home.init()
  old, new = home.passphrase(), home.passphrase(b"another")
  home.set("alice", b"old secret", *old)
  copy = older(home)
  tiers = tuple(opened(copy, Secrets(passphrase=PASSPHRASE)).tiers.values())
  home.run("change-passphrase", *old, "--new-passphrase-file", new[1])
  home.set("bob", b"secret", *new)
  refused(home, "get", "bob", *old, code=78)
  assert b"secret" in [item.secret for item in opened(home.vault, Secrets(tiers=tiers)).items]
  assert home.get("alice", "--vault", str(copy), *old) == b"old secret"


def test_later_copy_under_new_keys(home):
  home.init()
  source = home.passphrase()
  home.set("alice", b"old secret", *source)
  copy = older(home)
  tiers = tuple(opened(copy, Secrets(passphrase=PASSPHRASE)).tiers.values())
  home.run("rekey", "--yes", *source)
  home.set("alice", b"secret", *source)
  with pytest.raises(VaultError):
    opened(home.vault, Secrets(tiers=tiers))
  checks = opened(home.vault, device_key(home)).head.checks
  assert not {keys.tier_check(key) for key in tiers} & set(checks)
