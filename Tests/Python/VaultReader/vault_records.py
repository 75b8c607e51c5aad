"""The contents of the rows of vault format 1, and their hashes."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

from vault_keys import attribute_token, state_row_key
from vault_notation import (
  Cursor, FormatError, derive, digest, i64, optional, sized, text, u8, u32, u64, xor)

APPLICATION_ID = 0x504B5654
FORMAT = 1
TERM_COUNT = 32
MAXIMUM_SECRET_COUNT = 16 << 20
MAXIMUM_TEXT_COUNT = 1 << 20
MAXIMUM_METADATA_COUNT = 4 << 20
MAXIMUM_PORT = 65535
MAXIMUM_COUNTER = 1 << 48
# How far a counter goes up at most between two looks at a vault.
LARGEST_STEP = 1 << 32
MAXIMUM_SLOTS = 32
MEMORY_LIMITS = range(8 * 1024, (1 << 30) + 1, 1024)
PASSES_LIMITS = range(1, 11)

SCHEMA = (
  "CREATE TABLE vault (one INTEGER PRIMARY KEY CHECK (one = 1), check0 BLOB NOT NULL,"
  " check1 BLOB NOT NULL, check2 BLOB NOT NULL, sum BLOB NOT NULL) STRICT",
  "CREATE TABLE state (one INTEGER PRIMARY KEY CHECK (one = 1), box BLOB NOT NULL) STRICT",
  "CREATE TABLE slot (number INTEGER PRIMARY KEY, kind INTEGER NOT NULL,"
  " granted INTEGER NOT NULL, parameters BLOB NOT NULL, salt BLOB NOT NULL,"
  " commitment BLOB NOT NULL, box BLOB NOT NULL, mac BLOB NOT NULL, sum BLOB NOT NULL) STRICT",
  "CREATE TABLE item (id BLOB NOT NULL PRIMARY KEY, class INTEGER NOT NULL, device BLOB,"
  " version INTEGER NOT NULL, metadata BLOB NOT NULL, secret BLOB NOT NULL)"
  " STRICT, WITHOUT ROWID",
  "CREATE TABLE token (token BLOB NOT NULL, item BLOB NOT NULL, PRIMARY KEY (token, item))"
  " STRICT, WITHOUT ROWID",
  "CREATE INDEX token_by_item ON token (item)",
  "CREATE TABLE access_group (token BLOB NOT NULL, class INTEGER NOT NULL, box BLOB NOT NULL,"
  " PRIMARY KEY (token, class)) STRICT, WITHOUT ROWID",
)

# The names of the texts and the number of an identity, in its order, by its kind.
IDENTITY_NAMES = {
  0: ("service", "account"),
  1: ("server", "protocol", "port", "path", "account", "security-domain", "authentication-type"),
}
RESERVED_NAMES = frozenset(
  {"access-group", "username", "accessibility", "xdg:schema"}.union(*IDENTITY_NAMES.values()))


class SlotKind(IntEnum):
  PASSPHRASE = 1
  KEY_FILE = 2
  DEVICE = 3
  RECOVERY_CODE = 4
  RECIPIENT = 5


class Granted(IntEnum):
  ROOT = 1
  OPEN_TIER = 2


@dataclass(frozen=True)
class Identity:
  """The identity of a credential: its parts are texts, and the port a number."""

  kind: int
  group: str
  parts: tuple[str | int, ...]

  def encoded(self) -> bytes:
    encoded = [text(part) if isinstance(part, str) else u32(part) for part in self.parts]
    return u8(self.kind) + text(self.group) + b"".join(encoded)

  def pairs(self) -> list[tuple[str, str]]:
    """The names and values by which the identity is found."""
    names = IDENTITY_NAMES[self.kind]
    return [("access-group", self.group)] + [
      (name, str(part)) for name, part in zip(names, self.parts, strict=True)]

  @staticmethod
  def take(cursor: Cursor) -> Identity:
    kind = cursor.u8()
    if kind not in IDENTITY_NAMES:
      raise FormatError("an identity has an unknown kind")
    group = cursor.text()
    parts = tuple(
      cursor.u32() if name == "port" else cursor.text() for name in IDENTITY_NAMES[kind])
    if any(isinstance(part, int) and part > MAXIMUM_PORT for part in parts):
      raise FormatError("a port is none")
    return Identity(kind, group, parts)


@dataclass(frozen=True)
class Metadata:
  """All fields of a credential except its secret; times are microseconds since 1970."""

  identity: Identity
  created: int
  modified: int
  label: str | None = None
  comment: str | None = None
  content_type: str | None = None
  expires: int | None = None
  attributes: tuple[tuple[str, str], ...] = ()

  def ordered_attributes(self) -> list[tuple[str, str]]:
    return sorted(self.attributes, key=lambda pair: pair[0].encode("utf-8"))

  def encoded(self) -> bytes:
    texts = (self.label, self.comment, self.content_type)
    ordered = self.ordered_attributes()
    return (
      self.identity.encoded()
      + b"".join(optional(None if value is None else text(value)) for value in texts)
      + i64(self.created) + i64(self.modified)
      + optional(None if self.expires is None else i64(self.expires))
      + u32(len(ordered)) + b"".join(text(name) + text(value) for name, value in ordered))

  def texts(self) -> list[str]:
    """All texts, those of the identity included."""
    parts = [part for part in self.identity.parts if isinstance(part, str)]
    given = [text for text in (self.label, self.comment, self.content_type) if text is not None]
    return [self.identity.group, *parts, *given, *(text for pair in self.attributes for text in pair)]

  @staticmethod
  def decoded(data: bytes) -> Metadata:
    if len(data) > MAXIMUM_METADATA_COUNT:
      raise FormatError("the metadata are too long")
    cursor = Cursor(data)
    identity = Identity.take(cursor)
    label, comment, content_type = (cursor.optional(cursor.text) for _ in range(3))
    created, modified = cursor.i64(), cursor.i64()
    expires = cursor.optional(cursor.i64)
    attributes = tuple((cursor.text(), cursor.text()) for _ in range(cursor.u32()))
    cursor.end()
    check_attribute_names([name for name, _ in attributes])
    metadata = Metadata(
      identity, created, modified, label, comment, content_type, expires, attributes)
    if sum(len(text.encode("utf-8")) for text in metadata.texts()) > MAXIMUM_TEXT_COUNT:
      raise FormatError("the texts of an item are too long")
    return metadata

  def tokens(self, open_key: bytes, item_id: bytes) -> list[bytes]:
    """The tokens of the item, ordered bytewise, each once."""
    pairs = self.identity.pairs() + list(self.attributes)
    found = {attribute_token(open_key, name, value) for name, value in pairs}
    return sorted(found | {item_id[:16]})


def check_attribute_names(names: list[str]) -> None:
  encoded = [name.encode("utf-8") for name in names]
  if any(left >= right for left, right in zip(encoded, encoded[1:])):
    raise FormatError("the attributes are not ordered, or a name occurs twice")
  if "" in names or RESERVED_NAMES.intersection(names):
    raise FormatError("an attribute has no name, or a reserved one")


@dataclass(frozen=True)
class SlotRow:
  number: int
  kind: int
  granted: int
  parameters: bytes
  salt: bytes
  commitment: bytes
  box: bytes
  mac: bytes
  sum: bytes

  def header(self) -> bytes:
    return slot_header(self.kind, self.granted, self.parameters, self.salt)

  def row(self) -> bytes:
    return (
      u32(self.number) + self.header() + sized(self.commitment) + sized(self.box))

  def computed_mac(self, root: bytes) -> bytes:
    return derive(root, "pk1/slot.mac", self.row())

  def computed_sum(self) -> bytes:
    return digest(16, self.row() + sized(self.mac))

  def term(self, open_key: bytes) -> bytes:
    return derive(state_row_key(open_key), "slot", self.row() + sized(self.mac))

  def cost(self) -> tuple[int, int]:
    """The memory in bytes and the passes of a passphrase slot."""
    cursor = Cursor(self.parameters)
    cost = cursor.u64(), cursor.u32()
    cursor.end()
    return cost


def check_cost(memory: int, passes: int) -> None:
  """Refuses parameters of Argon2id beyond the limits before anything is allocated."""
  if memory not in MEMORY_LIMITS or passes not in PASSES_LIMITS:
    raise FormatError("the cost of a passphrase is outside the limits")


def slot_header(kind: int, granted: int, parameters: bytes, salt: bytes) -> bytes:
  return u8(kind) + u8(granted) + sized(parameters) + sized(salt)


def slot_key(input_key: bytes, header: bytes) -> bytes:
  """The key that encrypts the box of a slot."""
  return derive(input_key, "pk1/slot.kek", header)


def slot_commitment(key: bytes, header: bytes) -> bytes:
  """The commitment under the input key; of a recipient's slot, under the granted key."""
  return derive(key, "pk1/slot.commit", header)


@dataclass(frozen=True)
class ItemRow:
  id: bytes
  item_class: int
  device: bytes | None
  version: int
  metadata: bytes
  secret: bytes

  def term(self, open_key: bytes, tokens: list[bytes]) -> bytes:
    device = None if self.device is None else sized(self.device)
    fields = (
      sized(self.id) + u8(self.item_class) + optional(device) + u64(self.version)
      + sized(digest(32, self.metadata)) + sized(digest(32, self.secret))
      + u32(len(tokens)) + b"".join(sized(token) for token in sorted(tokens)))
    return derive(state_row_key(open_key), "item", fields)


@dataclass(frozen=True)
class GroupRow:
  """The name of an access group, for holders of a class key."""

  token: bytes
  item_class: int
  box: bytes

  def term(self, open_key: bytes) -> bytes:
    fields = sized(self.token) + u8(self.item_class) + sized(self.box)
    return derive(state_row_key(open_key), "group", fields)


@dataclass(frozen=True)
class VaultRow:
  checks: tuple[bytes, bytes, bytes]
  sum: bytes

  def fields(self) -> bytes:
    return u32(FORMAT) + b"".join(sized(check) for check in self.checks)

  def computed_sum(self) -> bytes:
    return digest(16, self.fields())

  def term(self, open_key: bytes) -> bytes:
    return derive(state_row_key(open_key), "vault", self.fields())


@dataclass(frozen=True)
class State:
  """The content of the state row's box."""

  counter: int
  items: int
  slots: int
  sum: bytes

  def encoded(self) -> bytes:
    return u64(self.counter) + u64(self.items) + u32(self.slots) + self.sum

  @staticmethod
  def decoded(data: bytes) -> State:
    cursor = Cursor(data)
    state = State(cursor.u64(), cursor.u64(), cursor.u32(), cursor.take(TERM_COUNT))
    cursor.end()
    if state.counter > MAXIMUM_COUNTER or state.slots > MAXIMUM_SLOTS:
      raise FormatError("the state row counts more than there can be")
    return state


def state_sum(terms: list[bytes]) -> bytes:
  result = bytes(TERM_COUNT)
  for term in terms:
    result = xor(result, term)
  return result


@dataclass(frozen=True)
class SeenRecord:
  """The newest state of a vault that a user has seen."""

  checks: tuple[bytes, ...]
  counter: int
  box_hash: bytes

  def encoded(self) -> bytes:
    padded = b"".join(self.checks).ljust(32, b"\0")
    before = u8(len(self.checks)) + padded + u64(self.counter) + self.box_hash
    return before + digest(16, before)

  @staticmethod
  def decoded(data: bytes) -> SeenRecord:
    if len(data) != 89 or digest(16, data[:73]) != data[73:]:
      raise FormatError("the seen record is damaged")
    count, (counter,) = data[0], struct.unpack_from("<Q", data, 33)
    if count not in (1, 2) or (count == 1 and any(data[17:33])) or counter > MAXIMUM_COUNTER:
      raise FormatError("the seen record is not one of format 1")
    checks = tuple(data[1 + 16 * n : 17 + 16 * n] for n in range(count))
    return SeenRecord(checks, counter, data[41:73])


def box_hash(state_box: bytes) -> bytes:
  """Returns the value that distinguishes two states with the same counter."""
  return digest(32, state_box)


def cache_name(tier: int, check0: bytes) -> bytes:
  """The name of the key that caches a tier."""
  return f"prefs:{check0.hex()}:{tier}".encode("ascii")


def cache_payload(limit: int, checks: tuple[bytes, ...], tier_key: bytes) -> bytes:
  return u64(limit) + digest(32, b"".join(checks)) + tier_key


def seen_name(real_path: bytes) -> str:
  """The file name of the seen record of a vault."""
  return digest(16, real_path).hex()
