"""The content of an export: the credentials, and the number of items left out."""

from __future__ import annotations

from dataclasses import dataclass

from vault_keys import ACCESSIBILITIES, DEVICE_CLASSES
from vault_notation import Cursor, FormatError, i64, sized, u8, u64
from vault_items import MAXIMUM_SECRET_COUNT, Metadata

# The texts of one credential, which in a vault may have less, and its metadata.
MAXIMUM_TEXT_COUNT = 1 << 20
MAXIMUM_METADATA_COUNT = 4 << 20
EXPORTED_CLASSES = frozenset(range(len(ACCESSIBILITIES))) - DEVICE_CLASSES


@dataclass(frozen=True)
class ExportedItem:
  item_class: int
  metadata: Metadata
  secret: bytes

  def encoded(self) -> bytes:
    return u8(self.item_class) + sized(self.metadata.encoded()) + sized(self.secret)

  @staticmethod
  def take(cursor: Cursor) -> ExportedItem:
    item_class = cursor.u8()
    if item_class not in EXPORTED_CLASSES:
      raise FormatError("an item is of a class that no export holds")
    metadata = Metadata.decoded(
      sized_at_most(cursor, MAXIMUM_METADATA_COUNT), MAXIMUM_TEXT_COUNT)
    return ExportedItem(item_class, metadata, sized_at_most(cursor, MAXIMUM_SECRET_COUNT))


def sized_at_most(cursor: Cursor, limit: int) -> bytes:
  """Reads `bytes` whose length is checked first."""
  count = cursor.u32()
  if count > limit:
    raise FormatError("a part of an item is too long")
  return cursor.take(count)


@dataclass(frozen=True)
class Content:
  """The content of an export; `left_out` counts items that are bound to a device."""

  time: int
  left_out: int
  items: tuple[ExportedItem, ...]

  def encoded(self) -> bytes:
    return (
      i64(self.time) + u64(len(self.items)) + u64(self.left_out)
      + b"".join(item.encoded() for item in self.items))

  @staticmethod
  def decoded(data: bytes) -> Content:
    cursor = Cursor(data)
    time, count, left_out = cursor.i64(), cursor.u64(), cursor.u64()
    items: list[ExportedItem] = []
    identities: set[bytes] = set()
    # The count is believed one item at a time: nothing is allocated for it.
    while len(items) < count:
      item = ExportedItem.take(cursor)
      identity = item.metadata.identity.encoded()
      if identity in identities:
        raise FormatError("two items have the same identity")
      identities.add(identity)
      items.append(item)
    cursor.end()
    return Content(time, left_out, tuple(items))
