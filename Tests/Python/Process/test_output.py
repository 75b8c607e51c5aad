"""Standard streams that are closed, full, broken or terminals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import unicodedata

import pytest

from prefs_testing import LIMIT, ended


@pytest.mark.parametrize("arguments", [
  ["get", "alice"], ["get", "alice", "--json"], ["list"], ["show", "alice"], ["status"],
  ["slots", "list"], ["verify"], ["doctor"]])
def test_closed_and_full_output(home, arguments):
  home.set("alice", b"secret")
  closed = home.run(*arguments, code=74, preexec_fn=lambda: os.close(1))
  assert "standard output cannot be written: bad file descriptor" in closed.error
  with open("/dev/full", "wb") as full:
    outcome = home.run(*arguments, code=74, stdout=full)
  assert "no space left on device" in outcome.error


def test_silent_command_needs_no_output(home):
  home.set("alice", b"secret", preexec_fn=lambda: os.close(1))
  home.run("delete", "alice", preexec_fn=lambda: os.close(1))


def test_closed_error_output_disturbs_nothing(home):
  """A file opened in place of a closed stream, here the vault, would receive messages."""
  home.set("alice", b"secret\n", preexec_fn=lambda: os.close(2))
  home.run("get", "nobody", code=44, preexec_fn=lambda: os.close(2))
  home.run("get", "nobody", code=44, preexec_fn=lambda: os.closerange(0, 3))
  assert home.get("alice") == b"secret\n"
  home.run("verify")


def test_a_reader_that_goes_away(home):
  home.set("big", os.urandom(1 << 20))
  with home.start("get", "big") as process:
    process.stdout.close()
    assert process.wait(LIMIT) == 74
    error = process.stderr.read().decode()
  assert error == ""


def test_a_shell_pipe_that_takes_nothing(home):
  home.set("alice", b"secret")
  shell = subprocess.run(
    ["bash", "-c", '"$0" keychain get alice | head -c 0; exit "${PIPESTATUS[0]}"', home.program],
    env=home.environment, capture_output=True, timeout=LIMIT)
  # Whether the pipe still had a reader depends on who was faster.
  assert shell.returncode in (0, 74) and shell.stdout == b""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_a_command_that_waits(home, number):
  home.set("alice", b"old")
  with home.start("set", "alice", stdin=subprocess.PIPE) as process:
    process.stdin.write(b"new")
    process.stdin.flush()
    process.send_signal(number)
    assert process.wait(LIMIT) == -number
  assert home.get("alice") == b"old"


def test_help_and_version_and_mistakes(home):
  for arguments in (["--help"], ["set", "--help"], ["slots", "add", "--help"]):
    outcome = home.run(*arguments)
    assert b"USAGE" in outcome.out and outcome.error == ""
  for arguments in (["--version"], ["get", "--version"]):
    assert home.run(*arguments).out.strip().split(b".")[0].isdigit()
  mistaken = home.run("get", "alice", "--jsn", code=64)
  assert mistaken.out == b"" and mistaken.error.startswith("prefs: error: ")
  assert "prefs keychain get --help" in mistaken.error


@pytest.mark.parametrize("words", [[], ["keychain", "slots"]])
def test_unrequested_help_is_not_success(home, words):
  missing = subprocess.run(
    [home.program, *words], env=home.environment, capture_output=True, timeout=LIMIT, text=True)
  assert (missing.returncode, missing.stdout) == (64, "")
  assert missing.stderr == (
    f"prefs: error: name a command\nprefs: hint: see '{' '.join(['prefs', *words])} --help'\n")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions(home, shell):
  script = subprocess.run(
    [home.program, f"--generate-completion-script={shell}"], env=home.environment,
    capture_output=True, timeout=LIMIT, check=True).stdout
  for word in (b"keychain", b"accessibility", b"accept-restored", b"new-passphrase-file"):
    assert word in script


def test_bash_completes(home):
  script = (
    'source <("$0" --generate-completion-script=bash); COMP_WORDS=(prefs keychain slo); '
    "COMP_CWORD=2; COMP_LINE='prefs keychain slo'; COMP_POINT=18; COMP_TYPE=9; "
    'function_name=$(complete -p prefs | sed "s/.*-F \\([^ ]*\\).*/\\1/"); '
    '"$function_name" prefs slo keychain; printf "%s\\n" "${COMPREPLY[@]}"')
  shell = subprocess.run(
    ["bash", "-c", script, home.program], env=home.environment, capture_output=True,
    timeout=LIMIT, text=True)
  assert shell.stdout.split() == ["slots"], shell.stderr


def is_hidden(character: str) -> bool:
  """Whether a character moves, reorders or shows nothing; those that have no meaning yet count not."""
  return unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp")


HIDDEN = [character for character in map(chr, range(1, sys.maxunicode + 1)) if is_hidden(character)]


@pytest.mark.parametrize(("where", "options"), [("terminal", []), ("pipe", ["--json"])])
def test_item_text_does_not_control_terminal(home, options, where):
  assert {"\x1b", "\x7f", "\x9b", "\xad", "\u061c", "\u200b", "\ufeff", "\U000e0041"} < {*HIDDEN}
  label = "".join(HIDDEN)
  home.set("alice", b"x", "--label", "a" + label + "b")
  for command in (["show", "alice"], ["list"]):
    if where == "terminal":
      shown = ended(home.terminal(*command, *options, dimensions=(24, 1000)))[1]
    else:
      shown = home.run(*command, *options).out.decode()
    raw = {character for character in shown if is_hidden(character)} - {"\r", "\n", "\t"}
    assert not raw, [hex(ord(character)) for character in raw]
    assert "\\u" in shown
    if options:
      answer = json.loads(shown)
      assert (answer if isinstance(answer, dict) else answer[0])["label"] == "a" + label + "b"


def test_a_dash_is_standard_output(home):
  home.set("alice", b"secret")
  home.file("template", b"{{ keychain:///alice }}")
  assert home.run("inject", "template", "--output", "-").out == b"secret"
  assert not (home.folder / "-").exists()
