"""Many commands at once unlock one vault with the memory of one password hash."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

from prefs_testing import LIMIT
from system_calls import forbid_keys

# What only a process has that hashes a passphrase just now: the hash takes 256 MiB.
MUCH = 100 << 20

PAGE = os.sysconf("SC_PAGE_SIZE")


def own_memory(pid: int) -> int:
  """The memory that belongs to a process alone, in bytes; 0 if it has ended."""
  try:
    fields = Path(f"/proc/{pid}/statm").read_text().split()
  except (FileNotFoundError, ProcessLookupError):
    return 0
  return (int(fields[1]) - int(fields[2])) * PAGE


def hashing(processes: list[subprocess.Popen]) -> int:
  """How many processes hash a passphrase at one moment."""
  found = [process for process in processes if own_memory(process.pid) > MUCH]
  # A process that was seen first may have ended its hash, and another begun one, before that was seen.
  return sum(own_memory(process.pid) > MUCH for process in found)


@contextmanager
def nobody_hashes(home):
  """Keeps the lock that everybody takes for a hash."""
  descriptor = os.open(home.state / "kdf.lock", os.O_RDWR | os.O_CREAT, 0o600)
  try:
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    yield
  finally:
    os.close(descriptor)


def run_at_once(home, start, count: int) -> tuple[list[tuple[int, bytes, bytes]], int]:
  """Runs a command many times at once: how each ended, and how many hashed a passphrase together."""
  processes = []
  most = 0
  try:
    with nobody_hashes(home):
      processes += [start() for _ in range(count)]
    deadline = time.monotonic() + LIMIT
    while any(process.poll() is None for process in processes):
      assert time.monotonic() < deadline
      most = max(most, hashing(processes))
      time.sleep(0.005)
    outcomes = []
    for process in processes:
      out, error = process.communicate(timeout=LIMIT)
      outcomes.append((process.returncode, out, error))
    return outcomes, most
  finally:
    for process in processes:
      process.kill()
      process.wait()


def test_two_hundred_at_once_take_the_memory_of_one_hash(locked):
  path = locked.passphrase()[1]
  outcomes, most = run_at_once(
    locked,
    lambda: locked.start("get", "whenUnlocked", environment={"KEYCHAIN_PASSPHRASE_FILE": path}),
    200)
  assert set(outcomes) == {(0, b"whenUnlocked", b"")}
  assert most == 1


def test_without_a_cache_they_wait_in_line_and_give_up_in_time(locked):
  """Each must hash the passphrase itself then. Those whose turn does not come in time say so; none is
  ended by the system for lack of memory."""
  path = locked.passphrase()[1]
  outcomes, most = run_at_once(
    locked,
    lambda: locked.start(
      "get", "whenUnlocked", "--deadline", "4s", preexec_fn=lambda: forbid_keys(errno.ENOSYS),
      environment={"KEYCHAIN_PASSPHRASE_FILE": path}),
    60)
  codes = [code for code, _, _ in outcomes]
  assert set(codes) == {0, 75}
  assert all(out == (b"whenUnlocked" if code == 0 else b"") for code, out, _ in outcomes)
  assert all(b"too long" in error for code, _, error in outcomes if code == 75)
  assert most == 1
