"""Attacks by removed members, shown to who has seen the removal, and to who has not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from attack_testing import (
  MINE, Team, attacked, code_of, forget_seen, opening, recipient, refused,
  refused_everywhere, secrets_of, seed_of, signer)
from prefs_testing import Home
from rival_epoch import put_epoch

import vault_forging as forging
import vault_keys as keys
from vault_rows import put_rows, rows_of
from vault_slots import Granted
from vault_writer import VaultWriter


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
    team.carol.run("identity", "pin", "identity", "--check", check)
  assert team.carol.get("api", *MINE) == b"secret"
  return dave


def shown(team: Team, member: Home, dave: Home) -> None:
  member.vault.write_bytes(dave.vault.read_bytes())


def of(home: Home):
  return opening(home.vault, secrets_of(home, "identity"))


def stale(team: Team, secret: bytes) -> None:
  """The documented limit: who has not seen the removal believes what was right before it."""
  assert team.erin.get("api", *MINE) == secret


@pytest.mark.parametrize("may", ["read", "write"])
def test_removed_member_reads_nothing_later(team, may):
  dave = removed(team, may)
  before = dave.vault.read_bytes()
  row = rows_of(dave.vault, "slot")[of(dave).slot.number,]
  old = of(dave).tiers
  with attacked(team.home, *MINE, api=b"secret"):
    dave.vault.write_bytes(team.home.vault.read_bytes())
    refused(dave, "get", "api", *MINE, code=78)
    # Nor with the row of the slot, nor by the keys of before.
    put_rows(dave.vault, "slot", row)
    refused(dave, "get", "api", *MINE)
    checks = forging.read(team.home.vault).head.checks
    assert all(keys.tier_check(old[tier]) != checks[tier] for tier in old)
  dave.vault.write_bytes(before)
  assert opening(dave.vault, secrets_of(dave, "identity")).tiers == old


@pytest.mark.parametrize("kept", [False, True], ids=["new keys", "kept keys"])
def test_state_of_a_removed_writer(team, kept):
  """An updated reader refuses it; a stale one cannot know of the removal."""
  dave = removed(team, "write", *(["--keep-keys"] if kept else []))
  dave.set("api", b"a forged value", *MINE)
  with attacked(team.home, *MINE, api=b"secret"):
    shown(team, team.carol, dave)
    refused_everywhere(team.carol, "api", *MINE, words="rolled back")
    team.home.vault.write_bytes(dave.vault.read_bytes())
    refused_everywhere(team.home, "api", *MINE, words="rolled back")
  shown(team, team.erin, dave)
  stale(team, b"a forged value")


def test_state_of_a_removed_writer_in_the_new_vault(team):
  """With kept keys he opens the later file, and his state is by nobody who may write."""
  dave = removed(team, "write", "--keep-keys")
  own, t0 = signer(dave.vault, dave), of(dave).tiers[0]
  with attacked(team.home, *MINE, api=b"secret"):
    forging.reseal(team.home.vault, t0, own)
    refused_everywhere(team.home, "api", *MINE)
    for member in (team.carol, team.erin):
      member.vault.write_bytes(team.home.vault.read_bytes())
      refused(member, "get", "api", *MINE)


def test_kept_keys_read_later_copies(team):
  """The documented limit of `--keep-keys`, by the keys that were known and not by the command."""
  dave = removed(team, "write", "--keep-keys")
  given = of(dave)
  dave.vault.write_bytes(team.home.vault.read_bytes())
  refused(dave, "get", "api", *MINE, code=78)
  head = forging.read(team.home.vault).head
  assert [keys.tier_check(given.tiers[tier]) for tier in range(3)] == list(head.checks)


def test_kept_keys_sign_another_list(team):
  """The limit of `--keep-keys` for who administered: a list of their own holds."""
  dave = removed(team, "administer", "--keep-keys")
  put_back(team, dave, up=1)
  dave.vault.write_bytes(team.home.vault.read_bytes())
  assert dave.get("api", *MINE) == b"secret"
  team.carol.vault.write_bytes(team.home.vault.read_bytes())
  assert team.carol.get("api", *MINE) == b"secret"


def put_back(team: Team, dave: Home, up: int) -> None:
  """Signs a list that has the removed slot again, of a serial that is higher."""
  given, seed = of(dave), seed_of(dave.vault, secrets_of(dave, "identity"))
  t0, row = given.tiers[0], rows_of(dave.vault, "slot")[given.slot.number,]
  then, now = forging.list_of(dave.vault, t0), forging.list_of(team.home.vault, t0)
  put_rows(team.home.vault, "slot", row)
  members = sorted((*now.members, then.member(given.slot.number)), key=lambda one: one.number)
  own = signer(dave.vault, dave)
  forging.put_list(team.home.vault, t0, replace(
    now, serial=now.serial + up, members=tuple(members)), seed)
  forging.reseal(team.home.vault, t0, own)


def test_new_administration_key_ends_it(team):
  """What mends kept keys: the list that he signs is under a key that is trusted no more."""
  dave = removed(team, "administer", "--keep-keys")
  team.home.run("rekey", "--new-administration-key", "--yes", *MINE)
  with attacked(team.home, *MINE, api=b"secret"):
    team.home.vault.write_bytes(dave.vault.read_bytes())
    refused_everywhere(team.home, "api", *MINE)


# Rival epochs of a removed administrator.


def rival(dave: Home, epochs: int) -> None:
  """The removed administrator removes everybody else's rights, in epochs of his own."""
  for _ in range(epochs):
    dave.run("rekey", "--new-administration-key", "--yes", *MINE)
  dave.set("api", b"a forged value", *MINE)


@pytest.mark.parametrize("epochs", [1, 2, 3])
@pytest.mark.parametrize("by_code", [False, True], ids=["compared", "recovery code"])
def test_rival_epoch_of_a_removed_administrator(team, epochs, by_code):
  """A fork for who has seen the removal; where it is of a higher epoch, nobody follows it."""
  code = ("--recovery-code-file", str(team.home.folder / "code"))
  dave = removed(team, "administer", by=code if by_code else MINE)
  rival(dave, epochs)
  with attacked(team.home, *MINE, api=b"secret"):
    team.home.vault.write_bytes(dave.vault.read_bytes())
    refused_everywhere(team.home, "api", *MINE, words="fork" if epochs == 1 else "")
    shown(team, team.carol, dave)
    refused(team.carol, "get", "api", *MINE)
    refused(team.carol, "set", "api", *MINE, code=65, input=b"x")
    # He knows the old key, but the recovery code's not.
    shown(team, team.erin, dave)
    refused(team.erin, "get", "api", *MINE)
    forget_seen(team.erin)
    refused(team.erin, "get", "api", *MINE, words="pinned to the old key")


def test_rival_list_under_the_old_key(team):
  """He needs no new key for a stale, pinned reader: the documented limit."""
  dave = removed(team, "administer")
  dave.run("slots", "add", "--recipient", recipient(dave, "friend"), "--may", "administer", *MINE)
  dave.set("api", b"a forged value", *MINE)
  shown(team, team.carol, dave)
  refused_everywhere(team.carol, "api", *MINE)
  shown(team, team.erin, dave)
  stale(team, b"a forged value")
  # The right vault then is the other one to Erin, until somebody who administers accepts it there.
  team.give(team.erin)
  refused(team.erin, "get", "api", *MINE)
  check = team.home.run("status", "--json").json["check"]
  team.erin.run("identity", "pin", "identity", "--check", check)
  refused(team.erin, "get", "api", *MINE)
  refused(team.erin, "accept-restored", "--yes", *MINE, code=79)
  code = ("--recovery-code-file", str(team.home.folder / "code"))
  team.erin.run("accept-restored", "--yes", *code)
  assert team.erin.get("api", *code) == b"secret"


def test_forged_signature_of_the_recovery_code(team):
  """The third signature must be of the key that the record trusts, and not of one in the record row."""
  dave = removed(team, "administer")
  seed, given = seed_of(dave.vault, secrets_of(dave, "identity")), of(dave)
  head = forging.read(dave.vault).head
  members = forging.list_of(dave.vault, given.tiers[0])
  forger = VaultWriter("forger")
  mine = forging.Succession.made(
    head.id, head.epoch + 1, seed, forger.administration_seed, members.hash(), 1, bytes(32))
  put_epoch(dave, forger, mine)
  for member in (team.carol, team.erin):
    shown(team, member, dave)
    refused(member, "get", "api", *MINE)
  forget_seen(team.erin)
  refused(team.erin, "get", "api", *MINE, words="pinned to the old key")
  # The code itself would do, so that it is this signature that is missed.
  code = opening(team.home.vault, code_of(team.home))
  assert code.root is not None and code.slot.granted == Granted.ADMINISTERS
