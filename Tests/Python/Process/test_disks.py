"""Disks that are full or read-only."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

from prefs_testing import hinted


WRITES = "pwrite64,pwritev,pwritev2"


@contextmanager
def mounted(folder: Path, size: str):
  """A small file system, mounted on a folder."""
  folder.mkdir(exist_ok=True)
  subprocess.run(
    ["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", str(folder)], check=True)
  try:
    yield folder
  finally:
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(path: Path, size: int = 4096) -> None:
  with open(path, "wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
    while True:
      file.write(bytes(size))


def remount(folder: Path, how: str) -> None:
  subprocess.run(["mount", "-o", f"remount,{how}", str(folder)], check=True)


@pytest.fixture
def disk(home, mounting):
  """The folder of the vault is a disk of its own, of 1 MiB."""
  with mounted(home.folder / "data", "1m") as folder:
    yield folder


def test_a_full_disk_leaves_the_old_state(home, disk):
  home.set("alice", b"old")
  fill(disk / "fill")
  before = home.vault.read_bytes()
  refused = home.set("alice", os.urandom(100_000), code=74)
  assert "full" in refused.error and "free some space" in hinted(refused)
  assert home.set("bob", os.urandom(100_000), code=74)
  assert home.get("alice") == b"old"
  home.run("get", "bob", code=44)
  home.run("verify")
  assert home.vault.read_bytes() == before
  (disk / "fill").unlink()
  home.set("alice", b"new")
  home.run("verify")
  assert home.get("alice") == b"new"


def test_a_secret_larger_than_the_disk(home, disk):
  home.set("alice", b"old")
  home.set("alice", bytes(2 << 20), code=74)
  assert home.get("alice") == b"old"
  home.set("alice", b"new")
  home.run("verify")


def test_no_room_for_a_new_vault(home, disk):
  fill(disk / "fill")
  refused = home.set("alice", b"x", code=74)
  assert "full" in refused.error or "no space" in refused.error
  (disk / "fill").unlink()
  home.set("alice", b"x")
  home.run("verify")


def test_a_backup_that_does_not_fit_leaves_nothing(home, mounting):
  home.set("alice", os.urandom(3 << 20))
  with mounted(home.folder / "small", "1m") as small:
    refused = home.run("backup", str(small / "copy.db"), code=74)
    assert f"cannot write {small / 'copy.db'}: no space" in refused.error
    assert str(home.vault) not in refused.error and "free some space" in hinted(refused)
    assert list(small.iterdir()) == []


def test_output_to_full_disk_keeps_old_file(home, mounting):
  home.set("alice", os.urandom(2 << 20))
  with mounted(home.folder / "small", "1m") as small:
    (small / "out").write_bytes(b"old")
    for name, options in (("out", ["--overwrite"]), ("new", [])):
      refused = home.run("get", "alice", "--output", str(small / name), *options, code=74)
      assert "no space" in refused.error.lower()
      assert {entry.name: entry.read_bytes() for entry in small.iterdir()} == {"out": b"old"}


def test_a_medium_that_can_only_be_read(home, disk):
  home.set("alice", b"x")
  remount(disk, "ro")
  assert home.get("alice") == b"x"
  for command in (["list"], ["show", "alice"], ["status"], ["verify"], ["doctor"]):
    home.run(*command)
  assert home.run("status", "--json").json["readOnly"] is True
  for command in (["set", "alice"], ["set", "new"], ["delete", "alice"],
                  ["update", "alice", "--label", "x"]):
    refused = home.run(*command, code=74, input=b"y")
    assert "not written" in refused.error or "read-only" in refused.error
  assert home.run("backup", str(home.folder / "copy.db"))
  assert home.get("alice") == b"x"


def test_the_whole_home_can_only_be_read(home, mounting):
  """Neither the seen record nor any lock can be written then."""
  home.set("alice", b"x")
  copy = home.folder.parent / (home.folder.name + ".whole")
  shutil.copytree(home.folder, copy)
  with mounted(home.folder, "4m"):
    shutil.copytree(copy, home.folder, dirs_exist_ok=True)
    shutil.rmtree(copy)
    # In this place the vault is trusted on first use.
    home.get("alice")
    remount(home.folder, "ro")
    read = home.run("get", "alice")
    assert (read.out, read.error) == (b"x", "")
    home.set("alice", b"y", code=74)


def test_an_unfinished_write_on_a_read_only_medium(home, disk):
  """A writer that was killed leaves a part of a frame; readers pass over it, and the next writer cuts it off."""
  home.set("alice", b"x")
  whole = home.vault.read_bytes()
  home.set("alice", b"y")
  frame = home.layout().frames[-1]
  state = home.state / "seen"
  shutil.rmtree(state)
  home.vault.write_bytes(whole + home.vault.read_bytes()[frame.start : frame.end - 1])
  remount(disk, "ro")
  for command in (["list"], ["verify"]):
    home.run(*command)
  assert home.get("alice") == b"x"
  remount(disk, "rw")
  home.set("bob", b"z")
  assert home.get("alice") == b"x" and home.vault.read_bytes().startswith(whole)
  assert len(home.layout().data) == home.layout().frames[-1].end
  home.run("verify")


def test_a_new_folder_that_is_not_synced_is_an_error(home, tracing):
  home.environment["XDG_DATA_HOME"] = str(home.folder / "new/data")
  for _ in range(2):
    home.run("init", code=74, through=[
      "strace", "-qq", "-f", "-o", "/dev/null", "-e", "trace=fsync", "-P", str(home.folder),
      "-e", "inject=fsync:error=EIO"])
    assert not (home.folder / "new").exists()
  home.run("init")


def test_input_and_output_errors(home, tracing):
  home.set("alice", b"x")
  for number in range(1, 2):
    failed = home.run(
      "set", "alice", "--insecure-value", "y", code=74,
      through=["strace", "-qq", "-f", "-o", "/dev/null", "-P", str(home.vault),
               "-e", f"trace={WRITES}", "-e", f"inject={WRITES}:error=EIO:when={number}"])
    assert f"cannot write {home.vault}: input/output error" in failed.error
    assert home.get("alice") == b"x"
    # What failed is not said to be kept, but its service has a store now.
    failed = home.run(
      "set", "bob", "--service", f"s{number}", "--insecure-value", "y", code=74,
      through=["strace", "-qq", "-f", "-o", "/dev/null", "-P", str(home.vault),
               "-e", f"trace={WRITES}", "-e", f"inject={WRITES}:error=EIO:when={number}"])
    assert "are kept in" not in failed.error and f"the store of the service 's{number}' is now" in failed.error
  home.run("verify")
