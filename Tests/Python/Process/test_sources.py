"""Given secrets that would not open the vault after a lock."""

from __future__ import annotations

import os

import pytest

from prefs_testing import hinted


@pytest.fixture
def unlocked(home):
  """A vault that a passphrase opens, unlocked."""
  home.init()
  home.set("alice", b"secret", *home.passphrase())
  home.run("unlock", *home.passphrase())
  return home


def problem(home, variable: str, value: str, code: int) -> str:
  """Problems that `doctor` finds and `get` does not notice while the vault is unlocked."""
  given = {variable: value}
  assert home.get("alice", environment=given) == b"secret"
  told = home.run("doctor", environment=given, code=code)
  document = home.run("doctor", "--json", environment=given, code=code).json
  status = home.run("status", "--json", environment=given).json
  assert document["problem"] == document["vault"]["sourceProblem"] == status["sourceProblem"]
  assert "problem:" in told.out.decode()
  assert f"problem:   {document['problem']}" in home.run(
    "status", environment=given).out.decode()
  home.run("lock", "--all")
  home.run("get", "alice", environment=given, code=code)
  return document["problem"]


def test_a_file_that_is_missing(unlocked):
  assert problem(unlocked, "KEYCHAIN_KEY_FILE", "/none/key", 74).startswith(
    "KEYCHAIN_KEY_FILE names /none/key, which does not exist")


def test_source_without_matching_slot(unlocked):
  key = unlocked.file("key", bytes(range(32)))
  assert "has no such slot" in problem(unlocked, "KEYCHAIN_KEY_FILE", key, 78)


def test_another_key_file(unlocked):
  unlocked.run("slots", "add", "--new-key-file", "right", *unlocked.passphrase())
  key = unlocked.file("key", bytes(range(32)))
  assert "does not open" in problem(unlocked, "KEYCHAIN_KEY_FILE", key, 78)


def test_another_identity(unlocked):
  unlocked.run("identity", "create", "mine")
  recipient = unlocked.run("identity", "create", "other").out.decode().strip()
  unlocked.run("slots", "add", "--recipient", recipient, *unlocked.passphrase())
  path = str(unlocked.folder / "mine")
  assert "no slot for the identity" in problem(unlocked, "KEYCHAIN_IDENTITY_FILE", path, 78)


def test_a_file_that_others_can_read(unlocked):
  path = unlocked.file("shared", b"x", mode=0o644)
  assert "other users can read" in problem(unlocked, "KEYCHAIN_PASSPHRASE_FILE", path, 79)


def test_a_key_file_that_is_too_short(unlocked):
  assert "at least 32" in problem(
    unlocked, "KEYCHAIN_KEY_FILE", unlocked.file("short", b"short"), 79)


def test_intact_vault_is_not_a_problem(unlocked):
  unlocked.run("slots", "add", "--new-key-file", "key", *unlocked.passphrase())
  for variable, value in (
      ("KEYCHAIN_KEY_FILE", str(unlocked.folder / "key")),
      ("KEYCHAIN_PASSPHRASE_FILE", unlocked.passphrase()[1])):
    told = unlocked.run("doctor", "--json", environment={variable: value}).json
    assert "problem" not in told and "sourceProblem" not in told["vault"]


def test_a_passphrase_is_not_hashed(unlocked):
  """That takes half a second and 256 MiB, which `doctor` does not spend."""
  told = unlocked.run("doctor", "--json", environment={"KEYCHAIN_PASSPHRASE": "wrong"})
  assert "problem" not in told.json


def test_a_pipe_is_not_read(unlocked):
  os.mkfifo(unlocked.folder / "pipe", 0o600)
  given = {"KEYCHAIN_PASSPHRASE_FILE": str(unlocked.folder / "pipe")}
  assert "problem" not in unlocked.run("doctor", "--json", environment=given).json


def piped(home, name: str, words: str, *command: str, **more):
  """Runs a command in a shell that gives it `<(cat NAME)` or another pipe."""
  return home.run(*command, through=["bash", "-c", f'NAME={name}; {words}', "bash"], **more)


@pytest.mark.parametrize("words", [
  '"$@" OPTION <(cat $NAME)', 'cat $NAME | "$@" OPTION /dev/stdin', 'cat $NAME | "$@" OPTION /proc/self/fd/0',
  '"$@" OPTION /dev/stdin <$NAME', 'VARIABLE=<(cat $NAME) "$@"'])
def test_pipes_of_a_shell_give_what_unlocks(unlocked, words):
  """A link there has a text that names nothing."""
  unlocked.run("slots", "add", "--new-key-file", "key", *unlocked.passphrase())
  recipient = unlocked.run("identity", "create", "mine").out.decode().strip()
  unlocked.run("slots", "add", "--recipient", recipient, *unlocked.passphrase())
  unlocked.run("recovery", "create", "--code-file", "code", *unlocked.passphrase())
  for option, variable, name in (
      ("--passphrase-file", "KEYCHAIN_PASSPHRASE_FILE", unlocked.passphrase()[1]),
      ("--key-file", "KEYCHAIN_KEY_FILE", "key"), ("--identity", "KEYCHAIN_IDENTITY_FILE", "mine"),
      ("--recovery-code-file", None, "code")):
    if variable is None and "VARIABLE" in words:
      continue
    line = words.replace("OPTION", option).replace("VARIABLE", variable or "")
    unlocked.run("lock", "--all")
    assert piped(unlocked, name, line, "get", "alice").out == b"secret", option


def test_a_pipe_is_read_once_and_used_again(unlocked):
  unlocked.run("lock", "--all")
  line = '"$@" --passphrase-file <(cat $NAME)'
  path = unlocked.passphrase()[1]
  piped(unlocked, path, line, "slots", "add", "--new-key-file", "key")
  piped(unlocked, path, line, "rekey", "--yes")
  unlocked.run("lock", "--all")
  piped(unlocked, path, '"$@" --passphrase-file <(echo wrong)', "get", "alice", code=78)
  piped(unlocked, path, '"$@" --passphrase-file /dev/fd/77', "get", "alice", code=74)


def test_unneeded_slot_is_not_a_problem(home):
  home.set("alice", b"secret")
  told = home.run("doctor", environment={"KEYCHAIN_PASSPHRASE": "unused"}).out.decode()
  assert "problem" not in told and "is not needed" in told


def test_the_identity_that_is_here_is_named(home):
  home.init()
  home.set("alice", b"secret", *home.passphrase())
  recipient = home.run("identity", "create").out.decode().strip()
  path = home.folder / "config" / "keychain" / "identity"
  home.run("slots", "add", "--recipient", recipient, *home.passphrase())
  home.run("lock", "--all")
  locked = home.run("get", "alice", code=77)
  assert f"KEYCHAIN_IDENTITY_FILE='{path}', the one that is here" in hinted(locked)
  path.unlink()
  assert "that is here" not in hinted(home.run("get", "alice", code=77))
