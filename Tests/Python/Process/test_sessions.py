"""The terminal sessions of the pages happen, and the README's first commands can be typed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pexpect
import pytest

from pages import Block, blocks
from prefs_testing import LIMIT

SECRET = "tok-42"

# What differs from machine to machine and from day to day.
VARYING = [
  (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "2026-01-01T00:00:00Z"),
  (re.compile(r"\b[0-9a-f]{32}\b"), "0" * 32),
  (re.compile(r"(?m)^(file system|cache|memory|core dumps): .*$"), r"\1: …"),
]


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


SESSIONS = blocks("console")
SHELL = [
  block for block in blocks("sh") if block.page == "README.md" and "keychain set" in block.text]


@pytest.mark.parametrize("session", SESSIONS, ids=str)
def test_a_session_happens(session: Block, bare_home):
  commands = re.findall(r"(?m)^\$ (.*)$", session.text)
  assert commands
  happened = "".join(type_in(bare_home, command) for command in commands)
  assert comparable(session.text) == comparable(happened)


@pytest.mark.parametrize("block", SHELL, ids=str)
def test_first_commands_store_and_read(block: Block, bare_home):
  bare_home.environment["TOKEN"] = "tok-43"
  shown = {line: type_in(bare_home, line) for line in block.text.splitlines()}
  assert all(shlex.split(line, comments=True) for line in shown)
  read = [answer for line, answer in shown.items() if "keychain get github" in line]
  assert read == [f"$ prefs keychain get github\n{SECRET}\n"]


def test_pages_have_sessions_and_commands():
  """What finds nothing proves nothing."""
  assert any("doctor" in session.text for session in SESSIONS)
  assert len(SHELL) == 1
