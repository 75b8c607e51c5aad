"""Many commands unlock a vault at the same time with the memory of one password hash."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

from prefs_testing import PATIENCE, PATIENT
from system_calls import forbid_keys
from thoroughness import tried

# What only a process has that hashes a passphrase just now: the hash takes 64 MiB.
MUCH = 40 << 20

PAGE = os.sysconf("SC_PAGE_SIZE")


def own_memory(pid: int) -> int:
  """The memory that belongs to a process alone, in bytes; 0 if it has ended."""
  try:
    fields = Path(f"/proc/{pid}/statm").read_text().split()
  except (FileNotFoundError, ProcessLookupError):
    return 0
  return (int(fields[1]) - int(fields[2])) * PAGE


def hashing(processes: list[subprocess.Popen]) -> int:
  """Returns how many processes are hashing a passphrase."""
  found = [process for process in processes if own_memory(process.pid) > MUCH]
  # A process that was seen first may have ended its hash, and another begun one, before that was seen.
  return sum(own_memory(process.pid) > MUCH for process in found)


@contextmanager
def nobody_hashes(home):
  """Holds the lock that every process takes for a hash."""
  descriptor = os.open(home.state / "kdf.lock", os.O_RDWR | os.O_CREAT, 0o600)
  try:
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    yield
  finally:
    os.close(descriptor)


def watched(processes: list[subprocess.Popen]) -> tuple[list[tuple[int, bytes, bytes]], int]:
  """Waits for processes: how each ended, and how many hashed a passphrase together."""
  most = 0
  try:
    deadline = time.monotonic() + PATIENCE
    while any(process.poll() is None for process in processes):
      assert time.monotonic() < deadline
      most = max(most, hashing(processes))
      time.sleep(0.005)
    outcomes = []
    for process in processes:
      out, error = process.communicate(timeout=PATIENCE)
      outcomes.append((process.returncode, out, error))
    return outcomes, most
  finally:
    for process in processes:
      process.kill()
      process.wait()


def start_many(home, count: int, *options: str, **more) -> list[subprocess.Popen]:
  environment = {"KEYCHAIN_PASSPHRASE_FILE": home.passphrase()[1]}
  return [home.start("get", "whenUnlocked", *options, environment=environment, **more)
          for _ in range(count)]


def test_parallel_commands_use_memory_of_one_hash(locked):
  # The vault has been seen then. Otherwise each would note that it has, and say so if it cannot in time.
  locked.get("always")
  with nobody_hashes(locked):
    processes = start_many(locked, tried(200), *PATIENT)
  outcomes, most = watched(processes)
  assert set(outcomes) == {(0, b"whenUnlocked", b"")}
  assert most == 1


WITHOUT_CACHE = {"preexec_fn": lambda: forbid_keys(errno.ENOSYS)}


def test_without_a_cache_they_wait_in_line(locked):
  """Each hashes the passphrase itself; the system ends none for lack of memory."""
  with nobody_hashes(locked):
    processes = start_many(locked, 12, *PATIENT, **WITHOUT_CACHE)
  outcomes, most = watched(processes)
  assert {(code, out) for code, out, _ in outcomes} == {(0, b"whenUnlocked")}
  assert most == 1


def test_waiting_commands_give_up_at_deadline(locked):
  with nobody_hashes(locked):
    outcomes, most = watched(start_many(locked, 12, "--deadline", "1s", **WITHOUT_CACHE))
  assert {(code, out) for code, out, _ in outcomes} == {(75, b"")}
  assert all(b"too long" in error for _, _, error in outcomes)
  assert most == 0
