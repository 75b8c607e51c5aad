"""Durable preferences on disks that are full or read-only, and in folders without permission."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from durable_testing import DurableHome, failed
from machine import STRANGER, require
from test_disks import fill, mounted, remount


@pytest.fixture
def durable(home, durable_tool) -> DurableHome:
  return DurableHome(home.folder, durable_tool)


@pytest.fixture
def disk(durable, mounting):
  """The folder of the preferences is a disk of its own, of 1 MiB."""
  with mounted(durable.config, "1m") as folder:
    yield folder


def test_a_full_disk_empties_nothing(durable, disk):
  with durable.process() as one:
    assert one.ask("bulk k 100") == []
    assert one.ask("set a old") == []
    fill(disk / "fill")
    refused = one.ask("set big x100000")
    assert failed(refused, "inputOutput") and "full" in refused[0]
    # The refused change has given back the room of the log.
    assert one.ask("plain-set a new") == []
    assert one.ask("last") == ["none"]
    assert one.ask("get a") == ["value new"]
    assert one.ask("get k99") == ["value 99"]
    assert one.ask("count") == ["101"]
    assert durable.ask("get a", "count") == [["value new"], ["101"]]
    (disk / "fill").unlink()
    assert one.ask("set big x100000") == []
    assert one.ask("set a newer") == []
    assert one.ask("synchronize") == []
  assert durable.ask("get a", "count") == [["value newer"], ["102"]]


def test_the_log_fills_the_disk(durable, disk):
  with durable.process() as one, durable.process() as two:
    last = None
    for number in range(1, 200):
      if one.ask(f"set a {number}") == [] and one.ask(f"set big x{30000 + number}") == []:
        last = number
    assert last is not None
    found = int(two.ask("get a")[0].split()[1])
    assert found >= last
    assert one.ask("get a") == [f"value {found}"]
  assert durable.ask("get a") == [[f"value {found}"]]


def test_the_log_does_not_keep_a_small_disk_full(durable, disk):
  """The database has 20 KiB, and each change needs 12 KiB of the log."""
  with durable.process() as one:
    for number in range(300):
      assert one.ask(f"set a {number}") == []
    assert one.ask("remove a") == []
  assert durable.ask("get a") == [["absent"]]


def test_a_growing_database_leaves_the_room_that_it_needs(durable, disk):
  """The log would take all of it within the moment after which it is copied."""
  fill(disk / "fill")
  os.truncate(disk / "fill", (disk / "fill").stat().st_size - (128 << 10))
  with durable.process() as one:
    kept = [number for number in range(200) if one.ask(f"set k{number} x400") == []]
    assert len(kept) > 60
    assert one.ask("count") == [str(len(kept))]
  assert durable.ask("count") == [[str(len(kept))]]


@pytest.mark.parametrize("has_log", [False, True])
def test_a_full_disk_is_read_without_an_index(durable, disk, has_log):
  with durable.process() as one:
    assert one.ask("set a 1") == []
    if has_log:
      # Without the end that copies the log.
      one.process.kill()
  durable.database.with_name(durable.database.name + "-shm").unlink()
  fill(disk / "fill")
  get, count, put = durable.ask("get a", "count", "set a 2")
  assert (get, count) == (["value 1"], ["1"])
  assert failed(put, "inputOutput") and "full" in put[0]


def test_a_full_file_system_of_small_blocks_ends_no_process(durable, superuser, mounting):
  """SQLite leaves holes in the index of the log; a page of it that can't be written is a signal."""
  control = "/dev/loop-control"
  require("loop devices", None if os.path.exists(control) else f"there is no {control}")
  image = durable.folder / "image"
  with image.open("wb") as file:
    file.truncate(4 << 20)
  subprocess.run(["mkfs.ext4", "-q", "-F", "-b", "1024", str(image)], check=True,
                 env=os.environ | {"PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"})
  subprocess.run(["mount", "-o", "loop", str(image), str(durable.config)], check=True)
  try:
    durable.config.chmod(0o700)
    assert durable.ask("set a 1") == [[]]
    fill(durable.config / "fill", 1024)
    os.sync()
    assert durable.ask("get a", "count") == [["value 1"], ["1"]]
    durable.ask("set a 2")
    for name in ("-shm", "-wal"):
      durable.database.with_name(durable.database.name + name).unlink()
    fill(durable.config / "fill2", 1024)
    os.sync()
    get, put, again = durable.ask("get a", "set a 3", "get a")
    assert get == again and get[0] in ("value 1", "value 2")
    assert failed(put, "inputOutput") and "full" in put[0]
  finally:
    subprocess.run(["umount", "--lazy", str(durable.config)], check=True)


def test_no_room_for_a_new_file(durable, disk):
  fill(disk / "fill")
  with durable.process() as one:
    refused = one.ask("set a 1")
    assert failed(refused, "inputOutput"), refused
    assert "full" in refused[0] or "no space" in refused[0]
  # What the writer began is no file that has lost its contents.
  assert durable.ask("get a", "count") == [["absent"], ["0"]]
  remount(disk, "ro")
  assert durable.ask("get a", "count") == [["absent"], ["0"]]
  remount(disk, "rw")
  (disk / "fill").unlink()
  with durable.process() as one:
    assert one.ask("set a 1") == []
    assert one.ask("get a") == ["value 1"]


def test_an_emptied_file_that_can_only_be_read(durable, disk):
  durable.ask("set a 1")
  os.truncate(disk / "settings.preferences", 0)
  remount(disk, "ro")
  assert failed(durable.ask("get a")[0], "damaged")


@pytest.mark.parametrize("kept", ["all", "database", "no lock"])
def test_a_medium_that_can_only_be_read(durable, disk, kept):
  durable.ask("bulk k 100", "set a 1", *(["checkpoint"] if kept == "database" else []))
  if kept == "database":
    assert not (log := disk / "settings.preferences-wal").exists() or log.stat().st_size == 0
    for name in os.listdir(disk):
      if name != "settings.preferences":
        (disk / name).unlink()
  if kept == "no lock":
    (disk / "settings.preferences-lock").unlink()
    (disk / "settings.preferences-shm").unlink()
  remount(disk, "ro")
  with durable.process() as one:
    assert one.ask("get a") == ["value 1"]
    assert one.ask("count") == ["101"]
    for command in ("set a 2", "remove a", "bulk b 3", "update a 1"):
      assert failed(one.ask(command), "readOnly"), command
    assert one.ask("get a") == ["value 1"]
    assert one.ask("plain-set a 2") == []
    assert failed(one.ask("last"), "readOnly")
    remount(disk, "rw")
    assert one.ask("set a 3") == []
    assert one.ask("get a") == ["value 3"]
  assert durable.contents()["a"] == "3"


def test_a_folder_without_permission(durable, superuser):
  shutil.chown(durable.folder, STRANGER, STRANGER)
  shutil.chown(durable.config, STRANGER, STRANGER)
  stranger = {"user": STRANGER, "group": STRANGER, "extra_groups": []}
  assert durable.ask("set a 1", **stranger) == [[]]
  durable.config.chmod(0o500)
  with durable.process(**stranger) as one:
    # Existing files can be written, so only their replacement is impossible.
    assert one.ask("get a") == ["value 1"]
    answer = one.ask("set a 2")
    assert answer == [] or failed(answer, "readOnly"), answer
  for path in durable.config.iterdir():
    path.chmod(0o400)
  with durable.process(**stranger) as one:
    found = one.ask("get a")
    assert found[0].startswith("value ") or failed(found, "readOnly"), found
    assert failed(one.ask("set a 3"), "readOnly")
  durable.config.chmod(0o000)
  with durable.process(**stranger) as one:
    assert one.ask("get a")[0].startswith("error ")
    assert one.ask("set a 3")[0].startswith("error ")
  durable.config.chmod(0o700)


def test_files_of_another_user_are_refused(durable, superuser):
  durable.ask("set a 1")
  for suffix in ("", "-wal", "-lock"):
    path = durable.database.with_name(durable.database.name + suffix)
    os.chown(path, STRANGER, STRANGER)
    get, put = durable.ask("get a", "set a 2")
    assert failed(put, "insecure"), (suffix, put)
    assert failed(get, "insecure"), (suffix, get)
    os.chown(path, os.geteuid(), os.getegid())
  assert durable.ask("get a") == [["value 1"]]
