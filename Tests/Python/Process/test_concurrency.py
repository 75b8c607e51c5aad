"""Many processes at one vault, and one that does not release it."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import threading
import time
from contextlib import contextmanager

import pytest

from prefs_testing import PATIENCE, PATIENT, hinted
from thoroughness import tried

# How long a command waits for another if it is not told, in seconds.
USUAL = 10


def run_parallel_sets(home, names: list[str]) -> dict[str, str]:
  """Starts all at the same time; returns the names of those that failed, with their messages."""
  processes = {}
  for name in names:
    process = home.start("set", name, *PATIENT, stdin=subprocess.PIPE)
    processes[name] = process
  for name, process in processes.items():
    process.stdin.write(name.encode())
    process.stdin.close()
    process.stdin = None
  failed = {}
  for name, process in processes.items():
    _, error = process.communicate(timeout=PATIENCE)
    if process.returncode != 0:
      assert process.returncode == 75, error
      failed[name] = error.decode()
  return failed


@pytest.mark.parametrize("fresh", [True, False])
def test_no_parallel_write_is_lost(home, fresh):
  count = tried(200)
  if not fresh:
    home.set("first", b"first")
  names = [f"account {number}" for number in range(count)]
  failed = run_parallel_sets(home, names)
  assert failed == {}
  listed = {item["account"] for item in home.run("list", "--json").json}
  assert listed == set(names) | (set() if fresh else {"first"})
  for name in names[:: max(1, count // 20)]:
    assert home.get(name) == name.encode()
  assert home.run("verify", "--json").json["items"] == len(listed)


def test_many_writers_of_one_credential(home):
  names = [f"writer {number}" for number in range(12)]
  processes = [home.start("set", "shared", *PATIENT, stdin=subprocess.PIPE) for _ in names]
  for name, process in zip(names, processes):
    process.stdin.write(name.encode())
    process.stdin.close()
    process.stdin = None
  for process in processes:
    _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, error
  assert home.get("shared").decode() in names
  home.run("verify")


def test_one_of_many_makes_it(home):
  home.run("init")
  processes = [home.start("set", "once", "--create-only", *PATIENT, stdin=subprocess.PIPE)
               for _ in range(8)]
  codes = []
  for process in processes:
    process.communicate(b"x", timeout=PATIENCE)
    codes.append(process.returncode)
  assert sorted(codes) == [0] + [75] * 7


@contextmanager
def writing(home):
  """Another program holds the lock of writers."""
  with open(home.vault, "rb") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    yield file


def test_a_writer_waits_for_another_until_its_deadline(home):
  home.set("alice", b"old")
  with writing(home):
    # Readers take no lock.
    assert home.get("alice") == b"old"
    begin = time.monotonic()
    refused = home.set("alice", b"new", "--deadline", "500ms", code=75)
    assert 0.4 < time.monotonic() - begin < USUAL
    assert "another process" in refused.error and "try again" in hinted(refused)
  assert home.get("alice") == b"old"


def test_writer_continues_after_other_finishes(home):
  home.set("alice", b"old")
  with writing(home) as file:
    timer = threading.Timer(0.7, fcntl.flock, [file, fcntl.LOCK_UN])
    begin = time.monotonic()
    timer.start()
    home.set("alice", b"new")
    assert time.monotonic() - begin > 0.6
    timer.join()
  assert home.get("alice") == b"new"


def test_reader_waits_only_for_what_may_not_be_durable(home):
  """What was seen is read while somebody writes; what nobody here has seen waits for the lock."""
  home.set("alice", b"old")
  with writing(home):
    assert home.get("alice") == b"old"
    shutil.rmtree(home.state / "seen")
    begin = time.monotonic()
    home.run("get", "alice", "--deadline", "500ms", code=75)
    assert 0.4 < time.monotonic() - begin < USUAL
  assert home.get("alice") == b"old"


def test_the_usual_deadline(home):
  home.set("alice", b"old")
  with writing(home):
    begin = time.monotonic()
    home.set("alice", b"new", code=75)
    # No upper limit: a busy machine may take any time, and `run` sets one.
    assert time.monotonic() - begin > USUAL - 1


@pytest.mark.parametrize("text", ["", "soon", "-1s", "10x"])
def test_invalid_deadlines_are_refused(home, text):
  home.run("get", "alice", f"--deadline={text}", code=64)


def test_killed_writers_leave_a_whole_vault(home):
  home.set("alice", b"0" * 50_000)
  for number in range(10):
    secret = str(number % 10).encode() * 50_000
    process = home.start("set", "alice", stdin=subprocess.PIPE)
    process.stdin.write(secret)
    process.stdin.close()
    process.stdin = None
    time.sleep(0.004 * number)
    process.kill()
    process.communicate()
    found = home.get("alice")
    assert len(found) == 50_000 and len(set(found)) == 1
  home.run("verify")
