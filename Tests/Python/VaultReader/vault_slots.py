"""The slots of vault format 3, and the keys of what opens them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from vault_codes import public_key
from vault_notation import (
  SEAL_OVERHEAD, Cursor, FormatError, derive, labelled_hash, sized, u8, u32, u64)
from vault_signing import signing_public_key

BINDING_COUNT = 32


@dataclass(frozen=True)
class Cost:
  """The costs of Argon2id: memory in bytes, and passes."""

  memory: int
  passes: int

  def parameters(self) -> bytes:
    return u64(self.memory) + u32(self.passes)


INTERACTIVE = Cost(64 << 20, 2)
MODERATE = Cost(256 << 20, 3)
COSTS = {cost.parameters(): cost for cost in (INTERACTIVE, MODERATE)}


class SlotKind(IntEnum):
  PASSPHRASE = 1
  KEY_FILE = 2
  DEVICE = 3
  RECOVERY_CODE = 4
  RECIPIENT = 5


class Granted(IntEnum):
  ADMINISTERS = 1
  OPEN_TIER = 2
  READS_AND_WRITES = 3
  READS = 4


@dataclass(frozen=True)
class Slot:
  number: int
  kind: int
  granted: int
  parameters: bytes
  salt: bytes
  made: bytes
  commitment: bytes
  box: bytes

  def header(self, vault: bytes) -> bytes:
    """What the keys of the slot depend on."""
    return slot_header(vault, self.number, self.kind, self.parameters, self.salt, self.made)

  def encoded(self) -> bytes:
    return (
      u32(self.number) + u8(self.kind) + u8(self.granted) + sized(self.parameters) + self.salt
      + self.made + self.commitment + sized(self.box))

  def signing_fields(self, vault: bytes) -> bytes:
    """What the signing key depends on: it stays the same when `made` changes."""
    return slot_signing_fields(vault, self.number, self.salt)

  @staticmethod
  def decoded(data: bytes) -> Slot:
    cursor = Cursor(data)
    slot = Slot(
      cursor.u32(), cursor.u8(), cursor.u8(), cursor.sized(), cursor.take(32), cursor.take(32),
      cursor.take(32), cursor.sized())
    cursor.end()
    return slot

  @staticmethod
  def checked(data: bytes) -> Slot:
    """A slot that can be used; raises `FormatError` for one that is passed over."""
    slot = Slot.decoded(data)
    if slot.kind not in list(SlotKind) or slot.granted not in list(Granted) or slot.number == 0:
      raise FormatError("a slot has no number, or is of an unknown kind or grant")
    if len(slot.box) != SEAL_OVERHEAD + granted_count(slot.granted) + BINDING_COUNT:
      raise FormatError("the box of a slot has another length")
    if slot.kind == SlotKind.PASSPHRASE and slot.parameters not in COSTS:
      raise FormatError("the cost of a passphrase is none of the two")
    if slot.kind != SlotKind.PASSPHRASE and slot.parameters:
      raise FormatError("a slot has parameters, and must not")
    return slot


def slot_hash(encoded: bytes) -> bytes:
  """What the list of members has of a slot."""
  return labelled_hash("pk3/slot", encoded)


def slot_header(
  vault: bytes, number: int, kind: int, parameters: bytes, salt: bytes, made: bytes,
) -> bytes:
  return (
    sized(vault) + u32(number) + u8(kind) + sized(parameters) + sized(salt) + sized(made))


def slot_signing_fields(vault: bytes, number: int, salt: bytes) -> bytes:
  return sized(vault) + u32(number) + sized(salt)


def slot_private_key(input_key: bytes, header: bytes) -> bytes:
  """The private X25519 key of a slot that is no recipient's."""
  return derive(input_key, "pk3/slot.box", header)


def slot_seed(input_key: bytes, signing_fields: bytes) -> bytes:
  """The seed of the Ed25519 key of a slot that is no recipient's."""
  return derive(input_key, "pk3/slot.sign", signing_fields)


def slot_public_keys(slot: Slot, vault: bytes, input_key: bytes) -> tuple[bytes, bytes | None]:
  """The two public keys of a slot in the list; only a recovery code has the second one."""
  box_key = public_key(slot_private_key(input_key, slot.header(vault)))
  if slot.kind != SlotKind.RECOVERY_CODE:
    return box_key, None
  return box_key, signing_public_key(slot_seed(input_key, slot.signing_fields(vault)))


def slot_commitment(key: bytes, header: bytes) -> bytes:
  """The commitment under the input key; of a recipient's slot, under the granted key."""
  return derive(key, "pk3/slot.commit", header)


def granted_count(granted: int) -> int:
  """How many bytes of keys a slot grants."""
  return 96 if granted in (Granted.READS_AND_WRITES, Granted.READS) else 32
