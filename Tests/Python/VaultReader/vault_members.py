"""The signed list of members of vault format 3, and the successions of its administration key."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from vault_codes import is_public_key
from vault_head import MAXIMUM_EPOCH, MAXIMUM_SLOTS
from vault_notation import (
  Cursor, FormatError, labelled_hash, optional, sized, text, u8, u32, u64)
from vault_signing import (
  SIGNATURE_COUNT, check_signed, is_signed, is_signing_key, sign, signing_public_key)
from vault_slots import Granted, SlotKind

MAXIMUM_NAME_COUNT = 256
MAXIMUM_SERIAL = 1 << 48
# Within any list, numbers of commits stay below this one and 2^40.
MAXIMUM_FIRST = 1 << 62
# How far numbers may go beyond the first one of the list.
NUMBERS = 1 << 40
MEMBERS_LABEL = "pk3/members"
SUCCESSION_LABEL = "pk3/succession"
SIGNING_KINDS = (SlotKind.RECOVERY_CODE, SlotKind.RECIPIENT)


class VaultKind(IntEnum):
  LOCAL = 0
  SHARED = 1


@dataclass(frozen=True)
class Member:
  """A slot in the list: its hash, and its public keys."""

  number: int
  kind: int
  granted: int
  slot: bytes
  box_key: bytes
  signing_key: bytes | None = None
  name: str = ""

  def encoded(self) -> bytes:
    return (
      u32(self.number) + u8(self.kind) + u8(self.granted) + self.slot + self.box_key
      + optional(self.signing_key) + text(self.name))

  @staticmethod
  def take(cursor: Cursor) -> Member:
    return Member(
      cursor.u32(), cursor.u8(), cursor.u8(), cursor.take(32), cursor.take(32),
      cursor.optional(lambda: cursor.take(32)), cursor.text())

  def is_known(self) -> bool:
    return self.kind in list(SlotKind) and self.granted in list(Granted)

  def writes(self) -> bool:
    """Whether commits of a shared vault that this slot signed count."""
    return self.is_known() and self.granted in (Granted.ADMINISTERS, Granted.READS_AND_WRITES)

  def check(self) -> None:
    if len(self.name.encode("utf-8")) > MAXIMUM_NAME_COUNT:
      raise FormatError("the name of a member is too long")
    if not self.is_known():
      return
    if not is_public_key(self.box_key):
      raise FormatError("a member has no public key")
    if (self.kind in SIGNING_KINDS) != (self.signing_key is not None):
      raise FormatError("a member lacks a key that signs, or must not have one")
    if self.signing_key is not None and not is_signing_key(self.signing_key):
      raise FormatError("a member has no key that signs")


@dataclass(frozen=True)
class MemberList:
  """Who may open a vault; `administration_box` is the hash of the sealed administration key."""

  vault: bytes
  epoch: int
  administration: bytes
  administration_box: bytes
  serial: int
  accepted: int
  first: int
  before: bytes
  next_number: int
  kind: int
  successions: bytes
  members: tuple[Member, ...] = ()

  def encoded(self) -> bytes:
    return (
      self.vault + u64(self.epoch) + self.administration + self.administration_box
      + u64(self.serial) + u64(self.accepted) + u64(self.first) + self.before
      + u32(self.next_number) + u8(self.kind) + self.successions + u32(len(self.members))
      + b"".join(member.encoded() for member in self.members))

  def hash(self) -> bytes:
    """`L`."""
    return labelled_hash("pk3/list", self.encoded())

  def signed(self, seed: bytes) -> bytes:
    """What the box holds: the list, and its signature by the administration key."""
    return self.encoded() + sign(seed, MEMBERS_LABEL, self.encoded())

  def member(self, number: int) -> Member | None:
    return next((member for member in self.members if member.number == number), None)

  def trusted_recovery_key(self) -> bytes:
    """`R` of the seen record."""
    codes = [m.signing_key for m in self.members if m.kind == SlotKind.RECOVERY_CODE]
    return (codes[0] if codes else None) or bytes(32)

  @staticmethod
  def decoded(data: bytes) -> MemberList:
    """Reads a list without its signature; raises `FormatError` if it breaks a rule."""
    cursor = Cursor(data)
    head = (
      cursor.take(16), cursor.u64(), cursor.take(32), cursor.take(32), cursor.u64(), cursor.u64(),
      cursor.u64(), cursor.take(32), cursor.u32(), cursor.u8(), cursor.take(32))
    count = cursor.u32()
    if count > MAXIMUM_SLOTS:
      raise FormatError("the list has too many members")
    decoded = MemberList(*head, tuple(Member.take(cursor) for _ in range(count)))
    cursor.end()
    decoded.check()
    return decoded

  def check(self) -> None:
    for value, highest in (
        (self.epoch, MAXIMUM_EPOCH), (self.serial, MAXIMUM_SERIAL), (self.first, MAXIMUM_FIRST)):
      if not 1 <= value <= highest:
        raise FormatError("the epoch, the serial or the first number is out of range")
    if self.accepted > self.serial:
      raise FormatError("a later list than this one accepted a file")
    if self.kind not in list(VaultKind):
      raise FormatError("the list is of no known kind of vault")
    numbers = [0, *(member.number for member in self.members), self.next_number]
    if any(left >= right for left, right in zip(numbers, numbers[1:])):
      raise FormatError("the members are not in order")
    for member in self.members:
      member.check()
    check_rules(self.kind, [member for member in self.members if member.is_known()])


def check_rules(kind: int, members: list[Member]) -> None:
  """Who is allowed what, by the kind of the vault."""
  pairs = [(member.kind, member.granted) for member in members]
  kinds = [kind for kind, _ in pairs]
  if not all(allowed(kind, *pair) for pair in pairs):
    raise FormatError("a member is allowed what it may not be")
  if kind == VaultKind.SHARED and kinds.count(SlotKind.RECOVERY_CODE) > 1:
    raise FormatError("a shared vault has two recovery codes")
  if Granted.ADMINISTERS not in [granted for _, granted in pairs]:
    raise FormatError("nobody administers the vault")
  if (SlotKind.DEVICE, Granted.ADMINISTERS) in pairs and (
      {SlotKind.PASSPHRASE, SlotKind.KEY_FILE} & set(kinds)):
    raise FormatError("a device administers a vault that has a passphrase or a key file")


def allowed(vault_kind: int, kind: int, granted: int) -> bool:
  if vault_kind == VaultKind.SHARED:
    if kind == SlotKind.RECIPIENT:
      return granted != Granted.OPEN_TIER
    return (kind, granted) == (SlotKind.RECOVERY_CODE, Granted.ADMINISTERS)
  return granted == Granted.ADMINISTERS or (kind, granted) == (SlotKind.DEVICE, Granted.OPEN_TIER)


def opened_list(plain: bytes, administration: bytes) -> MemberList:
  """The list in the content of its box, once its signature was checked."""
  if len(plain) < SIGNATURE_COUNT:
    raise FormatError("the list of members has no signature")
  encoded, signature = plain[:-SIGNATURE_COUNT], plain[-SIGNATURE_COUNT:]
  check_signed(administration, MEMBERS_LABEL, encoded, signature)
  return MemberList.decoded(encoded)


@dataclass(frozen=True)
class Succession:
  """A change of the administration key, signed by a recovery code."""

  vault: bytes
  epoch: int
  old: bytes
  new: bytes
  list_hash: bytes
  recovery_key: bytes
  signature: bytes = b""

  def body(self) -> bytes:
    return (
      self.vault + u64(self.epoch) + self.old + self.new + self.list_hash + self.recovery_key)

  def encoded(self) -> bytes:
    return self.body() + self.signature

  @staticmethod
  def made(
    vault: bytes, epoch: int, old: bytes, new: bytes, list_hash: bytes, recovery_seed: bytes,
  ) -> Succession:
    plain = (vault, epoch, old, new, list_hash, signing_public_key(recovery_seed))
    body = Succession(*plain).body()
    return Succession(*plain, sign(recovery_seed, SUCCESSION_LABEL, body))

  @staticmethod
  def decoded(data: bytes) -> Succession:
    cursor = Cursor(data)
    found = Succession(
      cursor.take(16), cursor.u64(), cursor.take(32), cursor.take(32), cursor.take(32),
      cursor.take(32), cursor.take(SIGNATURE_COUNT))
    cursor.end()
    if found.epoch not in range(1, MAXIMUM_EPOCH + 1):
      raise FormatError("the epoch of a succession is out of range")
    return found

  def is_followed(self, trusted: bytes, recovery_key: bytes) -> bool:
    """Whether a reader that trusts this administration key, and this recovery code, may trust the new key."""
    return (
      self.old == trusted and self.recovery_key == recovery_key and any(recovery_key)
      and is_signed(recovery_key, SUCCESSION_LABEL, self.body(), self.signature))


def successions_hash(records: Iterable[bytes]) -> bytes:
  """The hash of all records, in the order of their epochs."""
  return labelled_hash("pk3/successions", b"".join(sized(record) for record in records))


def checked_successions(records: Iterable[bytes], vault: bytes, epoch: int) -> list[Succession]:
  """The successions of a head, if they are those of a vault, in order."""
  found = [Succession.decoded(record) for record in records]
  epochs = [0, *(succession.epoch for succession in found), epoch + 1]
  if any(left >= right for left, right in zip(epochs, epochs[1:])):
    raise FormatError("the successions are not in the order of their epochs")
  if any(succession.vault != vault for succession in found):
    raise FormatError("a succession is of another vault")
  return found


def follows(
  successions: list[Succession], trusted: bytes, recovery_key: bytes, target: bytes,
) -> bool:
  """Whether successions can be followed from a trusted administration key to another one."""
  for succession in successions:
    if trusted != target and succession.is_followed(trusted, recovery_key):
      trusted = succession.new
  return trusted == target
