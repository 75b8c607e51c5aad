"""Attacks by members of a shared vault: who reads, who reads and writes, and who administers."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace

import pytest

from attack_testing import (
  MINE, Team, attacked, first_use, older, put_in_place, refused, refused_everywhere, secrets_of)
from forging import Forger, opened
from prefs_testing import Home, hinted

import vault_keys as keys
from sample_vault import generic
from vault_notation import digest
from vault_slots import Granted, SlotKind
from vault_writer import Writer

API = generic("default", "api")


@pytest.fixture
def team(home, make_home) -> Team:
  """Bob writes and Carol reads; both have seen the newest secret."""
  made = Team(home, make_home)
  made.bob, made.carol = made.add("bob", "write"), made.add("carol", "read")
  home.set("api", b"secret", *MINE)
  for member in (made.bob, made.carol):
    made.give(member)
    assert member.get("api", *MINE) == b"secret"
  return made


def forger_of(team: Team, member: Home) -> Forger:
  return Forger(team.home.vault, secrets_of(member))


# Who reads.


def test_reader_knows_all_keys(team):
  vault = opened(team.carol.vault, secrets_of(team.carol))
  assert [item.secret for item in vault.items] == [b"secret"] and len(vault.tiers) == 3
  assert vault.root is None


def test_change_through_the_command(team):
  """The command refuses it, with the reason, and changes nothing."""
  before = team.carol.vault.read_bytes()
  for command in (["set", "api"], ["delete", "api"], ["rekey", "--yes"], ["compact"],
                  ["slots", "remove", "1", "--yes"]):
    refused(team.carol, *command, *MINE, code=79, input=b"x")
  assert team.carol.vault.read_bytes() == before


@pytest.mark.parametrize("name", ["own", "the writer's", "the administrator's", "none"])
def test_change_of_who_reads(team, name):
  """Signed by themselves, in somebody else's name, or not: it is no change, and the next writer cuts it off."""
  forger = forger_of(team, team.carol)
  numbers = {"own": forger.writer.number, "the writer's": team.number("bob"), "the administrator's": 1}
  forger.writer = Writer(numbers.get(name, 1), forger.writer.seed)
  if name == "none":
    forger._proved = lambda commit: commit
  before = team.home.vault.read_bytes()
  forger.put(API, b"forged", 0)
  put_in_place(team.home, forger)
  for member in (team.home, team.bob, team.carol):
    member.vault.write_bytes(forger.file())
    assert member.get("api", *MINE) == b"secret"
  team.home.set("more", b"x", *MINE)
  assert team.home.vault.read_bytes().startswith(before)
  assert team.home.get("api", *MINE) == b"secret"
  team.home.run("verify", *MINE)


def test_base_of_who_reads(team):
  """A new base that nobody signed who may write is damaged."""
  with attacked(team.home, *MINE, api=b"secret"):
    forger = forger_of(team, team.carol)
    forger.put(API, b"forged", 0)
    forger.compact()
    put_in_place(team.home, forger)
    refused_everywhere(team.home, "api", *MINE)


@pytest.mark.parametrize("change", ["grant", "remove", "administration"])
def test_list_of_who_reads_or_writes(team, change):
  """A list that the administration key did not sign does not count, no matter who makes the base."""
  with attacked(team.home, *MINE, api=b"secret"):
    forger = forger_of(team, team.bob)
    with forger.transaction():
      if change == "grant":
        forger.members = {
          number: replace(member, granted=1) for number, member in forger.members.items()}
      elif change == "remove":
        del forger.members[1], forger.slots[1]
      else:
        forger.administration_box = os.urandom(len(forger.administration_box))
      forger._list_changed = True
    put_in_place(team.home, forger)
    # A person who is not in it has no slot, and a person who is in it finds its author.
    refused_everywhere(team.home, "api", *MINE, code=78 if change == "remove" else 65)
    for member in (team.bob, team.carol):
      member.vault.write_bytes(team.home.vault.read_bytes())
      refused(member, "get", "api", *MINE)


def vault_of_their_own(team: Team) -> Forger:
  """The same id, under an administration key of their own, with a slot for each member."""
  forger = forger_of(team, team.carol)
  forger.own_administration()
  forger.items, forger.plain, forger.successions = {tier: {} for tier in keys.TIERS}, {}, []
  own = forger.writer.number
  with forger.transaction():
    forger._make_root()
    for slot in list(forger.slots.values()):
      if slot.kind == SlotKind.RECOVERY_CODE:
        del forger.slots[slot.number], forger.members[slot.number]
        continue
      granted = int(Granted.ADMINISTERS if slot.number == own else slot.granted)
      forger.members[slot.number] = replace(forger.members[slot.number], granted=granted)
      forger._put_slot(replace(slot, made=forger.administration, granted=granted))
    forger.put(API, b"forged", 0)
  return forger


def test_vault_with_the_same_id(team):
  """Somebody who has seen the vault, or is pinned to it, refuses it; for anybody else it is trusted on first use."""
  with attacked(team.home, *MINE, api=b"secret"):
    put_in_place(team.home, vault_of_their_own(team))
    refused_everywhere(team.home, "api", *MINE)
    bob = team.bob
    bob.vault.write_bytes(team.home.vault.read_bytes())
    refused(bob, "get", "api", *MINE)
    with first_use(bob):
      refused(bob, "get", "api", *MINE, words="not pinned")
      refused(bob, "set", "api", *MINE, input=b"next secret")
    lines = (bob.folder / "identity").read_text().splitlines(keepends=True)
    unpinned = bob.file("unpinned", "".join(
      line for line in lines if not line.startswith("vault:")).encode())
    with first_use(bob):
      assert "first time" in bob.run("get", "api", "--identity", unpinned).error


# Who reads and writes.


@pytest.mark.parametrize("compacted", [False, True], ids=["a change", "a base"])
def test_writer_puts_items_back(team, compacted):
  """They may change everything that they may write, also in a new base; their signature names them."""
  forger = forger_of(team, team.bob)
  forger.put(API, b"old secret", 0)
  if compacted:
    forger.compact()
  put_in_place(team.home, forger)
  assert team.home.get("api", *MINE) == b"old secret"
  team.home.run("verify", *MINE)
  newest = opened(team.home.vault, secrets_of(team.home)).log.last
  assert newest.writer == team.number("bob")


def test_writer_in_somebody_elses_name(team):
  forger = forger_of(team, team.bob)
  forger.writer = Writer(1, forger.writer.seed)
  forger.put(API, b"forged", 0)
  put_in_place(team.home, forger)
  assert team.home.get("api", *MINE) == b"secret"
  team.home.run("verify", *MINE)


def test_two_histories_for_two_members(team):
  """Each one is right by itself: the witness shows it, and the chain where they meet."""
  other = team.make_home()
  shutil.copytree(team.bob.folder / "data", other.folder / "data", dirs_exist_ok=True)
  shutil.copy(team.bob.folder / "identity", other.folder / "identity")
  team.bob.set("mine", b"one", *MINE)
  other.set("mine", b"two", *MINE)
  shutil.copy(team.bob.vault, team.home.vault)
  shutil.copy(other.vault, team.carol.vault)

  def witness(home: Home) -> str:
    return home.run("status", "--json", *MINE).json["witness"]

  assert team.home.get("mine", *MINE) == b"one" and team.carol.get("mine", *MINE) == b"two"
  assert witness(team.home) != witness(team.carol)
  with attacked(team.home, *MINE, mine=b"one"):
    shutil.copy(other.vault, team.home.vault)
    refused_everywhere(team.home, "mine", *MINE, words="fork")
    other.set("more", b"x", *MINE)
    shutil.copy(other.vault, team.home.vault)
    refused_everywhere(team.home, "mine", *MINE, words="fork")


def test_damaged_item_does_not_keep_a_member(team):
  """An item whose box is noise is named, and dropped if a person agrees."""
  forger = forger_of(team, team.bob)
  item = forger.sealed(generic("default", "noise"), b"x", 0)
  noise = os.urandom(len(item.box))
  forger.append({2: [replace(forger.moved(item, box_hash=digest(32, noise)), box=noise)]})
  put_in_place(team.home, forger)
  remove = ("slots", "remove", str(team.number("bob")), "--yes", *MINE)
  told = refused(team.home, *remove)
  assert "'noise'" in told.error and "--drop-damaged" in hinted(told)
  team.home.run(*remove, "--drop-damaged")
  assert team.home.get("api", *MINE) == b"secret"
  team.bob.vault.write_bytes(team.home.vault.read_bytes())
  refused(team.bob, "get", "api", *MINE, code=78)


# Who administers.


def test_administrator_does_everything(team):
  dave = team.add("dave", "administer")
  dave.run("slots", "remove", str(team.number("carol")), "--yes", *MINE)
  dave.run("slots", "add", "--recipient", team.make_home().run(
    "identity", "create", "x").out.decode().strip(), "--may", "read", *MINE)
  shutil.copy(dave.vault, team.home.vault)
  assert team.home.get("api", *MINE) == b"secret"
  assert "carol" not in team.home.run("slots", "list", *MINE).out.decode()


@pytest.mark.parametrize("serial", ["lower", "equal"])
def test_older_list_of_who_administers(team, serial):
  """Signed by the right key: a reader that has seen a later one refuses it, and another of its serial."""
  dave = team.add("dave", "administer")
  copy = older(team.home, "before.db")
  team.remove("carol", "--keep-keys")
  with attacked(team.home, *MINE, api=b"secret"):
    forger = Forger(copy, secrets_of(dave))
    if serial == "equal":
      with forger.transaction():
        forger.next_number += 1
        forger._list_changed = True
    forger.put(API, b"forged", 0)
    put_in_place(team.home, forger)
    refused_everywhere(team.home, "api", *MINE, words="fork" if serial == "equal" else "rolled back")
