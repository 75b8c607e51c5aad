"""The deadline holds wherever a command waits: for input, pipes, other processes and people."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import time

import pytest

from preference_testing import Preferences
from prefs_testing import LIMIT, ended
from test_misbehaving_providers import fake_provider

DEADLINE = ("--deadline", "200ms")


@pytest.fixture
def endless():
  """A descriptor that is read, and to which nobody writes, and the one that keeps it open."""
  ends = os.pipe()
  yield ends[0]
  for end in ends:
    os.close(end)


def late(home, *arguments, **options) -> str:
  """Runs a command that ends at its deadline; returns what it says."""
  with home.start(arguments[0], *DEADLINE, *arguments[1:], **options) as process:
    try:
      error = process.communicate(timeout=LIMIT)[1].decode()
    finally:
      process.kill()
  assert process.returncode == 75, (arguments, process.returncode, error)
  return error


@pytest.mark.parametrize("command", [
  ["set", "alice"], ["inject", "-"], ["import", "-", "--export-passphrase-file", "passphrase"],
  ["import", "--format", "netrc", "-"]])
def test_input_ends_at_the_deadline(home, endless, command):
  home.file("passphrase", b"x")
  error = late(home, *command, stdin=endless)
  assert error.count("standard input") == 1 and "did not end in time" in error
  assert not home.vault.exists()


@pytest.mark.parametrize("command", [
  ["get", "alice", "--passphrase-fd"], ["get", "alice", "--recovery-code-fd"], ["rekey", "--yes", "--passphrase-fd"],
  ["change-passphrase", "--new-passphrase-fd"], ["export", "file", "--export-passphrase-fd"]])
def test_descriptors_end_at_the_deadline(locked, endless, command):
  given = locked.passphrase() if command[0] in ("change-passphrase", "export") else ()
  assert command[-1] in late(locked, *command, str(endless), *given, pass_fds=[endless])


@pytest.mark.parametrize("has_writer", [False, True])
@pytest.mark.parametrize("command", [
  ["import", "pipe", "--export-passphrase-file", "passphrase"], ["inject", "pipe"],
  ["run", "--env-file", "pipe", "--", "true"], ["init", "--new-passphrase-file", "pipe"]])
def test_pipes_end_at_the_deadline(home, command, has_writer):
  home.file("passphrase", b"x")
  pipe = home.folder / "pipe"
  os.mkfifo(pipe, 0o600)
  writer = os.open(pipe, os.O_RDWR) if has_writer else None
  try:
    late(home, *command)
  finally:
    if writer is not None:
      os.close(writer)
  assert not home.vault.exists()


@pytest.mark.parametrize("option", ["--passphrase-file", "--key-file", "--identity", "--recovery-code-file"])
def test_files_of_the_kernel_end_at_the_deadline(locked, superuser, option):
  """Reading it waits for the next message; in a container, even the superuser may not."""
  try:
    messages = os.open("/proc/kmsg", os.O_RDONLY | os.O_NONBLOCK)
  except PermissionError:
    code = 74
  else:
    code = 75
    # What nobody has read yet may be more than a key file can have.
    with contextlib.suppress(BlockingIOError):
      while os.read(messages, 65536):
        pass
    os.close(messages)
  refused = locked.run("get", "whenUnlocked", option, "/proc/kmsg", *DEADLINE, code=code)
  assert "/proc/kmsg" in refused.error


def test_answers_on_a_terminal_end_at_the_deadline(locked):
  terminal = locked.terminal("get", "whenUnlocked", *DEADLINE)
  code, text = ended(terminal)
  assert code == 75 and "nobody answered the question in time" in text


@pytest.mark.parametrize("command", [
  ["get", "alice", "--service", "s", "--store", "secret-service"],
  ["run", "--store", "secret-service", "-e", "A=keychain://s/alice", "--", "true"]])
def test_dialogs_end_at_the_deadline(home, command):
  """Nobody answers the question of the desktop keyring."""
  with fake_provider(home) as fake:
    fake.behave("Unlock", "a prompt while locked")
    assert "desktop keyring" in late(home, *command, environment={"DISPLAY": ":987"})


@pytest.mark.parametrize(("command", "code"), [(["doctor"], 0), (["doctor", "--json"], 0), (["list"], 75)])
def test_all_that_a_command_waits_for_has_one_deadline(home, command, code):
  """Who sees the vault for the first time needs its lock; a diagnosis says what it finds without."""
  home.set("alice", b"x")
  shutil.rmtree(home.state / "seen")
  with open(home.vault, "rb") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    start = time.monotonic()
    home.run(*command, "--deadline", "1s", code=code)
    assert time.monotonic() - start < 5


@pytest.mark.parametrize("command", [["write", "key", "-"], ["import", "-"], ["import", "pipe"]])
def test_input_of_preferences_ends_at_the_deadline(home, endless, command):
  os.mkfifo(home.folder / "pipe", 0o600)
  preferences = Preferences(home)
  error = preferences.run(*command, *DEADLINE, stdin=endless, code=75).error
  assert "did not end in time" in error and preferences.files() == []


def test_input_in_time_is_taken(home):
  with home.start("set", "alice", "--deadline", "5m", stdin=-1) as process:
    process.stdin.write(b"sec")
    process.stdin.flush()
    time.sleep(0.05)
    process.communicate(b"ret", timeout=LIMIT)
  assert home.get("alice") == b"secret"


@pytest.mark.parametrize("command", [["get", "alice"], ["list"]])
def test_an_output_that_nobody_reads_ends_at_the_deadline(home, command):
  home.set("alice", b"x" * 10_000)
  reader, writer = os.pipe()
  os.set_blocking(writer, False)
  with pytest.raises(BlockingIOError):
    while True:
      os.write(writer, b"x" * 4096)
  os.set_blocking(writer, True)
  try:
    ended = home.run(*command, "--deadline", "300ms", stdout=writer, code=75)
    assert "nobody reads the standard output" in ended.error
    assert os.get_blocking(writer)
  finally:
    os.close(reader)
    os.close(writer)
  assert home.get("alice", "--deadline", "1m") == b"x" * 10_000
