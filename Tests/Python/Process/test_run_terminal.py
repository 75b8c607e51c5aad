"""`run` in a terminal: keys, job control and window as without it."""

from __future__ import annotations

import shlex
import signal
import sys

from prefs_testing import PASSPHRASE, Home, ended, wait_for_end
from run_testing import locked, vault  # fixtures

RUN = ("run", "-e", "A=keychain://s/token", "--")


def test_exit_code_and_window(vault):
  terminal = vault.terminal(*RUN, "sh", "-c", "stty size; tty; exit 5", dimensions=(31, 77))
  code, text = ended(terminal)
  assert code == 5
  assert text.startswith("31 77\r\n/dev/pts/")


def test_interrupt_ends_the_command(vault):
  terminal = vault.terminal(*RUN, "sh", "-c", "echo ready; exec sleep 60")
  terminal.expect("ready")
  terminal.sendintr()
  wait_for_end(terminal)
  assert terminal.signalstatus == signal.SIGINT


def test_stop_and_continue_from_a_shell(vault):
  shell = vault.terminal(
    through=["sh", "-c", 'P="$0"; export P; exec bash --norc --noprofile -i'], environment={"PS1": "> "})
  shell.expect("> ")
  # One process: a shell that is stopped while it starts another one may not stop. It may be stopped in `print`,
  # which Python refuses to call again inside.
  program = (
    "import os, signal\n"
    "signal.signal(signal.SIGINT, signal.SIG_DFL)\n"
    "signal.signal(signal.SIGCONT, lambda *_: os.write(1, b'ag' + b'ain'))\n"
    "print('re' + 'ady', flush=True)\n"
    "while True: signal.pause()")
  (vault.folder / "wait.py").write_text(program)
  shell.sendline(f"$P keychain run -- {shlex.quote(sys.executable)} -S wait.py")
  shell.expect("ready")
  shell.sendcontrol("z")
  shell.expect("Stopped")
  shell.sendline("fg")
  shell.expect("again")
  shell.sendintr()
  shell.expect("> ")
  shell.sendline("echo co''de $?; exit")
  shell.expect("code 130")
  wait_for_end(shell)


def test_terminal_is_the_commands_after_a_question(locked):
  shown = locked.terminal("run", "--", "stty", "-a")
  before = ended(shown)[1]
  terminal = locked.terminal(*RUN, "sh", "-c", "stty -a; echo $A; read line; echo got $line")
  terminal.expect("passphrase")
  terminal.sendline(PASSPHRASE.decode())
  terminal.expect("s3cret")
  settings = terminal.before.split(b"speed", 1)[1].strip()
  assert settings == before.encode().split(b"speed", 1)[1].strip()
  terminal.sendline("typed")
  terminal.expect("got typed")
  assert ended(terminal)[0] == 0


def test_background_job_does_not_ask(locked):
  outcome = locked.run(*RUN, "touch", "started", code=77)
  assert outcome.out == b""
  assert not (locked.folder / "started").exists()
