"""Attacks on the nodes of the trees by who can write the file: missing, moved, of the other tree."""

from __future__ import annotations

import pytest

from attack_testing import attacked, keyed, refused, t0_of
from conftest import homes
from prefs_testing import Home

import vault_keys as keys
from vault_notation import text, u8
from vault_rows import change, drop_row, put_rows, rows_of, swap_rows
from vault_tree import Tree

# So many items that the trees of items and tokens have inner nodes.
MANY = 35


@pytest.fixture(scope="module")
def many(program):
  with homes(program) as make:
    home = keyed(make())
    for number in range(MANY):
      home.set(f"item {number}", b"secret", "--attribute", f"number={number}")
    yield home


def nodes(home: Home, tree: Tree) -> list[int]:
  return [prefix for prefix, in rows_of(home.vault, tree.table)]


def leaf_of(home: Home, tree: Tree, number: int) -> int:
  """The leaf of an item, or of its attribute; no prefix of a small tree has two half bytes."""
  t0 = t0_of(home)
  key = keys.attribute_token(t0, "number", str(number))
  if tree == Tree.ITEMS:
    identity = text("") + text("default") + text(f"item {number}")
    key = keys.item_id(t0, u8(0) + identity)
  return 16 + (key[0] >> 4) if tree == Tree.ITEMS else max(
    prefix for prefix in nodes(home, tree) if prefix in (16 + (key[0] >> 4), 256 + key[0]))


def found(home: Home, tree: Tree, number: int) -> int:
  """Looks for what lies below a leaf, and returns the exit code; it is there, or damaged."""
  looking = (["get", f"item {number}"] if tree == Tree.ITEMS
             else ["list", "--attribute", f"number={number}"])
  outcome = home.run(*looking, code=None)
  right = b"secret" if tree == Tree.ITEMS else f"item {number}".encode()
  assert outcome.code == 65 or (outcome.code == 0 and right in outcome.out), outcome
  return outcome.code


def test_trees_have_inner_nodes(many):
  assert len(nodes(many, Tree.ITEMS)) > 10 and len(nodes(many, Tree.TOKENS)) > 10


@pytest.mark.parametrize("tree", [Tree.ITEMS, Tree.TOKENS], ids=["items", "tokens"])
@pytest.mark.parametrize("attack", [
  "missing", "moved", "of the other tree", "none", "no root", "content"])
def test_nodes_missing_moved_or_of_the_other_tree(many, tree, attack):
  """What lies below such a node is damaged, and never absent; what lies elsewhere is there."""
  table, leaf = tree.table, leaf_of(many, tree, 0)
  away = next(number for number in range(1, MANY) if leaf_of(many, tree, number) != leaf)
  sibling = leaf_of(many, tree, away)
  third = next((number for number in range(1, MANY)
                if leaf_of(many, tree, number) not in (leaf, sibling)), None)
  other = rows_of(many.vault, (Tree.TOKENS if tree == Tree.ITEMS else Tree.ITEMS).table)
  with attacked(many, **{"item 0": b"secret"}):
    if attack == "missing":
      drop_row(many.vault, table, (leaf,))
    elif attack == "moved":
      swap_rows(many.vault, table, (leaf,), (sibling,))
    elif attack == "of the other tree":
      put_rows(many.vault, table, *(other.get((place,), (place, b"")) for place in (leaf, sibling)))
    elif attack == "none":
      change(many.vault, f"DELETE FROM {table}")
    elif attack == "no root":
      drop_row(many.vault, table, (1,))
    else:
      change(many.vault, f"UPDATE {table} SET content = zeroblob(length(content)) WHERE prefix = ?",
             leaf)
    refused(many, "verify")
    assert found(many, tree, 0) == 65
    whole = attack in ("none", "no root")
    assert found(many, tree, third) == (65 if whole else 0)


def test_new_item_below_a_missing_node(many):
  """A writer checks the paths that it changes, and adds nothing to a tree that does not hold."""
  with attacked(many, **{"item 0": b"secret"}):
    change(many.vault, "DELETE FROM item_node WHERE prefix > 1")
    before = many.vault.read_bytes()
    refused(many, "set", "item 0", input=b"x")
    refused(many, "delete", "item 0")
    assert many.vault.read_bytes() == before
