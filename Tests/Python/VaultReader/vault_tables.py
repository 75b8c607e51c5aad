"""Writes the tables of a vault, as they are given."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from vault_schema import APPLICATION_ID, FORMAT, SCHEMA


def write_tables(path: Path, tables: dict[str, Iterable[tuple]]) -> None:
  """Makes the file of a vault; it must not exist yet."""
  os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
  with closing(sqlite3.connect(path)) as connection:
    connection.execute("PRAGMA synchronous = OFF")  # Test data need not survive a power loss.
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    with connection:
      for statement in SCHEMA:
        connection.execute(statement)
      for table, rows in tables.items():
        insert(connection, table, rows)


def insert(connection: sqlite3.Connection, table: str, rows: Iterable[tuple]) -> None:
  """Inserts rows, or replaces those that have the same key."""
  for row in rows:
    places = ", ".join("?" * len(row))
    connection.execute(f"REPLACE INTO {table} VALUES ({places})", row)
