"""Tests that the reader detects tampering with the state and the file as a whole."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

import sample_vault
from vault_database import (
  JOURNAL_MAGIC, MAXIMUM_METADATA_BOX_COUNT, MAXIMUM_ROW_COUNT, MAXIMUM_SECRET_BOX_COUNT, VaultError,
  item_of)
from vault_keys import state_box_key
from vault_notation import BOX_OVERHEAD, FormatError, padded_count, seal
from vault_records import LARGEST_STEP, SeenRecord, VaultRow, box_hash
from vault_testing import change, error_code, opened, problems


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
  newest, state = sample.writer.counter, box_hash(opened(path).rows.state_box)
  assert problems(path, seen=SeenRecord((check,), newest, state)) == set()
  assert problems(path, seen=SeenRecord((bytes(16), check), newest, state)) == set()
  assert problems(path, seen=SeenRecord((check,), newest - 1, bytes(32))) == set()
  assert problems(path, seen=SeenRecord((check,), newest + 1, state)) == {"rolled-back"}
  assert problems(path, seen=SeenRecord((check,), newest, bytes(32))) == {"forked"}
  assert problems(path, seen=SeenRecord((bytes(16),), 1, state)) == {"another-vault"}


@pytest.mark.parametrize("step, found", [
  (LARGEST_STEP, set()), (LARGEST_STEP + 1, {"forged-counter"})])
def test_counter_that_went_up_too_far(path, sample, step, found):
  state = sample.writer.state()
  forged = replace(state, counter=1 + step)
  key = state_box_key(sample.writer.tiers[0])
  change(path, "UPDATE state SET box = ?", seal(key, forged.encoded(), bytes(24)))
  assert problems(path, seen=SeenRecord((sample.writer.vault.checks[0],), 1, bytes(32))) == found


def test_damaged_seen_record_is_refused():
  good = SeenRecord((bytes(range(16)),), 7, bytes(range(32))).encoded()
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
  ("UPDATE token SET token = x'00' WHERE token = (SELECT min(token) FROM token)", "damaged")])
def test_file_of_another_shape(path, sql, code):
  change(path, sql)
  with pytest.raises(VaultError) as raised:
    opened(path)
  assert raised.value.code == code


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


# What SQLite opens next to the file.


def put_beside(path, suffix, contents=b"", mode=0o600):
  file = path.with_name(path.name + suffix)
  file.write_bytes(contents)
  file.chmod(mode)
  return file


@pytest.mark.parametrize("suffix, contents", [
  ("-wal", b"x"), ("-journal", bytes(16) + b"\0\0\0\1" + bytes(4) + JOURNAL_MAGIC)])
def test_file_that_sqlite_would_believe(path, suffix, contents):
  file = put_beside(path, suffix, contents)
  with pytest.raises(VaultError, match="is not empty|names a super-journal") as raised:
    opened(path)
  assert raised.value.code == "damaged" and file.read_bytes() == contents


@pytest.mark.parametrize("suffix, contents", [
  ("-wal", b""), ("-shm", b""), ("-journal", b""), ("-journal", bytes(24) + JOURNAL_MAGIC)])
def test_harmless_file_next_to_the_vault(path, suffix, contents):
  put_beside(path, suffix, contents)
  assert problems(path) == set()


@pytest.mark.parametrize("suffix", ["-journal", "-wal", "-shm"])
@pytest.mark.parametrize("kind", ["open to others", "link", "second name", "pipe", "folder"])
def test_foreign_file_next_to_vault(path, suffix, kind):
  file, other = path.with_name(path.name + suffix), path.with_name("other")
  other.touch(mode=0o600)
  {"open to others": lambda: put_beside(path, suffix, mode=0o640),
   "link": lambda: file.symlink_to(path.with_name("missing")),
   "second name": lambda: os.link(other, file),
   "pipe": lambda: os.mkfifo(file, 0o600), "folder": lambda: file.mkdir(0o700)}[kind]()
  assert error_code(path) == "refused"


# Lengths.


@pytest.mark.parametrize("table, columns", [
  ("item", {"metadata": 10_000_000, "secret": MAXIMUM_ROW_COUNT - 10_000_000}),
  ("item", {"secret": MAXIMUM_ROW_COUNT}), ("slot", {"box": MAXIMUM_ROW_COUNT}),
  ("state", {"box": MAXIMUM_ROW_COUNT})])
def test_row_that_is_too_long_is_not_loaded(path, table, columns):
  changes = ", ".join(f"{column} = zeroblob({count})" for column, count in columns.items())
  change(path, f"UPDATE {table} SET {changes}")
  with pytest.raises(VaultError, match="too long"):
    opened(path)


def test_longest_row_is_loaded(path):
  change(path, "UPDATE item SET metadata = zeroblob(?), secret = zeroblob(?)"
         " WHERE id = (SELECT min(id) FROM item)",
         MAXIMUM_METADATA_BOX_COUNT, MAXIMUM_SECRET_BOX_COUNT)
  assert problems(path) == {"item-box", "state-sum"}


@pytest.mark.parametrize("column, count", [
  ("metadata", padded_count(MAXIMUM_METADATA_BOX_COUNT) + BOX_OVERHEAD),
  ("secret", padded_count(MAXIMUM_SECRET_BOX_COUNT) + BOX_OVERHEAD)])
def test_box_that_is_too_long_is_not_opened(path, column, count):
  change(path, f"UPDATE item SET {column} = zeroblob(?) WHERE id = (SELECT min(id) FROM item)", count)
  found = problems(path)
  assert "item-shape" in found and "item-box" not in found


def test_reading_changes_nothing(path):
  before = path.read_bytes()
  opened(path)
  assert path.read_bytes() == before
  assert os.listdir(path.parent) == [path.name]
