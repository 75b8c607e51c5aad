"""The slots of vault format 2: their rows, and the keys of what opens them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

from vault_codes import public_key
from vault_notation import (
  Cursor, FormatError, derive, digest, labelled_hash, sized, u8, u32, u64)
from vault_signing import signing_public_key

MEMORY_LIMITS = range(8 * 1024, (1 << 30) + 1, 1024)
PASSES_LIMITS = range(1, 11)


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
class SlotRow:
  number: int
  kind: int
  granted: int
  parameters: bytes
  salt: bytes
  made: bytes
  commitment: bytes
  box: bytes
  sum: bytes = b""

  def is_known(self) -> bool:
    return self.kind in list(SlotKind) and self.granted in list(Granted)

  def header(self, vault: bytes) -> bytes:
    return slot_header(
      vault, self.number, self.kind, self.parameters, self.salt, self.made)

  def fields(self) -> bytes:
    """`slot` of the specification."""
    return (
      u32(self.number) + u8(self.kind) + u8(self.granted) + sized(self.parameters)
      + sized(self.salt) + sized(self.made) + sized(self.commitment) + sized(self.box))

  def row_hash(self) -> bytes:
    """What the list of members has of the row."""
    return labelled_hash("pk2/slot.row", self.fields())

  def computed_sum(self) -> bytes:
    return digest(16, self.fields())

  def finished(self) -> SlotRow:
    """The row with the sum that belongs to it."""
    return replace(self, sum=self.computed_sum())

  def columns(self) -> tuple:
    return tuple(vars(self).values())

  def cost(self) -> tuple[int, int]:
    """The memory in bytes and the passes of a passphrase slot."""
    cursor = Cursor(self.parameters)
    cost = cursor.u64(), cursor.u32()
    cursor.end()
    return cost


def cost_parameters(memory: int, passes: int) -> bytes:
  return u64(memory) + u32(passes)


def check_cost(memory: int, passes: int) -> None:
  """Refuses parameters of Argon2id beyond the limits before anything is allocated."""
  if memory not in MEMORY_LIMITS or passes not in PASSES_LIMITS:
    raise FormatError("the cost of a passphrase is outside the limits")


def slot_header(
  vault: bytes, number: int, kind: int, parameters: bytes, salt: bytes, made: bytes,
) -> bytes:
  return (
    sized(vault) + u32(number) + u8(kind) + sized(parameters) + sized(salt) + sized(made))


def slot_private_key(input_key: bytes, header: bytes) -> bytes:
  """The private X25519 key of a slot that is no recipient's."""
  return derive(input_key, "pk2/slot.box", header)


def slot_seed(input_key: bytes, header: bytes) -> bytes:
  """The seed of the Ed25519 key of a slot that is no recipient's."""
  return derive(input_key, "pk2/slot.sign", header)


def slot_public_keys(kind: int, input_key: bytes, header: bytes) -> tuple[bytes, bytes]:
  """The two public keys of a slot in the list; only a recovery code has the second one."""
  signing = slot_seed(input_key, header) if kind == SlotKind.RECOVERY_CODE else None
  return (
    public_key(slot_private_key(input_key, header)),
    b"" if signing is None else signing_public_key(signing))


def slot_commitment(key: bytes, header: bytes) -> bytes:
  """The commitment under the input key; of a recipient's slot, under the granted key."""
  return derive(key, "pk2/slot.commit", header)


def granted_count(granted: int) -> int:
  """How many bytes of keys a slot grants."""
  return 96 if granted in (Granted.READS_AND_WRITES, Granted.READS) else 32
