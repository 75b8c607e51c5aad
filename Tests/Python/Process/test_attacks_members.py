"""Attacks by members of a shared vault: who reads, who reads and writes, and who administers."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from attack_testing import (
  MINE, Team, attacked, code_of, older, opening, refused, refused_everywhere,
  secrets_of, seed_of, signer)
from prefs_testing import Home

import vault_forging as forging
import vault_keys as keys
from vault_rows import put_item_back, put_rows, replace_table
from vault_slots import Granted
from vault_verifying import Vault
from vault_writer import VaultWriter, Writer


@pytest.fixture
def team(home, make_home) -> Team:
  return Team(home, make_home)


@pytest.fixture
def old(team):
  """An older copy, in which the secret is another one; then the team with the newest state."""
  bob, carol = team.add("bob", "write"), team.add("carol", "read")
  copy = older(team.home)
  team.home.set("api", b"secret", *MINE)
  for member in (bob, carol):
    team.give(member)
    assert member.get("api", *MINE) == b"secret"
  team.bob, team.carol = bob, carol
  return copy


def tiers(home: Home) -> dict[int, bytes]:
  return opening(home.vault, secrets_of(home, "identity")).tiers


def rolled_back(team: Team, copy) -> None:
  """Puts the older item back, in the place of the newest one."""
  item = forging.read(copy).items[0].id
  put_item_back(team.home.vault, copy, item)


# Who reads.


def test_who_reads_knows_all_keys(team, old):
  vault = Vault(team.carol.vault, secrets_of(team.carol, "identity"))
  assert [item.secret for item in vault.items] == [b"secret"] and len(vault.tiers) == 3
  assert vault.root is None


def test_change_through_the_command(team, old):
  """The command refuses it, with the reason, and changes nothing."""
  before = team.carol.vault.read_bytes()
  for command in (["set", "api"], ["delete", "api"], ["rekey", "--yes"],
                  ["slots", "remove", "1", "--yes"]):
    refused(team.carol, *command, *MINE, code=79, input=b"x")
  assert team.carol.vault.read_bytes() == before


@pytest.mark.parametrize("name", ["own", "the writer's", "the administrator's", "none"])
def test_state_of_who_reads(team, old, name):
  """Signed by themselves, in somebody else's name, or not: nobody believes it."""
  own = signer(team.carol.vault, team.carol)
  numbers = {"own": own.number, "the writer's": team.number("bob"), "the administrator's": 1}
  with attacked(team.home, *MINE, api=b"secret"):
    rolled_back(team, old)
    t0 = tiers(team.carol)[0]
    if name == "none":
      signed = forging.reseal(team.home.vault, t0, own)
      forging.put_state(team.home.vault, t0, replace(signed, signature=None))
    else:
      forging.reseal(team.home.vault, t0, Writer(numbers[name], own.seed))
    refused_everywhere(team.home, "api", *MINE)
    team.bob.vault.write_bytes(team.home.vault.read_bytes())
    refused(team.bob, "get", "api", *MINE)


def test_item_of_who_reads(team, old):
  """They can seal items, as they have the keys; without a state, these are no rows of the vault."""
  with attacked(team.home, *MINE, api=b"secret"):
    rolled_back(team, old)
    refused_everywhere(team.home, "api", *MINE)


@pytest.mark.parametrize("change", ["grant", "remove", "administration"])
def test_list_of_who_reads_or_writes(team, old, change):
  """A list that the administration key did not sign is none, whoever makes the state."""
  with attacked(team.home, *MINE, api=b"secret"):
    t0, members = tiers(team.bob)[0], forging.list_of(team.home.vault, tiers(team.bob)[0])
    listed = {
      "grant": tuple(replace(m, granted=1) if m.granted > 1 else m for m in members.members),
      "remove": members.members[1:], "administration": members.members}[change]
    if change == "administration":
      box = forging.put_administration(team.home.vault, bytes(32), bytes(32))
      members = replace(members, administration_box=box)
    forging.put_list(
      team.home.vault, t0, replace(members, serial=members.serial + 1, members=listed), bytes(32))
    forging.reseal(team.home.vault, t0, signer(team.bob.vault, team.bob))
    refused_everywhere(team.home, "api", *MINE, words="list of members")
    for member in (team.bob, team.carol):
      member.vault.write_bytes(team.home.vault.read_bytes())
      refused(member, "get", "api", *MINE, words="list of members")


def vault_of_their_own(team: Team) -> None:
  """The same id and tiers, under an administration key of their own, with a slot for each member."""
  path, given = team.home.vault, opening(team.carol.vault, secrets_of(team.carol, "identity"))
  forger, rows = VaultWriter("forger"), forging.read(path)
  members = forging.list_of(path, given.tiers[0])
  forging.forge_head(path, given.tiers, administration=forger.administration)
  binding = keys.binding(rows.head.id, rows.head.epoch, forger.administration)
  own = signer(team.carol.vault, team.carol)
  listed = []
  for slot in rows.slots:
    member = members.member(slot.number)
    granted = Granted.READS if member.granted == Granted.READS else Granted.READS_AND_WRITES
    if slot.kind == 4:
      granted = Granted.ADMINISTERS
    plain = forger.root if granted == Granted.ADMINISTERS else b"".join(given.tiers.values())
    if slot.number == own.number:
      granted = Granted.READS_AND_WRITES
    row = forging.resealed_slot(
      slot, rows.head.id, member.box_key, plain, binding, made=forger.administration,
      granted=int(granted))
    put_rows(path, "slot", row.columns())
    listed.append(replace(member, granted=int(granted), row=row.row_hash()))
  box = forging.put_administration(path, forger.root, forger.administration_seed)
  forging.put_list(path, given.tiers[0], replace(
    members, administration=forger.administration, administration_box=box, members=tuple(listed),
    serial=members.serial + 1), forger.administration_seed)
  forging.reseal(path, given.tiers[0], own)


def test_vault_with_the_same_id(team, old):
  """Who has seen the vault, or is pinned to it, refuses it; whoever is neither believes it."""
  with attacked(team.home, *MINE, api=b"secret"):
    vault_of_their_own(team)
    refused_everywhere(team.home, "api", *MINE)
    bob = team.bob
    bob.vault.write_bytes(team.home.vault.read_bytes())
    refused(bob, "get", "api", *MINE)
    shutil.rmtree(bob.state / "seen")
    refused(bob, "get", "api", *MINE, words="not pinned")
    refused(bob, "set", "api", *MINE, input=b"next secret")
    lines = (bob.folder / "identity").read_text().splitlines(keepends=True)
    unpinned = bob.file("unpinned", "".join(
      line for line in lines if not line.startswith("vault:")).encode())
    shutil.rmtree(bob.state / "seen", ignore_errors=True)
    assert "first time" in bob.run("get", "api", "--identity", unpinned).error


# Who reads and writes.


def test_who_writes_puts_items_back(team, old):
  """They may change everything that they may write; the chain names them."""
  rolled_back(team, old)
  forging.reseal(team.home.vault, tiers(team.bob)[0], signer(team.bob.vault, team.bob))
  assert team.home.get("api", *MINE) == b"old secret"
  team.home.run("verify", *MINE)
  t0 = tiers(team.bob)[0]
  newest = max(forging.chain_of(team.home.vault, t0).values(), key=lambda entry: entry.counter)
  assert newest.writer == team.number("bob")


def test_who_writes_in_somebody_elses_name(team, old):
  with attacked(team.home, *MINE, api=b"secret"):
    rolled_back(team, old)
    own = signer(team.bob.vault, team.bob)
    forging.reseal(team.home.vault, tiers(team.bob)[0], Writer(1, own.seed))
    refused_everywhere(team.home, "api", *MINE)


def test_two_histories_for_two_members(team, old):
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


# Who administers.


def test_who_administers_does_everything(team, old):
  dave = team.add("dave", "administer")
  dave.run("slots", "remove", str(team.number("carol")), "--yes", *MINE)
  dave.run("slots", "add", "--recipient", team.make_home().run(
    "identity", "create", "x").out.decode().strip(), "--may", "read", *MINE)
  shutil.copy(dave.vault, team.home.vault)
  assert team.home.get("api", *MINE) == b"secret"
  assert "carol" not in team.home.run("slots", "list", *MINE).out.decode()


@pytest.mark.parametrize("who", ["administrator", "recovery code"])
def test_older_list_of_who_administers(team, old, who):
  """Signed by the right key, with a state that follows: whoever has seen a later one refuses it."""
  dave = team.add("dave", "administer")
  copy = older(team.home, "before.db")
  team.remove("carol", "--keep-keys")
  with attacked(team.home, *MINE, api=b"secret"):
    secrets = secrets_of(dave, "identity") if who == "administrator" else code_of(team.home)
    t0 = opening(team.home.vault, secrets).tiers[0]
    for table in ("members", "slot"):
      replace_table(team.home.vault, table, copy)
    forging.reseal(team.home.vault, t0, signer(dave.vault, dave))
    refused_everywhere(team.home, "api", *MINE, words="rolled back")
    # Another list of the same serial is a fork.
    seed = seed_of(team.home.vault, secrets)
    members = forging.list_of(team.home.vault, t0)
    forging.put_list(team.home.vault, t0, replace(members, serial=members.serial + 1), seed)
    forging.reseal(team.home.vault, t0, signer(dave.vault, dave))
    refused(team.home, "get", "api", *MINE, words="fork")
