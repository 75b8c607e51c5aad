"""The new file that takes the name of a vault, and what else may have a name."""

from __future__ import annotations

import fcntl
import os
import time


def new_file(home):
  return home.vault.with_name("vault.db.new")


def test_another_name_keeps_what_it_had(home):
  home.set("alice", b"old")
  other = home.folder / "other.db"
  os.link(home.vault, other)
  before = other.read_bytes()
  home.set("alice", b"new")
  assert other.read_bytes() == before and home.vault.stat().st_nlink == 1
  assert home.get("alice") == b"new"
  home.run("verify")


def test_the_vault_has_the_name_of_the_new_file_too(home):
  """A maker was killed on a file system on which a name is given by a link."""
  for command in (["compact"], ["delete", "bob"], ["rekey", "--yes"], ["set", "alice"]):
    home.set("alice", b"x")
    home.set("bob", b"x")
    os.link(home.vault, new_file(home))
    home.run(*command, "--deadline", "2s", input=b"x")
    assert not new_file(home).exists() and home.vault.stat().st_nlink == 1
    assert home.get("alice") == b"x"


def test_deleting_where_no_new_file_can_be_made(home):
  home.set("alice", b"x")
  home.set("bob", b"y")
  new_file(home).mkdir()
  deleted = home.run("delete", "alice")
  assert "stay in the file" in deleted.error and "compact" in deleted.error
  home.run("get", "alice", code=44)
  assert home.get("bob") == b"y"
  home.run("compact", code=79)
  new_file(home).rmdir()
  home.run("compact")
  home.run("verify")


def test_deleting_does_not_wait_for_the_new_file(home):
  home.set("alice", b"x")
  with open(new_file(home), "wb") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    begin = time.monotonic()
    assert "stay in the file" in home.run("delete", "alice", "--deadline", "1m").error
    assert time.monotonic() - begin < 20
    home.run("compact", "--deadline", "200ms", code=75)
  home.run("get", "alice", code=44)


def test_the_next_writer_removes_what_a_killed_one_left(home):
  home.set("alice", b"x")
  new_file(home).write_bytes(b"sealed bytes")
  # The mark of a file that is not finished.
  new_file(home).chmod(0o1600)
  home.set("alice", b"y")
  assert not new_file(home).exists()
