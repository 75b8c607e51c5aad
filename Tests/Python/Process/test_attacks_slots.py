"""Attacks with slots: a removed one put back, one that is hidden, one that a holder of T0 makes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from attack_testing import (
  KEY, add_recipient, attacked, believed, key_file, keyed, older, opening, refused, secrets_of, seed_of,
  slot_numbers, t0_of)
from prefs_testing import hinted

import vault_forging as forging
from vault_rows import drop_row, put_rows, replace_table, rows_of
from vault_slots import SlotKind

THEIRS = ("--identity", "theirs")

# Every change of members; each one must leave a row behind that the list lacks.
CHANGES = {
  "rekey": ["rekey", "--yes"],
  "administration": ["rekey", "--new-administration-key", "--yes"],
  "remove": ["rekey", "--remove", "4", "--yes"],
  "slots remove": ["slots", "remove", "4", "--yes"],
  "keep keys": ["slots", "remove", "4", "--keep-keys", "--yes"],
  "key file": ["slots", "add", "--new-key-file", "another"],
  "device": ["slots", "add", "--new-passphrase-file", "words"],
  "recovery code": ["recovery", "create", "--code-file", "code"],
}


@pytest.fixture
def removed(home):
  """A vault of which a recipient was removed, slot 3; slot 4 is a second key file."""
  keyed(home).set("alice", b"secret")
  assert add_recipient(home, "theirs") == 3
  home.run("slots", "add", "--new-key-file", "second", *KEY)
  return home


def remove(home, *options: str) -> tuple:
  """Removes the recipient, and returns the row of the slot."""
  row = rows_of(home.vault, "slot")[3,]
  home.run("slots", "remove", "3", "--yes", *options, *KEY)
  home.run("unlock", *KEY)
  return row


def opens_nothing(home, code: int = 65) -> None:
  outcome = home.run("get", "alice", *THEIRS, code=code)
  assert outcome.out == b"" and ("slot 3" in outcome.error) == (code == 65), outcome


@pytest.mark.parametrize("kept", [False, True], ids=["new keys", "kept keys"])
@pytest.mark.parametrize("forged", [False, True], ids=["file writer", "T0"])
def test_removed_slot_put_back(removed, kept, forged):
  """It opens nothing, `verify` names it, and the owner is not locked out by it."""
  row = remove(removed, *(["--keep-keys"] if kept else []))
  with (believed if forged else attacked)(removed, *KEY, alice=b"secret"):
    put_rows(removed.vault, "slot", row)
    if forged:
      forging.reseal(removed.vault, t0_of(removed))
    opens_nothing(removed)
    assert removed.get("alice") == b"secret"
    refused(removed, "verify", words="slot 3")
    listed = {slot["number"]: slot["listed"] for slot in removed.run("slots", "list", "--json").json}
    assert listed[3] is False and all(listed[number] for number in listed if number != 3)
    assert b"not in the list of members" in removed.run("slots", "list").out


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("forged", [False, True], ids=["file writer", "T0"])
def test_no_change_carries_a_removed_slot(removed, change, forged):
  """The row is removed with the change, and the number is not used again."""
  row = remove(removed, "--keep-keys")
  put_rows(removed.vault, "slot", row)
  if forged:
    forging.reseal(removed.vault, t0_of(removed))
  removed.file("words", b"words\n")
  done = removed.run(*CHANGES[change], *KEY)
  assert 3 not in slot_numbers(removed)
  opens_nothing(removed, code=78)
  assert removed.get("alice", *KEY) == b"secret"
  removed.run("verify", *KEY)
  assert "slot 3" not in done.error or "slot 3, which opens nothing" in done.error
  # Nor does it come back with the row of the old keys.
  put_rows(removed.vault, "slot", row)
  opens_nothing(removed)


def test_hidden_slot_keeps_its_number(removed):
  """Who hides a slot keeps the owner from changing slots, and gains nothing by it."""
  with attacked(removed, alice=b"secret"):
    drop_row(removed.vault, "slot", (3,))
    hidden = removed.vault.read_bytes()
    for change in (*CHANGES.values(), ["slots", "remove", "3", "--yes"]):
      removed.file("words", b"words\n")
      outcome = removed.run(*change, *KEY, code=None)
      assert outcome.code in (44, 65), outcome
      assert removed.vault.read_bytes() == hidden
    refused(removed, "verify", words="slot 3")
    assert removed.get("alice") == b"secret"


def test_number_of_a_removed_slot_is_not_used_again(removed):
  row = remove(removed, "--keep-keys")
  removed.run("slots", "remove", "4", "--keep-keys", "--yes", *KEY)
  removed.run("slots", "add", "--new-key-file", "third", *KEY)
  assert slot_numbers(removed) == [1, 2, 5]
  put_rows(removed.vault, "slot", row)
  opens_nothing(removed)


@pytest.mark.parametrize("number", [1, 3], ids=["another slot", "a recipient"])
def test_removed_slot_under_another_number(removed, number):
  """Its box opens under the same key; the header has the number, and the list has the row."""
  row = remove(removed, "--keep-keys")
  present = add_recipient(removed, "present")
  with attacked(removed, alice=b"secret"):
    forging.put_slot(removed.vault, forging.SlotRow(*row), number=1 if number == 1 else present)
    assert removed.run("get", "alice", *THEIRS, code=None).code in (65, 78)
    refused(removed, "verify")


def test_list_of_before_the_removal(removed):
  """The older list has the slot: the state is not of this list, and T0's state is of an older one."""
  copy = older(removed)
  remove(removed, "--keep-keys")
  with attacked(removed, alice=b"secret"):
    t0 = t0_of(removed)
    for table in ("members", "slot"):
      replace_table(removed.vault, table, copy)
    refused(removed, "get", "alice", words="list")
    refused(removed, "get", "alice", *THEIRS)
    for up in (1, 1000, (1 << 32) - 10):
      counter = forging.state_of(removed.vault, t0).state.counter + up
      forging.reseal(removed.vault, t0, counter=counter, first=counter)
      for source in ([], KEY, THEIRS):
        refused(removed, "get", "alice", *source, words="rolled back")
      refused(removed, "rekey", "--yes", *KEY, words="rolled back")
      refused(removed, "slots", "add", "--new-key-file", "k", *KEY, words="rolled back")


def test_list_that_a_holder_of_t0_signs(removed):
  """Who has T0 can seal a list, and cannot sign it."""
  with attacked(removed, alice=b"secret"):
    t0 = t0_of(removed)
    members = forging.list_of(removed.vault, t0)
    forging.forge_list(removed.vault, t0, bytes(32), serial=members.serial + 1)
    forging.reseal(removed.vault, t0)
    for source in ([], KEY, THEIRS):
      refused(removed, "get", "alice", *source, words="list of members")
    refused(removed, "rekey", "--yes", *KEY)


def test_slot_that_a_removed_administrator_makes(removed):
  """With kept keys they know the root, T0 and the binding: all but a list of a higher serial."""
  given = opening(removed.vault, secrets_of(removed, "theirs"))
  row = remove(removed, "--keep-keys")
  with attacked(removed, alice=b"secret"):
    slot, head = forging.SlotRow(*row), forging.read(removed.vault).head
    binding = forging.keys.binding(head.id, head.epoch, head.administration)
    fresh = forging.resealed_slot(
      slot, head.id, given.public_keys[0], given.root, binding, number=7)
    put_rows(removed.vault, "slot", fresh.columns())
    forging.reseal(removed.vault, given.tiers[0])
    outcome = removed.run("get", "alice", *THEIRS, code=65)
    assert "slot 7" in outcome.error and outcome.out == b""


@pytest.mark.parametrize("content", ["garbage", "another key", "older"])
def test_sealed_administration_key(removed, content):
  """The list names the hash of the column; a holder of T0 and the root can make neither fit."""
  root = opening(removed.vault, key_file(removed)).root
  home = removed
  with attacked(home, alice=b"secret"):
    if content == "garbage":
      home.rows("UPDATE members SET administration = randomblob(72)")
    elif content == "another key":
      forging.put_administration(home.vault, root, bytes(32))
    else:
      forging.put_administration(home.vault, root, seed_of(home.vault, key_file(home)))
    refused(home, "get", "alice", words="administration")
    refused(home, "verify", words="administration")
    told = refused(home, "slots", "add", "--new-key-file", "third", *KEY)
    assert hinted(told) and not (home.folder / "third").exists()


def test_grant_is_that_of_the_list(removed):
  """A device's row says that it administers; nobody but the list decides."""
  good = removed.vault.read_bytes()
  with attacked(removed, alice=b"secret"):
    slot = next(s for s in forging.read(removed.vault).slots if s.kind == SlotKind.DEVICE)
    put_rows(removed.vault, "slot", replace(slot, granted=1).finished().columns())
    # The command fails, and the keys that were unlocked are gone all the same.
    refused(removed, "lock", words="slot 1")
    refused(removed, "get", "alice", words="slot 1")
    removed.vault.write_bytes(good)
    refused(removed, "get", "alice", code=77)
    removed.run("unlock", *KEY)
