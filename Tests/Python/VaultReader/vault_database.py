"""Reads the rows of a vault from its database, and performs all checks that need no key."""

from __future__ import annotations

import os
import sqlite3
import stat
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from urllib.parse import quote

from vault_notation import BOX_OVERHEAD, FormatError, is_padded_count
from vault_records import (
  APPLICATION_ID, FORMAT, MAXIMUM_SLOTS, SCHEMA, Granted, GroupRow, ItemRow, SlotKind, SlotRow,
  VaultRow, check_cost)
from vault_keys import ACCESSIBILITIES, DEVICE_CLASSES

MAXIMUM_PASSPHRASE_SLOTS = 8
MAXIMUM_ROW_COUNT = 21631056
MAXIMUM_METADATA_BOX_COUNT = 4325416
MAXIMUM_SECRET_BOX_COUNT = 17301544
JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")


class VaultError(Exception):
  """Why a vault cannot be read at all; `code` is one word for programs."""

  def __init__(self, code: str, message: str) -> None:
    super().__init__(message)
    self.code = code


@dataclass(frozen=True, order=True)
class Problem:
  """A fault in a readable vault."""

  code: str
  subject: str


@dataclass
class Rows:
  """All rows, as they lie in the file; of the slots those that have the shape of one."""

  vault: VaultRow
  state_box: bytes
  slots: list[SlotRow]
  shapeless_slots: list[object]
  items: list[ItemRow]
  groups: list[GroupRow]
  tokens_by_token: set[tuple[bytes, bytes]]
  tokens_by_item: set[tuple[bytes, bytes]]
  problems: list[Problem] = field(default_factory=list)

  def tokens_of(self, item_id: bytes) -> list[bytes]:
    return self._tokens.get(item_id, [])

  def has_damaged_slots(self) -> bool:
    return len(self.intact_slots()) < self.slot_count()

  def intact_slots(self) -> list[SlotRow]:
    """The slots that may open the vault."""
    return [slot for slot in self.slots if slot.computed_sum() == slot.sum]

  def slot_count(self) -> int:
    return len(self.slots) + len(self.shapeless_slots)

  @cached_property
  def _tokens(self) -> dict[bytes, list[bytes]]:
    tokens: dict[bytes, list[bytes]] = {}
    for token, item in sorted(self.tokens_by_token):
      tokens.setdefault(item, []).append(token)
    return tokens


def read_rows(path: Path) -> Rows:
  """Reads a vault in one snapshot; raises `VaultError` if it is not a vault of format 1."""
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
    raise VaultError("damaged", f"SQLite: {error}") from None


def rows_of(connection: sqlite3.Connection) -> Rows:
  check_file(connection)
  check_lengths(connection)
  problems = [
    Problem("database", line)
    for (line,) in connection.execute("PRAGMA integrity_check") if line != "ok"]
  try:
    rows = take_rows(connection)
  except (FormatError, TypeError, ValueError) as error:
    raise VaultError("damaged", f"a row is not one of format 1: {error}") from None
  rows.problems = problems
  check_slot_limits(rows)
  rows.problems += problems_without_keys(rows)
  return rows


def check_files_beside(path: Path) -> None:
  """Refuses files that SQLite would trust, delete or wait for."""
  journal, log, shared = (Path(f"{path}{suffix}") for suffix in ("-journal", "-wal", "-shm"))
  for file in (journal, log, shared):
    if os.path.lexists(file):
      check_own(file)
  if log.exists() and log.stat().st_size > 0:
    raise VaultError("damaged", f"{log} is not empty")
  end = journal.read_bytes()[-16:] if journal.exists() else b""
  if len(end) == 16 and end[8:] == JOURNAL_MAGIC and end[:4] != bytes(4):
    raise VaultError("damaged", f"{journal} names a super-journal")


def check_own(file: Path) -> None:
  found = file.lstat()
  is_own = stat.S_ISREG(found.st_mode) and found.st_nlink == 1 and found.st_uid == os.geteuid()
  if not is_own or found.st_mode & 0o077:
    raise VaultError("refused", f"{file} is not a file of the user that is closed to others")


def check_header(path: Path) -> None:
  with open(path, "rb") as file:
    header = file.read(20)
  if header[:16] != b"SQLite format 3\0":
    raise VaultError("foreign", "the file is not a vault")
  if header[18:20] != b"\1\1":
    raise VaultError("damaged", "the journal mode is WAL")


def check_file(connection: sqlite3.Connection) -> None:
  if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
    raise VaultError("foreign", "the file is not a vault")
  version = connection.execute("PRAGMA user_version").fetchone()[0]
  if version > FORMAT:
    raise VaultError("newer-format", f"the vault has format {version}")
  if version != FORMAT:
    raise VaultError("damaged", f"there is no format {version}")
  found = connection.execute(
    "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL OR name NOT GLOB 'sqlite_autoindex_*'")
  if sorted(sql or "" for (sql,) in found) != sorted(SCHEMA):
    raise VaultError("damaged", "the schema is not that of format 1")


def check_lengths(connection: sqlite3.Connection) -> None:
  """Refuses rows that are too long, before one is loaded; SQLite's own limit is for single columns."""
  for table in ("vault", "state", "slot", "item", "token", "access_group"):
    columns = [column[1] for column in connection.execute(f"PRAGMA table_info({table})")]
    count = " + ".join(f"coalesce(length({column}), 0)" for column in columns)
    if connection.execute(
        f"SELECT 1 FROM {table} WHERE {count} > {MAXIMUM_ROW_COUNT} LIMIT 1").fetchone():
      raise VaultError("damaged", f"a row of {table} is too long")


def take_rows(connection: sqlite3.Connection) -> Rows:
  vaults = connection.execute("SELECT one, check0, check1, check2, sum FROM vault").fetchall()
  states = connection.execute("SELECT one, box FROM state").fetchall()
  if [row[0] for row in vaults] != [1] or [row[0] for row in states] != [1]:
    raise FormatError("there is not exactly one vault row and one state row")
  _, *checks, total = vaults[0]
  for check in checks:
    require_blob(check, 16)
  slots = connection.execute(
    "SELECT number, kind, granted, parameters, salt, commitment, box, mac, sum FROM slot"
    f" ORDER BY number LIMIT {MAXIMUM_SLOTS + 1}")
  shaped = [(row[0], well_shaped_slot(row)) for row in slots]
  items = connection.execute(
    "SELECT id, class, device, version, metadata, secret FROM item ORDER BY id")
  groups = connection.execute("SELECT token, class, box FROM access_group ORDER BY token, class")
  return Rows(
    VaultRow(tuple(checks), require_blob(total, 16)), require_blob(states[0][1]),
    [slot for _, slot in shaped if slot is not None],
    [number for number, slot in shaped if slot is None], [item_of(row) for row in items],
    [group_of(row) for row in groups],
    tokens_of(connection, "ORDER BY token, item"),
    tokens_of(connection, "INDEXED BY token_by_item"))


def tokens_of(connection: sqlite3.Connection, through: str) -> set[tuple[bytes, bytes]]:
  """The token rows, read through one of the two trees that hold them.

  SQLite reads the index even for `NOT INDEXED`, because it covers the table; only an order makes it
  walk the table's own tree.
  """
  rows = connection.execute(f"SELECT token, item FROM token {through}")
  return {(require_blob(token, 16), require_blob(item, 32)) for token, item in rows}


def well_shaped_slot(row: tuple) -> SlotRow | None:
  try:
    return slot_of(row)
  except (FormatError, ValueError):
    return None


def slot_of(row: tuple) -> SlotRow:
  slot = SlotRow(*row)
  if require_integer(slot.number) not in range(1, 1 << 32):
    raise FormatError("the number of a slot is none of 32 bits")
  SlotKind(require_integer(slot.kind))
  Granted(require_integer(slot.granted))
  if slot.kind != SlotKind.DEVICE and slot.granted != Granted.ROOT:
    raise FormatError("a slot that must grant the root key grants another")
  sizes = {SlotKind.PASSPHRASE: 12, SlotKind.RECIPIENT: 32}
  require_blob(slot.parameters, sizes.get(slot.kind, 0))
  require_blob(slot.salt, 32)
  require_blob(slot.commitment, 32)
  # A sealed box is the sender's public key (32 bytes), a tag (16) and the granted key.
  require_blob(slot.box, 80 if slot.kind == SlotKind.RECIPIENT else BOX_OVERHEAD + 32)
  require_blob(slot.mac, 32)
  require_blob(slot.sum, 16)
  if slot.kind == SlotKind.PASSPHRASE:
    check_cost(*slot.cost())
  return slot


def item_of(row: tuple) -> ItemRow:
  item = ItemRow(*row)
  require_blob(item.id, 32)
  require_integer(item.item_class)
  require_integer(item.version)
  if item.device is not None:
    require_blob(item.device, 16)
  require_blob(item.metadata)
  require_blob(item.secret)
  return item


def group_of(row: tuple) -> GroupRow:
  group = GroupRow(*row)
  require_blob(group.token, 16)
  if require_integer(group.item_class) not in range(len(ACCESSIBILITIES)):
    raise FormatError("the name of a group is of no known class")
  if not is_padded_count(len(require_blob(group.box)) - BOX_OVERHEAD):
    raise FormatError("the name of a group has no padded length")
  return group


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
    raise VaultError("damaged", "the vault has too many slots")


def problems_without_keys(rows: Rows) -> list[Problem]:
  problems = [Problem("slot-shape", f"slot {number}") for number in rows.shapeless_slots]
  problems += [
    Problem("slot-sum", f"slot {slot.number}")
    for slot in rows.slots if slot.computed_sum() != slot.sum]
  if rows.vault.computed_sum() != rows.vault.sum:
    problems.append(Problem("vault-sum", "vault row"))
  problems += [
    Problem("item-shape", item.id.hex()) for item in rows.items if not has_shape(item)]
  return problems + slot_rule_problems(rows.slots) + tree_problems(rows)


def has_shape(item: ItemRow) -> bool:
  """Whether the columns of an item agree with one another, as far as that shows without a key."""
  boxes = (item.metadata, item.secret)
  return (
    item.item_class in range(len(ACCESSIBILITIES)) and item.version >= 1
    and (item.device is not None) == (item.item_class in DEVICE_CLASSES)
    and len(item.metadata) <= MAXIMUM_METADATA_BOX_COUNT
    and len(item.secret) <= MAXIMUM_SECRET_BOX_COUNT
    and all(is_padded_count(len(box) - BOX_OVERHEAD) for box in boxes))


def slot_rule_problems(slots: list[SlotRow]) -> list[Problem]:
  """A device slot may grant the root key only where there is no stronger slot."""
  if not {slot.kind for slot in slots} & {SlotKind.PASSPHRASE, SlotKind.KEY_FILE}:
    return []
  return [
    Problem("device-grant", f"slot {slot.number}")
    for slot in slots if slot.kind == SlotKind.DEVICE and slot.granted == Granted.ROOT]


def tree_problems(rows: Rows) -> list[Problem]:
  """Compares the two token trees, and both with the item tree."""
  differing = rows.tokens_by_token ^ rows.tokens_by_item
  ids = {item.id for item in rows.items}
  strays = {item for _, item in rows.tokens_by_token if item not in ids}
  unfound = {id for id in ids if (id[:16], id) not in rows.tokens_by_token}
  return (
    [Problem("token-trees", item.hex()) for item in {item for _, item in differing}]
    + [Problem("token-without-item", item.hex()) for item in strays]
    + [Problem("item-without-token", id.hex()) for id in unfound])
