"""Programs that ask on the terminal by the library alone, without its commands."""

from __future__ import annotations

import os
import signal
import subprocess
import termios

import pexpect
import pytest

from prefs_testing import LIMIT, PASSPHRASE, ended

SERVICE = "com.example.mytool"
TYPED = PASSPHRASE.decode()


@pytest.fixture
def asking(home, sample_tool):
  """A locked vault with a token of the sample program."""
  home.init()
  home.run("set", "api", "--service", SERVICE, *home.passphrase(), input=b"12345")
  home.run("lock", "--all")
  home.sample_tool = sample_tool
  return home


def whoami(home, *, through: tuple[str, ...] = (), **environment: str) -> pexpect.spawn:
  program, *words = [*through, home.sample_tool, "whoami", "--ask"]
  return pexpect.spawn(
    program, words, cwd=home.folder, timeout=LIMIT, dimensions=(24, 1000),
    env=home.environment | {"TERM": "xterm"} | environment)


def echoes(terminal: pexpect.spawn) -> bool:
  return bool(termios.tcgetattr(terminal.child_fd)[3] & termios.ECHO)


def test_the_passphrase_is_asked_for_and_not_shown(asking):
  terminal = whoami(asking)
  terminal.expect_exact(f"SampleTool: passphrase of {asking.vault}: ")
  assert not echoes(terminal)
  terminal.sendline(TYPED)
  code, shown = ended(terminal)
  assert code == 0 and "5 characters" in shown and TYPED not in shown


def test_standard_input_and_output_lead_elsewhere(asking):
  script = '"$0" "$@" </dev/null >out'
  terminal = whoami(asking, through=("/bin/sh", "-c", script))
  terminal.expect_exact("/vault: ")
  terminal.sendline(TYPED)
  assert ended(terminal)[0] == 0
  assert (asking.folder / "out").read_text() == "5 characters\n"


def test_wrong_answer_is_asked_again_three_times(asking):
  terminal = whoami(asking)
  for again in (False, True, True):
    terminal.expect_exact("/vault: ")
    assert (b"that passphrase is wrong; try again" in terminal.before) == again
    terminal.sendline("wrong")
  code, _ = ended(terminal)
  assert code == 78


def test_control_c_cancels_and_restores_terminal(asking):
  terminal = whoami(asking)
  terminal.expect_exact("/vault: ")
  assert not echoes(terminal)
  terminal.sendcontrol("c")
  terminal.expect_exact("cancelled; nothing was changed")
  # The end of the terminal that the test has is still there.
  terminal.expect(pexpect.EOF)
  assert echoes(terminal)
  terminal.close()
  assert terminal.exitstatus == 130


def test_a_signal_puts_the_terminal_back(asking):
  terminal = whoami(asking)
  terminal.expect_exact("/vault: ")
  os.kill(terminal.pid, signal.SIGTERM)
  terminal.expect(pexpect.EOF)
  assert echoes(terminal)
  terminal.close()
  assert terminal.signalstatus == signal.SIGTERM


def test_no_question_if_prompts_are_turned_off(asking):
  terminal = whoami(asking, KEYCHAIN_NO_PROMPT="1")
  code, shown = ended(terminal)
  assert code == 77 and "passphrase of" not in shown
  terminal = whoami(asking, KEYCHAIN_NO_PROMPT="")
  terminal.expect_exact("/vault: ")
  terminal.sendline(TYPED)
  assert ended(terminal)[0] == 0


def test_no_question_without_a_terminal(asking):
  done = subprocess.run(
    [asking.sample_tool, "whoami", "--ask"], env=asking.environment, stdin=subprocess.DEVNULL,
    capture_output=True, start_new_session=True, timeout=LIMIT)
  error = done.stderr.decode()
  assert done.returncode == 77 and "there is no terminal to ask for the passphrase" in error
  assert "keychain unlock" in error and "KEYCHAIN_PASSPHRASE_FILE" in error


def test_notices_go_to_standard_error(home, sample_tool):
  """The vault is made by the program itself, which says so under its own name."""
  made = subprocess.run(
    [sample_tool, "whoami", "--ask", "--store", "12345"], env=home.environment,
    stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT)
  assert made.returncode == 0 and made.stdout == b"5 characters\n"
  assert made.stderr.startswith(b"SampleTool: created the vault ")
  assert b"'Vault.addRecoveryCodeSlot(" in made.stderr and b"`" not in made.stderr


def test_notices_name_commands_of_the_host(home, sample_tool):
  made = subprocess.run(
    [sample_tool, "whoami", "--ask", "--naming-commands", "--store", "12345"],
    env=home.environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT)
  assert made.returncode == 0 and made.stdout == b"5 characters\n"
  assert made.stderr.startswith(b"mytool: created the vault ")
  assert b"'mytool keychain recovery create'" in made.stderr and b"Vault." not in made.stderr
