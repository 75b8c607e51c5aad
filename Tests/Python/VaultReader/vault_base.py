"""The base of vault format 3: its index, its pages, and the spine."""

from __future__ import annotations

from dataclasses import dataclass

import vault_keys as keys
from vault_items import Part
from vault_log import commit_digest, first_digest
from vault_notation import Cursor, FormatError, open_box, seal, u32, u64

MAXIMUM_PAGE_COUNT = 1 << 20
SPINE_COUNT = 1024


@dataclass(frozen=True)
class Page:
  """What the index has of a page: its first id, and where it and its boxes are."""

  first: bytes
  count: int
  place: int
  length: int
  hash: bytes
  boxes: int

  def encoded(self) -> bytes:
    return (
      self.first + u32(self.count) + u64(self.place) + u32(self.length) + self.hash
      + u64(self.boxes))

  @staticmethod
  def take(cursor: Cursor) -> Page:
    return Page(
      cursor.take(32), cursor.u32(), cursor.u64(), cursor.u32(), cursor.take(32), cursor.u64())


@dataclass(frozen=True)
class Index:
  spine: bytes
  pages: tuple[tuple[Page, ...], ...] = ((), (), ())

  def encoded(self) -> bytes:
    return self.spine + b"".join(pages_encoded(pages) for pages in self.pages)

  def sealed(self, open_key: bytes, nonce: bytes) -> bytes:
    return seal(keys.box_key(open_key, "index"), self.encoded(), nonce)

  @staticmethod
  def opened(open_key: bytes, box: bytes, start: int, end: int) -> Index:
    """The index, whose pages and boxes must lie from `start` to before `end`."""
    cursor = Cursor(open_box(keys.box_key(open_key, "index"), box))
    spine = cursor.take(32)
    pages = tuple(
      tuple(Page.take(cursor) for _ in range(cursor.u32())) for _ in keys.TIERS)
    cursor.end()
    for one_tier in pages:
      check_pages(one_tier, start, end)
    return Index(spine, pages)


def pages_encoded(pages: tuple[Page, ...]) -> bytes:
  return u32(len(pages)) + b"".join(page.encoded() for page in pages)


def check_pages(pages: tuple[Page, ...], start: int, end: int) -> None:
  firsts = [page.first for page in pages]
  if any(left >= right for left, right in zip(firsts, firsts[1:])):
    raise FormatError("the pages are not in the order of their ids")
  for page in pages:
    if page.count == 0 or page.length > MAXIMUM_PAGE_COUNT:
      raise FormatError("a page has no entry, or is too long")
    if not start <= page.place <= end - page.length or not start <= page.boxes <= end:
      raise FormatError("a page or its boxes are not where they may lie")


def sealed_page(open_key: bytes, part: Part, nonce: bytes) -> bytes:
  return seal(keys.box_key(open_key, "page"), part.encoded(), nonce)


def opened_page(open_key: bytes, tier: int, box: bytes) -> Part:
  part = Part.decoded(open_box(keys.box_key(open_key, "page"), box), tier)
  if not part.puts or len(part.puts) != len(part.changes):
    raise FormatError("a page holds a removal, or nothing")
  return part


@dataclass(frozen=True)
class Spine:
  """The digest of commit `m`, and the hashes of the commits from there to the base."""

  m: int
  digest: bytes
  hashes: tuple[bytes, ...] = ()

  def sealed(self, open_key: bytes, nonce: bytes) -> bytes:
    plain = u64(self.m) + self.digest + u32(len(self.hashes)) + b"".join(self.hashes)
    return seal(keys.box_key(open_key, "spine"), plain, nonce)

  @staticmethod
  def opened(open_key: bytes, box: bytes, vault: bytes, base: int) -> Spine:
    """The spine of the base with this number."""
    cursor = Cursor(open_box(keys.box_key(open_key, "spine"), box))
    m, digest, count = cursor.u64(), cursor.take(32), cursor.u32()
    if count != min(base - 1, SPINE_COUNT) or m + count + 1 != base:
      raise FormatError("the spine does not have the commits before the base")
    spine = Spine(m, digest, tuple(cursor.take(32) for _ in range(count)))
    cursor.end()
    if m == 0 and digest != first_digest(vault):
      raise FormatError("the spine does not begin with the vault")
    return spine

  def digests(self) -> dict[int, bytes]:
    """The digests from that of commit `m` to that before the base, by number."""
    found = {self.m: self.digest}
    for number, body_hash in enumerate(self.hashes, start=self.m + 1):
      found[number] = commit_digest(found[number - 1], body_hash)
    return found

  def following(self, hashes: list[bytes]) -> Spine:
    """The spine of a base after these commits."""
    spine = Spine(self.m, self.digest, (*self.hashes, *hashes))
    dropped = max(0, len(spine.hashes) - SPINE_COUNT)
    return Spine(
      spine.m + dropped, spine.digests()[spine.m + dropped], spine.hashes[dropped:])
