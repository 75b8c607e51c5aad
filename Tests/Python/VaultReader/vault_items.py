"""Items of vault format 3: identities, metadata, entries, and the parts that hold them."""

from __future__ import annotations

from dataclasses import dataclass

import vault_keys as keys
from vault_notation import (
  BOX_OVERHEAD, Cursor, FormatError, i64, open_box, optional, pad, padded_count, seal, sized, text,
  u8, u32, u64, unpad)

MAXIMUM_SECRET_COUNT = 16 << 20
MAXIMUM_TEXT_COUNT = 65_536
MAXIMUM_METADATA_COUNT = 327_680
MAXIMUM_PORT = 65535
VERSIONS = range(1, 1 << 63)

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
  def decoded(data: bytes, maximum_texts: int = MAXIMUM_TEXT_COUNT) -> Metadata:
    """The metadata; their texts have at most so many bytes, which limits all of it."""
    if len(data) > MAXIMUM_METADATA_COUNT // MAXIMUM_TEXT_COUNT * maximum_texts:
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
    if sum(len(text.encode("utf-8")) for text in metadata.texts()) > maximum_texts:
      raise FormatError("the texts of an item are too long")
    return metadata


def check_attribute_names(names: list[str]) -> None:
  encoded = [name.encode("utf-8") for name in names]
  if any(left >= right for left, right in zip(encoded, encoded[1:])):
    raise FormatError("the attributes are not ordered, or a name occurs twice")
  if "" in names or RESERVED_NAMES.intersection(names):
    raise FormatError("an attribute has no name, or a reserved one")


@dataclass(frozen=True)
class Entry:
  """What T0 has of an item."""

  id: bytes
  item_class: int
  device: bytes | None
  version: int
  box_count: int
  box_hash: bytes
  service: bytes

  @property
  def tier(self) -> int:
    return keys.TIER_OF_CLASS[self.item_class]

  def encoded(self) -> bytes:
    return (
      self.id + u8(self.item_class) + optional(self.device) + u64(self.version)
      + u32(self.box_count) + self.box_hash + self.service)

  @staticmethod
  def take(cursor: Cursor) -> Entry:
    return Entry(
      cursor.take(32), cursor.u8(), cursor.optional(lambda: cursor.take(16)), cursor.u64(),
      cursor.u32(), cursor.take(32), cursor.take(8))

  def check(self, tier: int) -> None:
    if self.item_class >= len(keys.ACCESSIBILITIES) or self.tier != tier:
      raise FormatError("an entry is of a class of another tier")
    if (self.device is not None) != (self.item_class in keys.DEVICE_CLASSES):
      raise FormatError("an entry lacks a device, or must not have one")
    if self.version not in VERSIONS:
      raise FormatError("the version of an entry is out of range")
    highest = BOX_OVERHEAD + padded_count(MAXIMUM_SECRET_COUNT)
    if not BOX_OVERHEAD + 256 <= self.box_count <= highest:
      raise FormatError("no secret has a box of this length")


@dataclass(frozen=True)
class Part:
  """The changes of one tier: an entry puts an item, an id removes it."""

  changes: tuple[Entry | bytes, ...] = ()
  inner: bytes = b""

  @property
  def puts(self) -> list[Entry]:
    return [change for change in self.changes if isinstance(change, Entry)]

  def encoded(self) -> bytes:
    changes = (
      b"\0" + change if isinstance(change, bytes) else b"\1" + change.encoded()
      for change in self.changes)
    return u32(len(self.changes)) + b"".join(changes) + sized(self.inner)

  @staticmethod
  def take(cursor: Cursor, tier: int) -> Part:
    changes: list[Entry | bytes] = []
    # The count is believed one change at a time: nothing is allocated for it.
    for _ in range(cursor.u32()):
      found = cursor.optional(lambda: Entry.take(cursor))
      changes.append(cursor.take(32) if found is None else found)
    part = Part(tuple(changes), cursor.sized())
    ids = [id_of(change) for change in changes]
    if any(left >= right for left, right in zip(ids, ids[1:])):
      raise FormatError("the ids of a part do not rise")
    for entry in part.puts:
      entry.check(tier)
    if not part.puts and part.inner:
      raise FormatError("a part without entries has an inner half")
    return part

  @staticmethod
  def decoded(data: bytes, tier: int) -> Part:
    cursor = Cursor(data)
    part = Part.take(cursor, tier)
    cursor.end()
    return part

  def metadata(self, key_of_tier: bytes) -> list[bytes]:
    """The metadata of each entry, encoded; what is in it is checked only where it is used."""
    if not self.puts:
      return []
    cursor = Cursor(unpad(open_box(keys.names_key(key_of_tier), self.inner)))
    found = [cursor.sized() for _ in self.puts]
    cursor.end()
    return found


def id_of(change: Entry | bytes) -> bytes:
  return change if isinstance(change, bytes) else change.id


def inner_half(key_of_tier: bytes, metadata: list[bytes], nonce: bytes) -> bytes:
  """The inner half of a part whose entries have these encoded metadata."""
  if not metadata:
    return b""
  return seal(keys.names_key(key_of_tier), pad(b"".join(map(sized, metadata))), nonce)


def secret_key(
  key_of_tier: bytes, entry_id: bytes, item_class: int, version: int, device_secret: bytes | None,
) -> bytes:
  return keys.item_key(keys.class_key(key_of_tier, item_class, device_secret), entry_id, version)


def opened_secret(key: bytes, box: bytes) -> bytes:
  secret = unpad(open_box(key, box))
  if len(secret) > MAXIMUM_SECRET_COUNT:
    raise FormatError("a secret is too long")
  return secret
