"""Tests that the reader detects tampering with items, their tokens and the names of groups."""

from __future__ import annotations

from dataclasses import replace

import pytest

import vault_forging as forging
import vault_keys as keys
from sample_vault import DEVICE, generic
from vault_database import group_of
from vault_file import Damage
from vault_notation import FormatError, digest, pad, seal
from vault_opening import Secrets
from vault_records import GroupRow
from vault_rows import change, copied, drop_item, drop_row, put_item_back, put_rows, swap_rows
from vault_testing import ALL, opened, problems, row_of
from vault_tokens import token_entry
from vault_tree import Tree, made_nodes, root_of

# What any change of the rows of items shows, by itself and without any key but T0.
ITEMS = {"item_node", "item_node-root"}
TOKENS = {"token_node", "token_node-root"}
GROUPS = {"group_node", "group_node-root"}
ITEM = generic("size", "1").identity


def check_refused(path, identity=ITEM) -> None:
  """Expects that an item is damaged, and neither absent nor an old one."""
  with pytest.raises(Damage):
    opened(path).find(identity)


# Tampering with items.


def test_swapped_boxes_of_an_item(path):
  row = row_of(path, "size", "1")
  assert change(path, "UPDATE item SET metadata = secret, secret = metadata WHERE id = ?", row.id)
  assert problems(path) == {"item"} | ITEMS
  check_refused(path)


@pytest.mark.parametrize("column", ["metadata", "secret", "hash", "version", "tokens"])
def test_column_moved_between_items(path, column):
  one, two = row_of(path, "size", "0"), row_of(path, "size", "1")
  change(path, f"UPDATE item SET {column} = ? WHERE id = ?", getattr(one, column), two.id)
  assert problems(path) - TOKENS - {"token"} == {"item"} | (ITEMS if column != "secret" else set())
  check_refused(path)


@pytest.mark.parametrize("column", ["metadata", "secret", "hash", "version", "tokens"])
def test_moved_column_shows_although_the_state_is_forged(path, writer, column):
  one, two = row_of(path, "size", "0"), row_of(path, "size", "1")
  change(path, f"UPDATE item SET {column} = ? WHERE id = ?", getattr(one, column), two.id)
  change(path, "DELETE FROM token WHERE item = ?", two.id)
  changed = forging.read(path).items_by_id[two.id]
  forging.put_item(path, changed)
  forging.reseal(path, writer.tiers[0])
  assert problems(path) == {"item"}
  check_refused(path)


def test_secret_is_that_of_its_hash(path, writer):
  """The row hash holds, as it has the hash of the secret and not the secret."""
  row = row_of(path, "size", "1000")
  for position in (0, 24, len(row.secret) - 1):
    changed = bytearray(row.secret)
    changed[position] ^= 1
    change(path, "UPDATE item SET secret = ? WHERE id = ?", bytes(changed), row.id)
    assert problems(path) == {"item"}
    check_refused(path, generic("size", "1000").identity)


def test_secret_and_hash_of_an_item_that_is_locked(path):
  row = row_of(path, "size", "1000")
  change(path, "UPDATE item SET secret = randomblob(length(secret)) WHERE id = ?", row.id)
  assert problems(path, Secrets(device=DEVICE)) == {"item"}
  change(path, "UPDATE item SET metadata = randomblob(length(metadata)) WHERE id = ?", row.id)
  assert problems(path, Secrets(device=DEVICE)) == {"item"} | ITEMS


def test_box_of_no_padded_length(path):
  row = row_of(path, "size", "1")
  change(path, "UPDATE item SET secret = ?, hash = ? WHERE id = ?", row.secret + b"\0",
         digest(32, row.secret + b"\0"), row.id)
  assert problems(path) == {"item-shape"} | ITEMS


@pytest.mark.parametrize("to_class, found", [
  (2, {"item"}), (4, {"item"}), (1, {"item-shape"}), (7, {"item-shape"})])
def test_changed_class(path, to_class, found):
  row = row_of(path, "class", "whenUnlocked")
  change(path, "UPDATE item SET class = ? WHERE id = ?", to_class, row.id)
  assert problems(path) == found | ITEMS


def test_changed_device_id(path, writer):
  row = row_of(path, "class", "alwaysThisDeviceOnly")
  change(path, "UPDATE item SET device = zeroblob(16) WHERE id = ?", row.id)
  assert problems(path) == ITEMS
  check_refused(path, generic("class", "alwaysThisDeviceOnly").identity)


def test_item_relabelled_as_of_this_device(path, writer):
  own = keys.device_id(DEVICE, writer.id)
  change(path, "UPDATE item SET device = ? WHERE device <> ?1", own)
  forging.reseal(path, writer.tiers[0])
  assert problems(path) == {"item"}


def test_device_id_on_a_class_without_one(path):
  row = row_of(path, "class", "always")
  change(path, "UPDATE item SET device = zeroblob(16) WHERE id = ?", row.id)
  assert problems(path) == {"item-shape"} | ITEMS


@pytest.mark.parametrize("version", [1, 100, 0, -1, (1 << 63) - 1])
def test_changed_version(path, version):
  row = row_of(path, "size", "1")
  change(path, "UPDATE item SET version = ? WHERE id = ?", version, row.id)
  assert ITEMS < problems(path)
  check_refused(path)


@pytest.mark.parametrize("tokens", [
  b"\0" * 15, b"\0" * 32, bytes(range(32))[16:] + bytes(range(16))])
def test_tokens_of_no_right_form(path, tokens):
  row = row_of(path, "size", "1")
  change(path, "UPDATE item SET tokens = ? WHERE id = ?", tokens, row.id)
  assert ITEMS | {"item-shape"} <= problems(path)
  check_refused(path)


def test_older_row_put_back(path, writer, tmp_path):
  writer.put(generic("size", "1"), b"newer", 0)
  newer = tmp_path / "newer.db"
  writer.write(newer)
  put_item_back(newer, path, writer.id_of(ITEM))
  assert problems(newer) == ITEMS
  check_refused(newer)


def test_item_that_was_deleted_and_added_again(path, writer, tmp_path):
  """The hole of sums: hide a row, have it added and deleted, put it back."""
  item_id = writer.id_of(ITEM)
  writer.remove(item_id)
  writer.put(generic("size", "1"), b"newer", 0)
  writer.remove(item_id)
  newer = tmp_path / "newer.db"
  writer.write(newer)
  assert opened(newer).find(ITEM) is None
  put_item_back(newer, path, item_id)
  assert ITEMS | TOKENS <= problems(newer)
  assert opened(newer).find(ITEM) is None


def test_dropped_item_with_its_tokens(path, writer):
  drop_item(path, writer.id_of(ITEM))
  assert problems(path) == ITEMS | TOKENS
  check_refused(path)
  with pytest.raises(Damage):
    opened(path).search(("service", "size"))


def test_swapped_rows(path, writer):
  one, two = (writer.id_of(generic("size", name).identity) for name in "01")
  swap_rows(path, "item", (one,), (two,))
  assert problems(path) == {"item", "token"} | ITEMS | TOKENS
  check_refused(path)


def test_renamed_item(path):
  row = row_of(path, "size", "1")
  change(path, "UPDATE item SET id = ? WHERE id = ?", bytes(32), row.id)
  change(path, "UPDATE token SET item = ? WHERE item = ?", bytes(32), row.id)
  assert problems(path) == {"item"} | ITEMS | TOKENS
  check_refused(path)


def test_item_under_the_id_of_another_identity(path, writer):
  """A writer with all keys that files an item under a wrong id."""
  wrong_id = bytes(range(32))
  row = writer.sealed_item(generic("size", "1"), b"x", 0, item_id=wrong_id)
  drop_item(path, writer.id_of(ITEM))
  forging.put_item(path, row)
  forging.reseal(path, writer.tiers[0])
  assert problems(path) == {"item"}


def test_item_of_other_tokens_than_its_metadata(path, writer):
  row = writer.items[writer.id_of(ITEM)]
  forging.put_item(path, replace(row, tokens=bytes(16) + row.tokens))
  forging.reseal(path, writer.tiers[0])
  assert problems(path) == {"item"}
  check_refused(path)


# Searches.


def accounts(items) -> set[str]:
  return {item.metadata.identity.parts[1] for item in items}


def test_search_finds_all(path):
  vault = opened(path)
  assert accounts(vault.search(("service", "size"))) == {
    "0", "1", "251", "252", "253", "1000", "20000"}
  assert accounts(vault.search(("service", "tree"), ("access-group", "group 1"))) == {
    str(number) for number in range(1, 80, 9)}
  assert vault.search(("service", "size"), ("account", "x")) == []
  assert vault.search(("service", "class"), ("access-group", "group 1")) == []


def test_dropped_token(path, writer):
  row = writer.items[writer.id_of(ITEM)]
  for pair in (("account", "1"), ("service", "size")):
    copy, token = copied(path), keys.attribute_token(writer.tiers[0], *pair)
    drop_row(copy, "token", (token, row.id))
    assert problems(copy) == {"token"}
    with pytest.raises(Damage):
      opened(copy).search(pair)


def test_added_token(path, writer):
  row = writer.items[writer.id_of(ITEM)]
  change(path, "INSERT INTO token VALUES (?, ?)", bytes(16), row.id)
  assert problems(path) == {"token"}
  forging.reseal(path, writer.tiers[0])
  assert problems(path) == {"token"}


def test_search_for_a_token_of_another_item(path, writer):
  """A holder of T0 has the entry count a row of an item that has not the token."""
  opens, item_id = writer.tiers[0], writer.id_of(ITEM)
  token = keys.attribute_token(opens, "service", "class")
  change(path, "INSERT INTO token VALUES (?, ?)", token, item_id)
  rows = forging.read(path)
  entries = forging.tree_entries(rows, opens)[Tree.TOKENS]
  entries[token] = token_entry(opens, token, rows.items_by_token[token])
  nodes = made_nodes(Tree.TOKENS, entries)
  change(path, "DELETE FROM token_node")
  put_rows(path, "token_node", *nodes.items())
  roots = list(forging.state_of(path, opens).state.roots)
  roots[1] = root_of(Tree.TOKENS, nodes, len(entries))
  forging.forge_state(path, opens, roots=tuple(roots))
  with pytest.raises(Damage, match="has not the token"):
    opened(path).search(("service", "class"))
  assert problems(path) == {"token"} | TOKENS


def test_all_items_are_read_by_their_leaves(path, writer):
  assert len(opened(path).all_rows()) == len(writer.items)
  drop_item(path, writer.id_of(ITEM))
  with pytest.raises(Damage):
    opened(path).all_rows()


# Tampering with the names of groups.


def group_row(path) -> GroupRow:
  return opened(path).rows.groups[0]


def test_dropped_name_of_a_group(path):
  row = group_row(path)
  drop_row(path, "access_group", (row.token, row.item_class))
  assert problems(path) == {"item"} | GROUPS


def test_changed_name_of_a_group(path):
  row = group_row(path)
  change(path, "UPDATE access_group SET box = zeroblob(length(box)) WHERE token = ? AND class = ?",
         row.token, row.item_class)
  assert problems(path) == {"group-name", "item"} | GROUPS


@pytest.mark.parametrize("column, value", [("class", 3), ("token", bytes(16))])
def test_moved_name_of_a_group(path, writer, column, value):
  row = group_row(path)
  change(path, f"UPDATE access_group SET {column} = ? WHERE token = ? AND class = ?", value,
         row.token, row.item_class)
  forging.reseal(path, writer.tiers[0])
  assert problems(path) == {"group-name", "item"}


@pytest.mark.parametrize("name", [b"", b"another", b"\xff"])
def test_name_that_its_token_is_not_of(path, writer, name):
  """A writer with the key of the class that gives a group another name."""
  row = group_row(path)
  tier = writer.tiers[keys.TIER_OF_CLASS[row.item_class]]
  box = seal(keys.group_name_key(tier, row.item_class, row.token), pad(name), bytes(24))
  forging.put_group(path, replace(row, box=box))
  forging.reseal(path, writer.tiers[0])
  assert problems(path) == {"group-name", "item"}


def test_name_of_the_unnamed_group(path, writer):
  token = keys.group_token(writer.tiers[0], "")
  box = seal(keys.group_name_key(writer.tiers[2], 0, token), pad(b""), bytes(24))
  forging.put_group(path, GroupRow(token, 0, box))
  forging.reseal(path, writer.tiers[0])
  assert problems(path) == {"group-name"}


def test_name_of_a_group_without_items(writer, tmp_path):
  writer.name_group("had items once", 0)
  writer.write(tmp_path / "emptied.db")
  assert problems(tmp_path / "emptied.db") == set()


@pytest.mark.parametrize("column, value", [
  (0, bytes(15)), (0, "text"), (1, 7), (1, -1), (1, b""), (2, bytes(256)), (2, "text")])
def test_group_column_of_another_type_or_length(writer, column, value):
  values = list(vars(next(iter(writer.groups.values()))).values())
  assert group_of(tuple(values))
  values[column] = value
  with pytest.raises(FormatError):
    group_of(tuple(values))


def test_unchanged_vault_has_no_problems(path):
  assert problems(path, ALL) == set()
