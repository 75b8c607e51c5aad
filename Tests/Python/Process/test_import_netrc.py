"""Passwords move from a netrc file into the stores of their servers."""

from __future__ import annotations

import os
import time

import pytest

from desktop_session import desktop, secret_tool
from prefs_testing import LIMIT, Home, ended, hinted
from test_unknown_outcomes import failing

TEXT = b"""# mine
machine Git.Example login alice password "p w#1" # note
machine packages.example
  login token
  password hunter2
default login anonymous password x
"""
REST = b"# mine\n# note\ndefault login anonymous password x\n"


def netrc(home: Home, text: bytes = TEXT, mode: int = 0o600) -> str:
  return home.file(".netrc", text, mode)


def importing(home: Home, *options: str, **more):
  return home.run("import", "--format", "netrc", *options, **more)


def password(home: Home, server: str, account: str, **more) -> bytes:
  return home.get(account, "--server", server, "--protocol", "https", **more)


def rest(path: str) -> bytes:
  with open(path, "rb") as file:
    return file.read()


def test_passwords_are_stored_and_the_file_is_kept_unless_asked(home):
  path = netrc(home)
  dry = importing(home, "--dry-run", "--remove", "--json")
  assert dry.json == {
    "added": 2, "differing": [], "dryRun": True, "leftAlone": 0, "notTaken": {"isDefault": 1},
    "overwritten": 0, "removedEntries": 2, "unchanged": 0}
  assert home.run("list", "--json").json == []
  made = importing(home)
  assert "imported 2 items" in made.error and "2 entries that are stored now stay" in made.error
  assert "not taken: 1 entry, for all hosts: line 6" in made.error
  assert "--remove" in hinted(made) and made.out == b""
  assert password(home, "git.example", "alice") == b"p w#1"
  assert password(home, "packages.example", "token") == b"hunter2"
  assert rest(path) == TEXT
  again = importing(home, "--remove")
  assert "imported 0 items; 2 there already, unchanged" in again.error
  assert rest(path) == REST and os.stat(path).st_mode & 0o777 == 0o600
  assert not [name for name in os.listdir(home.folder) if "tmp" in name]


def test_a_pipe_of_a_shell_is_read(home):
  words = ("import", "--format", "netrc", "/dev/stdin")
  piped = home.run(*words, through=["sh", "-c", 'printf "machine h login l password p" | "$0" "$@"'])
  assert "imported 1 item" in piped.error and password(home, "h", "l") == b"p"
  refused = home.run(*words, "--remove", through=["sh", "-c", 'printf "" | "$0" "$@"'], code=79)
  assert "is not a regular file" in refused.error


def test_terminal_is_asked_before_the_file_changes(home):
  path = netrc(home)
  for answer, text in (("n", TEXT), ("y", REST)):
    terminal = home.terminal("import", "--format", "netrc")
    terminal.expect_exact("remove the 2 entries")
    terminal.sendline(answer)
    assert ended(terminal)[0] == 0
    assert rest(path) == text


def test_file_that_changes_meanwhile_is_left_alone(home):
  path = netrc(home)
  terminal = home.terminal("import", "--format", "netrc")
  terminal.expect_exact("remove the 2 entries")
  with open(path, "ab") as file:
    file.write(b"machine new login l password p\n")
  terminal.sendline("y")
  code, said = ended(terminal)
  assert code == 75 and "another program changed" in said
  assert rest(path) == TEXT + b"machine new login l password p\n"


def test_passwords_go_into_the_desktop_keyring(home):
  path = netrc(home)
  with desktop(home) as variables:
    importing(
      home, path, "--remove", "--store", "secret-service", environment=variables)
    assert password(home, "git.example", "alice", environment=variables) == b"p w#1"
    shown = home.run("show", "alice", "--server", "git.example", "--store", "vault", code=44)
    assert shown.out == b""
  assert rest(path) == REST


IN_KEYRING = ("--store", "secret-service")


@pytest.mark.parametrize("other", [
  ("service", "pk.example", "username", "alice"),
  ("server", "pk.example", "user", "alice", "protocol", "https", "port", "8443"),
])
@pytest.mark.parametrize("secret", [b"same", b"other"])
def test_items_of_other_programs_with_similar_names_are_not_taken_for_stored(home, other, secret):
  path = netrc(home, b"machine pk.example login alice password same\n")
  with desktop(home) as variables:
    secret_tool(variables, "store", "--label", "x", *other, input=secret)
    made = importing(home, "--remove", *IN_KEYRING)
    assert "imported 1 item" in made.error and not os.path.exists(path)
    text = home.run("run", "--netrc", "pk.example", *IN_KEYRING, "--", "cat", "@netrc@").out
  assert b"login alice\n  password same\n" in text


def test_several_items_of_other_programs_are_shadowed_if_asked(home):
  path = netrc(home)
  names = ("server", "git.example", "user", "alice", "protocol", "https")
  with desktop(home) as variables:
    for label in ("x", "y"):
      secret_tool(variables, "store", "--label", label, *names, "label", label, input=b"old")
    made = importing(home, "--remove", *IN_KEYRING)
    assert "left alone: 'alice'" in made.error and b"Git.Example" in rest(path)
    importing(home, "--remove", "--overwrite", *IN_KEYRING)
    assert password(home, "git.example", "alice", environment=variables) == b"p w#1"
  assert rest(path) == REST


def test_passwords_of_a_session_are_not_removed_from_the_file(home):
  path = netrc(home)
  failed = importing(home, "--session-only", "--remove", code=64)
  assert "--session-only" in failed.error and rest(path) == TEXT
  with desktop(home):
    code, said = ended(home.terminal("import", "--format", "netrc", "--session-only"))
  assert code == 0 and "stored now stay" in said and "remove the" not in said
  assert rest(path) == TEXT


def test_removal_that_fails_says_what_is_stored(home, tracing):
  path = netrc(home)
  failed = importing(home, "--remove", code=74, through=failing(home, "rename", "1+", f"{path}.unfinished-file"))
  assert "imported 2 items" in failed.error and f"may still be in '{path}'" in failed.error
  assert rest(path) == TEXT
  importing(home, "--remove")
  assert rest(path) == REST


def test_line_that_is_added_while_the_file_is_written_stays(home):
  path, trace = netrc(home), home.folder / "trace"
  home.set("x", b"x")
  line = b"machine new login l password p\n"
  with home.start("import", "--format", "netrc", "--remove", through=[
      "strace", "-f", "-qq", "-o", str(trace), "-e", "trace=openat,fsync", "-e",
      "inject=fsync:delay_enter=300000"]) as process:
    # The new file, which has no name before it is written and synced.
    while not (trace.exists() and b"O_TMPFILE" in trace.read_bytes()):
      assert process.poll() is None
      time.sleep(0.005)
    with open(path, "ab") as file:
      file.write(line)
    _, error = process.communicate(timeout=LIMIT)
  assert process.returncode == 75 and b"another program changed" in error
  assert rest(path) == TEXT + line


def test_locked_vault_takes_nothing(locked):
  path = netrc(locked)
  importing(locked, "--remove", code=77)
  assert rest(path) == TEXT
