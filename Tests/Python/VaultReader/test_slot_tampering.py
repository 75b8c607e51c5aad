"""Tests that the reader detects tampering with slots, and that the remaining slots open the vault."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sample_vault import DEVICE, KEY_FILE, PASSPHRASE, RECIPIENT, RECOVERY_CODE
from vault_codes import public_key
from vault_database import MAXIMUM_PASSPHRASE_SLOTS, VaultError, slot_of
from vault_notation import FormatError, u32, u64
from vault_reader import Secrets
from vault_records import MAXIMUM_SLOTS, Granted, SlotKind
from vault_testing import ALL, change, error_code, forge_state, opened, problems, replace_slot
from vault_writer import VaultWriter

# Secrets of the slots of the sample, by their numbers.
OF_SLOT = {
  1: Secrets(passphrase=PASSPHRASE), 2: Secrets(key_file=KEY_FILE), 3: Secrets(device=DEVICE),
  4: Secrets(recovery_code=RECOVERY_CODE), 5: Secrets(recipient=RECIPIENT)}


# Damaged slots.


@pytest.mark.parametrize("column", range(9))
@pytest.mark.parametrize("value", ["text", b"", None])
def test_slot_column_of_another_type_or_length(sample, column, value):
  for slot in sample.writer.slots:
    values = list(vars(slot).values())
    if values[column] == value:
      continue
    values[column] = value
    with pytest.raises((FormatError, ValueError)):
      slot_of(tuple(values))


def check_damaged(path, number: int) -> None:
  """Expects a slot to be damaged for its shape: it opens nothing, and the others do."""
  for other, secrets in OF_SLOT.items():
    if other != number:
      assert {"slot-shape", "state-sum"} == problems(path, secrets)
  assert error_code(path, OF_SLOT[number]) == "damaged"
  assert error_code(path, Secrets(recovery_code=bytes(16))) == "damaged"


@pytest.mark.parametrize("number", OF_SLOT)
@pytest.mark.parametrize("column, count", [
  ("parameters", 1), ("salt", 31), ("salt", 33), ("commitment", 31), ("commitment", 33),
  ("box", 71), ("box", 73), ("box", 79), ("box", 81), ("box", 0)])
def test_slot_of_another_length(path, sample, number, column, count):
  replace_slot(path, sample.writer.slots[number - 1], sample.writer.root, **{column: bytes(count)})
  check_damaged(path, number)


@pytest.mark.parametrize("number, kind", [
  (1, SlotKind.PASSPHRASE), (2, SlotKind.KEY_FILE), (4, SlotKind.RECOVERY_CODE),
  (5, SlotKind.RECIPIENT)])
def test_slots_that_must_grant_the_root_key(path, sample, number, kind):
  slot = sample.writer.slots[number - 1]
  assert (slot.number, slot.kind) == (number, kind)
  replace_slot(path, slot, sample.writer.root, granted=int(Granted.OPEN_TIER))
  check_damaged(path, number)


@pytest.mark.parametrize("memory, passes", [
  (1 << 40, 3), ((1 << 30) + 1024, 3), (64 << 20, 11), (64 << 20, 0), (4096, 1), (0, 1),
  (8193, 1), ((64 << 10) + 512, 1)])
def test_cost_outside_the_limits_is_damage(path, sample, memory, passes):
  replace_slot(path, sample.writer.slots[0], sample.writer.root,
               parameters=u64(memory) + u32(passes))
  check_damaged(path, 1)


@pytest.mark.parametrize("sql", ["kind = 6", "kind = 0", "granted = 3", "salt = x''"])
def test_slot_of_no_known_shape(path, sql):
  change(path, f"UPDATE slot SET {sql} WHERE number = 1")
  check_damaged(path, 1)


def test_slot_without_a_number(path):
  change(path, "UPDATE slot SET number = 0 WHERE number = 1")
  check_damaged(path, 1)


def test_slot_whose_sum_differs_is_not_tried(path):
  change(path, "UPDATE slot SET sum = zeroblob(16) WHERE number = 1")
  assert error_code(path, OF_SLOT[1]) == "damaged"
  assert problems(path, OF_SLOT[2]) == {"slot-sum"}


# Slots that are consistent.

@pytest.mark.parametrize("number", [2, 3, 4, 5])
def test_changed_slot_sum(path, number):
  change(path, "UPDATE slot SET sum = zeroblob(16) WHERE number = ?", number)
  assert problems(path) == {"slot-sum"}


@pytest.mark.parametrize("column", ["salt", "commitment", "mac"])
@pytest.mark.parametrize("number", [2, 3, 4, 5])
def test_changed_slot_column(path, number, column):
  change(path, f"UPDATE slot SET {column} = zeroblob(32) WHERE number = ?", number)
  secrets = ALL if number != 3 else Secrets(passphrase=PASSPHRASE)
  assert problems(path, secrets) == {"slot-sum", "slot-mac", "state-sum"}


def test_slot_header_is_part_of_the_commitment(path, sample):
  """Another salt in a slot that is consistent but for the commitment: a wrong key, not a box."""
  replace_slot(path, sample.writer.slots[1], sample.writer.root, salt=bytes(32))
  assert error_code(path, OF_SLOT[2]) == "wrong-key"


def test_changed_slot_box_is_damage(path, sample):
  replace_slot(path, sample.writer.slots[0], sample.writer.root, box=bytes(72))
  assert error_code(path, OF_SLOT[1]) == "damaged"


def test_mac_by_another_root(path, sample):
  """A holder of T0 who plants a recipient, with a state row that fits."""
  planted = replace(sample.writer.slots[4], parameters=bytes(32))
  replace_slot(path, planted, bytes(32))
  forge_state(path, sample)
  assert problems(path) == {"slot-mac"}
  assert problems(path, Secrets(device=DEVICE)) == set()


def test_recipient_commitment_is_damage(path, sample):
  replace_slot(path, sample.writer.slots[4], sample.writer.root, commitment=bytes(32))
  assert error_code(path, OF_SLOT[5]) == "damaged"


def test_slots_of_two_roots_are_damage(path):
  other = VaultWriter("other")
  other.add_recovery_code(RECOVERY_CODE)
  replace_slot(path, replace(other.slots[0], number=4), other.root)
  secrets = Secrets(passphrase=PASSPHRASE, recovery_code=RECOVERY_CODE)
  assert error_code(path, secrets) == "damaged"


def test_dropped_slot(path):
  change(path, "DELETE FROM slot WHERE number = 4")
  assert problems(path) == {"state-counts", "state-sum"}


def test_renumbered_slot(path):
  change(path, "UPDATE slot SET number = 9 WHERE number = 4")
  assert problems(path) == {"slot-sum", "slot-mac", "state-sum"}


def test_device_slot_with_root_next_to_passphrase(tmp_path):
  writer = VaultWriter("rule")
  writer.add_passphrase(PASSPHRASE)
  writer.add_device(DEVICE, Granted.ROOT)
  writer.write(tmp_path / "vault.db")
  assert problems(tmp_path / "vault.db") == {"device-grant"}


@pytest.mark.parametrize("kind, limit", [
  (SlotKind.PASSPHRASE, MAXIMUM_PASSPHRASE_SLOTS), (SlotKind.RECOVERY_CODE, MAXIMUM_SLOTS)])
def test_number_of_slots(tmp_path, kind, limit):
  writer = VaultWriter("many")
  add = writer.add_passphrase if kind == SlotKind.PASSPHRASE else writer.add_recovery_code
  for _ in range(limit):
    add(RECOVERY_CODE)
  writer.write(tmp_path / "most.db")
  secrets = Secrets(passphrase=RECOVERY_CODE, recovery_code=RECOVERY_CODE)
  assert problems(tmp_path / "most.db", secrets) == set()
  add(RECOVERY_CODE)
  writer.write(tmp_path / "more.db")
  assert error_code(tmp_path / "more.db", secrets) == "damaged"


# Several slots of one recipient.


def add_slot_of_recipient(path, sample, number: int, writer: VaultWriter, **columns) -> None:
  """Adds another slot for the recipient of the sample; it comes before that of the sample."""
  change(path, "UPDATE slot SET number = number + 10")
  for slot in sample.writer.slots:
    change(path, "DELETE FROM slot WHERE number = ?", slot.number + 10)
    replace_slot(path, replace(slot, number=slot.number + 10), sample.writer.root)
  writer.add_recipient(public_key(RECIPIENT))
  replace_slot(path, replace(writer.slots[-1], number=number), writer.root, **columns)
  forge_state(path, sample)


@pytest.mark.parametrize("columns", [{"box": bytes(80)}, {"commitment": bytes(32)}])
def test_recipient_slot_that_does_not_open_is_skipped(path, sample, columns):
  add_slot_of_recipient(path, sample, 1, sample.writer, **columns)
  assert problems(path, Secrets(recipient=RECIPIENT, device=DEVICE)) == set()


def test_slot_of_another_root_is_passed_over(path, sample):
  add_slot_of_recipient(path, sample, 1, VaultWriter("forger"))
  assert problems(path, Secrets(recipient=RECIPIENT, device=DEVICE)) == {"slot-mac"}


def test_slot_of_invalid_public_key_opens_nothing(path, sample):
  """The key with the bit set that X25519 leaves out; everything else about the slot is right."""
  key = public_key(RECIPIENT)
  aliased = key[:31] + bytes([key[31] | 0x80])
  replace_slot(path, sample.writer.slots[4], sample.writer.root, parameters=aliased)
  assert error_code(path, Secrets(recipient=RECIPIENT)) == "wrong-key"
