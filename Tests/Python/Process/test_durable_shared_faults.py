"""Shared preferences on disks that are full, read-only or failing: each is an answer, and nothing is lost."""

from __future__ import annotations

import shutil

import pytest

from durable_testing import DurableHome, failed
from test_disks import fill, mounted, remount
from thoroughness import PARTS


@pytest.fixture
def durable(home, durable_tool) -> DurableHome:
  return DurableHome(home.folder, durable_tool)


@pytest.fixture
def disk(durable, mounting):
  """The folder of the preferences is a disk of its own, of 1 MiB."""
  with mounted(durable.config, "1m") as folder:
    yield folder


def connect(durable: DurableHome) -> None:
  """Shares a file with some values, of which `a` is unsent."""
  assert durable.ask("bulk k 20", "share", "connect") == [[], [], ["applied"]]
  assert durable.ask("acknowledge 2", "set a old") == [[], []]


def unit(answer: list[str]) -> list[str]:
  """The words of a unit: its number, its row and its contents."""
  assert len(answer) == 1 and answer[0].startswith("unit "), answer
  return answer[0].split()[1:]


def test_a_full_disk_while_numbering_and_applying(durable, disk):
  connect(durable)
  with durable.process() as one, durable.process() as two:
    fill(disk / "fill")
    given = []
    refused = []
    for revision in range(3, 40):
      answer = one.ask("next-unit")
      if failed(answer, "inputOutput"):
        assert "full" in answer[0] or "no space" in answer[0], answer
        refused.append("next-unit")
      else:
        given.append(unit(answer))
      if failed(two.ask(f"receive other x{500 * revision} {revision}"), "inputOutput"):
        refused.append("receive")
      if failed(one.ask(f"set b {revision}"), "inputOutput"):
        refused.append("set")
    assert {"receive", "set"} <= set(refused)
    # Once numbered, it is the same unit for every caller.
    assert all(one_unit == given[0] for one_unit in given)
    b = two.ask("get b")
    assert one.ask("get b") == b
    assert one.ask("get a") == ["value old"] and one.ask("get k19") == ["value 19"]
    state = one.ask("state")
    assert state[0].startswith("unsent "), state
    (disk / "fill").unlink()
    assert two.ask("state") == state
    numbered = unit(one.ask("next-unit"))
    assert not given or numbered == given[0]
    assert unit(two.ask("next-unit")) == numbered
    assert one.ask(f"receive other there {50}") == ["applied"]
    assert two.ask("get other") == ["value there"]
    assert one.ask("acknowledge 51") == []
  assert durable.ask("get a", "get b") == [["value old"], b]


def test_no_room_to_begin_or_end_sharing(durable, disk):
  durable.ask("bulk k 200", "checkpoint")
  fill(disk / "fill")
  with durable.process() as one:
    assert failed(one.ask("share"), "inputOutput")
    assert failed(one.ask("state"), "notFound")
    assert one.ask("count") == ["200"]
    (disk / "fill").unlink()
    assert one.ask("share") == []
    assert one.ask("state") == ["unsent 200 revision 0"]
    assert one.ask("checkpoint") == []
    fill(disk / "fill")
    ended = one.ask("unshare")
    assert ended == [] or failed(ended, "inputOutput")
    state = one.ask("state")
    assert failed(state, "notFound") if ended == [] else state == ["unsent 200 revision 0"], state
  assert durable.ask("count", "get k199") == [["200"], ["value 199"]]


def test_a_medium_that_can_only_be_read(durable, disk):
  connect(durable)
  remount(disk, "ro")
  with durable.process() as one:
    assert one.ask("get a") == ["value old"]
    for command in ("share", "state", "next-unit", "receive k1 there 3", "acknowledge 3", "unshare", "set a 2"):
      assert failed(one.ask(command), "readOnly"), command
    remount(disk, "rw")
    assert unit(one.ask("next-unit"))[0] == "2"
    assert one.ask("receive k1 there 3") == ["applied"]
  assert durable.ask("get k1") == [["value there"]]


def test_a_plain_file_that_can_only_be_read(durable, disk):
  durable.ask("set a 1")
  remount(disk, "ro")
  assert failed(durable.ask("share")[0], "readOnly")
  assert durable.ask("get a") == [["value 1"]]


@pytest.mark.parametrize("call", ["fdatasync", "fsync"])
def test_a_number_that_is_not_on_the_disk(durable, tracing, tmp_path, call):
  """Without the number on the disk, no unit may be sent; with it, it is the same one."""
  connect(durable)
  trace = tmp_path / "trace"
  with durable.process(through=[
      "strace", "-qq", "-f", "-o", str(trace), "-e", f"trace={call}",
      "-e", f"inject={call}:error=EIO:when=1"]) as one:
    assert failed(one.ask("next-unit"), "inputOutput")
    assert "(INJECTED)" in trace.read_text()
    numbered = unit(one.ask("next-unit"))
    assert one.ask("set a new") == []
    assert unit(one.ask("next-unit")) == numbered
  again, _ = durable.ask("next-unit", "acknowledge 3")
  assert unit(again) == numbered
  assert durable.ask("get a", "state") == [["value new"], ["unsent 1 revision 1"]]


def test_a_disk_that_never_writes(durable, tracing, tmp_path):
  connect(durable)
  # A commit that begins a log would fail.
  assert durable.ask("synchronize") == [[]]
  with durable.process(through=[
      "strace", "-qq", "-f", "-o", "/dev/null", "-e", "trace=fdatasync,fsync",
      "-e", "inject=fdatasync,fsync:error=EIO"]) as one:
    for _ in range(3):
      # The number may be on the disk, or not.
      assert failed(one.ask("next-unit"), "inputOutput", "outcomeUnknown")
    # A number that another process could not bring to the disk is brought there, or not given.
    assert one.ask("set a new") == []
  with durable.process() as two:
    assert unit(two.ask("next-unit"))[0] == "2"
    assert two.ask("get a") == ["value new"]


COMMANDS = ["state", "next-unit", "receive k1 there 3", "set a new", "next-unit", "acknowledge 4", "next-unit"]

CALLS = {
  "flock": "EIO", "pread64": "EIO", "pwrite64": "ENOSPC", "openat": "EMFILE", "fdatasync": "EIO", "fsync": "EIO",
  "mmap": "ENOMEM", "newfstatat": "EIO", "fstat": "EIO"}


def test_failing_call(durable, tracing, tmp_path):
  """Each system call fails once: a number is that of one unit, and what was set is sent."""
  connect(durable)
  copy = tmp_path / "copy"
  shutil.copytree(durable.config, copy)
  met = {}
  for place, (call, error) in enumerate(CALLS.items()):
    step = 1 if PARTS == 1 else 23
    number = 1 + place % step
    while number < 3000:
      durable.restore(copy)
      trace = tmp_path / "trace"
      with durable.process(through=[
          "strace", "-qq", "-f", "-o", str(trace), "-P", str(durable.config),
          *(word for path in sorted(durable.config.iterdir()) for word in ("-P", str(path))),
          "-e", f"trace={call}", "-e", f"inject={call}:error={error}:when={number}"]) as one:
        answers = [one.ask(command) for command in COMMANDS]
      check(durable, answers, f"{call} {number}: {answers}")
      if "(INJECTED)" not in trace.read_text():
        break
      met[call] = number
      number += step
  assert {"flock", "pread64", "pwrite64", "openat"} <= set(met)


def check(durable: DurableHome, answers: list[list[str]], place: str) -> None:
  for answer in answers:
    assert not answer or "ended" not in answer[-1], place
  (final, value), contents = durable.ask("next-unit", "get a"), durable.contents()
  units: dict[str, list[str]] = {}
  for answer in (answers[1], answers[4], answers[6], final):
    if answer and answer[0].startswith("unit "):
      number, *rest = unit(answer)
      assert units.setdefault(number, rest) == rest, place
  assert value in ([["value new"], ["value old"]] if answers[3] else [["value new"]]), place
  if answers[2] == ["applied"]:
    assert contents["k1"] == "there", place
  assert len([key for key in contents if key.startswith("k")]) == 20, place
