"""Each system call of durable preferences fails once: it is reported, and nothing is lost."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from durable_testing import DurableHome, failed
from preference_testing import Preferences
from prefs_testing import LIMIT
from thoroughness import PARTS

# What SQLite and the store itself call. Ending a lock (fcntl) never fails, and SQLite relies on that.
CALLS = {
  "flock": "EIO", "pread64": "EIO", "pwrite64": "ENOSPC", "openat": "EMFILE", "fdatasync": "EIO",
  "fsync": "EIO", "ftruncate": "EIO",
  "mmap": "ENOMEM", "newfstatat": "EIO", "fstat": "EIO",
}

COMMANDS = [
  "get k1", "set a 2", "get a", "update counter 1", "observe a", "set a 3", "synchronize", "checkpoint",
  "get a", "set b 1"]


@pytest.fixture
def durable(home, durable_tool) -> DurableHome:
  return DurableHome(home.folder, durable_tool)


def run(durable: DurableHome, through: list[str]) -> tuple[list[list[str]], list[str]]:
  """Runs the commands; the fault happens within a command, or in none."""
  with durable.process(through=through) as one:
    answers = [one.ask(command) for command in COMMANDS]
    # The failing call may be within one of these, and does not fail again.
    final = []
    for command in ("set final 1", "get final", "get k2"):
      answer = one.ask(command)
      final += one.ask(command) if failed(answer, "inputOutput", "timedOut", "readOnly", "outcomeUnknown") else answer
  return answers, final


@pytest.mark.parametrize("call, error", [("inotify_init1", "EMFILE"), ("inotify_add_watch", "ENOSPC")])
def test_no_notifications(durable, tracing, call, error):
  """An observer that would miss changes is refused; everything else works."""
  with durable.process(
      through=["strace", "-qq", "-f", "-o", "/dev/null", "-e", f"trace={call}",
               "-e", f"inject={call}:error={error}"]) as one, durable.process() as two:
    assert one.ask("set a 1") == []
    assert one.ask("observe a") == ["ready"]
    assert failed(one.ask("last"), "inputOutput")
    assert one.ask("set a 2") == []
    assert two.ask("set a 3") == []
    assert one.ask("get a") == ["value 3"]


def test_failing_call(durable, tracing, tmp_path):
  durable.ask("bulk k 40", "set a 1")
  copy = tmp_path / "copy"
  shutil.copytree(durable.config, copy)
  step = 1 if PARTS == 1 else 13
  met = {}
  for call, error in CALLS.items():
    number = 1
    while number < 3000:
      durable.restore(copy)
      trace = tmp_path / "trace"
      answers, final = run(durable, [
        "strace", "-qq", "-f", "-o", str(trace), "-P", str(durable.config),
        *(word for path in sorted(durable.config.iterdir()) for word in ("-P", str(path))),
        "-e", f"trace={call}", "-e", f"inject={call}:error={error}:when={number}"])
      place = f"{call} {number}: {answers}"
      check(durable, answers, final, place)
      if "(INJECTED)" not in trace.read_text():
        break
      number += step
    met[call] = number - 1
  print(met)
  assert met["flock"] and met["pread64"] and met["pwrite64"] and met["openat"]


def check(durable: DurableHome, answers, final, place: str) -> None:
  failures = [answer for answer in answers if answer and answer[-1].startswith("error ")]
  assert all("ended" not in line for answer in answers for line in answer), place
  # What failed once works the next time; more than one command may have met the failed call.
  assert final == ["value 1", "value 2"], (place, final)
  found = durable.contents()
  assert len([key for key in found if key.startswith("k")]) == 40, place
  sets = {"1": True, "2": answers[1] == [], "3": answers[5] == []}
  assert found["a"] in sets, place
  newest = max(value for value, is_set in sets.items() if is_set)
  assert found["a"] >= newest, (place, found["a"])
  # Reads are right or fail.
  assert answers[0] == ["value 1"] or answers[0] in failures, place
  if answers[1] == []:
    assert answers[2] == ["value 2"] or answers[2] in failures, place
  if answers[5] == []:
    assert answers[8] == ["value 3"] or answers[8] in failures, place


def traced(calls: str, *more: str, output="/dev/null") -> list[str]:
  return ["strace", "-qq", "-f", "-y", "-o", str(output), "-e", f"trace={calls}", *more]


def test_a_failed_synchronization_is_known_to_the_next(durable, tracing, tmp_path):
  """The kernel reports once that it could not write: then the log is written again."""
  with durable.process() as one:
    assert one.ask("bulk k 40") == one.ask("set a 1") == []
    # Its end would copy the log.
    one.process.kill()
  log = durable.config / "settings.preferences-wal"

  def synchronize() -> int:
    """Returns how much of the log was written before it was synchronized."""
    trace = tmp_path / "trace"
    assert durable.ask("synchronize", through=traced("pwrite64,fdatasync", output=trace)) == [[]]
    lines = [line for line in trace.read_text().splitlines() if "-wal>" in line]
    start = next(number for number, line in enumerate(lines) if "fdatasync" in line)
    return sum(int(line.rpartition("= ")[2]) for line in lines[:start])

  failing = traced("fdatasync", "-e", "inject=fdatasync:error=EIO")
  for command in ("synchronize", "checkpoint"):
    with durable.process(through=failing) as one:
      assert one.ask("get a") == ["value 1"]
      assert failed(one.ask(command), "outcomeUnknown", "inputOutput")
      assert one.ask("set a 1") == []
    size = log.stat().st_size
    assert size > 0 and synchronize() >= size, command
    assert synchronize() < size, command


def test_a_killed_synchronization_is_known_to_the_next(durable, tracing):
  durable.ask("set a 1")
  lock = durable.config / "settings.preferences-lock"
  with durable.process(through=traced("fdatasync", "-e", "inject=fdatasync:signal=KILL")) as one:
    assert one.ask("synchronize")[-1].startswith("ended")
  assert lock.read_bytes()[8:9] == b"\1"
  assert durable.ask("synchronize") == [[]]
  assert lock.read_bytes()[8:9] == b"\0"


def test_a_lock_file_that_is_refused_is_closed_once(durable, tracing, tmp_path):
  """A second time, its number may be that of another thread's file."""
  durable.ask("set a 1")
  (durable.config / "settings.preferences-lock").chmod(0o644)
  trace = tmp_path / "trace"
  with durable.process(through=traced("close,fstat,newfstatat", output=trace)) as one:
    assert failed(one.ask("get a"), "insecure")
  assert "settings.preferences-lock" in trace.read_text()
  assert "EBADF" not in trace.read_text()


def test_observing_again_and_again_keeps_the_watch(durable, tracing, tmp_path):
  """To end the kernel's notifications takes it milliseconds."""
  trace = tmp_path / "trace"
  with durable.process(through=traced("inotify_init1", output=trace)) as one:
    assert one.ask("observe-often 50") == []
    assert trace.read_text().count("inotify_init1") == 1
  # Nobody observes: soon it ends.
  with durable.process() as one:
    assert one.ask("observe-often 2") == []
    files = Path(f"/proc/{one.process.pid}/fd")
    end = time.monotonic() + 30
    while any(os.readlink(file) == "anon_inode:inotify" for file in files.iterdir()):
      assert time.monotonic() < end
      time.sleep(0.05)
    assert one.ask("observe a") == ["ready"]
    assert durable.ask("set a 5") == [[]]
    assert one.process.stdout.readline().startswith("change a value 5")


@pytest.mark.parametrize("condition", [[], ["--expect", "starting"]], ids=["write", "expect"])
def test_a_change_that_may_not_be_on_the_disk_is_81(home, tracing, condition):
  """It has happened, and the command says so."""
  preferences = Preferences(home)
  preferences.run("write", "state", "starting")
  # The first two are of the commit, which begins a log.
  command = [
    *traced("fdatasync", "-e", "inject=fdatasync:error=EIO:when=3"), home.program, "write", "state", "ready",
    *condition, "--domain", "web"]
  told = subprocess.run(
    command, env=home.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
    timeout=LIMIT, check=False)
  assert told.returncode == 81 and "the changes are made" in told.stderr, told
  assert preferences.read("state") == b"ready\n"
