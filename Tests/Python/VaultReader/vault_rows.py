"""What somebody without any key can do with the rows of a vault: copy, drop, swap, put back."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from vault_schema import TABLES
from vault_tables import insert

# How many of the first columns are the key of a table.
KEY_COUNTS = {table: 2 if table in ("token", "access_group") else 1 for table in TABLES}

Key = tuple
Row = tuple


def change(path: Path, sql: str, *values) -> int:
  """Runs a statement, and returns how many rows it changed."""
  with closing(sqlite3.connect(path)) as connection, connection:
    connection.execute("PRAGMA synchronous = OFF")
    return connection.execute(sql, values).rowcount


def columns(path: Path, table: str) -> list[str]:
  with closing(sqlite3.connect(path)) as connection:
    return [column[1] for column in connection.execute(f"PRAGMA table_info({table})")]


def rows_of(path: Path, table: str) -> dict[Key, Row]:
  """All rows of a table, by their keys."""
  with closing(sqlite3.connect(path)) as connection:
    found = connection.execute(f"SELECT * FROM {table}").fetchall()
  return {row[: KEY_COUNTS[table]]: row for row in found}


def all_rows(path: Path) -> dict[str, dict[Key, Row]]:
  return {table: rows_of(path, table) for table in TABLES}


def put_rows(path: Path, table: str, *rows: Row) -> None:
  """Inserts rows, or replaces those that have the same key."""
  with closing(sqlite3.connect(path)) as connection, connection:
    connection.execute("PRAGMA synchronous = OFF")
    insert(connection, table, rows)


def drop_row(path: Path, table: str, key: Key) -> None:
  names = columns(path, table)[: KEY_COUNTS[table]]
  condition = " AND ".join(f"{name} = ?" for name in names)
  assert change(path, f"DELETE FROM {table} WHERE {condition}", *key) == 1


def replace_row(path: Path, table: str, key: Key, row: Row) -> None:
  """Puts a row, whatever its key, where another one is."""
  drop_row(path, table, key)
  put_rows(path, table, row)


def replace_table(path: Path, table: str, other: Path) -> None:
  """Puts all rows of another file's table in place of those of this one."""
  change(path, f"DELETE FROM {table}")
  put_rows(path, table, *rows_of(other, table).values())


def swap_rows(path: Path, table: str, one: Key, two: Key) -> None:
  """Swaps what two rows hold, and leaves their keys."""
  count, rows = KEY_COUNTS[table], rows_of(path, table)
  put_rows(path, table, one + rows[two][count:], two + rows[one][count:])


def drop_item(path: Path, item_id: bytes) -> None:
  """Drops an item with its tokens, so that only a tree shows that it was there."""
  drop_row(path, "item", (item_id,))
  change(path, "DELETE FROM token WHERE item = ?", item_id)


def put_item_back(path: Path, older: Path, item_id: bytes) -> None:
  """Puts the row of an item and its tokens back as an older file has them."""
  change(path, "DELETE FROM item WHERE id = ?", item_id)
  change(path, "DELETE FROM token WHERE item = ?", item_id)
  put_rows(path, "item", rows_of(older, "item")[item_id,])
  put_rows(path, "token", *(row for row in rows_of(older, "token").values() if row[1] == item_id))


@dataclass(frozen=True)
class Replacement:
  """A row, and what an attacker puts in its place: nothing, if there is no other row."""

  table: str
  key: Key
  row: Row | None

  def __str__(self) -> str:
    shown = [part.hex()[:8] if isinstance(part, bytes) else str(part) for part in self.key]
    return f"{self.table} {' '.join(shown)}" + (" dropped" if self.row is None else "")

  def perform(self, path: Path) -> None:
    if self.row is None:
      drop_row(path, self.table, self.key)
    else:
      put_rows(path, self.table, self.row)


def older_rows(path: Path, older: Path) -> Iterator[Replacement]:
  """Each row of a vault that an older file has otherwise; the rows that it lacks are dropped."""
  before = all_rows(older)
  for table, rows in all_rows(path).items():
    for key, row in rows.items():
      if before[table].get(key) != row:
        yield Replacement(table, key, before[table].get(key))
    for key, row in before[table].items():
      if key not in rows:
        yield Replacement(table, key, row)


def all_pairs(path: Path, older: Path) -> Iterator[Replacement]:
  """Each row of a vault with the content of each other row of the same table, new or old."""
  before = all_rows(older)
  for table, rows in all_rows(path).items():
    count = KEY_COUNTS[table]
    contents = {row[count:] for row in (*rows.values(), *before[table].values()) if row[count:]}
    for key, row in rows.items():
      yield Replacement(table, key, None)
      for content in sorted(contents - {row[count:]}, key=repr):
        yield Replacement(table, key, key + content)


def copied(path: Path, name: str = "copy.db") -> Path:
  """A copy of a vault next to it, in place of an earlier one."""
  copy = path.with_name(name)
  shutil.copyfile(path, copy)
  copy.chmod(0o600)
  return copy
