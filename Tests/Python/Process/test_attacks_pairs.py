"""Every row of every table replaced by an older one of the same vault: all pairs, in a small vault.

Each row of the newest file is dropped, and gets the content of each other row of its table, of the
newest file and of each file before it; rows that are gone are put back. Of each, `verify` must find
the vault damaged, and `get` must give the newest value, absence that is proven, or damage.

Not covered here: pairs across tables (see `test_attacks_nodes.py`), and several rows at once (see
`test_attacks_items.py`). The second reader has its own test of these pairs, with more of them.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from attack_testing import KEY, add_recipient, keyed, older
from conftest import homes
from prefs_testing import Home

from vault_rows import KEY_COUNTS, Replacement, all_rows
from vault_schema import TABLES

# What is true at the end; `gone` was deleted.
TRUTH = {"alice": b"newest", "bob": b"b", "gone": None}


class History:
  """A vault, and copies of it after each change."""

  def __init__(self, home: Home) -> None:
    self.home, self.copies = keyed(home), []
    for step in (
      lambda: home.set("alice", b"old", "--attribute", "env=a"),
      lambda: home.set("gone", b"deleted"),
      lambda: home.set("bob", b"b", "--access-group", "team"),
      lambda: home.set("alice", b"older", "--attribute", "env=b"),
      lambda: home.run("delete", "gone"),
      lambda: add_recipient(home, "theirs"),
      lambda: home.run("slots", "remove", "3", "--keep-keys", "--yes", *KEY),
      lambda: home.set("alice", b"newest", "--attribute", "env=a")):
      self.copies.append(older(home, f"{len(self.copies)}.db"))
      step()
    self.newest = older(home, "newest.db")
    self.seen = {path: path.read_bytes() for path in (home.state / "seen").iterdir()}

  def put_newest(self) -> None:
    shutil.copyfile(self.newest, self.home.vault)
    for path, contents in self.seen.items():
      path.write_bytes(contents)


@pytest.fixture(scope="module")
def history(program):
  with homes(program) as make:
    yield History(make())


def pairs(newest: Path, copies: list[Path], table: str) -> list[Replacement]:
  """All that can be put in the place of each row of a table."""
  rows, before = all_rows(newest)[table], [all_rows(copy)[table] for copy in copies]
  count = KEY_COUNTS[table]
  if table == "token":
    # The key is the whole row.
    gone = {key for old in before for key in old} - set(rows)
    return [Replacement(table, key, None) for key in rows] + [
      Replacement(table, key, key) for key in sorted(gone)]
  contents = {row[count:] for old in (rows, *before) for row in old.values()}
  found = []
  for key, row in rows.items():
    found.append(Replacement(table, key, None))
    found += [Replacement(table, key, key + content)
              for content in sorted(contents - {row[count:]}, key=repr)]
  gone = {key: row for old in before for key, row in old.items() if key not in rows}
  return found + [Replacement(table, key, row) for key, row in gone.items()]


@pytest.mark.parametrize("table", [*TABLES, "chain, second half"])
def test_all_pairs(history, table):
  half, table = "half" in table, table.split(",")[0]
  home, tried = history.home, pairs(history.newest, history.copies, table)
  if table == "chain":
    tried = tried[len(tried) // 2 :] if half else tried[: len(tried) // 2]
  # The tables of which every row is as it always was.
  assert tried or table == "succession"
  for replacement in tried:
    history.put_newest()
    replacement.perform(home.vault)
    checked = home.run("verify", code=None)
    assert checked.code == 65, f"{replacement}: {checked}"
    for account in TRUTH if table == "item" else ["alice"]:
      group = ["--access-group", "team"] if account == "bob" else []
      got, right = home.run("get", account, *group, code=None), TRUTH[account]
      if got.code == 0:
        assert got.out == right, f"{replacement}: {got}"
      else:
        assert got.code == (44 if right is None and got.code == 44 else 65), f"{replacement}: {got}"
  history.put_newest()
  home.run("verify")
  assert home.get("alice") == b"newest"


def test_the_newest_rows_are_believed(history):
  """So that the test of pairs does not hold for a reason of its own."""
  history.put_newest()
  history.home.run("verify")
  for account, right in TRUTH.items():
    group = ["--access-group", "team"] if account == "bob" else []
    got = history.home.run("get", account, *group, code=44 if right is None else 0)
    assert got.out == (right or b"")
