"""What a reader has seen of a vault: the record, its rules, and the names of cached keys."""

from __future__ import annotations

from dataclasses import dataclass

import vault_keys as keys
from vault_errors import VaultError
from vault_head import MAXIMUM_EPOCH, Head
from vault_members import (
  MAXIMUM_FIRST, MAXIMUM_SERIAL, NUMBERS, MemberList, Succession, follows)
from vault_notation import Cursor, FormatError, digest, u64

SEEN_COUNT = 320
NONE = bytes(32)


@dataclass(frozen=True)
class SeenCommit:
  """The newest commit that was proved under a tier; number 0 is none."""

  serial: int = 0
  number: int = 0
  digest: bytes = NONE

  def encoded(self) -> bytes:
    return u64(self.serial) + u64(self.number) + self.digest


@dataclass(frozen=True)
class SeenRecord:
  """The newest state of a vault that a user has seen."""

  vault: bytes
  administration: bytes
  next_administration: bytes
  recovery_key: bytes
  epoch: int
  serial: int
  list_hash: bytes
  proved: tuple[SeenCommit, SeenCommit, SeenCommit] = (SeenCommit(),) * 3

  def encoded(self) -> bytes:
    before = (
      self.vault + self.administration + self.next_administration + self.recovery_key
      + u64(self.epoch) + u64(self.serial) + self.list_hash
      + b"".join(one.encoded() for one in self.proved))
    return before + digest(16, before)

  @staticmethod
  def decoded(data: bytes) -> SeenRecord:
    if len(data) != SEEN_COUNT or digest(16, data[:-16]) != data[-16:]:
      raise FormatError("the seen record is damaged")
    cursor = Cursor(data)
    record = SeenRecord(
      cursor.take(16), cursor.take(32), cursor.take(32), cursor.take(32), cursor.u64(),
      cursor.u64(), cursor.take(32),
      tuple(SeenCommit(cursor.u64(), cursor.u64(), cursor.take(32)) for _ in keys.TIERS))
    if not (0 < record.epoch <= MAXIMUM_EPOCH and 0 < record.serial <= MAXIMUM_SERIAL and all(
        one.serial <= MAXIMUM_SERIAL and one.number <= MAXIMUM_FIRST + NUMBERS
        for one in record.proved)):
      raise FormatError("the seen record has a number that no list or commit has")
    return record

  def trusts(self, head: Head, successions: list[Succession]) -> bool:
    """Whether the record trusts the administration key of the head."""
    trusted = [self.administration]
    if self.next_administration != NONE:
      trusted.append(self.next_administration)
    return head.vault == self.vault and any(
      follows(successions, key, self.recovery_key, head.administration) for key in trusted)


@dataclass(frozen=True)
class History:
  """What a file proves of its history: digests by number, from the spine on."""

  digests: dict[int, bytes]

  @property
  def newest(self) -> int:
    return max(self.digests)

  @property
  def oldest(self) -> int:
    return min(self.digests)


def check_pins(head: Head, pins: tuple[bytes, ...]) -> None:
  """Refuses a vault that an identity is not pinned to, where no record says more."""
  if pins and keys.vault_check(head.vault, head.administration) not in pins:
    raise VaultError("another-vault", "the identity is pinned to another vault")


def check_made(
  made: bytes, head: Head, successions: list[Succession], seen: SeenRecord | None,
  check: bytes | None,
) -> None:
  """Refuses a slot of an earlier administration key, unless something vouches for the present one.

  The check that a person compared does so, and a record that was not made with T0 alone.
  """
  if made == head.administration or check == keys.vault_check(head.vault, head.administration):
    return
  if seen is None or not seen.trusts(head, successions) or seen.proved[2].number == 0:
    raise VaultError(
      "rolled-back", "an administrator who was removed may have made the vault: compare its check")


def check_seen(
  seen: SeenRecord, head: Head, members: MemberList, successions: list[Succession],
  history: History,
) -> list[str]:
  """Refuses a vault that is not the one that was seen, or an older state of it; returns notices."""
  check_key_seen(seen, head, members, successions, history)
  if members.serial < seen.serial or members.epoch < seen.epoch or (
      members.epoch > seen.epoch and members.serial == seen.serial):
    raise VaultError("rolled-back", "a later list of members was seen here")
  if members.serial == seen.serial and members.hash() != seen.list_hash:
    raise VaultError("fork", "another list of this serial was seen here")
  notices = []
  for commit in seen.proved:
    notice = commit_notice(commit, members, history)
    if notice is not None and notice not in notices:
      notices.append(notice)
  return notices


def check_key_seen(
  seen: SeenRecord, head: Head, members: MemberList, successions: list[Succession],
  history: History,
) -> None:
  if head.vault != seen.vault:
    raise VaultError("another-vault", "another vault was seen here")
  if not seen.trusts(head, successions):
    raise VaultError("administration-changed", "the administration key was changed")
  if head.administration == seen.administration and seen.next_administration != NONE:
    recorded = (seen.list_hash, seen.proved[0].digest)
    if (members.hash(), history.digests[history.newest]) != recorded:
      raise VaultError("rolled-back", "the administration key of this file is being replaced")


def commit_notice(commit: SeenCommit, members: MemberList, history: History) -> str | None:
  """What the file says of a commit that was seen: nothing if it follows from it."""
  if commit.number == 0:
    return None
  if members.serial == commit.serial and history.newest < commit.number:
    raise VaultError("rolled-back", "a later state was seen here")
  if commit.number < history.oldest:
    return "unproved"
  if history.digests.get(commit.number) == commit.digest:
    return None
  if members.accepted > commit.serial:
    return "accepted"
  raise VaultError("fork", "another state came before this one than was seen here")


def seen_name(real_path: bytes) -> str:
  """The file name of the seen record of a vault."""
  return digest(16, real_path).hex()


def cache_name(tier: int, vault: bytes) -> bytes:
  """The name of the key that caches a tier."""
  return f"prefs:{vault.hex()}:{tier}".encode("ascii")


def place_name(real_path: bytes) -> bytes:
  """The name of the key that holds the id of the vault whose keys were cached at a path."""
  return f"prefs:{seen_name(real_path)}:at".encode("ascii")


def cache_payload(limit: int, binding: bytes, tier_key: bytes) -> bytes:
  return u64(limit) + binding + tier_key
