"""Helpers of the process tests: a home folder, and commands that run in it."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pexpect

ROOT = Path(__file__).resolve().parents[3]
FIXTURES = ROOT / "Tests" / "Data" / "Fixtures"
sys.path[:0] = [str(ROOT / "Tests" / "Python" / "VaultReader")]

from vault_errors import VaultError  # found by the path above
from vault_head import Head
from vault_items import Entry
from vault_layout import Layout, flip
from vault_opening import Secrets
from vault_seen import cache_name
from vault_state import Vault

PASSPHRASE = b"correct horse battery staple"

# The accessibilities of the items of the fixture `locked`.
LOCKED_ITEMS = ("always", "afterFirstUnlock", "whenUnlocked")

# No command of a test may take longer, whatever happens.
LIMIT = 60

# So little memory that `prefs` hashes a new passphrase with 64 MiB, a sixth of the usual work, and warns.
LITTLE_MEMORY = ("prlimit", f"--as={200 << 20}")

# For commands that are to wait for each other however slow the machine is; not for one that hangs.
PATIENT = ("--deadline", "5m")
PATIENCE = 300


@dataclass(frozen=True)
class Outcome:
  """The result of a command."""

  code: int
  out: bytes
  error: str

  @property
  def json(self):
    return json.loads(self.out)


class Home:
  """A home folder that contains only a vault; commands run in it."""

  def __init__(self, folder: Path, program: str) -> None:
    self.folder = folder
    self.program = program
    for name in ("data", "state", "runtime", "config"):
      (folder / name).mkdir(mode=0o700)
    self.vault = folder / "data" / "keychain" / "vault"
    self.state = folder / "state" / "keychain"
    self.environment = {
      "PATH": os.environ["PATH"], "HOME": str(folder), "SWIFT_BACKTRACE": "enable=no",
      "XDG_DATA_HOME": str(folder / "data"), "XDG_STATE_HOME": str(folder / "state"),
      "XDG_RUNTIME_DIR": str(folder / "runtime"), "XDG_CONFIG_HOME": str(folder / "config")}

  def start(self, *arguments: str | bytes, **options) -> subprocess.Popen:
    """Starts `prefs keychain …` without a terminal.

    A variable of `environment` that is None is not set; the words of `through` start the program.
    """
    environment = self.environment | options.pop("environment", {})
    options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    return subprocess.Popen(
      [*options.pop("through", []), self.program, "keychain", *arguments], cwd=self.folder,
      env={name: value for name, value in environment.items() if value is not None},
      start_new_session=True, **options)

  def run(self, *arguments: str | bytes, code: int | None = 0, **options) -> Outcome:
    """Runs `prefs keychain …`, and checks how it ends; `input` is its standard input."""
    given = options.pop("input", None)
    if given is not None:
      options["stdin"] = subprocess.PIPE
    with self.start(*arguments, **options) as process:
      try:
        out, error = process.communicate(given, timeout=LIMIT)
      finally:
        process.kill()
    outcome = Outcome(process.returncode, out or b"", (error or b"").decode())
    if code is not None:
      assert outcome.code == code, f"{arguments}: {outcome}"
    return outcome

  def set(self, account: str, secret: bytes, *options: str, **more) -> Outcome:
    return self.run("set", *options, "--", account, input=secret, **more)

  def get(self, account: str, *options: str, **more) -> bytes:
    return self.run("get", *options, "--", account, **more).out

  def file(self, name: str, contents: bytes, mode: int = 0o600) -> str:
    """Creates a file that only the user can read, unless another mode is given."""
    path = self.folder / name
    path.write_bytes(contents)
    path.chmod(mode)
    return str(path)

  def passphrase(self, value: bytes = PASSPHRASE) -> tuple[str, str]:
    """Returns the options for a passphrase file."""
    return "--passphrase-file", self.file(f"passphrase-{value.hex()[:32]}", value + b"\n")

  def init(self, *options: str, value: bytes = PASSPHRASE, through: tuple[str, ...] = LITTLE_MEMORY) -> Outcome:
    """Creates a vault with the device slot and a passphrase, whose hash costs little."""
    return self.run("init", "--new-passphrase-file", self.passphrase(value)[1], *options, through=through)

  def terminal(self, *arguments: str, **options) -> pexpect.spawn:
    """Starts `prefs keychain …` on a new terminal, through the command `through`.

    It is so wide that nothing is wrapped, unless its `dimensions` are given.
    """
    options.setdefault("dimensions", (24, 1000))
    environment = self.environment | {"TERM": "xterm"} | options.pop("environment", {})
    program, *words = [*options.pop("through", []), self.program, "keychain", *arguments]
    return pexpect.spawn(
      program, words, cwd=self.folder, env=environment, timeout=LIMIT, **options)

  def layout(self) -> Layout:
    """Returns where the parts of the vault's file lie."""
    return Layout(self.vault)

  def damage_log(self) -> None:
    """Changes a byte of the newest commit, so that the vault is damaged."""
    flip(self.vault, self.layout().frames[-1].box.start + 30)

  def opened(self, **secrets: bytes) -> Vault:
    """The vault as the second reader opens it; with the device key, unless others are given."""
    device = {} if secrets else {"device": (self.state / "device.key").read_bytes()}
    return Vault(self.vault, Secrets(**secrets, **device))

  def head(self) -> Head:
    data = self.vault.read_bytes()
    return Head.decoded(data, len(data))

  def put_head(self, head: Head) -> None:
    """Puts another head in the place of the vault's; what follows moves along."""
    old, data = self.head(), self.vault.read_bytes()
    head = replace(head, log=old.log + head.count - old.count)
    self.vault.write_bytes(head.encoded() + data[old.count :])

  def entries(self) -> list[Entry]:
    """What the device key shows of all items: ids, versions and the hashes of their secrets."""
    state = self.opened().state
    return [stored.entry for tier in sorted(state) for _, stored in sorted(state[tier].items())]

  def spoil_secrets(self, count: int | None = None) -> None:
    """Puts zero bytes in the place of sealed secrets: of all items, or the first ones."""
    data = bytearray(self.vault.read_bytes())
    found = [one for stored in self.opened().state.values() for one in stored.values()]
    for stored in found[:count]:
      data[stored.place : stored.place + len(stored.box)] = bytes(len(stored.box))
    self.vault.write_bytes(data)

  def copy_vault(self, name: str) -> Path:
    copy = self.folder / name
    shutil.copyfile(self.vault, copy)
    copy.chmod(0o600)
    return copy

  def forget_keys(self) -> None:
    """Removes the keys of all vaults that were unlocked here from the kernel's keyring."""
    there = re.findall(rb"^(\w+) .* user +(prefs:\S+): ", Path("/proc/keys").read_bytes(), re.MULTILINE)
    keys = {name: number for number, name in there}
    names = []
    for record in (self.state / "seen").glob("*"):
      place = f"prefs:{record.name}:at".encode()
      if place in keys:
        names.append(place)
        pipe = ["keyctl", "pipe", str(int(keys[place], 16))]
        names += cache_names(subprocess.run(pipe, capture_output=True).stdout)
    with suppress(OSError, VaultError):
      names += cache_names(self.head().vault)
    for name in names:
      if name in keys:
        # Another test's end may have revoked it, if both had the vault.
        subprocess.run(["keyctl", "purge", "user", name], capture_output=True)


def cache_names(vault: bytes) -> list[bytes]:
  return [cache_name(tier, vault) for tier in range(3)]


def ended(terminal: pexpect.spawn) -> tuple[int | None, str]:
  """Returns the remaining output of a terminal's program, and its exit code."""
  terminal.expect(pexpect.EOF)
  terminal.close()
  return terminal.exitstatus, terminal.before.decode()


def wait_for_end(terminal: pexpect.spawn) -> None:
  """Waits for a terminal's program that was killed; `close` alone gives it half a second."""
  deadline = time.monotonic() + LIMIT
  while terminal.isalive():
    assert time.monotonic() < deadline, "the program goes on"
    time.sleep(0.01)
  terminal.close()


def offered_by_fish(
  line: str, script: Path, folder: Path, environment: dict[str, str]
) -> set[str]:
  """Returns fish's completions at the end of a line; fish has a cursor only on a terminal."""
  return offered_in_turn_by_fish([line], script, folder, environment)[0]




def offered_in_turn_by_fish(
  lines: list[str], script: Path, folder: Path, environment: dict[str, str]
) -> list[set[str]]:
  """Returns the completions at the end of several lines, in one fish."""
  terminal = pexpect.spawn(
    "fish", ["--no-config"], cwd=folder, env=environment | {"TERM": "dumb"}, timeout=LIMIT,
    dimensions=(40, 300))
  terminal.sendline(f"source {shlex.quote(str(script))}")
  results = []
  for line in lines:
    # Typed in two parts, so that it isn't the echo that is found.
    terminal.sendline(f"complete -C {shlex.quote(line)} > offered 2> said; echo do''ne")
    terminal.expect("done\r\n")
    assert (folder / "said").read_text() == ""
    offered = (folder / "offered").read_text().splitlines()
    results.append({option.split("\t")[0] for option in offered})
  terminal.close(force=True)
  return results




def helps(
    program: str, environment: dict[str, str], path: tuple[str, ...] = (),
    through: tuple[str, ...] = ()):
  """Returns the help of every command of a program, started through the command `through`."""
  out = subprocess.run(
    [*through, program, *path, "--help"], env=environment, capture_output=True, text=True,
    timeout=LIMIT)
  assert out.returncode == 0, path
  yield path, out.stdout
  listed = False
  for line in out.stdout.splitlines():
    if line.endswith("SUBCOMMANDS:"):
      listed = True
    elif listed and line.startswith("  ") and line[2] not in " -" and "See '" not in line:
      yield from helps(program, environment, (*path, line.split()[0].rstrip(",")), through)
    elif line and not line.startswith(" "):
      listed = False


def hinted(outcome: Outcome) -> str:
  """Returns the hint of a failed command."""
  lines = outcome.error.splitlines()
  return "\n".join(line.split("hint: ", 1)[1] for line in lines if "hint: " in line)
