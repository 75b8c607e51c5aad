"""Keys that people copy: recovery codes, recipients and identities, in Crockford's base 32."""

from __future__ import annotations

from dataclasses import dataclass

from nacl.bindings import crypto_scalarmult_base

from vault_notation import FormatError, derive, digest, equal, labelled_hash, sized
from vault_signing import is_signing_key, signing_public_key

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
RECOVERY_CODE_COUNT = 16
KEY_COUNT = 32
RECIPIENT_CHECK_COUNT = 6
RECIPIENT_PREFIX = "pkpub2-"
IDENTITY_PREFIX = "pksec2-"
WHITE_SPACE = " \t\n\v\f\r"
MAXIMUM_FILE_COUNT = 64 * 1024
PRIME = 2**255 - 19

# The value of each character. Letters of ASCII alone have an upper case here: that of U+017F is S.
VALUES = {
  spelled: value for value, character in enumerate(ALPHABET)
  for spelled in (character, character.lower())}
VALUES |= {"O": 0, "o": 0, "I": 1, "i": 1, "L": 1, "l": 1}


def base32(data: bytes) -> str:
  """Five bits a character, the first bits first; the bits make whole characters."""
  count, rest = divmod(len(data) * 8, 5)
  if rest:
    raise ValueError("the bytes do not fill the last character")
  bits = int.from_bytes(data, "big")
  return "".join(ALPHABET[bits >> 5 * place & 31] for place in reversed(range(count)))


def base32_bytes(written: str, count: int) -> bytes:
  """Returns the decoded bytes, which must be `count`."""
  characters = [character for character in written if character not in "-" + WHITE_SPACE]
  if not VALUES.keys() >= set(characters):
    raise FormatError("a code has a character that is in no code")
  if len(characters) * 5 != count * 8:
    raise FormatError("a code has too few characters, or too many")
  bits = 0
  for character in characters:
    bits = bits << 5 | VALUES[character]
  return bits.to_bytes(count, "big")


def text32(data: bytes, check_count: int) -> str:
  """`text32(data, check_count)`."""
  return base32(data + digest(16, data)[:check_count])


def text32_bytes(written: str, count: int, check_count: int) -> bytes:
  """Returns the `count` bytes of a `text32`; raises `FormatError` if it was mistyped."""
  read = base32_bytes(written, count + check_count)
  data, check = read[:count], read[count:]
  if not equal(digest(16, data)[:check_count], check):
    raise FormatError("a code is mistyped")
  return data


def recovery_text(code: bytes) -> str:
  letters = text32(code, 4)
  return "-".join(letters[first : first + 4] for first in range(0, len(letters), 4))


def recovery_code(written: str) -> bytes:
  return text32_bytes(written, RECOVERY_CODE_COUNT, 4)


def recovery_code_of_file(data: bytes) -> bytes:
  if len(data) > MAXIMUM_FILE_COUNT:
    raise FormatError("the file of a recovery code has more than 64 KiB")
  return recovery_code(data.decode("utf-8", "replace"))


@dataclass(frozen=True)
class Recipient:
  """The two public keys of an identity."""

  box_key: bytes
  signing_key: bytes

  def text(self) -> str:
    data = self.box_key + self.signing_key
    return RECIPIENT_PREFIX + text32(data, RECIPIENT_CHECK_COUNT).lower()

  def fingerprint(self) -> bytes:
    return labelled_hash("pk2/fingerprint", sized(self.box_key) + sized(self.signing_key))[:16]

  @staticmethod
  def decoded(written: str) -> Recipient:
    data = _prefixed_bytes(RECIPIENT_PREFIX, written, 2 * KEY_COUNT, RECIPIENT_CHECK_COUNT)
    recipient = Recipient(data[:KEY_COUNT], data[KEY_COUNT:])
    if not is_public_key(recipient.box_key) or not is_signing_key(recipient.signing_key):
      raise FormatError("a recipient has a key that is nobody's public key")
    return recipient


@dataclass(frozen=True)
class Keys:
  """The private keys of an identity: one seed yields both."""

  seed: bytes

  @property
  def private_key(self) -> bytes:
    """The private X25519 key, which opens slots."""
    return derive(self.seed, "pk2/ident.box")

  @property
  def signing_seed(self) -> bytes:
    """The seed of the Ed25519 key, which signs commits."""
    return derive(self.seed, "pk2/ident.sign")

  def recipient(self) -> Recipient:
    return Recipient(public_key(self.private_key), signing_public_key(self.signing_seed))


def identity_text(seed: bytes) -> str:
  return IDENTITY_PREFIX + text32(seed, 3).lower()


def identity_seed(written: str) -> bytes:
  """The seed of an identity."""
  return _prefixed_bytes(IDENTITY_PREFIX, written, KEY_COUNT, 3)


def public_key(private_key: bytes) -> bytes:
  return crypto_scalarmult_base(private_key)


def is_public_key(data: bytes) -> bool:
  """Whether 32 bytes are a public key in its only form, and none of low order."""
  number = int.from_bytes(data, "little")
  return number < PRIME and not is_of_low_order(number)


def is_of_low_order(number: int) -> bool:
  """Whether a point of Curve25519 or its twist is infinity once it was doubled three times."""
  x, z = number, 1
  for _ in range(3):
    x, z = (x * x - z * z) ** 2 % PRIME, 4 * x * z * (x * x + 486662 * x * z + z * z) % PRIME
  return z == 0


def has_prefix(prefix: str, written: str) -> bool:
  """Whether a text begins with a prefix, which is of ASCII, in whatever case."""
  # Bytes have the upper and the lower case of ASCII alone.
  return written[: len(prefix)].encode("utf-8", "replace").lower() == prefix.encode("ascii")


def _prefixed_bytes(prefix: str, written: str, count: int, check_count: int) -> bytes:
  trimmed = written.strip(WHITE_SPACE)
  if not has_prefix(prefix, trimmed):
    raise FormatError(f"a key does not begin with {prefix}")
  return text32_bytes(trimmed[len(prefix) :], count, check_count)
