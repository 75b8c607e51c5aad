"""A bus that misbehaves: its answers are checked for type and count, and nothing takes longer than its deadline."""

from __future__ import annotations

import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

# In seconds.
LONGEST = 15

# What is answered, by what, and how `get` or `list` ends.
CASES = [
  # More than 50,000 elements.
  ("SearchItems", "paths of 1000000", 79),
  ("Get Attributes", "pairs in a variant of 1000000", 79),
  ("Get Items", "paths in a variant of 1000000", 79),
  # More bytes than a secret has.
  ("GetSecret", "a secret of 34000000", 79),
  # Other types, and nonsense.
  ("SearchItems", "signatures of 1000", 74),
  ("Get Attributes", "signatures in a variant of 1000", 74),
  ("Get Locked", "paths in a variant of 1000", 74),
  ("GetSecret", "a secret of 20000000", 74),
  ("Hello", "signatures of 1000", 75),
  # Silence and floods last until the deadline.
  ("SearchItems", "a promise", 75),
  ("SearchItems", "signals", 75),
  ("SearchItems", "calls", 75),
  ("SearchItems", "answers to nobody", 75),
  ("SearchItems", "errors to nobody", 75),
  ("Hello", "calls", 75),
  ("handshake", "bytes", 75),
  # That does not say that nobody has the name.
  ("Hello", "an end", 75),
  ("Hello", "error org.freedesktop.DBus.Error.LimitsExceeded", 75),
  ("GetNameOwner", "an end", 69),
  ("GetNameOwner", "error org.freedesktop.DBus.Error.LimitsExceeded", 75),
  # GLib ends such a connection.
  ("SearchItems", "an invalid length", 69),
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


@pytest.mark.parametrize("what, how, code", CASES)
def test_types_counts_and_time_have_limits(home, what, how, code):
  words = ("list", "--store", "secret-service") if what == "Get Items" else ("get", "alice", "--service", "s")
  # What is refused is refused at once; only floods and silence take the time that they get.
  deadline = "1s" if code == 75 else "1m"
  start = time.monotonic()
  with hostile_bus(home, what, how):
    outcome = home.run(*words, "--deadline", deadline, code=code)
  assert time.monotonic() - start < LONGEST
  assert not outcome.out and "secret of" not in outcome.error
  assert not home.vault.exists() and not (home.state / "stores").exists()


def test_a_bus_that_behaves_is_used(home):
  with hostile_bus(home, "nothing", "honest"):
    assert home.get("alice", "--service", "s", "--deadline", "1m") == b"secret of alice"
