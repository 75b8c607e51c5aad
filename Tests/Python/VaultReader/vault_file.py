"""The file of a vault as SQLite will open it, and why a vault is refused."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")


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


def check_files_beside(path: Path) -> None:
  """Refuses files that SQLite would trust, delete or wait for."""
  journal, log, shared = (Path(f"{path}{suffix}") for suffix in ("-journal", "-wal", "-shm"))
  for file in (journal, log, shared):
    if os.path.lexists(file):
      check_own(file)
  if log.exists() and log.stat().st_size > 0:
    raise Damage("log", f"{log} is not empty")
  end = journal.read_bytes()[-16:] if journal.exists() else b""
  if len(end) == 16 and end[8:] == JOURNAL_MAGIC and end[:4] != bytes(4):
    raise Damage("journal", f"{journal} names a super-journal")


def check_own(file: Path) -> None:
  found = file.lstat()
  is_own = stat.S_ISREG(found.st_mode) and found.st_nlink == 1 and found.st_uid == os.geteuid()
  if not is_own or found.st_mode & 0o077:
    raise VaultError("refused", f"{file} is not a file of the user that is closed to others")


def check_header(path: Path) -> None:
  with open(path, "rb") as file:
    header = file.read(20)
  if header[:16] != b"SQLite format 3\0":
    raise VaultError("foreign", "the file is not a vault")
  if header[18:20] != b"\1\1":
    raise Damage("journal-mode", "the journal mode is WAL")
