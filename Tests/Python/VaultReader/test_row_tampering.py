"""Tests that the reader detects tampering with items, their tokens and the names of groups."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

import vault_keys as keys
from sample_vault import DEVICE
from vault_database import group_of
from vault_notation import FormatError, pad, seal
from vault_reader import Secrets
from vault_records import SCHEMA, ItemRow
from vault_testing import change, forge_state, opened, problems, row_of


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


def test_changed_box_of_locked_item_breaks_sum(path):
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


# Tampering with the names of groups.


def group_row(path: Path):
  return opened(path).rows.groups[0]


def test_dropped_name_of_a_group(path):
  row = group_row(path)
  change(path, "DELETE FROM access_group WHERE token = ? AND class = ?", row.token, row.item_class)
  assert problems(path) == {"item-box", "state-sum"}


def test_dropped_token_of_a_named_group(path, sample):
  for row in opened(path).rows.groups:
    copy = path.with_name("copy.db")
    shutil.copy(path, copy)
    change(copy, "DELETE FROM token WHERE token = ?", row.token)
    assert problems(copy) == {"item-box", "state-sum"}


def test_changed_name_of_a_group(path):
  row = group_row(path)
  change(path, "UPDATE access_group SET box = zeroblob(length(box)) WHERE token = ?", row.token)
  assert problems(path) == {"group-name", "item-box", "state-sum"}


@pytest.mark.parametrize("column, value", [("class", 0), ("token", bytes(16))])
def test_moved_name_of_a_group(path, sample, column, value):
  row = group_row(path)
  change(path, f"UPDATE access_group SET {column} = ? WHERE token = ? AND class = ?", value,
         row.token, row.item_class)
  forge_state(path, sample)
  assert problems(path) == {"group-name", "item-box"}


@pytest.mark.parametrize("name", [b"", b"another", b"\xff"])
def test_name_that_its_token_is_not_of(path, sample, name):
  """A writer with the key of the class that gives a group another name."""
  row, tiers = group_row(path), sample.writer.tiers
  tier = tiers[keys.TIER_OF_CLASS[row.item_class]]
  box = seal(keys.group_name_key(tier, row.item_class, row.token), pad(name), bytes(24))
  change(path, "UPDATE access_group SET box = ? WHERE token = ? AND class = ?", box, row.token,
         row.item_class)
  forge_state(path, sample)
  assert problems(path) == {"group-name", "item-box"}


def test_name_of_the_unnamed_group(path, sample):
  token = keys.group_token(sample.writer.tiers[0], "")
  box = seal(keys.group_name_key(sample.writer.tiers[2], 0, token), pad(b""), bytes(24))
  change(path, "INSERT INTO access_group VALUES (?, 0, ?)", token, box)
  forge_state(path, sample)
  assert problems(path) == {"group-name"}


def test_name_of_a_group_without_items(path, sample):
  sample.writer.name_group("had items once", 0)
  emptied = path.with_name("emptied.db")
  sample.writer.write(emptied)
  assert problems(emptied) == set()


@pytest.mark.parametrize("column, value", [
  (0, bytes(15)), (0, "text"), (1, 7), (1, -1), (1, b""), (2, bytes(256)), (2, "text")])
def test_group_column_of_another_type_or_length(sample, column, value):
  values = list(vars(next(iter(sample.writer.groups.values()))).values())
  assert group_of(tuple(values))
  values[column] = value
  with pytest.raises(FormatError):
    group_of(tuple(values))


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
      (page, next(text for text in SCHEMA if "token_by_item" in text)))
  assert {"token-trees", "database"} <= problems(path)
