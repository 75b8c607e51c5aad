"""Providers of the desktop keyring that answer wrongly, late or never."""

from __future__ import annotations

import json
import os
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from desktop_session import desktop
from prefs_testing import PATIENT, hinted
from misbehaviour import COLLECTION, FAR_TIMES, KEYS, REPLIES, SINGLE
from thoroughness import PARTS as PARTS_TRIED

# The codes of the table in the README.
CODES = {0, 1, 44, 64, 65, 69, 70, 71, 74, 75, 76, 77, 78, 79, 80, 81, 130}

# No command may take longer, whatever the provider does: seconds.
LONGEST = 15

IN_KEYRING = ("--service", "s", "--store", "secret-service")

COMMANDS = {
  "get": ("get", "alice", *IN_KEYRING),
  "get of another program's": ("get", "bob", *IN_KEYRING),
  "get by attribute": ("get", "--attribute", "colour=red", *IN_KEYRING),
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
  "delete another program's": ("delete", "bob", "--other-programs", *IN_KEYRING),
  "migrate away": ("migrate", "--service", "s", "--from", "secret-service", "--to", "vault"),
  "migrate back": ("migrate", "--service", "v", "--from", "vault", "--to", "secret-service"),
}

METHODS = ("SearchItems", "OpenSession", "ReadAlias", "GetSecret", "GetSecrets", "SetSecret",
           "CreateItem", "Set", "Delete", "GetAll")
PROPERTIES = ("Get Locked", "Get Items", "Get Attributes")
ERRORS = (
  "org.freedesktop.DBus.Error.Failed", "org.freedesktop.DBus.Error.LimitsExceeded",
  "org.freedesktop.DBus.Error.NotSupported", "org.freedesktop.DBus.Error.UnknownMethod",
  "org.freedesktop.Secret.Error.IsLocked", "org.freedesktop.Secret.Error.NoSession",
  "org.freedesktop.Secret.Error.NoSuchObject", "org.nonsense")
LARGE_SECRET = "a value of 64 MB"
SECRETS = ("another session", "no vector", "a long vector", "no value", "an odd value",
           "a random value", LARGE_SECRET, "an odd kind")
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
    home.set("erin", b"in the vault", "--service", "v", "--store", "vault")

  def behave(self, what: str = "nothing", how: str = "honest", **more) -> None:
    """Sets the misbehaviour and restores the original items; starts the provider if it has ended."""
    self.count += 1
    new = self.control.with_suffix(".new")
    new.write_text(json.dumps({"of": what, "as": how, "count": self.count} | more))
    new.rename(self.control)
    if self.process is None or self.process.poll() is not None:
      self.start()

  def keep(self) -> None:
    """Lets the provider behave from now on, with the items that it has."""
    self.count += 1
    new = self.control.with_suffix(".new")
    new.write_text(json.dumps({"of": "nothing", "as": "honest", "count": self.count, "keep": True}))
    new.rename(self.control)

  def start(self) -> None:
    self.end()
    program = Path(__file__).with_name("fake_provider.py")
    self.process = subprocess.Popen(
      ["/usr/bin/python3", "-B", str(program), str(self.control)], stdout=subprocess.PIPE,
      env=os.environ | {"DBUS_SESSION_BUS_ADDRESS": self.home.environment["DBUS_SESSION_BUS_ADDRESS"]})
    assert self.process.stdout.readline() == b"READY\n", "the fake provider did not start"

  def end(self) -> bytes:
    """Ends the provider; returns its output."""
    if self.process is None:
      return b""
    process, self.process = self.process, None
    process.kill()
    with process:
      return process.stdout.read()

  def try_all(self, what: str, how: str) -> list[tuple[float, str, object]]:
    """Starts all commands together; returns the result and the seconds of each."""
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


# The matrix is tried in parts, which run side by side.
PARTS = 8


def chosen_misbehaviours() -> list[tuple[str, str]]:
  """All if the tests are to be thorough, else a tenth, and fewer of those that take a deadline each."""
  everything = misbehaviours()
  if PARTS_TRIED == 1:
    return everything
  slow = [one for one in everything if one[1].startswith(("silence", "a prompt"))]
  # A step that divides the number of replies would choose the same few of them for each method.
  return [one for one in everything if one not in slow][::PARTS_TRIED + 1] + slow[::9]


def test_each_reply_and_each_method_is_tried():
  chosen = chosen_misbehaviours()
  assert {how for _, how in chosen} >= REPLIES.keys()
  assert {what for what, _ in chosen} >= {*METHODS, *PROPERTIES}


@pytest.mark.longest
@pytest.mark.parametrize("part", range(PARTS))
def test_every_command_ends_with_documented_code(fake, part):
  for what, how in chosen_misbehaviours()[part::PARTS]:
    for seconds, name, code in fake.try_all(what, how):
      assert code in CODES, f"{name}, {what} as {how}: {code}"
      assert seconds < LONGEST, f"{name}, {what} as {how}"
    if what == "OpenSession":
      assert fake.end() == b"", f"a secret was sent, {what} as {how}"


def test_it_works_if_it_behaves(fake, home):
  assert home.run(*COMMANDS["get"], *PATIENT).out == b"secret of alice"
  assert home.run(*COMMANDS["get by attribute"], *PATIENT).out == b"theirs"
  home.run(*COMMANDS["set"], *PATIENT, input=b"another")
  home.run(*COMMANDS["set a new one"], *PATIENT, input=b"third")
  home.run(*COMMANDS["rename"], *PATIENT)
  found = {item["account"] for item in home.run(*COMMANDS["list of a service"], *PATIENT).json}
  assert found == {"bob", "carol", "dave"}
  assert home.run("get", "dave", *IN_KEYRING, *PATIENT).out == b"another"
  home.run(*COMMANDS["delete"], *PATIENT)
  assert home.run("get", "carol", *IN_KEYRING).out == b"third"


def test_briefly_missing_objects_are_not_absent(fake, home):
  def begin_again():
    fake.behave(how="away for a moment")

  begin_again()
  assert home.run(*COMMANDS["get"], *PATIENT).out == b"secret of alice"
  begin_again()
  assert home.run(*COMMANDS["get of another program's"], *PATIENT).out == b"theirs"
  begin_again()
  assert len(home.run(*COMMANDS["list of a service"], *PATIENT).json) == 2
  begin_again()
  for command in "set", "set a new one", "update", "rename", "delete":
    home.run(*COMMANDS[command], *PATIENT, input=b"new")
  begin_again()
  home.run(*COMMANDS["migrate away"], *PATIENT)
  home.run(*COMMANDS["get of a missing one"], *PATIENT, code=44)


def test_briefly_missing_default_collection_is_unlocked(fake, home):
  fake.behave(how="away for a moment", locked=[COLLECTION])
  assert home.run(*COMMANDS["get"], *PATIENT).out == b"secret of alice"


@pytest.mark.parametrize("key", KEYS)
def test_computable_key_gets_no_secret(fake, home, key):
  fake.behave("OpenSession", f"key {key}")
  for command in "set", "set a new one":
    refused = home.run(*COMMANDS[command], *PATIENT, input=b"new", code=79)
    assert "key of the desktop keyring is not secure" in refused.error and "vault" in hinted(refused)
  assert home.run(*COMMANDS["get"], *PATIENT, code=79).out == b""
  # What takes no secret works.
  home.run(*COMMANDS["show"], *PATIENT)
  assert fake.end() == b"", "a secret was sent"


# A record would send every later command to a keyring that has nothing.
@pytest.mark.parametrize("what, how, code", [
  ("OpenSession", "plain only", 79), ("OpenSession", "key 0", 79),
  ("OpenSession", "error org.nonsense", 69), ("SearchItems", "nothing while locked", 77)])
def test_nothing_is_recorded_that_is_refused(fake, home, what, how, code):
  fake.behave(what, how)
  before = sorted((home.state / "stores").iterdir())
  # Where nothing is chosen, the vault takes what a locked keyring cannot.
  choices = [("--store", "secret-service")] + ([()] if code != 77 else [])
  for options in choices:
    refused = home.set("carol", b"new", "--service", "t", *options, code=code)
    assert "are kept in" not in refused.error
    assert sorted((home.state / "stores").iterdir()) == before
  assert fake.end() == b"", "a secret was sent"
  fake.behave()
  assert "are kept in the desktop keyring" in home.set("carol", b"new", "--service", "t").error
  assert home.get("carol", "--service", "t") == b"new"


def test_first_own_item_records_store_of_service(fake, home):
  before = len(list((home.state / "stores").iterdir()))
  home.set("bob", b"ours", "--service", "s", "--create-only", code=75)
  home.set("bob", b"ours", "--service", "s", "--expected-version", "7", code=75)
  assert len(list((home.state / "stores").iterdir())) == before
  assert "are kept in the desktop keyring" in home.set("bob", b"ours", "--service", "s").error
  assert home.get("bob", "--service", "s") == b"ours"
  home.run("get", "bob", "--service", "s", environment={"DBUS_SESSION_BUS_ADDRESS": None}, code=69)


@pytest.mark.parametrize("how", [how for how in REPLIES if how.endswith(" as key")])
def test_a_key_of_another_type_gets_no_secret(fake, home, how):
  fake.behave("OpenSession", how)
  for command in "set", "set a new one", "get":
    refused = home.run(*COMMANDS[command], *PATIENT, input=b"new", code=74)
    assert "Secret Service protocol" in refused.error and refused.out == b""
  assert fake.end() == b"", "a secret was sent"


@pytest.mark.parametrize("what, how, command", [
  ("SearchItems", "strings", "get"), ("SearchItems", "nothing", "get"),
  ("SearchItems", "a string", "list of a service"), ("Get Items", "strings", "list"),
  ("Get Locked", "a number", "get of another program's"), ("Get Attributes", "a dictionary", "get"),
  ("OpenSession", "a string and a path", "get"), ("OpenSession", "numbers as key", "set"),
  ("GetSecret", "a secret that is none", "get"), ("Item Attributes", "missing", "get of another program's"),
  ("Item Modified", "a string", "list"), ("ReadAlias", "a string while locked", "get"),
  ("Unlock", "strings while locked", "set")])
def test_malformed_answer_is_not_absence(fake, home, what, how, command):
  fake.behave(what, how)
  refused = home.run(*COMMANDS[command], *PATIENT, input=b"new", code=74)
  assert "Secret Service protocol" in refused.error and "vault" in hinted(refused)
  assert refused.out == b""


# The provider has done what it was asked for, in each case.
@pytest.mark.parametrize("what, how, command", [
  ("CreateItem", "silence", "set a new one"), ("CreateItem", "an end", "set a new one"),
  ("CreateItem", "a path", "set a new one"), ("CreateItem", "a prompt", "set a new one"),
  ("SetSecret", "silence", "set"), ("SetSecret", "a number", "set"),
  ("Set", "error org.nonsense", "set"), ("Set", "an end", "update"), ("Delete", "silence", "delete alice"),
  ("Delete", "an end", "delete alice")])
def test_a_change_without_an_answer_may_have_happened(fake, home, what, how, command):
  fake.behave(what, how)
  words = COMMANDS.get(command, ("delete", "alice", *IN_KEYRING))
  refused = home.run(*words, "--deadline", "700ms", input=b"new", code=81)
  assert "is not known" in refused.error and "keychain get'" in hinted(refused)


@pytest.mark.parametrize("what, how", [
  ("CreateItem", "error org.nonsense"), ("OpenSession", "silence"), ("SearchItems", "silence")])
def test_failed_change_is_not_unknown(fake, home, what, how):
  fake.behave(what, how)
  refused = home.run(*COMMANDS["set a new one"], "--deadline", "700ms", input=b"new", code=None)
  assert refused.code in (74, 75), refused


def test_a_copy_that_may_be_there_is_neither_removed_nor_counted(fake, home):
  fake.behave("CreateItem", "silence")
  home.run(*COMMANDS["migrate back"], "--deadline", "700ms", code=81)
  assert home.get("erin", "--service", "v", "--store", "vault") == b"in the vault"
  assert home.get("erin", "--service", "v", "--store", "secret-service") == b"in the vault"
  # The next run finds the copy.
  fake.keep()
  home.run(*COMMANDS["migrate back"], *PATIENT)
  assert home.get("erin", "--service", "v", *PATIENT) == b"in the vault"


@pytest.mark.parametrize("what, command", [
  ("SearchItems", "get"), ("SearchItems", "list of a service"), ("Get Items", "list")])
def test_more_items_than_are_read(fake, home, what, command):
  fake.behave(what, "100,000 paths")
  refused = home.run(*COMMANDS[command], *PATIENT, code=79)
  assert "more than 50000" in refused.error


@pytest.mark.parametrize("how", FAR_TIMES)
def test_times_end_with_the_year_9999(fake, home, how):
  fake.behave("Item Modified", how)
  found = home.run(*COMMANDS["list of a service"], *PATIENT).json
  modified = {item["account"]: item["modified"] for item in found}
  assert modified == {"alice": "1970-01-01T00:00:01Z", "bob": "9999-12-31T23:59:59Z"}
  assert home.run(*COMMANDS["get of another program's"], *PATIENT).out == b"theirs"


# Of random values, some happen to end as a secret does.
@pytest.mark.parametrize(
  "how", [how for how in SECRETS if how not in ("an odd kind", "a random value", LARGE_SECRET)])
def test_undecryptable_secret_is_an_error(fake, home, how):
  fake.behave("GetSecret", how)
  refused = home.run(*COMMANDS["get"], *PATIENT, code=74)
  assert "cannot be decrypted" in refused.error and refused.out == b""


def test_too_large_secret_is_refused(fake, home):
  fake.behave("GetSecret", LARGE_SECRET)
  refused = home.run(*COMMANDS["get"], *PATIENT, code=79)
  assert "too large" in refused.error and refused.out == b""


def test_time_for_many_items_is_limited(fake, home):
  """Each thousand takes less than the deadline, and all of them more than twice the deadline."""
  fake.behave("SearchItems", "10,000 slow items")
  start = time.monotonic()
  home.run(*COMMANDS["list of a service"], code=75)
  assert time.monotonic() - start < LONGEST
