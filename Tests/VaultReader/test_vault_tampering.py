"""Tests that the reader tells every tampering, and what it calls it."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

import sample_vault
import vault_keys as keys
from sample_vault import DEVICE, KEY_FILE, PASSPHRASE, RECIPIENT, RECOVERY_CODE
from vault_database import MAXIMUM_PASSPHRASE_SLOTS, MAXIMUM_SLOTS, VaultError, item_of, slot_of
from vault_notation import FormatError, pad, seal, u32, u64
from vault_reader import Secrets
from vault_records import SCHEMA, Granted, ItemRow, SeenRecord, SlotKind, SlotRow, VaultRow
from vault_testing import ALL, change, forge_state, opened, problems, row_of
from vault_writer import VaultWriter, finished_slot


# Tampering with items.


def test_swapped_boxes_of_an_item(path):
  row = row_of(path, "size", "0")
  assert change(path, "UPDATE item SET metadata = secret, secret = metadata WHERE id = ?", row.id)
  assert problems(path) == {"item-box", "state-sum"}


@pytest.mark.parametrize("column", ["metadata", "secret"])
def test_box_moved_between_items(path, column):
  one, two = row_of(path, "size", "0"), row_of(path, "size", "1")
  change(path, f"UPDATE item SET {column} = ? WHERE id = ?", getattr(one, column), two.id)
  assert problems(path) == {"item-box", "state-sum"}


def test_moved_boxes_show_although_the_state_is_forged(path, sample):
  one, two = row_of(path, "size", "0"), row_of(path, "size", "1")
  change(path, "UPDATE item SET metadata = ?, secret = ?, version = ? WHERE id = ?",
         one.metadata, one.secret, one.version, two.id)
  forge_state(path, sample)
  assert problems(path) == {"item-box"}


def test_changed_bytes_of_a_box(path, sample):
  row = row_of(path, "size", "1000")
  for position in (0, 24, len(row.secret) - 1):
    changed = bytearray(row.secret)
    changed[position] ^= 1
    change(path, "UPDATE item SET secret = ? WHERE id = ?", bytes(changed), row.id)
    assert problems(path) == {"item-box", "state-sum"}


def test_locked_item_with_a_changed_box_shows_in_the_sum(path):
  row = row_of(path, "size", "1000")
  change(path, "UPDATE item SET secret = randomblob(length(secret)) WHERE id = ?", row.id)
  assert problems(path, Secrets(device=DEVICE)) == {"state-sum"}


def test_box_of_no_padded_length(path):
  row = row_of(path, "size", "1")
  change(path, "UPDATE item SET secret = ? WHERE id = ?", row.secret + b"\0", row.id)
  assert problems(path) == {"item-shape", "state-sum"}


@pytest.mark.parametrize("to_class, found", [
  (2, "item-box"), (4, "item-box"), (1, "item-shape"), (7, "item-shape"), (-1, "item-shape")])
def test_changed_class(path, to_class, found):
  row = row_of(path, "class", "whenUnlocked")
  change(path, "UPDATE item SET class = ? WHERE id = ?", to_class, row.id)
  assert problems(path) == {found, "state-sum"}


def test_changed_device_id(path):
  row = row_of(path, "class", "alwaysThisDeviceOnly")
  change(path, "UPDATE item SET device = zeroblob(16) WHERE id = ?", row.id)
  assert problems(path) == {"state-sum"}


def test_item_relabelled_as_of_this_device(path, sample):
  change(path, "UPDATE item SET device = ? WHERE device <> ?1", keys.device_id(DEVICE))
  forge_state(path, sample)
  assert problems(path) == {"item-box"}


def test_device_id_on_a_class_without_one(path):
  row = row_of(path, "class", "always")
  change(path, "UPDATE item SET device = zeroblob(16) WHERE id = ?", row.id)
  assert problems(path) == {"item-shape", "state-sum"}


@pytest.mark.parametrize("version", [1, 100, 0, -1, (1 << 63) - 1])
def test_changed_version(path, version):
  row = row_of(path, "size", "1")
  change(path, "UPDATE item SET version = ? WHERE id = ?", version, row.id)
  assert {"state-sum"} < problems(path)


def test_older_row_put_back(path, sample, tmp_path):
  row = row_of(path, "size", "1")
  entry = next(e for e in sample.entries.values() if e.metadata.identity.parts == ("size", "1"))
  sample.writer.put(entry.metadata, b"newer", entry.item_class)
  newer = tmp_path / "newer.db"
  sample.writer.write(newer)
  change(newer, "UPDATE item SET version = ?, metadata = ?, secret = ? WHERE id = ?",
         row.version, row.metadata, row.secret, row.id)
  assert problems(newer) == {"state-sum"}


def test_renamed_item(path, sample):
  row = row_of(path, "size", "1")
  forged = bytes(32)
  change(path, "UPDATE item SET id = ? WHERE id = ?", forged, row.id)
  change(path, "UPDATE token SET item = ? WHERE item = ?", forged, row.id)
  assert problems(path) == {"item-box", "item-without-token", "state-sum"}


def test_item_under_the_id_of_another_identity(path, sample):
  """A writer with all keys that files an item under a wrong id."""
  writer = sample.writer
  entry = next(e for e in sample.entries.values() if e.metadata.identity.parts == ("size", "1"))
  old = keys.item_id(writer.tiers[0], entry.metadata.identity.encoded())
  wrong_id, tokens = bytes(range(32)), writer.items.pop(old)[1]
  group = keys.group_key(keys.class_key(writer.tiers[2], 0), "")
  boxes = [
    seal(keys.item_key(group, part, wrong_id, 3), pad(plain), bytes(24))
    for part, plain in enumerate((entry.metadata.encoded(), entry.secret))]
  writer.items[wrong_id] = (ItemRow(wrong_id, 0, None, 3, *boxes), tokens + [wrong_id[:16]])
  wrong = path.with_name("wrong.db")
  writer.write(wrong)
  assert problems(wrong) == {"item-id", "item-tokens"}


# Tampering with tokens.


def test_dropped_token(path):
  row = row_of(path, "all", "fields")
  for token in [t for t in opened(path).rows.tokens_of(row.id) if t != row.id[:16]]:
    copy = path.with_name("copy.db")
    shutil.copy(path, copy)
    assert change(copy, "DELETE FROM token WHERE token = ? AND item = ?", token, row.id) == 1
    assert problems(copy) == {"item-tokens", "state-sum"}


def test_dropped_token_of_the_id(path):
  row = row_of(path, "all", "fields")
  change(path, "DELETE FROM token WHERE token = ?", row.id[:16])
  assert problems(path) == {"item-tokens", "item-without-token", "state-sum"}
  assert problems(path, Secrets(device=DEVICE)) == {"item-without-token", "state-sum"}


def test_added_token(path, sample):
  row = row_of(path, "all", "fields")
  change(path, "INSERT INTO token VALUES (zeroblob(16), ?)", row.id)
  forge_state(path, sample)
  assert problems(path) == {"item-tokens"}


def test_dropped_item_row_leaves_its_tokens(path):
  row = row_of(path, "size", "1")
  change(path, "DELETE FROM item WHERE id = ?", row.id)
  assert problems(path) == {"token-without-item", "state-counts", "state-sum"}


def test_dropped_item_with_its_tokens(path):
  row = row_of(path, "size", "1")
  change(path, "DELETE FROM item WHERE id = ?", row.id)
  change(path, "DELETE FROM token WHERE item = ?", row.id)
  assert problems(path) == {"state-counts", "state-sum"}


@contextmanager
def schema(path: Path):
  """A connection that may write the schema."""
  with closing(sqlite3.connect(path)) as connection:
    connection.execute("PRAGMA writable_schema = ON")
    with connection:
      yield connection


@pytest.mark.parametrize("tree", ["index", "table"])
def test_token_missing_in_one_tree_alone(path, tree):
  """Hides the index while a row is deleted or inserted, as a damaged page would."""
  row = row_of(path, "size", "1")
  token = row.id[:16]
  with schema(path) as connection:
    page = connection.execute(
      "SELECT rootpage FROM sqlite_schema WHERE name = 'token_by_item'").fetchone()[0]
    if tree == "index":
      connection.execute("DELETE FROM token WHERE token = ?", (token,))
    connection.execute("DELETE FROM sqlite_schema WHERE name = 'token_by_item'")
  statement = "INSERT INTO token VALUES (?, ?)" if tree == "index" else (
    "DELETE FROM token WHERE token = ? AND item = ?")
  assert change(path, statement, token, row.id) == 1
  with schema(path) as connection:
    connection.execute(
      "INSERT INTO sqlite_schema VALUES ('index', 'token_by_item', 'token', ?, ?)",
      (page, SCHEMA[-1]))
  assert {"token-trees", "database"} <= problems(path)


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


def replace_slot(path: Path, slot: SlotRow, root: bytes, **columns) -> None:
  """Writes a slot of other columns with the mac of `root`, and the right sum."""
  plain = tuple(vars(replace(slot, **columns)).values())[:7]
  values = tuple(vars(finished_slot(plain, root)).values())
  change(path, "REPLACE INTO slot VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", *values)


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
  (1 << 40, 3), ((1 << 30) + 1024, 3), (64 << 20, 11), (64 << 20, 0), (4096, 1), (0, 1)])
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
