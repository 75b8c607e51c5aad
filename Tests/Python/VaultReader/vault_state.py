"""The state of vault format 2, its chain, and what other files have of it."""

from __future__ import annotations

from dataclasses import dataclass

from vault_notation import (
  Cursor, FormatError, digest, i64, labelled_hash, optional, sized, u32, u64)
from vault_schema import (
  CHAIN_COUNT, MAXIMUM_COUNTER, MAXIMUM_EPOCH, MAXIMUM_GENERATION, MAXIMUM_SERIAL)
from vault_signing import SIGNATURE_COUNT, sign
from vault_tree import NO_HASH, Root, Tree

STATE_LABEL = "pk2/state"
NO_DIGEST = bytes(32)
SEEN_COUNT = 240


@dataclass(frozen=True)
class State:
  """What a vault holds, and after which list of members."""

  generation: int
  epoch: int
  serial: int
  list_hash: bytes
  counter: int
  first: int
  roots: tuple[Root, Root, Root]
  writer: int = 0
  time: int = 0

  def encoded(self) -> bytes:
    roots = b"".join(u64(root.count) + sized(root.hash) for root in self.roots)
    return (
      u64(self.generation) + u64(self.epoch) + u64(self.serial) + sized(self.list_hash)
      + u64(self.counter) + u64(self.first) + roots + u32(self.writer) + i64(self.time))

  def hash(self) -> bytes:
    return labelled_hash("pk2/state", self.encoded())

  @staticmethod
  def take(cursor: Cursor) -> State:
    numbers = (
      cursor.u64(), cursor.u64(), cursor.u64(), cursor.sized(), cursor.u64(), cursor.u64())
    roots = tuple(Root(cursor.u64(), cursor.sized()) for _ in Tree)
    state = State(*numbers, roots, cursor.u32(), cursor.i64())
    state.check()
    return state

  def check(self) -> None:
    limits = (
      (self.generation, MAXIMUM_GENERATION), (self.epoch, MAXIMUM_EPOCH),
      (self.serial, MAXIMUM_SERIAL), (self.counter, MAXIMUM_COUNTER), (self.first, self.counter))
    if any(value not in range(1, limit + 1) for value, limit in limits):
      raise FormatError("a number of the state is out of range")
    if self.counter - self.first >= CHAIN_COUNT:
      raise FormatError("the chain of the state is longer than a chain may be")
    if any(len(value) != 32 for value in (self.list_hash, *(root.hash for root in self.roots))):
      raise FormatError("a hash of the state has another length")
    if any(root.count >= 1 << 63 for root in self.roots):
      raise FormatError("a tree has more keys than there can be")
    if any((root.count == 0) != (root.hash == NO_HASH) for root in self.roots):
      raise FormatError("a tree without keys has a root, or one with keys has none")


@dataclass(frozen=True)
class SignedState:
  """The content of the box of the state."""

  state: State
  previous: bytes = NO_DIGEST
  signature: bytes | None = None

  def digest(self) -> bytes:
    return self.entry().digest()

  def entry(self) -> ChainEntry:
    state = self.state
    return ChainEntry(state.counter, self.previous, state.hash(), state.writer, state.time)

  def signed(self, seed: bytes) -> SignedState:
    return SignedState(self.state, self.previous, sign(seed, STATE_LABEL, self.digest()))

  def encoded(self) -> bytes:
    signature = None if self.signature is None else sized(self.signature)
    return self.state.encoded() + sized(self.previous) + optional(signature)

  @staticmethod
  def decoded(data: bytes) -> SignedState:
    cursor = Cursor(data)
    found = SignedState(State.take(cursor), cursor.sized(), cursor.optional(cursor.sized))
    cursor.end()
    if len(found.previous) != 32 or len(found.signature or bytes(64)) != SIGNATURE_COUNT:
      raise FormatError("the digest or the signature of the state has another length")
    return found


@dataclass(frozen=True)
class ChainEntry:
  """What the chain has of one state."""

  counter: int
  previous: bytes
  state_hash: bytes
  writer: int = 0
  time: int = 0

  def place(self) -> int:
    return self.counter % CHAIN_COUNT

  def digest(self) -> bytes:
    """Which state it is, and which ones were before it."""
    return labelled_hash(
      "pk2/chain", u64(self.counter) + sized(self.previous) + sized(self.state_hash)
      + u32(self.writer) + i64(self.time))

  def encoded(self) -> bytes:
    return (
      u64(self.counter) + sized(self.previous) + sized(self.state_hash) + u32(self.writer)
      + i64(self.time))

  @staticmethod
  def decoded(data: bytes) -> ChainEntry:
    cursor = Cursor(data)
    entry = ChainEntry(
      cursor.u64(), cursor.sized(), cursor.sized(), cursor.u32(), cursor.i64())
    cursor.end()
    if len(entry.previous) != 32 or len(entry.state_hash) != 32:
      raise FormatError("a digest of the chain has another length")
    if entry.counter not in range(1, MAXIMUM_COUNTER + 1):
      raise FormatError("a counter of the chain is out of range")
    return entry


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
  counter: int
  digest: bytes

  def encoded(self) -> bytes:
    before = (
      self.vault + self.administration + self.next_administration + self.recovery_key
      + u64(self.epoch) + u64(self.serial) + self.list_hash + u64(self.counter) + self.digest
      + bytes(24))
    return before + digest(16, before)

  @staticmethod
  def decoded(data: bytes) -> SeenRecord:
    if len(data) != SEEN_COUNT or digest(16, data[:-16]) != data[-16:]:
      raise FormatError("the seen record is damaged")
    cursor = Cursor(data)
    record = SeenRecord(
      cursor.take(16), cursor.take(32), cursor.take(32), cursor.take(32), cursor.u64(),
      cursor.u64(), cursor.take(32), cursor.u64(), cursor.take(32))
    if record.counter > MAXIMUM_COUNTER:
      raise FormatError("the counter of the seen record is too high")
    return record


def seen_name(real_path: bytes) -> str:
  """The file name of the seen record of a vault."""
  return digest(16, real_path).hex()


def cache_name(tier: int, vault: bytes) -> bytes:
  """The name of the key that caches a tier."""
  return f"prefs:{vault.hex()}:{tier}".encode("ascii")


def cache_payload(limit: int, binding: bytes, tier_key: bytes) -> bytes:
  return u64(limit) + binding + tier_key
