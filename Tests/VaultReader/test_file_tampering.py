"""Tests that the reader tells tampering with the state, the slots and the file as a whole."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

import sample_vault
from sample_vault import DEVICE, KEY_FILE, PASSPHRASE, RECIPIENT, RECOVERY_CODE
from vault_database import MAXIMUM_PASSPHRASE_SLOTS, VaultError, item_of, slot_of
from vault_notation import FormatError, u32, u64
from vault_reader import Secrets
from vault_records import MAXIMUM_SLOTS, Granted, SeenRecord, SlotKind, VaultRow
from vault_testing import ALL, change, forge_state, opened, problems, replace_slot
from vault_writer import VaultWriter


# Tampering with the state row and the file.


def test_older_state_row(path, sample, tmp_path):
  sample.writer.put(sample_vault.generic("new", "one"), b"x", 0)
  newer = tmp_path / "newer.db"
  sample.writer.write(newer)
  older = opened(path).rows.state_box
  change(newer, "UPDATE state SET box = ?", older)
  assert problems(newer) == {"state-counts", "state-sum", "item-version"}


def test_changed_state_row(path):
  change(path, "UPDATE state SET box = randomblob(length(box))")
  assert problems(path) == {"state-box"}


def test_older_file_is_rolled_back(path, sample):
  check = sample.writer.vault.checks[0]
  newest = sample.writer.counter
  assert problems(path, seen=SeenRecord((check,), newest)) == set()
  assert problems(path, seen=SeenRecord((bytes(16), check), newest)) == set()
  assert problems(path, seen=SeenRecord((check,), newest + 1)) == {"rolled-back"}
  assert problems(path, seen=SeenRecord((bytes(16),), 1)) == {"another-vault"}


def test_torn_seen_record_is_refused():
  good = SeenRecord((bytes(range(16)),), 7).encoded()
  assert SeenRecord.decoded(good).counter == 7
  for position in range(len(good)):
    torn = bytearray(good)
    torn[position] ^= 1
    with pytest.raises(FormatError):
      SeenRecord.decoded(bytes(torn))
  with pytest.raises(FormatError):
    SeenRecord.decoded(good[:-1])


@pytest.mark.parametrize("column, found", [
  ("sum", {"vault-sum"}), ("check0", {"vault-sum", "check", "state-sum"}),
  ("check1", {"vault-sum", "check", "state-sum"}), ("check2", {"vault-sum", "check", "state-sum"})])
def test_changed_vault_row(path, column, found):
  change(path, f"UPDATE vault SET {column} = zeroblob(16)")
  assert problems(path) == found


def test_vault_row_of_another_vault(path, sample):
  checks = (bytes(16),) * 3
  change(path, "UPDATE vault SET check0 = ?1, check1 = ?1, check2 = ?1, sum = ?2", bytes(16),
         VaultRow(checks, b"").computed_sum())
  assert problems(path) == {"check", "state-sum"}


@pytest.mark.parametrize("sql, code", [
  ("PRAGMA application_id = 1", "foreign"), ("PRAGMA user_version = 2", "newer-format"),
  ("PRAGMA user_version = 0", "damaged"), ("PRAGMA journal_mode = WAL", "damaged"),
  ("CREATE INDEX extra ON item (class)", "damaged"), ("DROP INDEX token_by_item", "damaged"),
  ("CREATE TRIGGER t AFTER INSERT ON item BEGIN DELETE FROM slot; END", "damaged"),
  ("DELETE FROM vault", "damaged"), ("DELETE FROM state", "damaged"),
  ("UPDATE vault SET check0 = x'00'", "damaged"),
  ("UPDATE item SET id = x'00' WHERE version = 2", "damaged"),
  ("UPDATE token SET token = x'00' WHERE token = (SELECT min(token) FROM token)", "damaged"),
  ("UPDATE slot SET kind = 6 WHERE number = 1", "damaged"),
  ("UPDATE slot SET granted = 3 WHERE number = 1", "damaged"),
  ("UPDATE slot SET number = 0 WHERE number = 1", "damaged")])
def test_file_of_another_shape(path, sql, code):
  change(path, sql)
  with pytest.raises(VaultError) as raised:
    opened(path)
  assert raised.value.code == code


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


@pytest.mark.parametrize("column, value", [
  (0, bytes(31)), (1, b""), (2, bytes(15)), (2, "text"), (3, b""), (4, "text"), (4, None),
  (5, "text"), (5, None)])
def test_item_column_of_another_type_or_length(sample, column, value):
  values = list(vars(next(iter(sample.writer.items.values()))[0]).values())
  assert item_of(tuple(values))
  values[column] = value
  with pytest.raises(FormatError):
    item_of(tuple(values))


def test_foreign_and_empty_files(tmp_path):
  for contents in (b"", b"not a database" * 100):
    (tmp_path / "vault.db").write_bytes(contents)
    with pytest.raises(VaultError) as raised:
      opened(tmp_path / "vault.db")
    assert raised.value.code == "foreign"


def test_reading_changes_nothing(path):
  before = path.read_bytes()
  opened(path)
  assert path.read_bytes() == before
  assert os.listdir(path.parent) == [path.name]


# Tampering with slots.


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
  """Another grant in a slot that is consistent but for the commitment: a wrong key, not a box."""
  replace_slot(path, sample.writer.slots[0], sample.writer.root, granted=2)
  with pytest.raises(VaultError) as raised:
    opened(path, Secrets(passphrase=PASSPHRASE))
  assert raised.value.code == "wrong-key"


def test_changed_slot_box_is_damage(path, sample):
  replace_slot(path, sample.writer.slots[0], sample.writer.root, box=bytes(72))
  with pytest.raises(VaultError) as raised:
    opened(path, Secrets(passphrase=PASSPHRASE))
  assert raised.value.code == "damaged"


def test_mac_by_another_root(path, sample):
  """A holder of T0 who plants a recipient, with a state row that fits."""
  planted = replace(sample.writer.slots[4], parameters=bytes(32))
  replace_slot(path, planted, bytes(32))
  forge_state(path, sample)
  assert problems(path) == {"slot-mac"}
  assert problems(path, Secrets(device=DEVICE)) == set()


def test_recipient_commitment_is_damage(path, sample):
  replace_slot(path, sample.writer.slots[4], sample.writer.root, commitment=bytes(32))
  with pytest.raises(VaultError) as raised:
    opened(path, Secrets(recipient=RECIPIENT))
  assert raised.value.code == "damaged"


def test_slots_of_two_roots_are_damage(path):
  other = VaultWriter("other")
  other.add_recovery_code(RECOVERY_CODE)
  replace_slot(path, replace(other.slots[0], number=4), other.root)
  with pytest.raises(VaultError) as raised:
    opened(path, Secrets(passphrase=PASSPHRASE, recovery_code=RECOVERY_CODE))
  assert raised.value.code == "damaged"


def test_dropped_slot(path):
  change(path, "DELETE FROM slot WHERE number = 4")
  assert problems(path) == {"state-counts", "state-sum"}


def test_renumbered_slot(path):
  change(path, "UPDATE slot SET number = 9 WHERE number = 4")
  assert problems(path) == {"slot-sum", "slot-mac", "state-sum"}


def test_device_slot_with_root_beside_a_passphrase(tmp_path):
  writer = VaultWriter("rule")
  writer.add_passphrase(PASSPHRASE)
  writer.add_device(DEVICE, Granted.ROOT)
  writer.write(tmp_path / "vault.db")
  assert problems(tmp_path / "vault.db") == {"device-grant"}


@pytest.mark.parametrize("memory, passes", [
  (1 << 40, 3), ((1 << 30) + 1024, 3), (64 << 20, 11), (64 << 20, 0), (4096, 1), (0, 1),
  (8193, 1)])
def test_cost_outside_the_limits_is_refused(path, sample, memory, passes):
  replace_slot(path, sample.writer.slots[0], sample.writer.root,
               parameters=u64(memory) + u32(passes))
  with pytest.raises(VaultError) as raised:
    opened(path, Secrets(key_file=KEY_FILE))
  assert raised.value.code == "damaged"


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
  with pytest.raises(VaultError) as raised:
    opened(tmp_path / "more.db", secrets)
  assert raised.value.code == "damaged"
