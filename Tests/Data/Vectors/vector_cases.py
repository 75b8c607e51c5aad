"""The parts of a file of test vectors."""

from __future__ import annotations

import json
from collections.abc import Callable

import vault_keys as keys
from vault_errors import VaultError
from vault_notation import FormatError
from vault_signing import signing_public_key


def pattern(first: int, count: int) -> bytes:
  """Returns bytes that count up: plainly not a secret key."""
  return bytes((first + index) % 256 for index in range(count))


# Fixed keys, plainly no secrets.
ROOT = pattern(0x00, 32)
DEVICE = pattern(0x20, 32)
SALT = pattern(0x40, 32)
NONCE = pattern(0x60, 24)
RECOVERY_CODE = pattern(0xA0, 16)
VAULT = pattern(0xB0, 16)
ADMINISTRATION_SEED = pattern(0xC0, 32)
ADMINISTRATION = signing_public_key(ADMINISTRATION_SEED)
EPOCH = 3
TIERS = keys.tier_keys(ROOT, VAULT, EPOCH)
OPEN = TIERS[0]
CHECKS = tuple(keys.tier_check(key) for key in TIERS)
BINDING = keys.binding(VAULT, EPOCH, ADMINISTRATION)


class Cases:
  """The list of cases; each input is bytes, a text or a number."""

  def __init__(self) -> None:
    self.list: list[dict] = []

  def add(self, operation: str, variant: str, expect: bytes | None, **inputs) -> None:
    name = f"{operation}: {variant}" if variant else operation
    groups = {"hex": bytes, "text": str, "number": int}
    self.list.append({
      "name": name, "operation": operation,
      "inputs": {
        group: {key: value.hex() if kind is bytes else value for key, value in inputs.items()
                if isinstance(value, kind)} for group, kind in groups.items()},
      "expect": None if expect is None else expect.hex()})

  def read(
    self, operation: str, good: dict[str, object], bad: dict[str, object],
    read: Callable[[object], bytes], inputs_of: Callable[[object], dict],
  ) -> None:
    """Adds cases of a reader; each good variant must be read, and each bad one refused."""
    for variant, value in {**good, **bad}.items():
      found = result(lambda: read(value))
      assert (found is not None) == (variant in good), (operation, variant)
      self.add(operation, variant, found, **inputs_of(value))

  def written(self) -> str:
    """The text of a file; letters beyond ASCII are escaped, so that no editor alters them."""
    return json.dumps(self.list, indent=1) + "\n"


def result(compute: Callable[[], bytes]) -> bytes | None:
  """What is read, or nothing if it is refused."""
  try:
    return compute()
  except (FormatError, VaultError):
    return None


def refuses(decode: Callable[..., object], *data) -> bool:
  return result(lambda: decode(*data)) is None


def numbered(name: str, values) -> dict[str, bytes]:
  """Inputs of one name, which are numbered from 0."""
  return {f"{name}{number}": value for number, value in enumerate(values)}


def changed(data: bytes, place: int = -1) -> bytes:
  """The bytes with one bit of one byte changed."""
  place %= len(data)
  return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
