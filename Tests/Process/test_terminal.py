"""Questions on a terminal: asked twice, not shown, and the terminal put back."""

from __future__ import annotations

import fcntl
import os
import platform
import signal
import struct
import termios
import time
from pathlib import Path

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
  terminal.expect_exact("secret: ")
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
    terminal.expect("(secret|again): ")
    terminal.sendline(answer)
  code, rest = ended(terminal)
  assert code == 0 and home.get("alice") == b"three"


def test_enter_alone_is_no_secret(home):
  home.set("alice", b"secret")
  terminal = home.terminal("set", "alice")
  terminal.expect_exact("secret: ")
  terminal.sendline("")
  code, rest = ended(terminal)
  assert code == 64 and "the secret is empty; nothing was changed" in rest
  assert "printf '' | prefs keychain set" in rest
  assert home.get("alice") == b"secret"


def test_set_gives_up_after_three_mismatches(home):
  terminal = home.terminal("set", "alice")
  for number in range(6):
    terminal.expect("(secret|again): ")
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
  terminal.expect_exact("vault.db: ")
  assert not echoes(terminal)
  terminal.sendline("wrong")
  terminal.expect_exact("that passphrase is wrong; try again")
  terminal.expect_exact("vault.db: ")
  terminal.sendline(TYPED)
  code, rest = ended(terminal)
  assert code == 0 and TYPED not in rest
  # The answer unlocked the vault for a while.
  assert home.get("alice") == b"secret"


def test_three_wrong_passphrases_are_78(home):
  home.init()
  terminal = home.terminal("unlock")
  for _ in range(3):
    terminal.expect_exact("vault.db: ")
    terminal.sendline("wrong")
  code, rest = ended(terminal)
  assert code == 78 and "does not open the vault" in rest


@pytest.mark.parametrize("variable, option", [("KEYCHAIN_NO_PROMPT", None), (None, "--no-prompt")])
def test_asking_can_be_turned_off(home, variable, option):
  home.init()
  terminal = home.terminal(
    "unlock", *filter(None, [option]), environment={variable: "1"} if variable else {})
  code, rest = ended(terminal)
  assert code == 77 and "is locked" in rest


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
  terminal.expect_exact("secret: ")
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
  """Starts a program that dawdles at each system call of a kind on its terminal."""
  return ["strace", "-qq", "-f", "-o", str(home.folder / "trace"), "-P", "/dev/tty", "-e",
          f"trace={call.partition(':')[0]}", "-e", f"inject={call}"]


def test_interrupt_between_waiting_for_a_key_and_reading_it(home, tracing):
  # Control-C throws away the key that the program was told of.
  terminal = home.terminal("set", "alice", through=slowed(home, "read:delay_enter=1000000"))
  terminal.expect_exact("secret: ")
  terminal.send("h")
  # Long enough for it to be told, and not for it to read.
  time.sleep(0.3)
  terminal.sendintr()
  code, rest = ended(terminal)
  assert code == 130 and "cancelled" in rest


def is_writing(pid: int) -> bool:
  """Whether a process is in the middle of a call that writes."""
  number = {"x86_64": "1", "aarch64": "64"}[platform.machine()]
  return Path(f"/proc/{pid}/syscall").read_text().split()[0] == number


def test_interrupt_after_the_last_answer(home, tracing):
  # The terminal is about to be put back, and nobody waits for a key any more.
  terminal = home.terminal("set", "alice")
  terminal.expect_exact("secret: ")
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


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_other_signals_end_the_program_and_put_the_terminal_back(home, number):
  terminal = home.terminal("set", "alice")
  terminal.expect_exact("secret: ")
  # Held open, so that the terminal can be looked at when its program is gone.
  slave = os.open(path_of_end(terminal.child_fd), os.O_RDWR | os.O_NOCTTY)
  try:
    os.kill(terminal.pid, number)
    terminal.wait()
    assert terminal.signalstatus == number
    assert settings(slave) == untouched_settings()
  finally:
    os.close(slave)
    terminal.close()


def test_end_of_input_cancels(home):
  terminal = home.terminal("set", "alice")
  terminal.expect_exact("secret: ")
  terminal.sendeof()
  assert ended(terminal)[0] == 130


def test_editing_keys(home):
  terminal = home.terminal("set", "alice")
  for prompt in ("secret: ", "again: "):
    terminal.expect_exact(prompt)
    terminal.send("rubbish\x15né\x7fotx\x7f\r")
  assert ended(terminal)[0] == 0
  assert home.get("alice") == b"not"


def test_removing_a_slot_asks(home):
  home.init("--new-key-file", str(home.folder / "key"))
  unlock = home.passphrase()
  terminal = home.terminal("slots", "remove", "3", *unlock)
  terminal.expect_exact("remove slot 3, key file? [y/N] ")
  assert echoes(terminal)
  terminal.sendline("n")
  code, rest = ended(terminal)
  assert code == 130 and "nothing was changed" in rest
  terminal = home.terminal("slots", "remove", "3", *unlock)
  terminal.expect_exact("[y/N] ")
  terminal.sendline("yes")
  assert ended(terminal)[0] == 0
  assert [slot["number"] for slot in home.run("slots", "list", "--json").json] == [1, 2]


def test_a_passphrase_is_not_read_from_a_terminal_as_descriptor(home):
  home.init()
  code, shown = ended(home.terminal("unlock", "--passphrase-fd", "0"))
  assert code == 64 and "would show the passphrase" in shown
