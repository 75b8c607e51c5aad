"""Credentials are set and read while their services move between the stores."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from desktop_session import desktop, keyring_items
from prefs_testing import LIMIT, PATIENT, Home, hinted
from thoroughness import PARTS

TO_KEYRING = ("migrate", "--from", "vault", "--to", "secret-service", "--remove-source")
TO_VAULT = ("migrate", "--from", "secret-service", "--to", "vault", "--remove-source")
IN_VAULT = ("--store", "vault")

# How many of them move at once, and for how long: ten minutes find what a few seconds don't.
LOOPS = 4
SECONDS = 600 if PARTS == 1 else 15


@pytest.fixture
def keyring(home):
  """The variables of a desktop with gnome-keyring, in which the home's commands run."""
  with desktop(home) as variables:
    yield variables


def set_and_read(home: Home, end: float, stop: threading.Event) -> int:
  """Sets an account again and again, and reads each value back."""
  count = 0
  try:
    while time.monotonic() < end and not stop.is_set():
      count += 1
      home.set("counter", str(count).encode(), "--service", "s", *PATIENT)
      assert home.get("counter", "--service", "s", *PATIENT) == str(count).encode()
  finally:
    stop.set()
  return count


def move_to_and_fro(home: Home, stop: threading.Event) -> int:
  count = 0
  try:
    while not stop.is_set():
      home.run(*(TO_VAULT if count % 2 else TO_KEYRING), *PATIENT)
      count += 1
  finally:
    stop.set()
  return count


def run_loop(home: Home) -> tuple[int, int]:
  """Returns how many values were set and read back, and how often the service moved."""
  with desktop(home), ThreadPoolExecutor() as threads:
    home.set("counter", b"0", "--service", "s", *IN_VAULT)
    home.set("other", b"stays", "--service", "s", *IN_VAULT)
    stop = threading.Event()
    moving = threads.submit(move_to_and_fro, home, stop)
    sets = set_and_read(home, time.monotonic() + SECONDS, stop)
    print(f"{sets} values set and read back")
    moves = moving.result()
    assert home.get("other", "--service", "s") == b"stays"
    assert len(home.run("list", "--service", "s", "--json").json) == 2
    return sets, moves


# Whatever was acknowledged is read back. Run pytest with -s for the counts.
@pytest.mark.longest
def test_every_value_that_was_set_is_read_back(make_home):
  with ThreadPoolExecutor(LOOPS) as threads:
    results = list(threads.map(run_loop, [make_home() for _ in range(LOOPS)]))
  assert all(sets > 0 and moves > 1 for sets, moves in results)
  sets, moves = (sum(column) for column in zip(*results))
  print(f"{sets} values set and read back while their services moved {moves} times")


def lock_holder(home: Home, *options: str) -> subprocess.Popen:
  """A program that holds the lock of the choice of store, and was stopped."""
  command = ["flock", *options, str(home.state / "choice.lock"), "sh", "-c", "echo; kill -STOP $$"]
  process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
  process.stdout.readline()
  return process


def end(holder: subprocess.Popen) -> None:
  """Kills a holder with what it started."""
  os.killpg(holder.pid, signal.SIGKILL)
  holder.wait(timeout=LIMIT)
  holder.stdout.close()


def test_a_writer_that_was_stopped(home, keyring):
  home.set("alice", b"1", "--service", "s", *IN_VAULT)
  home.set("alice", b"2", "--service", "s")
  holder = lock_holder(home, "--shared")
  try:
    # Others that write share the lock.
    home.set("alice", b"3", "--service", "s", "--deadline", "1s")
    busy = home.run(*TO_KEYRING, "--deadline", "1s", code=75)
    assert "choice.lock" in busy.error and "stopped" in busy.error and "again" in hinted(busy)
    assert home.get("alice", "--service", "s", *IN_VAULT) == b"3"
  finally:
    end(holder)
  home.run(*TO_KEYRING)
  assert home.get("alice", "--service", "s") == b"3" and len(keyring_items(keyring)) == 1


def test_a_migration_that_was_stopped(home, keyring):
  home.set("alice", b"1", "--service", "s", *IN_VAULT)
  home.set("alice", b"2", "--service", "s")
  holder = lock_holder(home)
  try:
    busy = home.set("alice", b"3", "--service", "s", "--deadline", "1s", code=75)
    assert "waiting for a migration" in busy.error and "try again" in hinted(busy)
    home.run("delete", "alice", "--service", "s", "--deadline", "1s", code=75)
    # Reading waits for nobody, and who names the store is past the choice.
    assert home.get("alice", "--service", "s") == b"2"
    assert len(home.run("list", "--json").json) == 1
    home.set("alice", b"4", "--service", "s", *IN_VAULT)
  finally:
    end(holder)
  home.set("alice", b"5", "--service", "s")
  assert home.get("alice", "--service", "s") == b"5"


READ_ONLY = ("unshare", "--mount", "sh", "-c",
             'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"', "sh")


def test_a_state_folder_that_cannot_be_written(home, mounting):
  home.set("alice", b"1", "--service", "s")
  through = [*READ_ONLY, str(home.state)]
  (home.state / "choice.lock").unlink()
  home.set("alice", b"2", "--service", "s", through=through)
  assert home.get("alice", "--service", "s", through=through) == b"2"
  assert not (home.state / "choice.lock").exists()
  home.set("alice", b"3", "--service", "s")
  # Where there is a lock it counts: a migration may run where the folder can be written.
  holder = lock_holder(home)
  try:
    home.set("alice", b"4", "--service", "s", "--deadline", "1s", through=through, code=75)
  finally:
    end(holder)
  home.set("alice", b"5", "--service", "s", through=through)
  assert home.get("alice", "--service", "s") == b"5"


def test_reading_takes_no_lock(home, tracing):
  home.set("alice", b"1", "--service", "s")
  log = home.folder / "calls"
  assert home.get("alice", "--service", "s", through=[
    "strace", "-f", "-o", str(log), "-e", "trace=flock,open,openat"]) == b"1"
  calls = log.read_text()
  assert '/vault"' in calls and "choice." not in calls


def test_late_writes_are_reported(home, keyring):
  """Items written past the choice after the move stay and are named."""
  home.set("alice", b"1", "--service", "s", *IN_VAULT)
  home.run(*TO_KEYRING)
  home.set("alice", b"2", "--service", "s")
  home.set("alice", b"late", "--service", "s", *IN_VAULT)
  refused = home.run(*TO_KEYRING, code=75)
  assert "the target has a different 'alice'" in refused.error
  home.set("alice", b"3", "--service", "s")
  # What programs use is the newer one, and is not replaced by what is out of date.
  for options in (), ("--overwrite",):
    refused = home.run(*TO_KEYRING, *options, code=79)
    assert "the target has a newer 'alice'" in refused.error
    assert "--overwrite" not in hinted(refused) and "delete" in hinted(refused)
  assert home.get("alice", "--service", "s") == b"3"
  assert home.get("alice", "--service", "s", *IN_VAULT) == b"late"


def test_a_second_run_undoes_no_deletion(home, keyring):
  for account in "alice", "bob":
    home.set(account, account.encode(), "--service", "s", *IN_VAULT)
  home.run(*TO_KEYRING[:-1])
  home.run("delete", "alice", "--service", "s")
  for _ in range(2):
    refused = home.run(*TO_KEYRING, code=79)
    assert "'alice' of service 's' stays in the source" in refused.error
    assert "--overwrite" in hinted(refused) and "delete" in hinted(refused)
    home.run("get", "alice", "--service", "s", code=44)
    assert home.get("alice", "--service", "s", *IN_VAULT) == b"alice"
    home.run("get", "bob", "--service", "s", *IN_VAULT, code=44)
  home.run(*TO_KEYRING, "--overwrite")
  assert home.get("alice", "--service", "s") == b"alice"


@pytest.mark.parametrize("name", ["choice.lock", "choice.turnstile"])
def test_a_pipe_in_the_place_of_a_lock(home, name):
  """Opening it would wait for its other end forever."""
  home.set("alice", b"1", "--service", "s")
  (home.state / name).unlink(missing_ok=True)
  os.mkfifo(home.state / name, 0o600)
  refused = home.set("alice", b"2", "--service", "s", code=79)
  assert f"{name} is not a regular file" in refused.error
  home.run("delete", "alice", "--service", "s", code=79)
  home.run("update", "alice", "--service", "s", "--label", "l", code=79)
  (home.state / name).unlink()
  assert home.get("alice", "--service", "s") == b"1"
