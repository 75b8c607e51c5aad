"""Tests of the trees of hashes: their shape, their proofs, and tampering with their nodes."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

import vault_forging as forging
from sample_vault import KEY_FILE, generic
from tree_cases import contents, entries_of
from vault_codes import Keys
from vault_file import Damage, VaultError
from vault_members import Reason
from vault_notation import FormatError, digest
from vault_rows import all_pairs, change, copied, drop_row, older_rows, replace_table
from vault_testing import opened, problems
from vault_tree import (
  LEAF_LIMIT, MAXIMUM_DEPTH, Node, Root, Tree, all_entries, depth_of, looked_up, made_nodes,
  node_hash, prefix_of, root_of)
from vault_writer import VaultWriter

# The shape.


@pytest.mark.parametrize("tree", Tree)
@pytest.mark.parametrize("count", [0, 1, 32, 33, 500, 3000])
def test_each_key_has_its_proof(tree, count):
  entries = entries_of(tree, count)
  nodes = made_nodes(tree, entries)
  root = root_of(tree, nodes, count)
  assert all_entries(tree, root, nodes) == entries
  for key, value in entries.items():
    assert looked_up(tree, root, nodes, key) == value
    assert looked_up(tree, root, nodes, bytes(len(key) - 1) + key[-1:]) is None


def test_order_of_changes_does_not_matter():
  """A leaf splits and merges at one limit, so that the keys alone fix the nodes."""
  numbers = list(range(60))
  random.Random(1).shuffle(numbers)
  entries = entries_of(Tree.ITEMS, 60)
  keys = [list(entries)[number] for number in numbers]
  nodes = made_nodes(Tree.ITEMS, {key: entries[key] for key in keys})
  assert nodes == made_nodes(Tree.ITEMS, entries)
  few = {key: entries[key] for key in keys[:LEAF_LIMIT]}
  assert list(made_nodes(Tree.ITEMS, few)) == [1]


def test_greatest_depth():
  shared = bytes.fromhex("0123456789abcdef")
  nodes = made_nodes(Tree.ITEMS, entries_of(Tree.ITEMS, 40, shared))
  assert sorted(map(depth_of, nodes)) == list(range(MAXIMUM_DEPTH + 1))
  assert prefix_of(shared, MAXIMUM_DEPTH) in nodes


@pytest.mark.parametrize("prefix", [0, -1, 2, 15, 32, 1 << 61, (1 << 64) + 1])
def test_numbers_that_no_prefix_has(prefix):
  with pytest.raises(FormatError):
    depth_of(prefix)


def test_hash_is_of_the_place_and_the_tree():
  hashes = {node_hash(tree, prefix, b"x") for tree in Tree for prefix in (1, 16)}
  assert len(hashes) == 6


@pytest.mark.parametrize("name", contents())
def test_contents_of_nodes(name):
  tree, prefix, content = contents()[name]
  if name.startswith("right"):
    assert Node.decoded(tree, prefix, content).count > 0
  else:
    with pytest.raises(FormatError):
      Node.decoded(tree, prefix, content)


def test_hash_without_keys():
  with pytest.raises(FormatError):
    looked_up(Tree.ITEMS, Root(0, bytes(range(32))), {}, bytes(32))


# Tampering with nodes.


@pytest.mark.parametrize("tree", Tree)
def test_dropped_nodes(path, writer, tree):
  for prefix in writer.nodes(tree):
    copy = copied(path)
    drop_row(copy, tree.table, (prefix,))
    assert problems(copy) == {tree.table}


@pytest.mark.parametrize("tree", Tree)
def test_changed_node(path, writer, tree):
  for prefix in writer.nodes(tree):
    copy = copied(path)
    change(copy, f"UPDATE {tree.table} SET content = zeroblob(length(content)) WHERE prefix = ?",
           prefix)
    assert problems(copy) == {tree.table}


def test_node_that_must_not_be_there(path):
  change(path, "INSERT INTO item_node VALUES (256, x'00')")
  assert problems(path) == {"item_node"}


def test_lookups_read_no_other_node(path, writer):
  """Only the items below the dropped node are damaged; none is absent."""
  item_id = writer.id_of(generic("size", "1").identity)
  prefix = prefix_of(item_id, 1)
  drop_row(path, "item_node", (prefix,))
  vault = opened(path)
  for other in writer.items:
    if prefix_of(other, 1) == prefix:
      with pytest.raises(Damage):
        vault.row(other)
    else:
      assert vault.row(other) == writer.items[other]
  with pytest.raises(Damage):
    vault.row(item_id[:1] + bytes(31))


@pytest.mark.parametrize("table", ["item_node", "token_node", "group_node"])
def test_older_nodes(path, writer, tmp_path, table):
  writer.put(generic("new", "one", "new group"), b"x", 0)
  newer = tmp_path / "newer.db"
  writer.write(newer)
  replace_table(newer, table, path)
  assert problems(newer) == {table}


def test_tree_of_another_count(path, writer):
  opens = writer.tiers[0]
  items, *others = forging.state_of(path, opens).state.roots
  forging.forge_state(path, opens, roots=(replace(items, count=items.count + 1), *others))
  assert problems(path) == {"item_node-root"}
  with pytest.raises(Damage):
    opened(path).row(bytes(32))


# Every row of every table, replaced by an older one.


@pytest.fixture
def two(tmp_path):
  """A small vault, and an older state of it."""
  writer = VaultWriter("pairs")
  with writer.transaction():
    writer.add_key_file(KEY_FILE)
    writer.add_recovery_code(bytes(range(16)))
  writer.rekey(Reason.ON_REQUEST)
  for account in ("a", "b", "gone"):
    writer.put(generic("s", account, "group"), account.encode(), 0)
  writer.write(tmp_path / "old.db")
  writer.add_recipient(Keys(digest(32, b"somebody")).recipient())
  writer.put(generic("s", "a", "group"), b"newer", 0)
  writer.remove(writer.id_of(generic("s", "gone", "group").identity))
  writer.put(generic("s", "new", "other group"), b"new", 2)
  writer.write(tmp_path / "new.db")
  return tmp_path / "new.db", tmp_path / "old.db"


NEWEST = {"a": b"newer", "b": b"b", "new": b"new"}


def found(path) -> dict[str, bytes | None]:
  """What is found by name and by search; an item may be damaged, but not old or absent."""
  try:
    vault = opened(path)
  except VaultError:
    return {}
  read = {}
  for account, group in (("a", "group"), ("b", "group"), ("new", "other group"), ("gone", "group")):
    try:
      item = vault.find(generic("s", account, group).identity)
      read[account] = item.secret if item else None
    except Damage:
      continue
  return read


def check_newest(read: dict[str, bytes | None], replacement) -> None:
  for account, secret in read.items():
    assert secret == NEWEST.get(account), replacement


@pytest.mark.parametrize("rows", [older_rows, all_pairs])
def test_no_row_can_be_replaced(two, rows):
  """Neither a lookup nor a verification takes a row of another place or of another time."""
  path, older = two
  assert found(path) == NEWEST | {"gone": None}
  tried = 0
  for replacement in rows(path, older):
    copy = copied(path)
    replacement.perform(copy)
    check_newest(found(copy), replacement)
    try:
      assert problems(copy), replacement
    except VaultError:
      pass
    tried += 1
  assert tried >= (10 if rows is older_rows else 100), tried


def test_whole_older_tables(two):
  path, older = two
  for table in ("item", "token", "access_group", "item_node", "token_node", "slot", "state"):
    copy = copied(path)
    replace_table(copy, table, older)
    check_newest(found(copy), table)
    try:
      assert problems(copy), table
    except VaultError:
      pass
