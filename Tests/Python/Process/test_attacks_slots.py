"""Attacks with slots: a removed one put back, one that is hidden, one that somebody makes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from attack_testing import (
  KEY, add_recipient, attacked, key_file, keyed, opened, refused, secrets_of, seed_of, slot_numbers, t0_of)

import vault_keys as keys
from vault_errors import Damage
from vault_forging import Forge
from vault_notation import seal, sealed_box
from vault_slots import Slot, SlotKind

THEIRS = ("--identity", "theirs")


@pytest.fixture
def removed(home):
  """A vault of which a recipient will be removed, slot 3; slot 4 is a second key file."""
  keyed(home).set("alice", b"secret")
  assert add_recipient(home, "theirs") == 3
  home.run("slots", "add", "--new-key-file", "second", *KEY)
  return home


def slots_of(home) -> dict[int, bytes]:
  return {Slot.decoded(slot).number: slot for slot in home.head().slots}


def remove(home, *options: str) -> bytes:
  """Removes the recipient, and returns its slot."""
  slot = slots_of(home)[3]
  home.run("slots", "remove", "3", "--yes", *options, *KEY)
  home.run("unlock", *KEY)
  return slot


def put_slots(home, *slots: bytes) -> None:
  home.put_head(replace(home.head(), slots=slots))


@pytest.mark.parametrize("kept", [False, True], ids=["new keys", "kept keys"])
def test_removed_slot_put_back(removed, kept):
  """It opens nothing: the base has the hash of the head, and the list its slots."""
  slot = remove(removed, *(["--keep-keys"] if kept else []))
  with attacked(removed, alice=b"secret"):
    put_slots(removed, *removed.head().slots, slot)
    found = removed.run("get", "alice", *THEIRS, code=None)
    assert found.code in (65, 78) and found.out == b""
    refused(removed, "verify")
    refused(removed, "rekey", "--yes", *KEY)


def test_removed_slot_in_a_base(removed):
  """With T0, of whom only a list of the administration key makes a member."""
  slot = remove(removed, "--keep-keys")
  with attacked(removed, *KEY, alice=b"secret"):
    forge = Forge.of(removed.vault, key_file(removed))
    forge.base(head=replace(forge.vault.head, slots=(*forge.vault.head.slots, slot)))
    removed.vault.write_bytes(forge.data)
    for source in (KEY, THEIRS):
      refused(removed, "get", "alice", *source)
    refused(removed, "rekey", "--yes", *KEY)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_hidden_slot(removed, number):
  with attacked(removed, alice=b"secret"):
    put_slots(removed, *(slot for one, slot in slots_of(removed).items() if one != number))
    refused(removed, "verify")
    refused(removed, "get", "alice")
    refused(removed, "slots", "add", "--new-key-file", "third", "--key-file", "second")
    assert not (removed.folder / "third").exists()


def test_slots_in_another_order(removed):
  with attacked(removed, alice=b"secret"):
    put_slots(removed, *removed.head().slots[::-1])
    refused(removed, "get", "alice")


def test_number_of_a_removed_slot_is_not_used_again(removed):
  remove(removed, "--keep-keys")
  removed.run("slots", "remove", "4", "--keep-keys", "--yes", *KEY)
  removed.run("slots", "add", "--new-key-file", "third", *KEY)
  assert slot_numbers(removed) == [1, 2, 5]


def test_slot_that_a_removed_administrator_makes(removed):
  """With kept keys they know the root, all tiers and the binding: all but a list of a higher serial."""
  given = opened(removed.vault, secrets_of(removed, "theirs"))
  slot = Slot.decoded(remove(removed, "--keep-keys"))
  with attacked(removed, *KEY, alice=b"secret"):
    head = removed.head()
    member = given.members.member(3)
    box = sealed_box(member.box_key, given.root + keys.binding(
      head.vault, head.epoch, head.administration), bytes(range(32)))
    forge = Forge.of(removed.vault, key_file(removed))
    fresh = replace(slot, number=7, box=box).encoded()
    removed.vault.write_bytes(forge.base(head=replace(head, slots=(*head.slots, fresh))).data)
    found = removed.run("get", "alice", *THEIRS, code=None)
    assert found.code in (65, 78) and found.out == b""
    refused(removed, "get", "alice", *KEY)


@pytest.mark.parametrize("content", ["garbage", "another key", "sealed again"])
def test_sealed_administration_key(removed, content):
  """The list names its hash; a holder of T0 and the root can make neither fit."""
  home = removed
  root = opened(home.vault, key_file(home)).root
  with attacked(home, *KEY, alice=b"secret"):
    key = keys.administration_box_key(root)
    box = {
      "garbage": bytes(72), "another key": seal(key, bytes(32), bytes(24)),
      "sealed again": seal(key, seed_of(home.vault, key_file(home)), bytes(24))}[content]
    forge = Forge.of(home.vault, key_file(home))
    home.vault.write_bytes(forge.base(head=replace(home.head(), administration_box=box)).data)
    refused(home, "get", "alice", *KEY)
    refused(home, "verify", *KEY)
    refused(home, "slots", "add", "--new-key-file", "third", *KEY)
    assert not (home.folder / "third").exists()


def test_grant_is_that_of_the_list(removed):
  """A device's slot says that it administers; nobody but the list decides."""
  with attacked(removed, *KEY, alice=b"secret"):
    slots = [Slot.decoded(slot) for slot in removed.head().slots]
    put_slots(removed, *(
      replace(slot, granted=1).encoded() if slot.kind == SlotKind.DEVICE else slot.encoded()
      for slot in slots))
    refused(removed, "get", "alice")
    refused(removed, "rekey", "--yes")
    with pytest.raises(Damage):
      t0_of(removed)
