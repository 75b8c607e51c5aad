"""A bus that sends more than anybody can keep: no answer is taken apart before its size is known."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from prefs_testing import LIMIT

# Bytes and seconds. GLib alone takes twenty times as much.
MEMORY = 500_000_000
LONGEST = 15

# What is answered, by what, and how `get` or `list` may end.
CASES = [
  ("SearchItems", "paths", {79}),
  ("SearchItems", "paths of 8000000", {75, 79}),
  ("SearchItems", "signatures", {79}),
  ("SearchItems", "signatures of 1000000", {74, 75}),
  ("Get Attributes", "signatures in a variant", {79}),
  ("Get Attributes", "pairs in a variant", {79}),
  ("Get Attributes", "pairs in a variant of 8000000", {75, 79}),
  ("Get Locked", "paths in a variant", {79}),
  ("Get Items", "paths in a variant", {79}),
  ("Get Items", "many large items", {75, 79}),
  ("GetSecret", "a secret", {79}),
  ("GetSecret", "a secret of 20000000", {74}),
  ("SearchItems", "a promise", {75}),
  ("SearchItems", "an invalid length", {74}),
  ("SearchItems", "signals", {75, 79}),
  ("SearchItems", "calls", {75}),
  ("SearchItems", "answers to nobody", {75}),
  ("SearchItems", "errors to nobody", {75}),
  ("Hello", "signatures", {79}),
  ("Hello", "calls", {75}),
  # That does not say that nobody has the name.
  ("Hello", "an end", {75}),
  ("Hello", "error org.freedesktop.DBus.Error.LimitsExceeded", {75}),
  ("GetNameOwner", "an end", {69}),
  ("GetNameOwner", "error org.freedesktop.DBus.Error.LimitsExceeded", {75}),
  # It may be a bus that fails for a moment.
  ("handshake", "bytes", {75}),
]


@contextmanager
def hostile_bus(home, what: str, how: str):
  """Gives the home a bus that misbehaves, with a provider that does not."""
  path = home.folder / "bus"
  program = Path(__file__).with_name("hostile_bus.py")
  with subprocess.Popen(["/usr/bin/python3", "-B", str(program), str(path), what, how],
                        stdout=subprocess.PIPE) as process:
    try:
      assert process.stdout.readline() == b"READY\n", "the bus did not start"
      home.environment["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={path}"
      yield
    finally:
      process.kill()


# Starts a command, and writes down how much memory it took: what the process took that starts it counts, too, and a
# worker of pytest may have grown.
MEASURE = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[2:]).returncode
with open(sys.argv[1], "w") as file: file.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(code)
"""


def measured(home, *words: str) -> tuple[int, bytes, int, float]:
  """Returns the exit code of a command, its output, the bytes of its memory and its seconds."""
  start = time.monotonic()
  memory = home.folder / "memory"
  process = home.start(
    *words, stderr=subprocess.STDOUT, through=(sys.executable, "-c", MEASURE, str(memory)))
  watch = threading.Timer(LIMIT, os.killpg, (process.pid, signal.SIGKILL))
  watch.start()
  out, _ = process.communicate()
  watch.cancel()
  return process.returncode, out, int(memory.read_text()) << 10, time.monotonic() - start


@pytest.mark.parametrize("what, how, codes", CASES)
def test_memory_and_time_have_limits(home, what, how, codes):
  words = ("list", "--store", "secret-service") if what == "Get Items" else ("get", "alice", "--service", "s")
  # What is refused is refused at once; only floods and silence take the time that they get.
  deadline = "1s" if 75 in codes else "1m"
  with hostile_bus(home, what, how):
    code, out, memory, seconds = measured(home, *words, "--deadline", deadline)
  assert code in codes, out
  assert memory < MEMORY and seconds < LONGEST, (memory, seconds)
  assert b"secret of" not in out
  assert not home.vault.exists() and not (home.state / "stores").exists()


def test_a_bus_that_behaves_is_used(home):
  with hostile_bus(home, "nothing", "honest"):
    assert home.get("alice", "--service", "s", "--deadline", "1m") == b"secret of alice"
