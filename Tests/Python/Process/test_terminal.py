"""Questions on a terminal: asked twice, not shown, and the terminal restored."""

from __future__ import annotations

import fcntl
import os
import platform
import re
import signal
import struct
import termios
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pexpect
import pytest

from prefs_testing import LIMIT, PASSPHRASE, ended

TYPED = PASSPHRASE.decode()


def echoes(terminal) -> bool:
  return bool(termios.tcgetattr(terminal.child_fd)[3] & termios.ECHO)


def path_of_end(terminal: int) -> str:
  """The end of a terminal that its program has; the program's own files are the superuser's to see."""
  get_number = 0x80045430
  return "/dev/pts/%d" % struct.unpack("I", fcntl.ioctl(terminal, get_number, bytes(4)))


def settings(terminal: int) -> list:
  return termios.tcgetattr(terminal)[:4]


def untouched_settings() -> list:
  """Those of a new terminal; one that a program has got may be changed by it already."""
  ends = os.openpty()
  try:
    return settings(ends[0])
  finally:
    for end in ends:
      os.close(end)


def test_set_asks_twice_and_shows_nothing(home):
  terminal = home.terminal("set", "alice")
  terminal.expect("secret for [^:]*: ")
  assert not echoes(terminal)
  terminal.sendline("hunter2")
  terminal.expect_exact("again: ")
  shown = terminal.before
  terminal.sendline("hunter2")
  code, rest = ended(terminal)
  assert code == 0 and b"hunter2" not in shown and "hunter2" not in rest
  assert home.get("alice") == b"hunter2"


def test_set_asks_again_when_the_answers_differ(home):
  terminal = home.terminal("set", "alice")
  for answer in ("one", "two", "three", "three"):
    terminal.expect("(secret for [^:]*|again): ")
    terminal.sendline(answer)
  code, rest = ended(terminal)
  assert code == 0 and home.get("alice") == b"three"


def test_enter_alone_is_not_a_secret(home):
  home.set("alice", b"secret")
  terminal = home.terminal("set", "alice")
  terminal.expect("secret for [^:]*: ")
  terminal.sendline("")
  code, rest = ended(terminal)
  assert code == 64 and "the secret is empty; nothing was changed" in rest
  assert "--allow-empty" in rest
  assert home.get("alice") == b"secret"


def test_set_gives_up_after_three_mismatches(home):
  terminal = home.terminal("set", "alice")
  for number in range(6):
    terminal.expect("(secret for [^:]*|again): ")
    terminal.sendline(f"answer {number}")
  code, rest = ended(terminal)
  assert code == 130 and "differed three times; nothing was changed" in rest
  home.run("get", "alice", code=44)


def test_get_on_a_terminal_adds_a_newline(home):
  home.set("alice", b"secret")
  assert ended(home.terminal("get", "alice")) == (0, "secret\r\n")
  assert ended(home.terminal("get", "alice", "--newline", "never")) == (0, "secret")


def test_tables_and_colours(home):
  home.set("alice", b"secret", "--label", "Work")
  code, shown = ended(home.terminal("list"))
  assert code == 0 and shown.startswith("SERVICE") and "Work" in shown
  assert "\x1b[31merror:" in ended(home.terminal("get", "bob"))[1]
  assert "\x1b" not in ended(home.terminal("get", "bob", environment={"NO_COLOR": "1"}))[1]


def test_unlocking_asks_for_the_passphrase(home):
  home.init()
  terminal = home.terminal("set", "alice", "--insecure-value", "secret")
  terminal.expect_exact("passphrase of ")
  terminal.expect_exact("/vault: ")
  assert not echoes(terminal)
  terminal.sendline("wrong")
  terminal.expect_exact("that passphrase is wrong; try again")
  terminal.expect_exact("/vault: ")
  terminal.sendline(TYPED)
  code, rest = ended(terminal)
  assert code == 0 and TYPED not in rest
  # The answer unlocked the vault for a while.
  assert home.get("alice") == b"secret"


def test_init_asks_for_an_optional_passphrase(home):
  terminal = home.terminal("init")
  terminal.expect_exact("new passphrase (empty for none): ")
  terminal.sendline("")
  assert ended(terminal)[0] == 0
  assert [slot["kind"] for slot in home.run("slots", "list", "--json").json] == ["device"]


def test_init_with_a_passphrase_that_was_typed(home):
  terminal = home.terminal("init", "--passphrase")
  for prompt in ("new passphrase: ", "again: "):
    terminal.expect_exact(prompt)
    terminal.sendline(TYPED)
  code, rest = ended(terminal)
  assert code == 0 and TYPED not in rest
  home.set("alice", b"x", *home.passphrase())


def test_init_refuses_before_it_asks(home):
  home.set("alice", b"x")
  code, shown = ended(home.terminal("init"))
  assert code == 75 and "there is a vault" in shown and "passphrase" not in shown


@pytest.mark.parametrize("how", ["key", "signal"])
def test_interrupt_at_a_prompt(home, how):
  terminal = home.terminal("set", "alice")
  terminal.expect("secret for [^:]*: ")
  terminal.send("half")
  if how == "key":
    terminal.sendintr()
  else:
    os.kill(terminal.pid, signal.SIGINT)
  terminal.expect("cancelled")
  # Asked before the terminal goes away with the program that was its leader.
  after = settings(terminal.child_fd)
  code, rest = ended(terminal)
  assert code == 130 and "half" not in rest
  assert after == untouched_settings()
  assert not home.vault.exists()


def slowed(home, call: str) -> list[str]:
  """Starts a program that is slow at each system call of one kind on its terminal."""
  return ["strace", "-qq", "-f", "-o", str(home.folder / "trace"), "-P", "/dev/tty", "-e",
          f"trace={call.partition(':')[0]}", "-e", f"inject={call}"]


def test_interrupt_between_waiting_and_reading(home, tracing):
  # Control-C throws away the key that the program was told of.
  terminal = home.terminal("set", "alice", through=slowed(home, "read:delay_enter=1000000"))
  terminal.expect("secret for [^:]*: ")
  terminal.send("h")
  # Long enough for it to be told, and not for it to read.
  time.sleep(0.3)
  terminal.sendintr()
  code, rest = ended(terminal)
  assert code == 130 and "cancelled" in rest


def is_writing(pid: int) -> bool:
  """Returns whether a process is inside a write call."""
  number = {"x86_64": "1", "aarch64": "64"}[platform.machine()]
  return Path(f"/proc/{pid}/syscall").read_text().split()[0] == number


def test_interrupt_after_the_last_answer(home, tracing):
  # The terminal is about to be put back, and nobody waits for a key any more.
  terminal = home.terminal("set", "alice")
  terminal.expect("secret for [^:]*: ")
  terminal.sendline("hunter2")
  terminal.expect_exact("again: ")
  # Control-S holds the new line that follows the answer.
  terminal.send("hunter2\x13\r")
  deadline = time.monotonic() + LIMIT
  while not is_writing(terminal.pid):
    assert time.monotonic() < deadline and terminal.isalive()
    time.sleep(0.01)
  terminal.sendintr()
  ended(terminal)
  assert terminal.signalstatus == signal.SIGINT
  assert not home.vault.exists()


ENDING = [
  signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM, signal.SIGUSR1, signal.SIGUSR2,
  signal.SIGABRT, signal.SIGVTALRM, signal.SIGPROF, signal.SIGIO, signal.SIGSEGV, signal.SIGRTMIN]


@contextmanager
def held_open(terminal):
  """The other end of a terminal, so that it can be looked at when its program is gone."""
  slave = os.open(path_of_end(terminal.child_fd), os.O_RDWR | os.O_NOCTTY)
  try:
    yield slave
  finally:
    os.close(slave)
    terminal.close()


@pytest.mark.parametrize("number", ENDING)
def test_other_signals_end_program_and_restore_terminal(home, number):
  terminal = home.terminal("set", "alice")
  terminal.expect("secret for [^:]*: ")
  with held_open(terminal) as slave:
    os.kill(terminal.pid, number)
    terminal.wait()
    assert terminal.signalstatus == number
    assert settings(slave) == untouched_settings()


def test_ignored_signals_stay_ignored(home):
  terminal = home.terminal(
    "set", "alice", through=["sh", "-c", "trap '' HUP USR1; exec \"$@\"", "sh"])
  for prompt in ("(service default): ", "again: "):
    terminal.expect_exact(prompt)
    for number in (signal.SIGHUP, signal.SIGUSR1):
      os.kill(terminal.pid, number)
    terminal.sendline("hunter2")
  assert ended(terminal)[0] == 0
  assert home.get("alice") == b"hunter2"


def shown_while_typing(terminal, end: bytes) -> bytes:
  """Returns the output of a terminal up to a text, while typing continues."""
  shown = b""
  deadline = time.monotonic() + LIMIT
  while end not in shown:
    assert time.monotonic() < deadline, shown
    terminal.send("~")
    with suppress(pexpect.TIMEOUT):
      shown += terminal.read_nonblocking(1000, 0.01)
  return shown.partition(end)[0]


def test_typing_during_hashing_is_not_shown(home):
  home.init()
  home.run("unlock", *home.passphrase())
  home.set("alice", b"the secret", "--accessibility", "whenUnlocked")
  home.run("lock", "--all")
  terminal = home.terminal("get", "alice")
  terminal.expect_exact("/vault: ")
  terminal.send("wrong\r")
  assert b"~" not in shown_while_typing(terminal, b"/vault: ")
  # What was typed before the question is no part of the answer, and waits for nobody.
  terminal.send("\x15" + TYPED + "\r")
  assert b"~" not in shown_while_typing(terminal, b"the secret")
  ended(terminal)
  assert terminal.exitstatus == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGABRT])
def test_signals_during_hashing_restore_terminal(home, number):
  home.init()
  home.run("lock", "--all")
  terminal = home.terminal("unlock")
  terminal.expect_exact("/vault: ")
  with held_open(terminal) as slave:
    # Wrong, so that the program goes on if it is faster than the signal.
    terminal.send("wrong\r")
    terminal.expect_exact("\r\n")
    os.kill(terminal.pid, number)
    terminal.wait()
    assert terminal.signalstatus == number
    assert settings(slave) == untouched_settings()


def test_typing_after_recovery_code_is_not_shown(home):
  home.set("alice", b"x")
  # The disk takes its time.
  slow = ["strace", "-qq", "-f", "-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-e",
          "inject=fsync,fdatasync:delay_enter=100000"]
  terminal = home.terminal("recovery", "create", through=slow)
  terminal.expect("([0-9A-Z]{4,}-)+[0-9A-Z]+")
  code = terminal.match[0]
  terminal.expect_exact("as you wrote it down: ")
  terminal.send(code + b"\r")
  terminal.expect_exact("\x1b[?1049l")
  assert b"~" not in shown_while_typing(terminal, b"added slot")
  assert ended(terminal)[0] == 0


def test_surplus_input_is_dropped(home):
  terminal = home.terminal("set", "alice")
  with held_open(terminal) as slave:
    terminal.expect("secret for [^:]*: ")
    terminal.send("hunter2\r")
    terminal.expect_exact("again: ")
    # At once: what comes after the command has put the terminal back is for the shell.
    terminal.send("hunter2\rrest of a paste\r")
    terminal.wait()
    assert home.get("alice") == b"hunter2"
    assert fcntl.ioctl(slave, termios.FIONREAD, b"\0" * 4) == b"\0" * 4
    assert settings(slave) == untouched_settings()


# MARK: - Job control


@pytest.fixture
def shell(home):
  """A shell with job control that leaves the settings of its terminal alone."""
  environment = home.environment | {"PS1": "<ready> ", "TERM": "xterm", "ENV": ""}
  shell = pexpect.spawn("dash", ["-i"], cwd=home.folder, env=environment, timeout=LIMIT)
  shell.expect_exact("<ready> ")
  yield shell
  shell.close(force=True)


def run(shell, line: str, expected: str) -> None:
  shell.sendline(line)
  shell.expect_exact(line.partition(" ")[0])
  shell.expect_exact(expected)


def stop(shell) -> None:
  shell.send("\x1a")
  shell.expect_exact("Stopped")
  shell.expect_exact("<ready> ")
  assert settings(shell.child_fd) == untouched_settings()


def type_twice(shell, *, asked: int = 0) -> None:
  for prompt in ("(service default): ", "again: ")[asked:]:
    shell.expect_exact(prompt)
    assert not echoes(shell)
    shell.send("hunter2\r")
  shell.expect_exact("<ready> ")
  assert b"hunter2" not in shell.before
  assert settings(shell.child_fd) == untouched_settings()


def test_a_question_is_stopped_and_asked_again(home, shell):
  run(shell, f"'{home.program}' keychain set alice", "(service default): ")
  shell.send("half")
  stop(shell)
  shell.sendline("fg")
  type_twice(shell)
  assert home.get("alice") == b"hunter2"


def test_the_second_question_is_stopped(home, shell):
  run(shell, f"'{home.program}' keychain set alice", "(service default): ")
  shell.send("hunter2\r")
  shell.expect_exact("again: ")
  stop(shell)
  shell.sendline("fg")
  type_twice(shell, asked=1)
  assert home.get("alice") == b"hunter2"


def test_a_stop_while_a_passphrase_is_hashed(home, shell):
  home.init()
  home.run("lock", "--all")
  run(shell, f"'{home.program}' keychain unlock", "/vault: ")
  # Wrong, so that the program goes on if it is faster than the key.
  shell.send("wrong\r")
  shell.expect_exact("\r\n")
  stop(shell)
  shell.sendline("fg")
  shell.expect_exact("try again")
  shell.expect_exact("/vault: ")
  assert not echoes(shell)
  shell.send(TYPED + "\r")
  shell.expect_exact("<ready> ")
  assert TYPED.encode() not in shell.before
  assert settings(shell.child_fd) == untouched_settings()
  assert home.run("status", "--json").json["readable"] == "unlockedNow"


def test_background_question_waits_for_foreground(home, shell):
  run(shell, f"'{home.program}' keychain set alice", "(service default): ")
  stop(shell)
  run(shell, "bg", "<ready> ")
  # It stops by itself: it must not take the terminal from the shell.
  deadline = time.monotonic() + LIMIT
  told = b""
  while b"tty output" not in told:
    assert time.monotonic() < deadline, told
    shell.sendline("jobs")
    shell.expect_exact("jobs")
    shell.expect_exact("<ready> ")
    told = shell.before
  assert settings(shell.child_fd) == untouched_settings()
  shell.sendline("fg")
  type_twice(shell)
  assert home.get("alice") == b"hunter2"


def test_question_is_repeated_after_uncaught_stop(home, shell):
  run(shell, f"sh -c 'echo pid $$; exec \"{home.program}\" keychain set alice'", "pid ")
  shell.expect(r"(\d+)\r\n")
  process = int(shell.match[1])
  shell.expect("secret for [^:]*: ")
  os.kill(process, signal.SIGSTOP)
  shell.expect_exact("<ready> ")
  # As shells with line editing do.
  modes = termios.tcgetattr(shell.child_fd)
  modes[3] |= termios.ECHO | termios.ICANON
  termios.tcsetattr(shell.child_fd, termios.TCSANOW, modes)
  shell.sendline("fg")
  type_twice(shell)
  assert home.get("alice") == b"hunter2"


def test_stopping_hides_recovery_code(home, shell):
  home.set("alice", b"x")
  run(shell, f"'{home.program}' keychain recovery create", "as you wrote it down: ")
  code = re.search(rb"([0-9A-Z]{4,}-)+[0-9A-Z]+", shell.before)[0]
  shell.send("\x1a")
  shell.expect_exact("\x1b[?1049l")
  shell.expect_exact("<ready> ")
  assert code not in shell.before
  shell.sendline("fg")
  shell.expect_exact("\x1b[?1049h")
  shell.expect_exact(code)
  shell.expect_exact("as you wrote it down: ")
  shell.send(code + b"\r")
  shell.expect_exact("\x1b[?1049l")
  shell.expect_exact("added slot")
  shell.expect_exact("<ready> ")
  assert settings(shell.child_fd) == untouched_settings()


def test_end_of_input_cancels(home):
  terminal = home.terminal("set", "alice")
  terminal.expect("secret for [^:]*: ")
  terminal.sendeof()
  assert ended(terminal)[0] == 130


def test_editing_keys(home):
  terminal = home.terminal("set", "alice")
  for prompt in ("(service default): ", "again: "):
    terminal.expect_exact(prompt)
    terminal.send("rubbish\x15né\x7fotx\x7f\r")
  assert ended(terminal)[0] == 0
  assert home.get("alice") == b"not"


def test_removing_a_slot_asks(home):
  home.init("--new-key-file", str(home.folder / "key"))
  unlock = home.passphrase()
  terminal = home.terminal("slots", "remove", "3", *unlock)
  terminal.expect_exact("remove slot 3, key file, and give the vault new keys? [y/N] ")
  assert echoes(terminal)
  terminal.sendline("n")
  code, rest = ended(terminal)
  assert code == 130 and "nothing was changed" in rest
  terminal = home.terminal("slots", "remove", "3", *unlock)
  terminal.expect_exact("[y/N] ")
  terminal.sendline("yes")
  assert ended(terminal)[0] == 0
  assert [slot["number"] for slot in home.run("slots", "list", "--json").json] == [1, 2]


def test_passphrase_descriptor_must_not_be_terminal(home):
  home.init()
  code, shown = ended(home.terminal("unlock", "--passphrase-fd", "0"))
  assert code == 64 and "would show the passphrase" in shown


def test_a_word_is_erased(home):
  terminal = home.terminal("set", "alice")
  for question in ("secret for alice", "again: "):
    terminal.expect_exact(question)
    terminal.sendline("right wrong\x17\x17hand wrong  \x17")
  assert ended(terminal)[0] == 0 and home.get("alice") == b"hand "


@pytest.mark.parametrize("key, name", [("\x01", "Control-A"), ("\t", "Tab"), ("\x1b[D", "arrow")])
def test_other_keys_are_refused(home, key, name):
  """They would be an invisible part of the secret."""
  terminal = home.terminal("set", "alice")
  terminal.expect_exact("secret for alice")
  terminal.send("hunter" + key)
  terminal.expect_exact(name)
  terminal.expect_exact("type the answer again")
  for question in ("secret for alice", "again: "):
    terminal.expect_exact(question)
    terminal.sendline("hunter2")
  assert ended(terminal)[0] == 0 and home.get("alice") == b"hunter2"


def test_the_marks_of_a_paste_are_left_out(home):
  terminal = home.terminal("set", "alice")
  for question in ("secret for alice", "again: "):
    terminal.expect_exact(question)
    terminal.sendline("a\x1b[200~hunter2\x1b[201~")
  assert ended(terminal)[0] == 0 and home.get("alice") == b"ahunter2"


def test_several_pasted_lines_are_recognised(home):
  terminal = home.terminal("set", "alice")
  terminal.expect("secret for [^:]*: ")
  terminal.send("-----BEGIN KEY-----\nAAAA\n-----END KEY-----\n")
  code, text = ended(terminal)
  assert code == 64 and "several lines were pasted" in text and "< FILE" in text
  assert "AAAA" not in text and not home.vault.exists()


@pytest.mark.parametrize("words, content", [
  (["keychain", "inject", "-"], "the template"),
  (["write", "k", "-", "--domain", "d"], "the value"),
  (["import", "-", "--domain", "d"], "the preferences")])
def test_reading_from_a_terminal_says_so(home, words, content):
  terminal = pexpect.spawn(
    home.program, words, cwd=home.folder, env=home.environment | {"TERM": "xterm"}, timeout=LIMIT)
  terminal.expect("waiting for [^\\r]*" + content)
  terminal.sendeof()
  ended(terminal)
