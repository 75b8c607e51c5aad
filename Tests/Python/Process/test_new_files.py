"""The new file that takes the name of a vault, and what else may have a name."""

from __future__ import annotations

import fcntl
import os
import stat
import time

from prefs_testing import hinted


def new_file(home):
  return home.vault.with_name("vault.new")


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
    home.vault.chmod(0o1600)
    home.run(*command, "--deadline", "2s", input=b"x")
    assert not new_file(home).exists() and home.vault.stat().st_nlink == 1
    assert home.get("alice") == b"x"


def test_a_link_of_a_person_stays(home):
  home.set("alice", b"old")
  os.link(home.vault, new_file(home))
  for command in (["compact"], ["delete", "alice"], ["rekey", "--yes"], ["set", "alice"]):
    assert "move it away" in hinted(home.run(*command, "--deadline", "2s", input=b"x", code=79))
  assert new_file(home).samefile(home.vault) and home.get("alice") == b"old"


# What is moved to the name in which a vault is made anew is a file of somebody, also if a maker was killed before.
def test_a_killed_maker_leaves_no_mark_on_the_vault(home, tracing):
  home.set("alice", b"old")
  home.run("backup", "copy.db")
  for _ in range(2):
    home.run("compact", code=None, through=[
      "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=renameat2",
      "-e", "inject=renameat2:signal=KILL:when=1"])
    assert new_file(home).exists()
    home.set("alice", b"newer")
    assert not new_file(home).exists() and stat.S_IMODE(home.vault.stat().st_mode) == 0o600
  os.rename(home.vault, new_file(home))
  os.rename(home.folder / "copy.db", home.vault)
  assert "move it away" in hinted(home.run("accept-restored", "--yes", code=79))
  os.rename(new_file(home), home.vault)
  assert home.get("alice") == b"newer"


def test_a_file_that_a_program_has_opened_becomes_no_vault(home):
  home.set("alice", b"x")
  with open(new_file(home), "wb") as file:
    for command in (["compact"], ["rekey", "--yes"], ["slots", "add", "--new-key-file", "key", "--yes"]):
      assert "move it away" in hinted(home.run(*command, code=79))
    home.set("alice", b"y")
    file.write(b"what the program prints")
  assert new_file(home).read_bytes() == b"what the program prints"
  assert home.get("alice") == b"y"


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


def test_next_writer_removes_leftovers_of_a_killed_one(home):
  home.set("alice", b"x")
  new_file(home).write_bytes(b"sealed bytes")
  # The mark of a file that is not finished.
  new_file(home).chmod(0o1600)
  home.set("alice", b"y")
  assert not new_file(home).exists()
