"""Why a vault or an export is refused, and faults in one that can be read."""

from __future__ import annotations

from dataclasses import dataclass


class VaultError(Exception):
  """Why a vault cannot be read at all; `code` is one word for programs."""

  def __init__(self, code: str, message: str) -> None:
    super().__init__(message)
    self.code = code


class Damage(VaultError):
  """A check that failed, so that nothing of the vault may be used; `check` names it."""

  def __init__(self, check: str, message: str) -> None:
    super().__init__("damaged", f"{check}: {message}")
    self.check = check


@dataclass(frozen=True, order=True)
class Problem:
  """A fault in a readable vault."""

  code: str
  subject: str
