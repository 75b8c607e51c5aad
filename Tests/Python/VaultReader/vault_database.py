"""Reads the rows of a vault from its database, and performs all checks that need no key."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from urllib.parse import quote

from vault_file import Damage, Problem, VaultError, check_files_beside, check_header
from vault_keys import ACCESSIBILITIES, DEVICE_CLASSES
from vault_notation import BOX_OVERHEAD, FormatError, is_padded_count
from vault_records import GroupRow, Head, ItemRow, features
from vault_schema import (
  APPLICATION_ID, CHAIN_COUNT, FORMAT, MAXIMUM_EPOCH, MAXIMUM_GENERATION,
  MAXIMUM_METADATA_BOX_COUNT, MAXIMUM_PASSPHRASE_SLOTS, MAXIMUM_ROW_COUNT,
  MAXIMUM_SECRET_BOX_COUNT, MAXIMUM_SLOTS, MAXIMUM_TOKENS_COUNT, SCHEMA, TABLES)
from vault_slots import SlotKind, SlotRow
from vault_slot_shape import slot_of
from vault_tree import Tree, depth_of

__all__ = ["Damage", "Problem", "Rows", "VaultError", "read_rows"]


@dataclass
class Rows:
  """All rows, as they lie in the file; of the slots those that have the shape of one."""

  head: Head
  list_box: bytes
  administration_box: bytes
  successions: list[tuple[int, bytes]]
  slots: list[SlotRow]
  shapeless_slots: list[object]
  state_box: bytes
  chain: dict[int, bytes]
  items: list[ItemRow]
  tokens: set[tuple[bytes, bytes]]
  groups: list[GroupRow]
  nodes: dict[Tree, dict[int, bytes]]
  problems: list[Problem] = field(default_factory=list)

  def intact_slots(self) -> list[SlotRow]:
    """The slots that may open the vault."""
    return [slot for slot in self.slots if slot.computed_sum() == slot.sum]

  def has_damaged_slots(self) -> bool:
    return len(self.intact_slots()) < self.slot_count()

  def slot_count(self) -> int:
    return len(self.slots) + len(self.shapeless_slots)

  @cached_property
  def items_by_id(self) -> dict[bytes, ItemRow]:
    return {item.id: item for item in self.items}

  @cached_property
  def items_by_token(self) -> dict[bytes, list[bytes]]:
    found: dict[bytes, list[bytes]] = {}
    for token, item in sorted(self.tokens):
      found.setdefault(token, []).append(item)
    return found


def read_rows(path: Path) -> Rows:
  """Reads a vault in one snapshot; raises `VaultError` if it is not a vault of format 2."""
  # Before SQLite opens the file: opening and closing it beside SQLite would drop SQLite's locks.
  real = path.resolve(strict=True)
  check_files_beside(real)
  check_header(real)
  uri = f"file:{quote(str(real))}?mode=ro"
  try:
    connection = sqlite3.connect(uri, uri=True, isolation_level=None)
    try:
      connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAXIMUM_ROW_COUNT)
      connection.execute("BEGIN")
      return rows_of(connection)
    finally:
      connection.close()
  except sqlite3.DatabaseError as error:
    raise Damage("database", f"SQLite: {error}") from None


def rows_of(connection: sqlite3.Connection) -> Rows:
  check_file(connection)
  check_lengths(connection)
  problems = [
    Problem("database", line)
    for (line,) in connection.execute("PRAGMA integrity_check") if line != "ok"]
  try:
    rows = take_rows(connection)
  except (FormatError, TypeError, ValueError) as error:
    raise Damage("row", f"a row is not one of format 2: {error}") from None
  rows.problems = problems
  check_slot_limits(rows)
  rows.problems += problems_without_keys(rows)
  return rows


def check_file(connection: sqlite3.Connection) -> None:
  if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
    raise VaultError("foreign", "the file is not a vault")
  version = connection.execute("PRAGMA user_version").fetchone()[0]
  if version == 1:
    raise VaultError("other-format", "the vault has format 1, which only development versions had")
  if version > FORMAT:
    raise VaultError("other-format", f"the vault has format {version}, which is newer")
  if version != FORMAT:
    raise Damage("version", f"there is no format {version}")
  found = connection.execute(
    "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL OR name NOT GLOB 'sqlite_autoindex_*'")
  if sorted(sql or "" for (sql,) in found) != sorted(SCHEMA):
    raise Damage("schema", "the schema is not that of format 2")


def check_lengths(connection: sqlite3.Connection) -> None:
  """Refuses rows that are too long, before one is loaded; SQLite's limit is for single columns."""
  for table in TABLES:
    columns = [column[1] for column in connection.execute(f"PRAGMA table_info({table})")]
    count = " + ".join(f"coalesce(length({column}), 0)" for column in columns)
    if connection.execute(
        f"SELECT 1 FROM {table} WHERE {count} > {MAXIMUM_ROW_COUNT} LIMIT 1").fetchone():
      raise Damage("row-length", f"a row of {table} is too long")


def take_rows(connection: sqlite3.Connection) -> Rows:
  def rows_in(table: str, order: str) -> list[tuple]:
    return connection.execute(f"SELECT * FROM {table} ORDER BY {order}").fetchall()

  heads, lists, states = (rows_in(table, "one") for table in ("head", "members", "state"))
  if [[row[0] for row in rows] for rows in (heads, lists, states)] != [[1], [1], [1]]:
    raise FormatError("there is not exactly one row of head, members and state")
  slots = connection.execute(f"SELECT * FROM slot ORDER BY number LIMIT {MAXIMUM_SLOTS + 1}")
  shaped = [(row[0], well_shaped_slot(row)) for row in slots]
  return Rows(
    head_of(heads[0][1:]), require_blob(lists[0][1]), require_blob(lists[0][2]),
    [(require_integer(epoch), require_blob(record))
     for epoch, record in rows_in("succession", "epoch")],
    [slot for _, slot in shaped if slot is not None],
    [number for number, slot in shaped if slot is None], require_blob(states[0][1]),
    {chain_place(place): require_blob(box) for place, box in rows_in("chain", "place")},
    [item_of(row) for row in rows_in("item", "id")],
    {(require_blob(token, 16), require_blob(item, 32))
     for token, item in rows_in("token", "token, item")},
    [group_of(row) for row in rows_in("access_group", "token, class")],
    {tree: {node_number(prefix): require_blob(content)
            for prefix, content in rows_in(tree.table, "prefix")} for tree in Tree})


def head_of(row: tuple) -> Head:
  """The head; one of a feature that this reader does not know is of a newer format."""
  vault, epoch, *checks, parameters, administration, mac0, mac1, mac2, generation, total = row
  for value, count in (
      (vault, 16), *((check, 16) for check in checks), (administration, 32), (mac0, 32),
      (mac1, 32), (mac2, 32), (total, 16)):
    require_blob(value, count)
  if require_integer(epoch) not in range(1, MAXIMUM_EPOCH + 1) or (
      require_integer(generation) not in range(1, MAXIMUM_GENERATION + 1)):
    raise FormatError("the epoch or the generation is out of range")
  if features(require_blob(parameters)):
    raise VaultError("other-format", "the vault has a feature that is newer")
  return Head(
    vault, epoch, tuple(checks), parameters, administration, (mac0, mac1, mac2), generation, total)


def well_shaped_slot(row: tuple) -> SlotRow | None:
  try:
    return slot_of(row)
  except FormatError:
    return None


def item_of(row: tuple) -> ItemRow:
  item = ItemRow(*row)
  require_blob(item.id, 32)
  require_integer(item.item_class)
  require_integer(item.version)
  if item.device is not None:
    require_blob(item.device, 16)
  require_blob(item.hash, 32)
  for column in (item.tokens, item.metadata, item.secret):
    require_blob(column)
  return item


def group_of(row: tuple) -> GroupRow:
  group = GroupRow(*row)
  require_blob(group.token, 16)
  if require_integer(group.item_class) not in range(len(ACCESSIBILITIES)):
    raise FormatError("the name of a group is of no known class")
  if not is_padded_count(len(require_blob(group.box)) - BOX_OVERHEAD):
    raise FormatError("the name of a group has no padded length")
  return group


def chain_place(value: object) -> int:
  if require_integer(value) not in range(CHAIN_COUNT):
    raise FormatError("an entry of the chain has no place")
  return value


def node_number(value: object) -> int:
  depth_of(require_integer(value))
  return value


def require_blob(value: object, count: int | None = None) -> bytes:
  if not isinstance(value, bytes) or (count is not None and len(value) != count):
    raise FormatError("a column does not hold the bytes it should")
  return value


def require_integer(value: object) -> int:
  if not isinstance(value, int):
    raise FormatError("a column does not hold a number")
  return value


def check_slot_limits(rows: Rows) -> None:
  """Refuses expensive parameters before anything is computed."""
  passphrases = [slot for slot in rows.intact_slots() if slot.kind == SlotKind.PASSPHRASE]
  if rows.slot_count() > MAXIMUM_SLOTS or len(passphrases) > MAXIMUM_PASSPHRASE_SLOTS:
    raise Damage("slot-limit", "the vault has too many slots")


def problems_without_keys(rows: Rows) -> list[Problem]:
  return (
    [Problem("slot-shape", f"slot {number}") for number in rows.shapeless_slots]
    + [Problem("slot-sum", f"slot {slot.number}")
       for slot in rows.slots if slot.computed_sum() != slot.sum]
    + [Problem("item-shape", item.id.hex()) for item in rows.items if not has_shape(item)])


def has_shape(item: ItemRow) -> bool:
  """Whether the columns of an item agree with one another, as far as that shows without a key."""
  boxes, tokens = (item.metadata, item.secret), item.token_list()
  return (
    item.item_class in range(len(ACCESSIBILITIES)) and item.version >= 1
    and (item.device is not None) == (item.item_class in DEVICE_CLASSES)
    and len(item.metadata) <= MAXIMUM_METADATA_BOX_COUNT
    and len(item.secret) <= MAXIMUM_SECRET_BOX_COUNT
    and all(is_padded_count(len(box) - BOX_OVERHEAD) for box in boxes)
    and len(item.tokens) % 16 == 0 and len(item.tokens) <= MAXIMUM_TOKENS_COUNT
    and all(left < right for left, right in zip(tokens, tokens[1:])))
