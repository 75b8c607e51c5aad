"""Makes the pieces of a vault from plain values: items, parts, commits and bases.

Nothing here checks anything, so tests forge with it, too. Nonces come from a given source.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import vault_keys as keys
from vault_base import Index, Page, Spine, sealed_page
from vault_head import Head
from vault_items import Entry, Metadata, Part, inner_half, secret_key
from vault_log import BaseBody, ChangesBody, Commit, boxes_hash
from vault_notation import digest, pad, seal, u64

PAGE_COUNT, LARGE_PAGE_COUNT = 4096, 16384
MANY_ITEMS = 10_000


class SeededBytes:
  """Bytes that look random and come from a seed: for test data only."""

  def __init__(self, seed: str) -> None:
    self._seed = seed.encode("utf-8")
    self._count = 0

  def take(self, count: int) -> bytes:
    taken = b""
    while len(taken) < count:
      taken += digest(64, u64(self._count) + self._seed)
      self._count += 1
    return taken[:count]

  def nonce(self) -> bytes:
    return self.take(24)

  def version(self) -> int:
    return int.from_bytes(self.take(8), "little") >> 1 or 1


@dataclass(frozen=True)
class Sealed:
  """An item as a part or a page takes it."""

  entry: Entry
  metadata: bytes
  box: bytes

  @property
  def id(self) -> bytes:
    return self.entry.id

  def count(self) -> int:
    """The bytes that it has in a page."""
    return 1 + len(self.entry.encoded()) + 4 + len(self.metadata)


def sealed_item(
  tiers: dict[int, bytes], vault: bytes, metadata: Metadata, secret: bytes, item_class: int,
  random: SeededBytes, device_secret: bytes | None = None, version: int | None = None,
  item_id: bytes | None = None,
) -> Sealed:
  """An item; its id and its version can be given."""
  item_id = item_id or keys.item_id(tiers[0], metadata.identity.encoded())
  version = version or random.version()
  key = secret_key(
    tiers[keys.TIER_OF_CLASS[item_class]], item_id, item_class, version, device_secret)
  box = seal(key, pad(secret), random.nonce())
  is_bound = item_class in keys.DEVICE_CLASSES
  entry = Entry(
    item_id, item_class, keys.device_id(device_secret, vault) if is_bound else None, version,
    len(box), digest(32, box), keys.service_mark(tiers[0], metadata.identity.parts[0]))
  return Sealed(entry, metadata.encoded(), box)


def made_part(key_of_tier: bytes, changes: Iterable[Sealed | bytes], random: SeededBytes) -> Part:
  """The part of these items to put, and these ids to remove."""
  def place(change: Sealed | bytes) -> bytes:
    return change if isinstance(change, bytes) else change.id
  ordered = sorted(changes, key=place)
  puts = [change for change in ordered if isinstance(change, Sealed)]
  inner = inner_half(
    key_of_tier, [item.metadata for item in puts], random.nonce() if puts else b"")
  return Part(
    tuple(change.entry if isinstance(change, Sealed) else change for change in ordered), inner)


def boxes_of(changes: Iterable[Sealed | bytes]) -> bytes:
  """The boxes of these changes, in the order of their ids."""
  puts = [change for change in changes if isinstance(change, Sealed)]
  return b"".join(item.box for item in sorted(puts, key=lambda item: item.id))


def made_commit(
  tiers: dict[int, bytes], number: int, previous: bytes, changes: dict[int, list[Sealed | bytes]],
  random: SeededBytes, time: int = 0, writer: int = 0,
) -> tuple[Commit, bytes]:
  """A commit without proofs, and its boxes."""
  lists = [changes.get(tier, []) for tier in keys.TIERS]
  parts = tuple(
    made_part(tiers.get(tier, bytes(32)), found, random) for tier, found in zip(keys.TIERS, lists))
  boxes = b"".join(map(boxes_of, lists))
  return Commit(number, previous, time, writer, ChangesBody(boxes_hash(boxes), parts)), boxes


def pages_of(items: Iterable[Sealed], limit: int) -> list[list[Sealed]]:
  """The items of one tier by their pages."""
  pages: list[list[Sealed]] = []
  for item in sorted(items, key=lambda item: item.id):
    if not pages or sum(one.count() for one in pages[-1]) + item.count() > limit:
      pages.append([])
    pages[-1].append(item)
  return pages


@dataclass(frozen=True)
class MadeBase:
  """A base without its proofs, and all that precedes the log."""

  head: Head
  commit: Commit
  before_log: bytes


def made_base(
  tiers: dict[int, bytes], head: Head, serial: int, number: int, previous: bytes, spine: Spine,
  items: dict[int, Iterable[Sealed]], random: SeededBytes, time: int = 0, writer: int = 0,
) -> MadeBase:
  """A base of these items; the lengths of the head are set."""
  by_tier = {tier: list(items.get(tier, [])) for tier in keys.TIERS}
  many = sum(map(len, by_tier.values())) > MANY_ITEMS
  limit = LARGE_PAGE_COUNT if many else PAGE_COUNT
  contents = {tier: pages_of(found, limit) for tier, found in by_tier.items()}
  sealed = {
    tier: [sealed_page(tiers[0], made_part(tiers[tier], page, random), random.nonce())
           for page in pages] for tier, pages in contents.items()}
  spine_box = spine.sealed(tiers[0], random.nonce())
  place = head.count
  boxes = place + sum(len(page) for pages in sealed.values() for page in pages)
  index, page_bytes, box_bytes = [], b"", b""
  for tier in keys.TIERS:
    listed = []
    for page, box in zip(contents[tier], sealed[tier]):
      listed.append(Page(page[0].id, len(page), place, len(box), digest(32, box), boxes))
      found = boxes_of(page)
      place, boxes = place + len(box), boxes + len(found)
      page_bytes, box_bytes = page_bytes + box, box_bytes + found
    index.append(tuple(listed))
  index_box = Index(digest(32, spine_box), tuple(index)).sealed(tiers[0], random.nonce())
  head = replace(
    head, index_count=len(index_box), spine_count=len(spine_box),
    log=boxes + len(index_box) + len(spine_box))
  commit = Commit(
    number, previous, time, writer, BaseBody(serial, head.hash(), digest(32, index_box)))
  return MadeBase(head, commit, head.encoded() + page_bytes + box_bytes + index_box + spine_box)
