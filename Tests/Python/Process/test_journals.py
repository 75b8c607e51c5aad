"""Files that SQLite would open next to a vault: a journal, a write-ahead log, its shared memory."""

from __future__ import annotations

import os
import shutil
import sqlite3
import struct
from contextlib import closing
from pathlib import Path

import pytest

from machine import STRANGER
from prefs_testing import hinted

MAGIC = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
SECTOR = 512

COMMANDS = [
  ["get", "alice"], ["set", "alice"], ["delete", "alice"], ["list"], ["status"], ["doctor"],
  ["verify"], ["backup", "copy.db"], ["slots", "list"], ["rename", "alice", "bob"]]

BESIDE = ["-journal", "-wal", "-shm"]


def beside(home, suffix: str) -> Path:
  return Path(str(home.vault) + suffix)


def super_journal_record(name: bytes) -> bytes:
  """Returns the end of a journal of a transaction that changes several databases."""
  return struct.pack(">I", 1) + name + struct.pack(">II", len(name), sum(name)) + MAGIC


def hot_journal(vault: Path, end: bytes = b"") -> bytes:
  """A journal that SQLite plays back, and that changes no page."""
  size = vault.stat().st_size
  page = int.from_bytes(vault.read_bytes()[16:18], "big")
  head = MAGIC + struct.pack(">IIIII", 0, 1, size // page, SECTOR, page)
  return head.ljust(SECTOR, b"\0") + end


def plant(path: Path, contents: bytes, mode: int = 0o600) -> None:
  path.unlink(missing_ok=True)
  path.write_bytes(contents)
  path.chmod(mode)


@pytest.fixture
def one(home):
  home.set("alice", b"x")
  yield home
  # The test's own SQLite would wait at a pipe, too.
  for suffix in BESIDE:
    path = beside(home, suffix)
    if path.is_dir() and not path.is_symlink():
      path.rmdir()
    else:
      path.unlink(missing_ok=True)


def test_a_journal_deletes_no_file(one):
  """SQLite deletes the file that a journal names as its super-journal."""
  victim = one.folder / "victim"
  victim.write_bytes(b"precious")
  forged = hot_journal(one.vault, super_journal_record(str(victim).encode()))
  vault = one.vault.read_bytes()
  for command in COMMANDS:
    plant(beside(one, "-journal"), forged)
    refused = one.run(*command, input=b"y", code=65)
    assert victim.read_bytes() == b"precious", command
    assert "-journal names another file" in refused.error
    assert "move" in hinted(refused) and "verify" in hinted(refused)
  assert one.vault.read_bytes() == vault
  beside(one, "-journal").unlink()
  assert one.get("alice") == b"x"


@pytest.mark.parametrize("damage", ["checksum", "long name", "missing file"])
def test_malformed_super_journal_deletes_nothing(one, damage):
  """How SQLite reads the record is an implementation detail, and may change."""
  victim = one.folder / "victim"
  victim.write_bytes(b"precious")
  name = str(victim).encode()
  record = super_journal_record(name)
  if damage == "checksum":
    record = record[:-12] + struct.pack(">I", 7) + MAGIC
  elif damage == "long name":
    record = record[:-16] + struct.pack(">II", 100_000, 7) + MAGIC
  else:
    record = super_journal_record(name + b"-gone")
  plant(beside(one, "-journal"), hot_journal(one.vault, record))
  one.run("get", "alice", code=65)
  assert victim.read_bytes() == b"precious"


def test_a_journal_of_ones_own_is_played_back(one):
  """The journal of a killed writer."""
  plant(beside(one, "-journal"), hot_journal(one.vault))
  assert one.get("alice") == b"x"
  # The first connection to a database deletes its journal, until it is told to keep it.
  assert not beside(one, "-journal").exists()
  one.run("verify")


def test_noise_as_journal_is_left_alone(one):
  """SQLite ignores it: no page in it has a checksum that holds."""
  plant(beside(one, "-journal"), b"\x01" * 5000)
  assert one.get("alice") == b"x"
  one.run("verify")


@pytest.mark.parametrize("suffix", BESIDE)
@pytest.mark.parametrize("what", ["pipe", "folder", "link", "dangling link", "second name"])
def test_what_is_no_file_is_refused_at_once(one, suffix, what):
  """SQLite opens a pipe as it opens a file, and waits for a writer for ever."""
  path = beside(one, suffix)
  path.unlink(missing_ok=True)
  target = one.folder / "target"
  if what != "dangling link":
    target.write_bytes(hot_journal(one.vault))
    target.chmod(0o600)
  if what == "pipe":
    os.mkfifo(path, 0o600)
  elif what == "folder":
    path.mkdir(mode=0o700)
  elif what == "second name":
    path.hardlink_to(target)
  else:
    path.symlink_to(target)
  for command in COMMANDS:
    refused = one.run(*command, input=b"y", code=79)
    assert str(path) in refused.error, command
  if what != "dangling link":
    assert target.read_bytes() == hot_journal(one.vault)


def test_a_snapshot_by_hard_links_does_not_matter(one):
  shutil.copytree(one.vault.parent, one.folder / "snapshot", copy_function=os.link)
  assert beside(one, "-journal").stat().st_nlink == 2
  assert one.get("alice") == b"x"
  one.set("alice", b"y")
  assert one.get("alice") == b"y"
  one.run("verify")


def test_journal_hard_linked_by_snapshot_is_replayed(one):
  plant(beside(one, "-journal"), hot_journal(one.vault))
  os.link(beside(one, "-journal"), one.folder / "snapshot")
  refused = one.run("get", "alice", code=79)
  assert "second name" in refused.error
  # As the hint says.
  copy = Path(str(beside(one, "-journal")) + ".new")
  assert f"cp -p '{beside(one, '-journal')}' '{copy}'" in hinted(refused)
  shutil.copy2(beside(one, "-journal"), copy)
  copy.rename(beside(one, "-journal"))
  assert one.get("alice") == b"x"


@pytest.mark.parametrize("suffix", BESIDE)
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o666])
def test_files_open_to_others_are_refused(one, suffix, mode):
  plant(beside(one, suffix), b"", mode)
  refused = one.run("get", "alice", code=79)
  assert f"chmod 600 '{beside(one, suffix)}'" in hinted(refused)
  one.set("alice", b"y", code=79)


@pytest.mark.parametrize("suffix", BESIDE)
def test_files_of_another_owner_are_refused(one, suffix, superuser):
  plant(beside(one, suffix), hot_journal(one.vault))
  os.chown(beside(one, suffix), STRANGER, STRANGER)
  for command in COMMANDS:
    refused = one.run(*command, input=b"y", code=79)
    assert "belongs to another user" in refused.error


def test_a_write_ahead_log_is_not_read(one):
  """SQLite reads one that lies beside any database, whatever the database says of itself."""
  vault = one.vault.read_bytes()
  copy = one.folder / "other.db"
  copy.write_bytes(vault)
  with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute("DELETE FROM item")
    log = Path(f"{copy}-wal").read_bytes()
  assert len(log) > 4096
  plant(beside(one, "-wal"), log)
  for command in COMMANDS:
    refused = one.run(*command, input=b"y", code=65)
    assert "write-ahead" in refused.error
  assert one.vault.read_bytes() == vault and beside(one, "-wal").read_bytes() == log
  beside(one, "-wal").unlink()
  assert one.get("alice") == b"x"


def test_files_next_to_backup_are_not_trusted(one):
  for suffix in BESIDE:
    stale = one.folder / f"copy.db{suffix}"
    stale.write_bytes(b"stale")
    refused = one.run("backup", "copy.db", code=75)
    assert f"copy.db{suffix}" in refused.error and "exists already" in refused.error
    assert stale.read_bytes() == b"stale" and not (one.folder / "copy.db").exists()
    stale.unlink()
  one.run("backup", "copy.db")


def test_only_sqlite_closes_the_vault_file(home, tracing):
  """Closing any descriptor of a file drops the locks that other threads hold on it."""
  trace = home.folder / "trace"
  home.set("alice", b"x", through=["strace", "-f", "-y", "-qq", "-o", str(trace),
                                   "-e", "trace=close,openat,fcntl"])
  lines = trace.read_text().splitlines()
  assert any("fcntl" in line and f"<{home.vault}>" in line for line in lines)
  assert [line for line in lines if "close(" in line and f"<{home.vault}>" in line] == []
