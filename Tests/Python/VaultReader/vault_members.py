"""The signed list of members of vault format 2, and the successions of its administration key."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from vault_codes import is_public_key
from vault_notation import Cursor, FormatError, labelled_hash, optional, sized, text, u8, u32, u64
from vault_schema import MAXIMUM_EPOCH, MAXIMUM_SERIAL, MAXIMUM_SLOTS
from vault_signing import (
  SIGNATURE_COUNT, check_signed, is_signed, is_signing_key, sign, signing_public_key)
from vault_slots import Granted, SlotKind

MAXIMUM_NAME_COUNT = 256
MEMBERS_LABEL = "pk2/members"
SUCCESSION_LABEL = "pk2/succession"
SIGNING_KINDS = (SlotKind.RECOVERY_CODE, SlotKind.RECIPIENT)


class VaultKind(IntEnum):
  LOCAL = 0
  SHARED = 1


@dataclass(frozen=True)
class Member:
  """A slot in the list: the hash of its row, and its public keys."""

  number: int
  kind: int
  granted: int
  row: bytes
  box_key: bytes
  signing_key: bytes = b""
  name: str = ""

  def encoded(self) -> bytes:
    return (
      u32(self.number) + u8(self.kind) + u8(self.granted) + sized(self.row)
      + sized(self.box_key) + sized(self.signing_key) + text(self.name))

  @staticmethod
  def take(cursor: Cursor) -> Member:
    return Member(
      cursor.u32(), cursor.u8(), cursor.u8(), cursor.sized(), cursor.sized(), cursor.sized(),
      cursor.text())

  def is_known(self) -> bool:
    return self.kind in list(SlotKind) and self.granted in list(Granted)

  def writes(self) -> bool:
    """Whether states of a shared vault that this slot signed count."""
    return self.is_known() and self.granted in (Granted.ADMINISTERS, Granted.READS_AND_WRITES)

  def check(self) -> None:
    if len(self.row) != 32 or len(self.name.encode("utf-8")) > MAXIMUM_NAME_COUNT:
      raise FormatError("a member has no hash of a row, or a name that is too long")
    if not self.is_known():
      return
    if len(self.box_key) != 32 or not is_public_key(self.box_key):
      raise FormatError("a member has no public key")
    if self.kind in SIGNING_KINDS:
      if not is_signing_key(self.signing_key):
        raise FormatError("a member has no key that signs")
    elif self.signing_key:
      raise FormatError("a member has a key that signs, and must not")


@dataclass(frozen=True)
class MemberList:
  """Who may open a vault; `administration_box` is the hash of that column."""

  vault: bytes
  epoch: int
  administration: bytes
  administration_box: bytes
  serial: int
  next_number: int
  kind: int
  successions: bytes
  members: tuple[Member, ...] = ()

  def encoded(self) -> bytes:
    return (
      sized(self.vault) + u64(self.epoch) + sized(self.administration)
      + sized(self.administration_box) + u64(self.serial)
      + u32(self.next_number) + u8(self.kind) + sized(self.successions) + u32(len(self.members))
      + b"".join(member.encoded() for member in self.members))

  def hash(self) -> bytes:
    """`L`."""
    return labelled_hash("pk2/members.hash", self.encoded())

  def signed(self, seed: bytes) -> bytes:
    """What the box holds: the list, and its signature by the administration key."""
    return self.encoded() + sign(seed, MEMBERS_LABEL, self.encoded())

  def member(self, number: int) -> Member | None:
    return next((member for member in self.members if member.number == number), None)

  def trusted_recovery_key(self) -> bytes:
    """`R` of the seen record."""
    codes = [m.signing_key for m in self.members if m.kind == SlotKind.RECOVERY_CODE]
    return codes[0] if codes else bytes(32)

  def has_unknown(self) -> bool:
    """Whether the list has a slot that this reader cannot carry."""
    return not all(member.is_known() for member in self.members)

  @staticmethod
  def decoded(data: bytes) -> MemberList:
    """Reads a list without its signature; raises `FormatError` if it breaks a rule."""
    cursor = Cursor(data)
    head = (
      cursor.sized(), cursor.u64(), cursor.sized(), cursor.sized(), cursor.u64(), cursor.u32(),
      cursor.u8(), cursor.sized())
    count = cursor.u32()
    if count > MAXIMUM_SLOTS:
      raise FormatError("the list has too many members")
    decoded = MemberList(*head, tuple(Member.take(cursor) for _ in range(count)))
    cursor.end()
    decoded.check()
    return decoded

  def check(self) -> None:
    hashes = (self.administration, self.administration_box, self.successions)
    if len(self.vault) != 16 or any(len(value) != 32 for value in hashes):
      raise FormatError("the list has an id, a key or a hash of another length")
    if self.epoch not in range(1, MAXIMUM_EPOCH + 1) or (
        self.serial not in range(1, MAXIMUM_SERIAL + 1)):
      raise FormatError("the epoch or the serial of the list is out of range")
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


class Reason(IntEnum):
  ON_REQUEST = 0
  ADMINISTRATOR_LEFT = 1


@dataclass(frozen=True)
class Succession:
  """A change of the administration key."""

  vault: bytes
  epoch: int
  old: bytes
  new: bytes
  list_hash: bytes
  reason: int
  recovery_key: bytes | None = None
  old_signature: bytes = b""
  new_signature: bytes = b""
  recovery_signature: bytes | None = None

  def body(self) -> bytes:
    return (
      sized(self.vault) + u64(self.epoch) + sized(self.old) + sized(self.new)
      + sized(self.list_hash) + u8(self.reason)
      + optional(None if self.recovery_key is None else sized(self.recovery_key)))

  def encoded(self) -> bytes:
    third = self.recovery_signature
    return (
      self.body() + sized(self.old_signature) + sized(self.new_signature)
      + optional(None if third is None else sized(third)))

  @staticmethod
  def made(
    vault: bytes, epoch: int, old_seed: bytes, new_seed: bytes, list_hash: bytes, reason: int,
    recovery_seed: bytes | None = None,
  ) -> Succession:
    recovery_key = None if recovery_seed is None else signing_public_key(recovery_seed)
    plain = (
      vault, epoch, signing_public_key(old_seed), signing_public_key(new_seed), list_hash,
      int(reason), recovery_key)
    body = Succession(*plain).body()
    return Succession(
      *plain, sign(old_seed, SUCCESSION_LABEL, body), sign(new_seed, SUCCESSION_LABEL, body),
      None if recovery_seed is None else sign(recovery_seed, SUCCESSION_LABEL, body))

  @staticmethod
  def decoded(data: bytes) -> Succession:
    cursor = Cursor(data)
    body = (
      cursor.sized(), cursor.u64(), cursor.sized(), cursor.sized(), cursor.sized(), cursor.u8(),
      cursor.optional(cursor.sized))
    found = Succession(*body, cursor.sized(), cursor.sized(), cursor.optional(cursor.sized))
    cursor.end()
    keys = [found.old, found.new, found.list_hash, *filter(None, [found.recovery_key])]
    signatures = [found.old_signature, found.new_signature]
    signatures += [] if found.recovery_signature is None else [found.recovery_signature]
    if len(found.vault) != 16 or any(len(key) != 32 for key in keys) or (
        any(len(signature) != SIGNATURE_COUNT for signature in signatures)):
      raise FormatError("a succession has a value of another length")
    if found.reason not in list(Reason) or found.epoch not in range(1, MAXIMUM_EPOCH + 1):
      raise FormatError("a succession has no known reason, or an epoch out of range")
    if (found.recovery_key is None) != (found.recovery_signature is None):
      raise FormatError("a succession has a recovery code's key or its signature alone")
    return found

  def is_signed(self) -> bool:
    """Whether both administration keys signed it."""
    signers = ((self.old, self.old_signature), (self.new, self.new_signature))
    return all(is_signed(key, SUCCESSION_LABEL, self.body(), mark) for key, mark in signers)

  def is_recovered(self, trusted_recovery_key: bytes | None) -> bool:
    """Whether a recovery code that is trusted signed it."""
    return (
      self.recovery_key is not None and self.recovery_key == trusted_recovery_key
      and is_signed(
        self.recovery_key, SUCCESSION_LABEL, self.body(), self.recovery_signature))

  def may_be_followed(self, trusted_recovery_key: bytes | None) -> bool:
    """Whether whoever trusts the old key may trust the new one."""
    return self.is_signed() and self.is_recovered(trusted_recovery_key)


def successions_hash(records: Iterable[bytes]) -> bytes:
  """The hash of all records, in the order of their epochs."""
  return labelled_hash("pk2/successions", b"".join(sized(record) for record in records))


def checked_successions(
  rows: Iterable[tuple[int, bytes]], vault: bytes, epoch: int, administration: bytes,
) -> list[Succession]:
  """The successions of the table, if they are those of a vault and lead to its key."""
  found: list[Succession] = []
  for number, record in rows:
    succession = Succession.decoded(record)
    if (succession.epoch, succession.vault) != (number, vault) or not succession.is_signed():
      raise FormatError("a succession is not of this epoch and vault, or is not signed")
    if found and (found[-1].new != succession.old or found[-1].epoch >= number):
      raise FormatError("a succession does not follow the one before")
    found.append(succession)
  if found and (found[-1].new != administration or found[-1].epoch > epoch):
    raise FormatError("the last succession does not lead to the vault's key")
  return found


def follows(
  successions: list[Succession], trusted: bytes, recovery_key: bytes | None, target: bytes,
) -> bool:
  """Whether successions can be followed from a trusted administration key to another one."""
  for succession in successions:
    if trusted != target and succession.old == trusted:
      if not succession.may_be_followed(recovery_key):
        return False
      trusted = succession.new
  return trusted == target


def leads(successions: list[Succession], made: bytes, target: bytes) -> bool:
  """Whether successions lead from the key under which a slot was made to that of the head."""
  for succession in successions:
    if made != target and succession.old == made and succession.is_signed():
      made = succession.new
  return made == target
