"""The contents of the rows of vault format 2 that hold items, and the head."""

from __future__ import annotations

from dataclasses import dataclass

from vault_keys import attribute_token
from vault_notation import (
  Cursor, FormatError, digest, i64, labelled_hash, optional, sized, text, u8, u32, u64)

MAXIMUM_SECRET_COUNT = 16 << 20
MAXIMUM_TEXT_COUNT = 1 << 20
MAXIMUM_METADATA_COUNT = 4 << 20
MAXIMUM_PORT = 65535

# The names of the texts and the number of an identity, in its order, by its kind.
IDENTITY_NAMES = {
  0: ("service", "account"),
  1: ("server", "protocol", "port", "path", "account", "security-domain", "authentication-type"),
}
RESERVED_NAMES = frozenset(
  {"access-group", "username", "accessibility", "xdg:schema"}.union(*IDENTITY_NAMES.values()))


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
    """The names and values by which the identity is found: those of the parts that were given."""
    names = ("access-group", *IDENTITY_NAMES[self.kind])
    parts = (self.group, *self.parts)
    return [(name, str(part)) for name, part in zip(names, parts, strict=True) if part not in ("", 0)]

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

  def tokens(self, open_key: bytes) -> list[bytes]:
    """The tokens of the item, ordered bytewise, each once."""
    pairs = self.identity.pairs() + list(self.attributes)
    return sorted({attribute_token(open_key, name, value) for name, value in pairs})


def check_attribute_names(names: list[str]) -> None:
  encoded = [name.encode("utf-8") for name in names]
  if any(left >= right for left, right in zip(encoded, encoded[1:])):
    raise FormatError("the attributes are not ordered, or a name occurs twice")
  if "" in names or RESERVED_NAMES.intersection(names):
    raise FormatError("an attribute has no name, or a reserved one")


@dataclass(frozen=True)
class ItemRow:
  id: bytes
  item_class: int
  device: bytes | None
  version: int
  tokens: bytes
  hash: bytes
  metadata: bytes
  secret: bytes

  def token_list(self) -> list[bytes]:
    return [self.tokens[first : first + 16] for first in range(0, len(self.tokens), 16)]

  def row_hash(self) -> bytes:
    device = None if self.device is None else sized(self.device)
    return labelled_hash(
      "pk2/item.row",
      sized(self.id) + u8(self.item_class) + optional(device) + u64(self.version)
      + sized(digest(32, self.metadata)) + sized(self.hash) + sized(digest(32, self.tokens)))


@dataclass(frozen=True)
class GroupRow:
  """The name of an access group, for holders of a class key."""

  token: bytes
  item_class: int
  box: bytes

  def key(self) -> bytes:
    """The row's key in the tree of groups."""
    return self.token + u8(self.item_class)


@dataclass(frozen=True)
class Head:
  """Which vault it is."""

  id: bytes
  epoch: int
  checks: tuple[bytes, bytes, bytes]
  parameters: bytes
  administration: bytes
  macs: tuple[bytes, bytes, bytes] = (b"", b"", b"")
  generation: int = 1
  sum: bytes = b""

  def fields(self) -> bytes:
    """`head` of the specification: what the macs are of."""
    return (
      sized(self.id) + u64(self.epoch) + b"".join(sized(check) for check in self.checks)
      + self.parameters + sized(self.administration))

  def computed_sum(self) -> bytes:
    macs = b"".join(sized(mac) for mac in self.macs)
    return digest(16, self.fields() + macs + u64(self.generation))

  def columns(self) -> tuple:
    """The row, without the column `one`."""
    return (
      self.id, self.epoch, *self.checks, self.parameters, self.administration, *self.macs,
      self.generation, self.sum)


NO_FEATURES = u32(0)


def features(parameters: bytes) -> list[str]:
  """What a reader must know to read the vault."""
  cursor = Cursor(parameters)
  named = [cursor.text() for _ in range(cursor.u32())]
  cursor.end()
  return named
