"""What lies next to a vault: files of other programs, and what a killed writer left."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from prefs_testing import hinted

COMMANDS = [
  ["get", "alice"], ["set", "alice"], ["list"], ["status"], ["verify"], ["slots", "list"],
  ["rename", "alice", "bob"], ["rename", "bob", "alice"]]


@pytest.fixture
def one(home):
  home.set("alice", b"x")
  return home


def beside(home, suffix: str) -> Path:
  return Path(str(home.vault) + suffix)


@pytest.mark.parametrize("suffix", ["-journal", "-wal", "-shm", ".old", ".new"])
def test_no_file_next_to_the_vault_is_read(one, suffix):
  """Who opened a pipe would wait for a writer for ever."""
  os.mkfifo(beside(one, suffix), 0o600)
  for command in COMMANDS:
    one.run(*command, input=b"x")
  assert one.get("alice") == b"x"


def test_leftover_of_a_killed_writer_is_replaced(one):
  beside(one, ".new").write_bytes(b"noise" * 100_000)
  # The mark of a file that is not finished.
  beside(one, ".new").chmod(0o1600)
  one.run("compact")
  assert not beside(one, ".new").exists() and one.get("alice") == b"x"
  one.run("verify")


@pytest.mark.parametrize("what", ["folder", "link", "dangling link", "pipe"])
def test_a_new_base_is_written_to_nothing_else(one, what):
  target, vault = one.folder / "target", one.vault.read_bytes()
  if what != "dangling link":
    target.write_bytes(b"precious")
  if what == "folder":
    beside(one, ".new").mkdir()
  elif what == "pipe":
    os.mkfifo(beside(one, ".new"), 0o600)
  else:
    beside(one, ".new").symlink_to(target)
  for command in (["compact"], ["rekey", "--yes"]):
    assert one.run(*command, code=None).code in (74, 79)
  assert one.vault.read_bytes() == vault and one.get("alice") == b"x"
  assert target.exists() == (what != "dangling link")
  assert what == "dangling link" or target.read_bytes() == b"precious"


def test_a_copy_at_any_moment_is_a_vault(one):
  """Each length of the file between two changes is an older state, and what was begun is no part of it."""
  start = len(one.vault.read_bytes())
  for account in ("bob", "carol"):
    one.set(account, b"y")
  contents, ends = one.vault.read_bytes(), [frame.end for frame in one.layout().frames]
  for count in range(start, len(contents) + 1, 37):
    copy = one.folder / f"copy-{count}.db"
    copy.write_bytes(contents[:count])
    copy.chmod(0o600)
    listed = one.run("list", "--json", "--vault", str(copy)).json
    finished = sum(start < end <= count for end in ends)
    assert [item["account"] for item in listed] == ["alice", "bob", "carol"][: 1 + finished]
    assert copy.read_bytes() == contents[:count]


def test_deletion_works_without_a_new_file(one):
  """Its secret stays in the file, sealed, which the command says."""
  one.set("bob", b"y")
  beside(one, ".new").mkdir()
  told = one.run("delete", "bob")
  assert "stay in the file" in told.error and "compact" in hinted(told)
  one.run("get", "bob", code=44)
  beside(one, ".new").rmdir()
  one.run("compact")
  assert len(one.layout().frames) == 1 and one.get("alice") == b"x"
