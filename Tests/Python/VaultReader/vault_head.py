"""The head of a vault, which says who may open it."""

from __future__ import annotations

from dataclasses import dataclass

from vault_errors import Damage, VaultError
from vault_notation import Cursor, FormatError, digest, sized, text, u32, u64
from vault_slots import SlotKind

MAGIC = b"PKVAULT\n"
FORMAT = 3
PREFIX_COUNT = 32
MAXIMUM_HEAD_COUNT = 262_144
MAXIMUM_INDEX_COUNT = 64 << 20
MAXIMUM_SPINE_COUNT = 32_852
MAXIMUM_EPOCH = 1 << 31
MAXIMUM_SLOTS = 32
MAXIMUM_PASSPHRASES = 8
OLD_FORMAT = b"SQLite format 3\0"


@dataclass(frozen=True)
class Head:
  """A head; slots and successions are as the file has them."""

  vault: bytes
  epoch: int
  checks: tuple[bytes, bytes, bytes]
  administration: bytes
  slots: tuple[bytes, ...]
  list: bytes
  administration_box: bytes
  successions: tuple[bytes, ...] = ()
  index_count: int = 0
  spine_count: int = 0
  log: int = 0
  features: tuple[str, ...] = ()

  def encoded(self) -> bytes:
    after = (
      u32(self.index_count) + u32(self.spine_count) + u64(self.log) + self.vault + u64(self.epoch)
      + b"".join(self.checks) + self.administration
      + counted(text(feature) for feature in self.features)
      + counted(map(sized, self.slots)) + sized(self.list) + sized(self.administration_box)
      + counted(map(sized, self.successions)))
    return MAGIC + u32(FORMAT) + u32(16 + len(after)) + after

  def hash(self) -> bytes:
    return digest(32, self.encoded())

  @property
  def count(self) -> int:
    return len(self.encoded())

  @property
  def spine_place(self) -> int:
    return self.log - self.spine_count

  @property
  def index_place(self) -> int:
    """Where the index begins, and the pages and boxes end, which follow the head."""
    return self.spine_place - self.index_count

  @staticmethod
  def decoded(data: bytes, file_count: int) -> Head:
    """The head at the beginning of a file of this length."""
    check_format(data)
    try:
      return Head._decoded(data, file_count)
    except FormatError as error:
      raise Damage("head", str(error)) from None

  @staticmethod
  def _decoded(data: bytes, file_count: int) -> Head:
    prefix = Cursor(data[:PREFIX_COUNT])
    prefix.take(12)
    count, index, spine, log = prefix.u32(), prefix.u32(), prefix.u32(), prefix.u64()
    if (count > MAXIMUM_HEAD_COUNT or index > MAXIMUM_INDEX_COUNT or spine > MAXIMUM_SPINE_COUNT
        or count < PREFIX_COUNT or not count + index + spine <= log <= file_count):
      raise FormatError("a length does not fit in the file")
    cursor = Cursor(data[PREFIX_COUNT:count])
    vault, epoch = cursor.take(16), cursor.u64()
    checks = cursor.take(16), cursor.take(16), cursor.take(16)
    administration = cursor.take(32)
    features = tuple(cursor.text() for _ in range(cursor.u32()))
    if features:
      raise VaultError("other-format", f"the vault needs {features[0]!r}, which is not known")
    slots = tuple(cursor.sized() for _ in range(cursor.u32()))
    members, sealed = cursor.sized(), cursor.sized()
    successions = tuple(cursor.sized() for _ in range(cursor.u32()))
    cursor.end()
    if epoch not in range(1, MAXIMUM_EPOCH + 1):
      raise FormatError("the epoch is out of range")
    check_slots(slots)
    return Head(
      vault, epoch, checks, administration, slots, members, sealed, successions, index, spine, log)


def counted(encoded) -> bytes:
  """`u32 count`, and then the values."""
  values = list(encoded)
  return u32(len(values)) + b"".join(values)


def check_format(data: bytes) -> None:
  if data.startswith(OLD_FORMAT):
    raise VaultError("other-format", "the vault is of format 2, an older development version")
  if not data.startswith(MAGIC):
    raise VaultError("foreign", "the file is not a vault")
  if data[8:12] != u32(FORMAT):
    number = int.from_bytes(data[8:12], "little")
    raise VaultError("other-format", f"the vault is of format {number}")


def check_slots(slots: tuple[bytes, ...]) -> None:
  """The limits of slots that hold before anything is computed with them."""
  numbers = [slot[:4] for slot in slots if len(slot) >= 6]
  passphrases = [slot for slot in slots if slot[4:5] == bytes([SlotKind.PASSPHRASE])]
  if len(slots) > MAXIMUM_SLOTS or len(passphrases) > MAXIMUM_PASSPHRASES:
    raise FormatError("there are too many slots")
  if len(set(numbers)) != len(numbers):
    raise FormatError("two slots have one number")
