"""Identity files: the seed of a recipient's keys, and the vaults that it may open."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vault_codes import (
  IDENTITY_PREFIX, MAXIMUM_FILE_COUNT, WHITE_SPACE, Keys, has_prefix, identity_seed, identity_text)
from vault_notation import FormatError

PIN = re.compile("vault: ([0-9a-f]{32})")


class UnknownLine(FormatError):
  """A line that a newer program may have written: an unsupported format, not a wrong key."""


@dataclass(frozen=True)
class IdentityFile:
  """The seed of an identity, and the checks of the vaults that it may open, if any are pinned."""

  seed: bytes
  pins: tuple[bytes, ...] = ()

  def keys(self) -> Keys:
    return Keys(self.seed)

  def recipient(self) -> str:
    """The text to give to the person who adds the slot."""
    return self.keys().recipient().text()

  def encoded(self, comment: str = "") -> bytes:
    comments = [f"# {line}" for line in comment.splitlines()]
    pins = [f"vault: {pin.hex()}" for pin in self.pins]
    lines = [*comments, f"# recipient: {self.recipient()}", identity_text(self.seed), *pins]
    return "".join(line + "\n" for line in lines).encode("utf-8")

  @staticmethod
  def decoded(data: bytes) -> IdentityFile:
    seeds, pins = [], []
    for line in meaningful_lines(data):
      if pin := PIN.fullmatch(line):
        pins.append(bytes.fromhex(pin[1]))
      elif has_prefix(IDENTITY_PREFIX, line):
        seeds.append(identity_seed(line))
      else:
        raise UnknownLine("an identity file has a line of no known form")
    if len(seeds) != 1:
      raise FormatError("an identity file does not hold exactly one identity")
    return IdentityFile(seeds[0], tuple(pins))


def meaningful_lines(data: bytes) -> list[str]:
  if len(data) > MAXIMUM_FILE_COUNT:
    raise FormatError("an identity file has more than 64 KiB")
  try:
    lines = data.decode("utf-8").split("\n")
  except UnicodeDecodeError:
    raise FormatError("an identity file is not UTF-8") from None
  trimmed = [line.strip(WHITE_SPACE) for line in lines]
  return [line for line in trimmed if line and not line.startswith("#")]
