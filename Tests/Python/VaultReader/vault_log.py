"""The log of vault format 3: frames, commits and their proofs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import vault_keys as keys
from vault_items import Part
from vault_members import MemberList
from vault_notation import (
  BOX_OVERHEAD, Cursor, FormatError, derive, digest, equal, i64, is_padded_count, labelled_hash,
  open_box, optional, pad, padded_count, seal, sized, u8, u32, u64, unpad)
from vault_signing import SIGNATURE_COUNT, is_signed, sign

BASE, CHANGES = 0, 1
HEADER_COUNT = 32
MAXIMUM_BODY_COUNT = 1 << 20
MAXIMUM_BOXES_COUNT = 32 << 20
PROOFS_COUNT = 3 * 33 + 2 * 65
MAXIMUM_BOX_COUNT = BOX_OVERHEAD + padded_count(32 + 4 + MAXIMUM_BODY_COUNT + PROOFS_COUNT)
# The longest unfinished write.
MAXIMUM_FRAME_COUNT = (34 << 20) + 4096
# How many places of an unfinished write may look like a header but for the mac.
MAXIMUM_LIKENESS_COUNT = 1024
COMMIT_LABEL, BASE_LABEL = "pk3/commit", "pk3/base"


def first_digest(vault: bytes) -> bytes:
  """`d_0`."""
  return labelled_hash("pk3/first", sized(vault))


def commit_digest(previous: bytes, body_hash: bytes) -> bytes:
  return labelled_hash("pk3/digest", previous + body_hash)


def proof(key_of_tier: bytes, of_digest: bytes) -> bytes:
  """The proof of a tier."""
  return derive(key_of_tier, "pk3/proof", of_digest)


@dataclass(frozen=True)
class FrameHeader:
  number: int
  box_count: int
  boxes_count: int

  @property
  def count(self) -> int:
    """The length of the frame and its boxes."""
    return HEADER_COUNT + self.box_count + self.boxes_count

  def encoded(self, open_key: bytes, epoch: int) -> bytes:
    fields = u64(self.number) + u32(self.box_count) + u32(self.boxes_count)
    return fields + derive(open_key, "pk3/frame", u64(epoch) + fields)[:16]

  @staticmethod
  def found(
    data: bytes, open_key: bytes, epoch: int, lowest: int, highest: int, place: int = 0,
  ) -> FrameHeader | None:
    """The header that is there, if it has one of these numbers."""
    header = FrameHeader.possible(data, lowest, highest, place)
    if header is None:
      return None
    made = header.encoded(open_key, epoch)
    return header if equal(made, data[place : place + HEADER_COUNT]) else None

  @staticmethod
  def possible(data: bytes, lowest: int, highest: int, place: int) -> FrameHeader | None:
    """The header that is there, whatever its mac is."""
    fields = data[place : place + 16]
    if len(data) - place < HEADER_COUNT:
      return None
    header = FrameHeader(*(int.from_bytes(fields[start:end], "little")
                           for start, end in ((0, 8), (8, 12), (12, 16))))
    return header if lowest <= header.number <= highest and header.has_lengths() else None

  def has_lengths(self) -> bool:
    return (
      self.box_count <= MAXIMUM_BOX_COUNT and is_padded_count(self.box_count - BOX_OVERHEAD)
      and self.boxes_count <= MAXIMUM_BOXES_COUNT)


@dataclass(frozen=True)
class BaseBody:
  serial: int
  head: bytes
  index: bytes

  def encoded(self) -> bytes:
    return u64(self.serial) + self.head + self.index


@dataclass(frozen=True)
class ChangesBody:
  boxes: bytes
  parts: tuple[Part, Part, Part]

  def encoded(self) -> bytes:
    return self.boxes + b"".join(part.encoded() for part in self.parts)

  def box_counts(self) -> list[int]:
    return [entry.box_count for part in self.parts for entry in part.puts]


@dataclass(frozen=True)
class Proofs:
  macs: tuple[bytes | None, bytes | None, bytes | None] = (None, None, None)
  list_signature: bytes | None = None
  signature: bytes | None = None

  def encoded(self) -> bytes:
    return b"".join(map(optional, (*self.macs, self.list_signature, self.signature)))

  @staticmethod
  def take(cursor: Cursor) -> Proofs:
    macs = tuple(cursor.optional(lambda: cursor.take(32)) for _ in keys.TIERS)
    signatures = (cursor.optional(lambda: cursor.take(SIGNATURE_COUNT)) for _ in range(2))
    return Proofs(macs, *signatures)


@dataclass(frozen=True)
class Commit:
  number: int
  previous: bytes
  time: int
  writer: int
  content: BaseBody | ChangesBody
  proofs: Proofs = Proofs()

  @property
  def is_base(self) -> bool:
    return isinstance(self.content, BaseBody)

  def body(self) -> bytes:
    kind = BASE if self.is_base else CHANGES
    return (
      u64(self.number) + u8(kind) + i64(self.time) + u32(self.writer) + self.content.encoded())

  def body_hash(self) -> bytes:
    return labelled_hash("pk3/body", self.body())

  def digest(self) -> bytes:
    return commit_digest(self.previous, self.body_hash())

  def proved(self, tiers: dict[int, bytes]) -> Commit:
    """With the macs of these tiers."""
    macs = tuple(proof(tiers[t], self.digest()) if t in tiers else None for t in keys.TIERS)
    return replace(self, proofs=replace(self.proofs, macs=macs))

  def signed(self, seed: bytes) -> Commit:
    """With the signature of its writer."""
    signature = sign(seed, COMMIT_LABEL, self.digest())
    return replace(self, proofs=replace(self.proofs, signature=signature))

  def signed_by_administration(self, seed: bytes) -> Commit:
    signature = sign(seed, BASE_LABEL, self.digest())
    return replace(self, proofs=replace(self.proofs, list_signature=signature))

  def sealed(self, open_key: bytes, nonce: bytes) -> bytes:
    plain = self.previous + sized(self.body()) + self.proofs.encoded()
    return seal(keys.box_key(open_key, "commit"), pad(plain), nonce)

  def frame(self, open_key: bytes, epoch: int, nonce: bytes, boxes: bytes = b"") -> bytes:
    box = self.sealed(open_key, nonce)
    return FrameHeader(self.number, len(box), len(boxes)).encoded(open_key, epoch) + box + boxes

  @staticmethod
  def opened(open_key: bytes, number: int, box: bytes) -> Commit:
    """The commit in a box; raises `FormatError` if it is not one of this number."""
    cursor = Cursor(unpad(open_box(keys.box_key(open_key, "commit"), box)))
    previous, body = cursor.take(32), cursor.sized()
    proofs = Proofs.take(cursor)
    cursor.end()
    if len(body) > MAXIMUM_BODY_COUNT:
      raise FormatError("the body of a commit is too long")
    found, time, writer, content = opened_body(body)
    if found != number:
      raise FormatError("a commit has another number than its frame")
    return Commit(number, previous, time, writer, content, proofs)

  def is_proved(self, tier: int, key: bytes) -> bool:
    """Whether this tier's proof is there; raises `FormatError` if it is wrong."""
    mac = self.proofs.macs[tier]
    if mac is None:
      return False
    if not equal(mac, proof(key, self.digest())):
      raise FormatError(f"the proof of tier {tier} of commit {self.number} is wrong")
    return True

  def is_signed(self, members: MemberList) -> bool:
    """Whether a member of a shared vault that may write signed it."""
    writer = members.member(self.writer)
    return (
      writer is not None and writer.writes() and self.proofs.signature is not None
      and is_signed(writer.signing_key, COMMIT_LABEL, self.digest(), self.proofs.signature))

  def is_signed_by_administration(self, administration: bytes) -> bool:
    signature = self.proofs.list_signature
    return signature is not None and is_signed(
      administration, BASE_LABEL, self.digest(), signature)


def opened_body(body: bytes) -> tuple[int, int, int, BaseBody | ChangesBody]:
  """The number, the time, the writer and the content."""
  cursor = Cursor(body)
  number, kind, time, writer = cursor.u64(), cursor.u8(), cursor.i64(), cursor.u32()
  if kind == BASE:
    content = BaseBody(cursor.u64(), cursor.take(32), cursor.take(32))
  elif kind == CHANGES:
    content = ChangesBody(cursor.take(32), tuple(Part.take(cursor, tier) for tier in keys.TIERS))
  else:
    raise FormatError("a commit is of an unknown kind")
  cursor.end()
  return number, time, writer, content


def boxes_hash(boxes: bytes) -> bytes:
  return digest(32, boxes)
