"""Programs that ask for their own secrets through the library."""

from __future__ import annotations

import os
import signal
import subprocess
import termios

import pexpect
import pytest

from prefs_testing import LIMIT, ended

QUESTION = r"token for api\u{1b}: "
TYPED = "a secret"


@pytest.fixture
def ask(home, sample_tool):
  """Starts a program that asks; each is ended afterwards."""
  begun = []

  def begin(*options: str, through: tuple[str, ...] = (), **environment: str) -> pexpect.spawn:
    program, *words = [*through, sample_tool, "ask", *options]
    begun.append(pexpect.spawn(
      program, words, cwd=home.folder, timeout=LIMIT,
      env=home.environment | {"TERM": "xterm"} | environment))
    return begun[-1]

  yield begin
  for terminal in begun:
    terminal.close(force=True)


def echoes(terminal: pexpect.spawn) -> bool:
  return bool(termios.tcgetattr(terminal.child_fd)[3] & termios.ECHO)


def test_a_secret_is_asked_for_and_not_shown(ask):
  terminal = ask()
  terminal.expect_exact(QUESTION)
  assert b"\x1b" not in terminal.before and not echoes(terminal)
  terminal.sendline(TYPED)
  terminal.expect(pexpect.EOF)
  assert b"8 bytes" in terminal.before and TYPED.encode() not in terminal.before
  assert echoes(terminal)


def test_standard_input_and_output_lead_elsewhere(ask, home):
  terminal = ask(through=("/bin/sh", "-c", '"$0" "$@" </dev/null >out'))
  terminal.expect_exact(QUESTION)
  terminal.sendline(TYPED)
  assert ended(terminal)[0] == 0
  assert (home.folder / "out").read_text() == "8 bytes\n"


def test_two_answers_must_be_equal(ask):
  terminal = ask("--twice")
  for second in ("another", TYPED):
    terminal.expect_exact(QUESTION)
    terminal.sendline(TYPED)
    terminal.expect_exact("the same again: ")
    terminal.sendline(second)
  code, shown = ended(terminal)
  assert code == 0 and "the two answers differ; try again" not in shown and "8 bytes" in shown


def test_answers_that_keep_differing_cancel(ask):
  terminal = ask("--twice")
  for _ in range(3):
    terminal.expect_exact(QUESTION)
    terminal.sendline(TYPED)
    terminal.expect_exact("the same again: ")
    terminal.sendline("another")
    terminal.expect_exact("the two answers differ; try again")
  assert ended(terminal)[0] == 130


def test_control_c_cancels_and_restores_terminal(ask):
  terminal = ask()
  terminal.expect_exact(QUESTION)
  terminal.sendcontrol("c")
  terminal.expect_exact("cancelled; nothing was changed")
  terminal.expect(pexpect.EOF)
  assert echoes(terminal)
  terminal.close()
  assert terminal.exitstatus == 130


def test_a_signal_puts_the_terminal_back(ask):
  terminal = ask()
  terminal.expect_exact(QUESTION)
  os.kill(terminal.pid, signal.SIGTERM)
  terminal.expect(pexpect.EOF)
  assert echoes(terminal)
  terminal.close()
  assert terminal.signalstatus == signal.SIGTERM


def test_no_question_if_prompts_are_turned_off(ask):
  code, shown = ended(ask(KEYCHAIN_NO_PROMPT="1"))
  assert code == 79 and "token for api" not in shown
  terminal = ask(KEYCHAIN_NO_PROMPT="")
  terminal.expect_exact(QUESTION)
  terminal.sendline("")
  code, shown = ended(terminal)
  assert code == 0 and "0 bytes" in shown


def test_no_question_without_a_terminal(home, sample_tool):
  done = subprocess.run(
    [sample_tool, "ask"], env=home.environment, stdin=subprocess.DEVNULL, capture_output=True,
    start_new_session=True, timeout=LIMIT)
  assert done.returncode == 79 and done.stdout == b""
  assert "there is no terminal to ask for a secret" in done.stderr.decode()
