"""Names that real shells offer, including hostile ones."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time

import pexpect
import pytest

from desktop_session import desktop
from prefs_testing import LIMIT, PASSPHRASE, offered_by_fish

SHELLS = ["bash", "zsh", "fish"]

# Each would run `touch x`, end a quotation, or mean something else than itself to some shell.
HOSTILE = [
  "h$(touch x)", "h`touch x`", "h; touch x", "h'touch x'", 'h"touch x"', "h\\touch", "h|touch x",
  "h&touch x", "h${HOME}", "h*", "h?[a]", "h#x", "h!!", "h{a,b}", "h<(touch x)", "h>x", "h  two",
  "hé日本", "h%s", "h\\$(touch x)", "h'$(touch x)'", "h=~", "h^x",
]

# What a shell puts into the line without quoting it is not offered to it.
UNQUOTED = {"bash": set("$`"), "zsh": set("!"), "fish": set()}

# What can't be offered as it is: each would be another name, an option, or several lines.
UNFIT = ["u\ntouch x", "u\x1b[2J", "u\tx", "~u", "-u", "u\u202ex"]


class Shells:
  """The home of the other fixtures, in whose shells `prefs` is completed."""

  def __init__(self, home) -> None:
    self.home = home
    commands = home.folder / "bin"
    commands.mkdir()
    # It leaves a line for each of its calls that has ended.
    self.calls = home.folder / "calls"
    (commands / "prefs").write_text(
      f"#!/bin/sh\n{shlex.quote(home.program)} \"$@\"\ncode=$?\necho >> {self.calls}\nexit $code\n")
    (commands / "prefs").chmod(0o755)
    self.environment = home.environment | {
      "PATH": f"{commands}:/usr/bin:/bin", "TERM": "dumb", "LC_ALL": "C.UTF-8"}
    for shell, name in (("bash", "prefs.bash"), ("zsh", "_prefs"), ("fish", "prefs.fish")):
      done = subprocess.run(
        ["prefs", "--generate-completion-script", shell], env=self.environment, timeout=LIMIT,
        capture_output=True, check=True)
      (home.folder / name).write_bytes(done.stdout)

  def offered(self, shell: str, line: str) -> set[str]:
    """Returns the completions of bash or fish at the end of a line."""
    if shell == "bash":
      return self.offered_by_bash(line)
    folder = self.home.folder
    return offered_by_fish(line, folder / "prefs.fish", folder, self.environment)

  def offered_by_bash(self, line: str) -> set[str]:
    before, last = line.rsplit(" ", 1)
    script = f"""
      source {self.home.folder}/prefs.bash
      COMP_LINE={shlex.quote(line)} COMP_POINT=${{#COMP_LINE}} COMP_TYPE=9 COMP_KEY=9
      COMP_WORDS=({before} {shlex.quote(last)})
      COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
      _prefs prefs "${{COMP_WORDS[-1]}}" "${{COMP_WORDS[-2]}}"
      printf '%s\\n' "${{COMPREPLY[@]}}"
      """
    done = subprocess.run(
      ["bash", "--norc", "-c", script], env=self.environment, cwd=self.home.folder,
      capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0 and done.stderr == "", done
    return set(done.stdout.splitlines()) - {""}

  def interactive(self, shell: str) -> pexpect.spawn:
    """An interactive shell with the completions, which shows `ready> `."""
    folder = self.home.folder
    command, setup = {
      "bash": (["bash", "--norc", "--noprofile", "-i"], [f"source {folder}/prefs.bash"]),
      "zsh": (["zsh", "-f", "-i"], [f"fpath=({folder} $fpath); autoload -U compinit; compinit -u -D"]),
      "fish": (["fish", "--no-config"], [f"source {folder}/prefs.fish"]),
    }[shell]
    terminal = pexpect.spawn(
      command[0], command[1:], cwd=folder, env=self.environment | {"PS1": "$ ", "HISTFILE": ""},
      timeout=LIMIT, encoding="utf-8", dimensions=(40, 300))
    for line in setup:
      terminal.sendline(line)
    # Typed in two parts, so that it isn't the echo that is found.
    terminal.sendline("echo rea''dy")
    terminal.expect("ready\r\n")
    return terminal

  def complete(self, terminal: pexpect.spawn, keys: str) -> None:
    """Types keys, and waits until the shell has asked for names at each TAB."""
    self.calls.write_text("")
    terminal.send(keys)
    deadline = time.monotonic() + LIMIT
    while len(self.calls.read_text()) < keys.count("\t"):
      assert time.monotonic() < deadline, terminal.before
      time.sleep(0.05)
    time.sleep(0.5)

  def typed(self, shell: str, keys: str) -> list[str]:
    """Returns the arguments that a program receives for typed keys, their completion and Enter."""
    terminal = self.interactive(shell)
    arguments = self.received(terminal, keys)
    terminal.close(force=True)
    return arguments

  def received(self, terminal: pexpect.spawn, keys: str) -> list[str]:
    """Returns what a program receives for keys that are typed into a shell, with Enter at their end."""
    folder = self.home.folder
    show = folder / "bin" / "show"
    if not show.exists():
      show.write_text("#!/bin/sh\nprintf '%s\\0' \"$@\" > arguments.new\nmv arguments.new arguments\n")
      show.chmod(0o755)
    (folder / "arguments").unlink(missing_ok=True)
    self.complete(terminal, keys)
    # The line goes to another program: what it gets is what `prefs` would get.
    terminal.send("\x01show \r")
    deadline = time.monotonic() + LIMIT
    while not (folder / "arguments").exists():
      assert time.monotonic() < deadline, terminal.before
      time.sleep(0.05)
    return (folder / "arguments").read_text().split("\0")[:-1]


@pytest.fixture
def shells(home) -> Shells:
  return Shells(home)


def test_names_of_named_place_are_offered(shells):
  home = shells.home
  home.set("github", b"1")
  home.set("deploy", b"2", "--service", "ci")
  home.set("deeper", b"3", "--service", "ci", "--access-group", "team")
  home.set("alice", b"4", "--server", "example.org")
  for line, names in {
    "prefs keychain get ": {"github"},
    "prefs keychain get dep": {"deploy"},
    "prefs keychain get --service ci ": {"deploy"},
    "prefs keychain get -s ci ": {"deploy"},
    "prefs keychain get -s ci -g team ": {"deeper"},
    "prefs keychain get --server example.org ": {"alice"},
    "prefs keychain get --service ": {"ci", "default"},
    "prefs keychain list -s ": {"ci", "default"},
    "prefs keychain list -g ": {"team"},
    "prefs keychain list -g team '' -s ": {"ci"},
    "prefs keychain set --server ": {"example.org"},
    "prefs keychain list -s ci -a ": {"deploy"},
    "prefs keychain rename alice --to-service ": {"ci", "default"},
    "prefs keychain get --store vault -s c": {"ci"},
    "prefs keychain slots remove ": {"1"},
    "prefs keychain rm ": {"github"},
    "prefs keychain rm -s ci ": {"deploy"},
    "prefs keychain mv dep": {"deploy"},
    "prefs keychain ls -s ": {"ci", "default"},
    "prefs keychain slots rm ": {"1"},
    "prefs keychain change-passphrase --slot ": set(),
  }.items():
    assert shells.offered("bash", line) == names, line


@pytest.mark.parametrize("shell", SHELLS)
def test_a_name_arrives_as_it_is(shells, shell):
  shells.home.set("my account", b"1", "--service", "a service: of mine")
  assert shells.typed(shell, "prefs keychain get -s a\t my\t") == [
    "prefs", "keychain", "get", "-s", "a service: of mine", "my account"]


@pytest.mark.parametrize("shell", SHELLS)
def test_hostile_names_are_words_and_run_nothing(shells, shell):
  terminal = shells.interactive(shell)
  for name in HOSTILE:
    shells.home.set(name, b"1")
    offered = "h" if UNQUOTED[shell] & set(name) else name
    assert shells.received(terminal, "prefs keychain get h\t") == ["prefs", "keychain", "get", offered]
    shells.home.run("delete", "--", name)
  terminal.close(force=True)
  assert not (shells.home.folder / "x").exists()


@pytest.mark.parametrize("shell", SHELLS)
def test_lists_of_hostile_names_run_nothing(shells, shell):
  for name in [*HOSTILE, *UNFIT]:
    shells.home.set(name, b"1")
  terminal = shells.interactive(shell)
  shells.complete(terminal, "prefs keychain get \t")
  terminal.send("\t")
  time.sleep(0.5)
  terminal.send("\x03\x15")
  terminal.close(force=True)
  assert not (shells.home.folder / "x").exists()


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_unusable_names_are_not_offered(shells, shell):
  for name in [*UNFIT, "fit"]:
    shells.home.set(name, b"1")
  assert shells.offered(shell, "prefs keychain get ") == {"fit"}
  assert shells.offered(shell, "prefs keychain get -- ") >= {"fit", "-u"}


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_nothing_is_unlocked_asked_or_said(shells, shell):
  home = shells.home
  home.init()
  home.run("unlock", *home.passphrase())
  home.set("open", b"1", "--accessibility", "always")
  home.set("shut", b"2")
  assert shells.offered(shell, "prefs keychain get ") == {"open", "shut"}
  home.run("lock", "--all")
  begin = time.monotonic()
  shells.environment["KEYCHAIN_PASSPHRASE"] = PASSPHRASE.decode()
  assert shells.offered(shell, "prefs keychain get ") == {"open"}
  assert home.run("status", "--json").json["state"] == "locked"
  # A hash alone would take longer in any build.
  assert time.monotonic() - begin < 20


@pytest.mark.parametrize("shell", ["bash", "fish"])
@pytest.mark.parametrize("contents", [None, b"", b"no vault" * 4096])
def test_completion_without_vault_does_nothing(shells, shell, contents):
  home = shells.home
  if contents is not None:
    home.vault.parent.mkdir(mode=0o700)
    home.vault.write_bytes(contents)
    home.vault.chmod(0o600)
  for line in ("get ", "list -s ", "get --vault /nonexistent/v.db ", "slots remove ", "get --service= "):
    assert shells.offered(shell, f"prefs keychain {line}") == set(), line
  assert (home.vault.read_bytes() if contents is not None else None) == contents
  assert home.vault.exists() == (contents is not None)
  assert not home.state.exists()


def provider(home) -> int | None:
  """The process that provides the Secret Service, found without starting one."""
  found = home.run("doctor", "--json", code=None).json["desktopKeyring"] or {}
  return found.get("process")


def test_completion_reads_unlocked_keyring_without_starting_it(home):
  with desktop(home) as variables:
    shells = Shells(home)
    home.set("alice", b"1", "--service", "s")
    home.set("kept", b"2", "--service", "v", "--store", "vault")
    assert shells.offered("bash", "prefs keychain list -s ") == {"s", "v"}
    assert shells.offered("bash", "prefs keychain get -s s ") == {"alice"}
    assert shells.offered("bash", "prefs keychain list --store vault -s ") == {"v"}
    subprocess.run(
      ["dbus-send", "--print-reply", "--dest=org.freedesktop.secrets", "/org/freedesktop/secrets",
       "org.freedesktop.Secret.Service.Lock",
       "array:objpath:/org/freedesktop/secrets/collection/login"],
      env=variables, check=True, stdout=subprocess.DEVNULL, timeout=LIMIT)
    assert shells.offered("bash", "prefs keychain list -s ") == {"v"}
    process = provider(home)
    assert process
    os.kill(process, signal.SIGKILL)
    deadline = time.monotonic() + LIMIT
    while provider(home) == process:
      assert time.monotonic() < deadline
      time.sleep(0.05)
    assert shells.offered("bash", "prefs keychain list -s ") == {"v"}
    assert provider(home) is None


def test_completion_does_not_wait_for_desktop(shells):
  home = shells.home
  home.set("a", b"1")
  begin = time.monotonic()
  shells.environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/nonexistent/bus"
  shells.environment["KEYCHAIN_STORE"] = "secret-service"
  assert shells.offered("bash", "prefs keychain get ") == set()
  assert time.monotonic() - begin < 10


def test_unfinished_line_gives_no_errors(home):
  words = ["prefs", "keychain", "get", "--service=", ""]
  done = subprocess.run(
    [home.program, "---completion", "keychain", "get", "--", "positional@0", "4", "0", *words],
    env=home.environment | {"SAP_SHELL": "bash"}, capture_output=True, timeout=LIMIT)
  assert (done.returncode, done.stderr) == (0, b"")
  strange = subprocess.run(
    [home.program, "---completion", "nosuch", "--", "x"], env=home.environment,
    capture_output=True, timeout=LIMIT)
  assert strange.returncode != 0 and (strange.stdout, strange.stderr) == (b"", b"")


@pytest.mark.parametrize("shell", SHELLS)
def test_references_are_offered(shells, shell):
  shells.home.set("my account", b"1", "--service", "a b", "-g", "team")
  assert shells.typed(shell, "prefs keychain read k\t") == [
    "prefs", "keychain", "read", "keychain://a%20b/my%20account?group=team"]


# To bash, a colon ends a word, and the parser's script then offers nothing.
@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_rest_of_a_reference_is_offered(shells, shell):
  shells.home.set(
    "alice", b"1", "--server", "git.example.com", "--protocol", "https", "--port", "8443")
  assert shells.typed(shell, "prefs keychain read keychain+https://a\t") == [
    "prefs", "keychain", "read", "keychain+https://alice@git.example.com:8443"]
