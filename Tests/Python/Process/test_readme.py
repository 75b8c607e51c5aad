"""The terminal session of the README is one that happens."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pexpect
import pytest

from prefs_testing import LIMIT

README = Path(__file__).resolve().parents[3] / "README.md"
SECRET = "tok-42"

# What differs from machine to machine and from day to day.
VARYING = [
  (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "2026-01-01T00:00:00Z"),
  (re.compile(r"\b[0-9a-f]{32}\b"), "0" * 32),
  (re.compile(r"(?m)^(file system|cache|memory|core dumps): .*$"), r"\1: …"),
]


def session() -> str:
  """The block of the README that is marked as a console's."""
  blocks = re.findall(r"(?ms)^```console\n(.*?)^```$", README.read_text())
  assert len(blocks) == 1, "the README has one terminal session"
  return blocks[0]


def comparable(text: str) -> str:
  for pattern, replacement in VARYING:
    text = pattern.sub(replacement, text)
  return "\n".join(line.rstrip() for line in text.strip().splitlines())


@pytest.fixture
def bare_home(home):
  """A home folder without any variable but the usual ones."""
  for name in ("data", "state", "runtime", "config"):
    (home.folder / name).rmdir()
  home.vault = home.folder / ".local/share/keychain/vault.db"
  commands = home.folder / "bin"
  commands.mkdir()
  (commands / "prefs").symlink_to(Path(home.program).resolve())
  home.environment = {
    "HOME": str(home.folder), "PATH": f"{commands}:/usr/bin:/bin", "TERM": "dumb"}
  return home


def type_in(home, command: str) -> str:
  """Types a command on a terminal, and the secret wherever one is asked for."""
  terminal = pexpect.spawn(
    "/bin/sh", ["-c", command], env=home.environment, cwd=home.folder, timeout=LIMIT,
    dimensions=(50, 500))
  shown = ""
  while terminal.expect([r"(secret for [^:\n]*|again): $", pexpect.EOF]) == 0:
    shown += terminal.before.decode() + terminal.after.decode()
    terminal.sendline(SECRET)
  shown += terminal.before.decode()
  terminal.close()
  assert terminal.exitstatus == 0, shown
  return f"$ {command}\n{shown}".replace("\r", "").replace(str(home.folder), "/home/alice")


def test_the_session_of_the_readme(bare_home):
  told = session()
  commands = re.findall(r"(?m)^\$ (.*)$", told)
  assert [shlex.split(command)[-1] for command in commands if "doctor" in command] == ["doctor"]
  happened = "".join(type_in(bare_home, command) for command in commands)
  assert comparable(told) == comparable(happened)
