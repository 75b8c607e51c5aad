"""The notation of vault format 3: encodings of values, and the primitives."""

from __future__ import annotations

import hashlib
import hmac
import struct

from nacl.bindings import (
  crypto_box, crypto_box_seal_open, crypto_scalarmult_base, crypto_secretbox, crypto_secretbox_open)
from nacl.exceptions import CryptoError

NONCE_COUNT = 24
BOX_OVERHEAD = NONCE_COUNT + 16
SEAL_OVERHEAD = 48
MINIMUM_PADDED_COUNT = 256


class FormatError(Exception):
  """Bytes that no writer of the format makes."""


def u8(value: int) -> bytes:
  return struct.pack("<B", value)


def u32(value: int) -> bytes:
  return struct.pack("<I", value)


def u64(value: int) -> bytes:
  return struct.pack("<Q", value)


def i64(value: int) -> bytes:
  return struct.pack("<q", value)


def sized(value: bytes) -> bytes:
  """`bytes x` of the specification."""
  return u32(len(value)) + value


def text(value: str) -> bytes:
  return sized(value.encode("utf-8"))


def optional(encoded: bytes | None) -> bytes:
  """`opt T`, of a `T` that is encoded already."""
  return b"\0" if encoded is None else b"\1" + encoded


def derive(key: bytes, label: str, fields: bytes = b"") -> bytes:
  """`D(key, label, fields)`."""
  if not 16 <= len(key) <= 64:
    raise ValueError("a key has 16 to 64 bytes")
  person = label.encode("ascii").ljust(16, b"\0")
  return hashlib.blake2b(fields, key=key, person=person, digest_size=32).digest()


def labelled_hash(label: str, data: bytes) -> bytes:
  """`HL(label, data)`."""
  person = label.encode("ascii").ljust(16, b"\0")
  return hashlib.blake2b(data, person=person, digest_size=32).digest()


def digest(count: int, data: bytes) -> bytes:
  """`H(count, data)`."""
  return hashlib.blake2b(data, digest_size=count).digest()


def seal(key: bytes, message: bytes, nonce: bytes) -> bytes:
  """`Box(key, message)` with a given nonce."""
  return nonce + crypto_secretbox(message, nonce, key)


def open_box(key: bytes, box: bytes) -> bytes:
  """Opens a `Box`; raises `FormatError` if it is not of this key, or was changed."""
  if len(box) < BOX_OVERHEAD:
    raise FormatError("a box is too short")
  try:
    return crypto_secretbox_open(box[NONCE_COUNT:], box[:NONCE_COUNT], key)
  except CryptoError:
    raise FormatError("a box does not open") from None


def equal(left: bytes, right: bytes) -> bool:
  """Compares in constant time."""
  return hmac.compare_digest(left, right)


def sealed_box(public_key: bytes, message: bytes, sender: bytes) -> bytes:
  """`Seal(public_key, message)` with a given private key of the sender."""
  sender_public = crypto_scalarmult_base(sender)
  nonce = digest(24, sender_public + public_key)
  return sender_public + crypto_box(message, nonce, public_key, sender)


def open_sealed_box(private_key: bytes, box: bytes) -> bytes:
  """Opens a `Seal`; raises `FormatError` if it is not for this key, or was changed."""
  if len(box) < SEAL_OVERHEAD:
    raise FormatError("a sealed box is too short")
  try:
    return crypto_box_seal_open(box, crypto_scalarmult_base(private_key), private_key)
  except CryptoError:
    raise FormatError("a sealed box does not open") from None


def padme(count: int) -> int:
  """The Padmé length of `count`."""
  exponent = count.bit_length() - 1
  mask = (1 << (exponent - exponent.bit_length())) - 1
  return (count + mask) & ~mask


def padded_count(count: int) -> int:
  """The length of `padded(x)` for `count` bytes of `x`."""
  needed = 4 + count
  return MINIMUM_PADDED_COUNT if needed <= MINIMUM_PADDED_COUNT else padme(needed)


def pad(data: bytes) -> bytes:
  return sized(data).ljust(padded_count(len(data)), b"\0")


def unpad(padded: bytes) -> bytes:
  """Removes the padding; raises `FormatError` unless it is the only valid padded form."""
  if len(padded) < MINIMUM_PADDED_COUNT:
    raise FormatError("a padded text is too short")
  count = struct.unpack_from("<I", padded)[0]
  if padded_count(count) != len(padded):
    raise FormatError("a padded text has another length than its data asks for")
  if any(padded[4 + count :]):
    raise FormatError("the padding is not zero")
  return padded[4 : 4 + count]


def is_padded_count(count: int) -> bool:
  """Returns whether a padded form can have `count` bytes; this needs no key."""
  return count == MINIMUM_PADDED_COUNT or (count > MINIMUM_PADDED_COUNT and padme(count) == count)


class Cursor:
  """Reads values from the start of bytes."""

  def __init__(self, data: bytes) -> None:
    self._data = data
    self._position = 0

  def take(self, count: int) -> bytes:
    end = self._position + count
    if end > len(self._data):
      raise FormatError("a value ends too early")
    taken = self._data[self._position : end]
    self._position = end
    return taken

  def u8(self) -> int:
    return self.take(1)[0]

  def u32(self) -> int:
    return struct.unpack("<I", self.take(4))[0]

  def u64(self) -> int:
    return struct.unpack("<Q", self.take(8))[0]

  def i64(self) -> int:
    return struct.unpack("<q", self.take(8))[0]

  def sized(self) -> bytes:
    return self.take(self.u32())

  def text(self) -> str:
    try:
      return self.sized().decode("utf-8")
    except UnicodeDecodeError:
      raise FormatError("a text is not UTF-8") from None

  def optional(self, take):
    """`opt T`, where `take` takes the `T`."""
    present = self.u8()
    if present > 1:
      raise FormatError("an optional begins with neither 0 nor 1")
    return take() if present else None

  def rest(self) -> bytes:
    return self.take(len(self._data) - self._position)

  def end(self) -> None:
    if self._position != len(self._data):
      raise FormatError("something follows the last value")
