"""Completions of three shells, made by the program itself, driven as the shells drive them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pexpect
import pytest

from prefs_testing import LIMIT, offered_by_fish

ACCESSIBILITIES = {
  "whenUnlocked", "whenUnlockedThisDeviceOnly", "whenPasscodeSetThisDeviceOnly",
  "afterFirstUnlock", "afterFirstUnlockThisDeviceOnly", "always", "alwaysThisDeviceOnly"}


class Host:
  """A program by its own name, with its completions below a folder."""

  def __init__(self, folder: Path, program: str, name: str) -> None:
    self.folder, self.name = folder, name
    (folder / "bin").mkdir()
    (folder / "bin" / name).symlink_to(program)
    self.environment = {"PATH": f"{folder}/bin:/usr/bin:/bin", "HOME": str(folder), "TERM": "dumb"}

  def script(self, shell: str) -> Path:
    # zsh finds the functions of a folder by the names of its files.
    path = self.folder / (f"_{self.name}" if shell == "zsh" else f"{self.name}.{shell}")
    if path.exists():
      return path
    done = subprocess.run(
      [self.name, "--generate-completion-script", shell], env=self.environment,
      capture_output=True, timeout=LIMIT, check=True)
    assert done.stderr == b""
    path.write_bytes(done.stdout)
    return path

  def run(self, *command: str) -> list[str]:
    done = subprocess.run(
      command, env=self.environment, cwd=self.folder, capture_output=True, text=True,
      timeout=LIMIT)
    assert done.returncode == 0 and done.stderr == "", done
    return done.stdout.splitlines()


@pytest.fixture(params=["prefs", "mytool", "plaintool"])
def host(request, tmp_path, program, sample_tool, plain_sample_tool) -> Host:
  programs = {"prefs": program, "mytool": sample_tool, "plaintool": plain_sample_tool}
  return Host(tmp_path, programs[request.param], request.param)


def in_bash(host: Host, *words: str) -> set[str]:
  """What bash would offer for the last of the words."""
  driver = """
    source "$1"; shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
    COMP_TYPE=9 COMP_KEY=9
    "$(complete -p "$1" | sed 's/.*-F \\([^ ]*\\) .*/\\1/')" "$1" "${!#}" "${COMP_WORDS[-2]}"
    printf '%s\\n' "${COMPREPLY[@]}"
    """
  script = str(host.script("bash"))
  lines = host.run("bash", "--norc", "-c", driver, "bash", script, host.name, *words)
  return {line.strip() for line in lines}


def in_fish(host: Host, *words: str) -> set[str]:
  line = " ".join([host.name, *words])
  return offered_by_fish(line, host.script("fish"), host.folder, host.environment)


@pytest.mark.parametrize("offered", [in_bash, in_fish])
def test_commands_options_values_and_files_are_offered(host, offered):
  (host.folder / "vault-file.db").touch()
  assert {"set", "get", "slots", "verify"} <= offered(host, "keychain", "")
  assert offered(host, "keychain", "ge") == {"get"}
  assert {"list", "add", "remove"} <= offered(host, "keychain", "slots", "")
  assert {"--service", "--json"} <= offered(host, "keychain", "get", "--")
  assert "--trim-newline" not in offered(host, "keychain", "get", "--")
  assert offered(host, "keychain", "set", "--accessibility", "") == ACCESSIBILITIES
  assert offered(host, "keychain", "get", "--vault", "vault-f") == {"vault-file.db"}


@pytest.mark.parametrize("offered", [in_bash, in_fish])
def test_an_alias_is_completed_as_its_command(host, offered):
  # A program on the parser's own `main()` has the parser's script, which knows no aliases.
  knows_aliases = host.name != "plaintool"
  for alias, name in (["rm"], ["delete"]), (["ls"], ["list"]), (["mv"], ["rename"]), (
      ["slots", "rm"], ["slots", "remove"]), (["slots", "ls"], ["slots", "list"]):
    options = offered(host, "keychain", *name, "--")
    assert "--no-prompt" in options
    assert (options == offered(host, "keychain", *alias, "--")) == knows_aliases


def test_zsh_completes_what_is_typed(host):
  host.script("zsh")
  # Nothing of the machine's own settings; other users' files in the system's folders don't matter.
  terminal = pexpect.spawn(
    "zsh", ["-f", "-i"], cwd=host.folder, timeout=LIMIT, encoding="utf-8", dimensions=(40, 150),
    env=host.environment | {"PS1": "ready> "})
  terminal.expect("ready> ")
  terminal.sendline(f"PS1='typed> '; fpath=({host.folder} $fpath); autoload -U compinit; compinit -u -D")
  terminal.expect("\rtyped> ")
  terminal.send(f"{host.name} keychain slo\t")
  terminal.expect(f"{host.name} keychain slots ")
  terminal.send("rem\t")
  terminal.expect("remove ")
  if host.name != "plaintool":
    terminal.send(f"\x15{host.name} keychain slots rm --rek\t")
    terminal.expect("--rekey")
  terminal.send("\x15\x04")
  terminal.expect(pexpect.EOF)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_can_read_its_script(host, shell):
  host.run(shell, "-n", str(host.script(shell)))


def test_an_unknown_shell_is_wrong_use(program):
  done = subprocess.run(
    [program, "--generate-completion-script", "csh"], capture_output=True, timeout=LIMIT)
  assert done.returncode == 64 and done.stdout == b""
  assert done.stderr.startswith(b"prefs: error: ") and b"\\n" not in done.stderr
  assert b"for 'csh'; please use" in done.stderr and done.stderr.count(b"\n") == 2
