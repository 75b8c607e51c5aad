"""Attacks on items and tokens by who can write the file: dropped, old, swapped, put back."""

from __future__ import annotations

import pytest

from attack_testing import (
  KEY, attacked, item_added, keyed, older, refused, refused_everywhere)
from prefs_testing import Home

from vault_rows import (
  change, columns, drop_item, drop_row, put_item_back, put_rows, replace_table, rows_of,
  swap_rows)
from vault_tree import Tree


class Items:
  """A vault with two items, and an older copy in which one of them has another secret."""

  def __init__(self, home: Home) -> None:
    self.home = keyed(home)
    self.alice = item_added(home, "alice", b"old secret", "--attribute", "env=live")
    self.bob = item_added(home, "bob", b"b", "--attribute", "env=live")
    self.old = older(home)
    home.set("alice", b"secret", "--attribute", "env=live")
    self.vault = home.vault


@pytest.fixture
def items(home) -> Items:
  return Items(home)


def lists_are_refused(home: Home) -> None:
  for filters in ([], ["--all-groups"], ["--account", "alice"], ["--service", "default"],
                  ["--attribute", "env=live"], ["--account", "alice", "--attribute", "env=live"]):
    refused(home, "list", *filters)


def test_old_row_with_its_tokens(items):
  with attacked(items.home, alice=b"secret"):
    put_item_back(items.vault, items.old, items.alice)
    refused_everywhere(items.home, "alice")
    assert items.home.get("bob") == b"b"


def test_old_row_with_its_tokens_and_trees(items):
  """All rows of items and trees are of the older copy; the state is not."""
  with attacked(items.home, alice=b"secret"):
    for table in ("item", "token", *(tree.table for tree in Tree)):
      replace_table(items.vault, table, items.old)
    refused_everywhere(items.home, "alice")
    refused(items.home, "get", "bob")


def test_dropped_item_with_its_tokens(items):
  with attacked(items.home, alice=b"secret"):
    drop_item(items.vault, items.alice)
    refused_everywhere(items.home, "alice")
    lists_are_refused(items.home)
    refused(items.home, "rekey", "--yes", *KEY)
    assert items.home.get("bob") == b"b"


def test_two_rows_swapped(items):
  with attacked(items.home, alice=b"secret"):
    swap_rows(items.vault, "item", (items.alice,), (items.bob,))
    refused_everywhere(items.home, "alice")
    refused_everywhere(items.home, "bob")
    # What needs no secret neither takes one row for the other.
    lists_are_refused(items.home)


@pytest.mark.parametrize("column", [
  "class", "version", "tokens", "hash", "metadata", "secret"])
def test_column_of_an_older_or_another_row(items, column):
  names = columns(items.vault, "item")
  with attacked(items.home, alice=b"secret"):
    good = items.vault.read_bytes()
    older_row = rows_of(items.old, "item")[items.alice,]
    for row in (older_row, rows_of(items.vault, "item")[items.bob,]):
      value = row[names.index(column)] if column != "class" else 2
      items.vault.write_bytes(good)
      change(items.vault, f"UPDATE item SET {column} = ? WHERE id = ?", value, items.alice)
      if items.vault.read_bytes() != good and value != rows_of_good(items, column):
        refused(items.home, "get", "alice")
        refused(items.home, "verify")


def rows_of_good(items: Items, column: str):
  """What the column had: items of the same names and attributes have the same tokens."""
  row = rows_of(items.old, "item")[items.alice,]
  return row[columns(items.old, "item").index(column)] if column == "tokens" else None


def test_hidden_item_cannot_be_added_again(items):
  """The hole of sums: hide a row, have the name added and deleted, put the first row back."""
  home, good = items.home, older(items.home, "good.db")
  drop_item(items.vault, items.alice)
  refused(home, "set", "alice", words="alice", input=b"next secret")
  refused(home, "delete", "alice", words="alice")
  # Other writes go on meanwhile.
  home.set("carol", b"c")
  refused(home, "verify")
  put_item_back(items.vault, items.old, items.alice)
  refused(home, "get", "alice", words="alice")
  put_item_back(items.vault, good, items.alice)
  assert home.get("alice") == b"secret" and home.get("carol") == b"c"
  home.run("verify")


def test_deleted_item_put_back(items):
  """Absence is proven, whatever lies in the table."""
  home = items.home
  home.run("delete", "alice")
  with attacked(home, bob=b"b"):
    put_item_back(items.vault, items.old, items.alice)
    refused(home, "get", "alice")
    refused(home, "verify")
    refused(home, "list")
    # Found by a name, it is proven absent.
    assert home.run("list", "--account", "alice").out == b""
    refused(home, "set", "alice", input=b"next secret")


def test_deleted_and_added_again(items):
  """Check-and-set and item keys: a version of before the deletion never comes again."""
  home = items.home
  home.run("delete", "alice")
  home.set("alice", b"newest secret", "--attribute", "env=live")
  with attacked(home, alice=b"newest secret"):
    put_item_back(items.vault, items.old, items.alice)
    refused_everywhere(home, "alice")


# Tokens.


def test_dropped_token(items):
  """A search would miss the item."""
  with attacked(items.home, alice=b"secret"):
    change(items.vault, "DELETE FROM token WHERE item = ?", items.alice)
    refused(items.home, "list", "--attribute", "env=live")
    refused(items.home, "list", "--account", "alice")
    refused(items.home, "verify")
    assert items.home.get("alice") == b"secret"


def test_token_of_another_item(items):
  """A search would find it instead, or as well; two may also be swapped."""
  own = {row[0] for row in items.home.rows("SELECT token FROM token WHERE item = ?", items.bob)}
  alices = {row[0] for row in items.home.rows("SELECT token FROM token WHERE item = ?", items.alice)}
  (token,), (other,) = alices - own, own - alices
  with attacked(items.home, alice=b"secret"):
    good = items.vault.read_bytes()
    put_rows(items.vault, "token", (token, items.bob))
    refused(items.home, "list", "--account", "alice")
    refused(items.home, "verify")
    change(items.vault, "DELETE FROM token WHERE token = ? AND item = ?", token, items.alice)
    refused(items.home, "list", "--account", "alice")
    drop_row(items.vault, "token", (other, items.bob))
    put_rows(items.vault, "token", (other, items.alice))
    refused(items.home, "list", "--account", "bob")
    items.vault.write_bytes(good)


def test_access_group_of_another_name(home):
  """The row of a group is dropped, exchanged, or put back under another token."""
  keyed(home)
  for group in ("one", "two"):
    home.set(group, b"secret", "--access-group", group)
  with attacked(home):
    good = home.vault.read_bytes()
    one, two = rows_of(home.vault, "access_group")
    for attack in (lambda: swap_rows(home.vault, "access_group", one, two),
                   lambda: drop_row(home.vault, "access_group", one),
                   lambda: change(home.vault, "UPDATE access_group SET class = 2")):
      home.vault.write_bytes(good)
      attack()
      refused(home, "verify")
      listed = home.run("list", "--all-groups", code=None)
      assert listed.code == 65, listed
      # The name is given here, and need not be read.
      assert home.get("one", "--access-group", "one") == b"secret"
