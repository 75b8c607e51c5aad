"""Opens items: their boxes, by the names of their groups."""

from __future__ import annotations

from dataclasses import dataclass

import vault_keys as keys
from vault_database import has_shape
from vault_listing import described_metadata, described_secret
from vault_notation import BOX_OVERHEAD, FormatError, digest, open_box, padded_count, unpad
from vault_records import (
  MAXIMUM_METADATA_COUNT, MAXIMUM_SECRET_COUNT, MAXIMUM_TEXT_COUNT, GroupRow, ItemRow, Metadata)


@dataclass(frozen=True)
class Item:
  """A credential; `status` says whether its key was at hand, and both boxes opened."""

  row: ItemRow
  status: str
  metadata: Metadata | None = None
  secret: bytes | None = None


@dataclass
class ItemKeys:
  """The keys at hand, which open items."""

  vault: bytes
  tiers: dict[int, bytes]
  device_secret: bytes | None

  def status(self, row: ItemRow) -> str:
    if not has_shape(row):
      return "damaged"
    if keys.TIER_OF_CLASS[row.item_class] not in self.tiers:
      return "locked"
    if row.item_class in keys.DEVICE_CLASSES and not self._is_of_this_device(row):
      return "other device"
    return "open"

  def _is_of_this_device(self, row: ItemRow) -> bool:
    secret = self.device_secret
    return secret is not None and row.device == keys.device_id(secret, self.vault)

  def opened(self, row: ItemRow, groups: list[str]) -> Item:
    """The item; raises `FormatError` if it is damaged. One of the groups is its own."""
    status = self.status(row)
    if status == "damaged":
      raise FormatError("the row has no item's shape")
    if digest(32, row.secret) != row.hash:
      raise FormatError("the secret is not the one of the row")
    if status != "open":
      return Item(row, status)
    key_of_class = keys.class_key(
      self.tiers[keys.TIER_OF_CLASS[row.item_class]], row.item_class, self.device_secret)
    key, metadata = opened_metadata(row, key_of_class, groups)
    secret_key = keys.item_key(key, 1, row.id, row.version)
    secret = opened_text(secret_key, row.secret, MAXIMUM_SECRET_COUNT)
    if keys.item_id(self.tiers[0], metadata.identity.encoded()) != row.id:
      raise FormatError("the item is of another identity")
    if b"".join(metadata.tokens(self.tiers[0])) != row.tokens:
      raise FormatError("the item has other tokens than its metadata")
    return Item(row, "open", metadata, secret)

  def group_name(self, row: GroupRow) -> str | None:
    """The name of a group, `None` if it is locked; raises `FormatError` if it is damaged."""
    tier = self.tiers.get(keys.TIER_OF_CLASS[row.item_class])
    if tier is None:
      return None
    key = keys.group_name_key(tier, row.item_class, row.token)
    try:
      name = opened_text(key, row.box, MAXIMUM_TEXT_COUNT).decode("utf-8")
    except UnicodeDecodeError:
      raise FormatError("the name of a group is not UTF-8") from None
    if not name or keys.group_token(self.tiers[0], name) != row.token:
      raise FormatError("the name of a group is of another token")
    return name


def opened_metadata(
  row: ItemRow, key_of_class: bytes, groups: list[str],
) -> tuple[bytes, Metadata]:
  """The group key and the metadata."""
  for group in groups:
    key = keys.group_key(key_of_class, group)
    metadata_key = keys.item_key(key, 0, row.id, row.version)
    try:
      plain = opened_text(metadata_key, row.metadata, MAXIMUM_METADATA_COUNT)
    except FormatError:
      continue
    return key, Metadata.decoded(plain)
  raise FormatError("a box does not open")


def opened_text(key: bytes, box: bytes, limit: int) -> bytes:
  """Returns the content of a padded box; a box that is too long is not opened."""
  if len(box) > BOX_OVERHEAD + padded_count(limit):
    raise FormatError("a box is too long")
  data = unpad(open_box(key, box))
  if len(data) > limit:
    raise FormatError("there is more in a box than may be")
  return data


def described(item: Item, with_secret: bool) -> dict:
  """An item as JSON shows it."""
  row = item.row
  shown: dict = {
    "id": row.id.hex(), "accessibility": accessibility(row), "version": row.version,
    "status": item.status}
  if item.metadata is None:
    return shown
  shown |= described_metadata(item.metadata)
  return shown | described_secret(item.secret) if with_secret else shown


def accessibility(row: ItemRow) -> str:
  known = row.item_class in range(len(keys.ACCESSIBILITIES))
  return keys.ACCESSIBILITIES[row.item_class] if known else f"class {row.item_class}"
