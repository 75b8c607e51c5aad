"""Identity files: the private key of a recipient, and the vaults that it may open."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vault_codes import (
  IDENTITY_PREFIX, MAXIMUM_FILE_COUNT, WHITE_SPACE, has_prefix, identity_key, identity_text,
  public_key, recipient_text)
from vault_notation import FormatError

PIN = re.compile("vault: ([0-9a-f]{32})")


@dataclass(frozen=True)
class IdentityFile:
  """A private key, and the checks of T0 of the vaults that it may open, if any are pinned."""

  private_key: bytes
  pins: tuple[bytes, ...] = ()

  def recipient(self) -> str:
    """The text to give to the person who adds the slot."""
    return recipient_text(public_key(self.private_key))

  def may_open(self, check: bytes) -> bool:
    """Whether a vault of this check is pinned, or none is."""
    return not self.pins or check in self.pins

  def encoded(self, comment: str = "") -> bytes:
    comments = [f"# {line}" for line in comment.splitlines()]
    pins = [f"vault: {pin.hex()}" for pin in self.pins]
    lines = [*comments, f"# recipient: {self.recipient()}", identity_text(self.private_key), *pins]
    return "".join(line + "\n" for line in lines).encode("utf-8")

  @staticmethod
  def decoded(data: bytes) -> IdentityFile:
    identities, pins = [], []
    for line in meaningful_lines(data):
      if pin := PIN.fullmatch(line):
        pins.append(bytes.fromhex(pin[1]))
      elif has_prefix(IDENTITY_PREFIX, line):
        identities.append(identity_key(line))
      else:
        raise FormatError("an identity file has a line of no known form")
    if len(identities) != 1:
      raise FormatError("an identity file does not hold exactly one identity")
    return IdentityFile(identities[0], tuple(pins))


def meaningful_lines(data: bytes) -> list[str]:
  if len(data) > MAXIMUM_FILE_COUNT:
    raise FormatError("an identity file has more than 64 KiB")
  try:
    lines = data.decode("utf-8").split("\n")
  except UnicodeDecodeError:
    raise FormatError("an identity file is not UTF-8") from None
  trimmed = [line.strip(WHITE_SPACE) for line in lines]
  return [line for line in trimmed if line and not line.startswith("#")]
