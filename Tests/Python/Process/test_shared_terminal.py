"""Several commands on one terminal: one asks at a time, and the terminal is put back as it was."""

from __future__ import annotations

import os
import signal
import subprocess
import termios
import time

import pexpect
import pytest

from prefs_testing import LIMIT, PASSPHRASE, wait_for_end

TYPED = PASSPHRASE.decode()
QUESTION = "/vault: "


@pytest.fixture
def asking(home):
  """A home whose vault has to be unlocked by a passphrase."""
  home.init()
  home.run("unlock", *home.passphrase())
  home.set("alice", b"the secret", "--accessibility", "whenUnlocked")
  home.run("lock", "--all")
  yield home
  home.forget_keys()


def together(home, *scripts: str) -> pexpect.spawn:
  """Runs scripts at the same time, in one terminal's foreground; `$prefs` is the program."""
  jobs = "".join(f"{{ {script}; echo \"<$?>\"; }} & " for script in scripts)
  # The shell waits once more, so that the terminal can be looked at before it is gone.
  return pexpect.spawn(
    "sh", ["-c", f"{jobs} wait; echo '<end>'; read line"], cwd=home.folder, timeout=LIMIT,
    dimensions=(24, 1000), env=home.environment | {"TERM": "xterm", "prefs": home.program})


def settings(terminal: pexpect.spawn) -> list:
  return termios.tcgetattr(terminal.child_fd)[:4]


def untouched_settings() -> list:
  ends = os.openpty()
  try:
    return termios.tcgetattr(ends[0])[:4]
  finally:
    for end in ends:
      os.close(end)


def shown_until_end(terminal: pexpect.spawn) -> str:
  """Returns what was shown until all scripts had ended, and checks how they leave the terminal."""
  terminal.expect_exact("<end>")
  shown = terminal.before.decode()
  assert settings(terminal) == untouched_settings()
  terminal.close(force=True)
  return shown


def asker(terminal: pexpect.spawn, home) -> int:
  """The process that asks on the terminal: it has the lock."""
  [lock] = home.state.glob("terminal-*.lock")
  inode = f":{lock.stat().st_ino} "
  deadline = time.monotonic() + LIMIT
  while True:
    with open("/proc/locks") as locks:
      held = [line.split() for line in locks if inode in line and "->" not in line]
    if held:
      return int(held[0][4])
    assert time.monotonic() < deadline
    time.sleep(0.01)


def test_one_of_sixteen_commands_asks(asking):
  terminal = together(asking, *["\"$prefs\" keychain get alice"] * 16)
  terminal.expect_exact(QUESTION)
  terminal.send(TYPED + "\r")
  shown = shown_until_end(terminal)
  assert shown.count("the secret") == 16 and shown.count("<0>") == 16
  assert QUESTION not in shown and TYPED not in shown


def test_wrong_answers_are_of_one_command(asking):
  terminal = together(asking, *["\"$prefs\" keychain get alice"] * 3)
  for _ in range(3):
    terminal.expect_exact(QUESTION)
    terminal.send("wrong\r")
  # The next command asks for itself, and the last one gets the keys.
  terminal.expect_exact(QUESTION)
  shown = terminal.before.decode()
  terminal.send(TYPED + "\r")
  shown += shown_until_end(terminal)
  assert shown.count("<78>") == 1 and shown.count("<0>") == 2 and TYPED not in shown


def test_questions_of_all_kinds_take_turns(asking):
  write = [asking.program, "write", "key", "1", "--domain", "d"]
  subprocess.run(write, check=True, env=asking.environment, timeout=LIMIT)
  # The second asks for a secret, and the others for a yes, which is shown.
  terminal = together(
    asking, "\"$prefs\" keychain get alice", "\"$prefs\" keychain set bob </dev/tty",
    "\"$prefs\" keychain slots remove 1 </dev/tty", "\"$prefs\" delete --all --domain d")
  answers = {"/vault: ": TYPED, "(service default): ": "typed", "again: ": "typed",
             "[y/N] ": "n"}
  shown = b""
  while (found := terminal.expect_exact([*answers, "<end>"])) < len(answers):
    shown += terminal.before
    terminal.send(list(answers.values())[found] + "\r")
  shown += terminal.before
  assert settings(terminal) == untouched_settings()
  terminal.close(force=True)
  assert TYPED.encode() not in shown and b"typed" not in shown
  assert asking.get("bob") == b"typed"


def test_killed_asker_leaves_terminal_to_the_next(asking):
  terminal = together(asking, *["\"$prefs\" keychain get alice"] * 3)
  terminal.expect_exact(QUESTION)
  os.kill(asker(terminal, asking), signal.SIGKILL)
  terminal.expect_exact(QUESTION)
  terminal.send(TYPED + "\r")
  shown = shown_until_end(terminal)
  assert shown.count("<0>") == 2 and TYPED not in shown


def test_terminal_of_killed_asker_is_put_back_by_a_later_command(asking):
  script = "\"$prefs\" keychain get alice"
  terminal = together(asking, f"{script}; {script}")
  terminal.expect_exact(QUESTION)
  os.kill(asker(terminal, asking), signal.SIGKILL)
  terminal.expect_exact(QUESTION)
  terminal.send(TYPED + "\r")
  assert shown_until_end(terminal).count("the secret") == 1


def test_control_c_ends_those_who_wait(asking):
  terminal = together(asking, *["\"$prefs\" keychain get alice"] * 3)
  terminal.expect_exact(QUESTION)
  asker(terminal, asking)
  terminal.sendintr()
  wait_for_end(terminal)


def test_stopped_asker_is_named(asking):
  terminal = together(asking, *["\"$prefs\" keychain get alice"] * 2)
  terminal.expect_exact(QUESTION)
  number = asker(terminal, asking)
  os.kill(number, signal.SIGSTOP)
  try:
    terminal.expect_exact("was stopped before its answer")
    terminal.expect_exact(f"kill {number}")
    terminal.expect_exact("<75>")
  finally:
    os.kill(number, signal.SIGCONT)
  terminal.expect_exact(QUESTION)
  terminal.send(TYPED + "\r")
  assert "<0>" in shown_until_end(terminal)


def test_waiting_has_the_deadline(asking):
  terminal = together(
    asking, "\"$prefs\" keychain get alice",
    "until test -e asked; do sleep 0.01; done; \"$prefs\" keychain get alice --deadline 10ms")
  terminal.expect_exact(QUESTION)
  (asking.folder / "asked").touch()
  terminal.expect_exact("waits for its answer on this terminal")
  terminal.expect_exact("<75>")
  terminal.send(TYPED + "\r")
  assert "<0>" in shown_until_end(terminal)


def test_question_says_if_it_cannot_wait_for_others(asking):
  terminal = together(asking, "XDG_STATE_HOME=/proc/none \"$prefs\" keychain get alice")
  terminal.expect_exact("other questions on this terminal are not waited for: ")
  terminal.close(force=True)


@pytest.fixture
def shell(asking):
  environment = asking.environment | {
    "PS1": "<ready> ", "TERM": "xterm", "ENV": "", "prefs": asking.program}
  shell = pexpect.spawn(
    "dash", ["-i"], cwd=asking.folder, env=environment, timeout=LIMIT, dimensions=(24, 1000))
  shell.expect_exact("<ready> ")
  yield shell
  shell.close(force=True)


def test_job_that_was_stopped_asks_nobody_if_the_vault_was_unlocked(shell):
  shell.sendline("\"$prefs\" keychain get alice")
  shell.expect_exact(QUESTION)
  shell.send("half\x1a")
  shell.expect_exact("<ready> ")
  shell.sendline("\"$prefs\" keychain unlock")
  shell.expect_exact(QUESTION)
  shell.send(TYPED + "\r")
  shell.expect_exact("<ready> ")
  shell.sendline("fg")
  shell.expect_exact("<ready> ")
  assert "the secret" in shell.before.decode() and QUESTION not in shell.before.decode()
  assert settings(shell) == untouched_settings()


def test_job_that_was_stopped_asks_again(shell):
  get = "\"$prefs\" keychain get alice & "
  shell.sendline(f"sh -c '{get * 3} wait; echo done'")
  shell.expect_exact("wait; echo done")
  shell.expect_exact(QUESTION)
  shell.send("half\x1a")
  shell.expect_exact("Stopped")
  shell.expect_exact("<ready> ")
  # The shell waits for the program that it started, and not for those which that one started.
  deadline = time.monotonic() + LIMIT
  while settings(shell) != untouched_settings():
    assert time.monotonic() < deadline
    time.sleep(0.01)
  # A stopped job keeps nobody from asking.
  shell.sendline("\"$prefs\" keychain set bob --accessibility always")
  for _ in range(2):
    shell.expect("(service default|again)[)]?: ")
    shell.send("typed\r")
  shell.expect_exact("<ready> ")
  shell.sendline("fg")
  shell.expect_exact(QUESTION)
  shell.send(TYPED + "\r")
  shell.expect_exact("done")
  shown = shell.before.decode()
  assert shown.count("the secret") == 3 and TYPED not in shown and QUESTION not in shown
  shell.expect_exact("<ready> ")
  assert settings(shell) == untouched_settings()
