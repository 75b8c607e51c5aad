"""A program behind the desktop keyring that answers nonsense, late or never."""

from __future__ import annotations

import json
import os
import random
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from desktop_session import desktop
from misbehaviour import FAR_TIMES, KEYS, REPLIES, SINGLE

# The codes of the table in the README.
CODES = {0, 1, 44, 64, 65, 69, 70, 71, 74, 75, 76, 77, 78, 79, 80, 130}

# No command may take longer, whatever the provider does: seconds.
LONGEST = 15

IN_KEYRING = ("--service", "s", "--store", "secret-service")

COMMANDS = {
  "get": ("get", "alice", *IN_KEYRING),
  "get of another program's": ("get", "bob", *IN_KEYRING),
  "get by attribute": ("get", "--attribute", "username=bob", *IN_KEYRING),
  "get of a missing one": ("get", "nobody", *IN_KEYRING),
  "list": ("list", "--store", "secret-service"),
  "list of a service": ("list", "--json", *IN_KEYRING),
  "show": ("show", "alice", *IN_KEYRING),
  "show another program's": ("show", "bob", "--json", *IN_KEYRING),
  "doctor": ("doctor", "--json"),
  "doctor of a service": ("doctor", *IN_KEYRING),
  "status": ("status",),
  "update": ("update", "alice", "--label", "l", *IN_KEYRING),
  "set": ("set", "alice", *IN_KEYRING),
  "set a new one": ("set", "carol", *IN_KEYRING),
  "set where nothing is chosen": ("set", "carol", "--service", "t"),
  "rename": ("rename", "alice", "dave", *IN_KEYRING),
  "delete": ("delete", "dave", *IN_KEYRING),
  "delete another program's": ("delete", "bob", *IN_KEYRING),
  "migrate away": ("migrate", "--service", "s", "--from", "secret-service", "--to", "vault"),
  "migrate back": ("migrate", "--service", "s", "--from", "vault", "--to", "secret-service"),
}

METHODS = ("SearchItems", "OpenSession", "ReadAlias", "GetSecret", "GetSecrets", "SetSecret",
           "CreateItem", "Set", "Delete", "GetAll")
PROPERTIES = ("Get Locked", "Get Items", "Get Attributes")
ERRORS = (
  "org.freedesktop.DBus.Error.Failed", "org.freedesktop.DBus.Error.LimitsExceeded",
  "org.freedesktop.DBus.Error.NotSupported", "org.freedesktop.DBus.Error.UnknownMethod",
  "org.freedesktop.Secret.Error.IsLocked", "org.freedesktop.Secret.Error.NoSession",
  "org.freedesktop.Secret.Error.NoSuchObject", "org.nonsense")
SECRETS = ("another session", "no vector", "a long vector", "no value", "an odd value",
           "a random value", "a value of 64 MB", "an odd kind")
RECORDS = (
  {"expires": 2**63 - 1}, {"expires": -2**63}, {"created": 2**63 - 1, "modified": -2**63},
  {"version": 2**64 - 1}, {"version": 2**64}, {"attributes": [["a"]]}, {"format": 2**63 - 1},
  {"generic": []}, {"generic": ["s", "alice\0"]})


def misbehaviours() -> list[tuple[str, str]]:
  everywhere = METHODS + PROPERTIES
  wrong_types = [(what, how) for what in everywhere for how in REPLIES]
  wrong_types += [(f"Item {name}", how) for how in (*SINGLE, "missing")
                  for name in ("Attributes", "Label", "Locked", "Created", "Modified")]
  others = [(what, how) for what in everywhere
            for how in ("silence", "an end", *(f"error {name}" for name in ERRORS))]
  others += [(f"Item {name}", how) for how in FAR_TIMES for name in ("Created", "Modified")]
  others += [("Item Attributes", f"record {json.dumps(wrong)}") for wrong in RECORDS]
  others += [("OpenSession", f"key {name}") for name in KEYS]
  others += [(what, how) for what in ("GetSecret", "GetSecrets") for how in SECRETS]
  others += [("SearchItems", "200,000 paths"), ("Get Items", "200,000 paths"),
             ("Get Attributes", "200,000 attributes")]
  others += [(what, "a prompt") for what in ("CreateItem", "Delete")]
  locked = [("Unlock", "a prompt"), ("nothing", "honest")]
  locked += [(what, how) for what in ("ReadAlias", "Unlock") for how in (*REPLIES, "silence")]
  others += [(what, how + " while locked") for what, how in locked]
  return wrong_types + others


class FakeProvider:
  """The fake provider of a desktop in which the commands of a home run."""

  def __init__(self, home) -> None:
    self.home = home
    self.control = home.folder / "misbehaviour"
    self.secret = home.file("secret", b"new")
    self.count = 0
    self.process = None
    self.behave()

  def behave(self, what: str = "nothing", how: str = "honest", **more) -> None:
    """Misbehaves from now on, with the items of the beginning; starts if it has ended."""
    self.count += 1
    new = self.control.with_suffix(".new")
    new.write_text(json.dumps({"of": what, "as": how, "count": self.count} | more))
    new.rename(self.control)
    if self.process is None or self.process.poll() is not None:
      self.start()

  def start(self) -> None:
    self.end()
    program = Path(__file__).with_name("fake_provider.py")
    self.process = subprocess.Popen(
      ["/usr/bin/python3", "-B", str(program), str(self.control)], stdout=subprocess.PIPE,
      env=os.environ | {"DBUS_SESSION_BUS_ADDRESS": self.home.environment["DBUS_SESSION_BUS_ADDRESS"]})
    assert self.process.stdout.readline() == b"READY\n", "the fake provider did not start"

  def end(self) -> bytes:
    """Ends; returns what it printed."""
    if self.process is None:
      return b""
    self.process.kill()
    with self.process:
      return self.process.stdout.read()

  def try_all(self, what: str, how: str) -> list[tuple[float, str, object]]:
    """How each command ended, and after how many seconds, all of them started at once."""
    self.behave(what, how)
    # One migration keeps out another.
    last = {"migrate back": COMMANDS["migrate back"]}
    first = {name: words for name, words in COMMANDS.items() if name not in last}
    return self.try_at_once(first) + self.try_at_once(last)

  def try_at_once(self, commands) -> list[tuple[float, str, object]]:
    running = []
    for name, words in commands.items():
      # Writers wait for each other if they have one runtime folder.
      runtime = self.home.folder / "runtimes" / name.replace(" ", "-")
      runtime.mkdir(mode=0o700, parents=True, exist_ok=True)
      with open(self.secret) as secret:
        process = self.home.start(
          *words, stdin=secret, environment={"XDG_RUNTIME_DIR": str(runtime)})
      running.append((name, time.monotonic(), process))
    results = []
    for name, start, process in running:
      try:
        process.communicate(timeout=max(0, start + LONGEST - time.monotonic()))
      except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
      results.append((time.monotonic() - start, name, process.returncode))
    return results


@contextmanager
def fake_provider(home):
  with desktop(home, "none"):
    fake = FakeProvider(home)
    try:
      yield fake
    finally:
      fake.end()


@pytest.fixture
def fake(home):
  with fake_provider(home) as provider:
    yield provider
