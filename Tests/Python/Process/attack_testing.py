"""Helpers of the tests of attacks: vaults that `prefs` made, and what an attacker has of them.

Who attacks is played by the Python reader and writer, which forge without any check.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from forging import Forger, opened
from prefs_testing import Home, Outcome

from vault_codes import recovery_code_of_file
from vault_forging import Forge
from vault_identity import IdentityFile
from vault_opening import Secrets, administration_seed

# What opens the vault of `keyed`, at no cost; and what opens that of a member.
KEY = ("--key-file", "key")
MINE = ("--identity", "identity")


def keyed(home: Home, *, unlocked: bool = True) -> Home:
  """Makes a vault that a key file administers, and of which the device key opens T0."""
  home.run("init", "--new-key-file", "key")
  if unlocked:
    home.run("unlock", *KEY)
  return home


def recipient(home: Home, name: str) -> str:
  """Makes an identity, and returns its public half."""
  return home.run("identity", "create", name).out.decode().strip()


def add_recipient(home: Home, name: str, *options: str) -> int:
  """Makes an identity that opens the vault, and returns the number of its slot."""
  home.run("slots", "add", "--recipient", recipient(home, name), *(options or KEY))
  return slot_numbers(home)[-1]


def slot_numbers(home: Home) -> list[int]:
  return sorted(home.layout().slots)


def refused(home: Home, *command: str, words: str = "", code: int = 65, **options) -> Outcome:
  """Runs a command that must fail, write no secret, and say why."""
  outcome = home.run(*command, code=code, **options)
  assert words in outcome.error, outcome
  assert b"secret" not in outcome.out, outcome
  return outcome


def refused_everywhere(
  home: Home, account: str, *source: str, words: str = "", code: int = 65,
) -> None:
  """Expects that neither reads nor writes believe the vault, and that none changes it."""
  before = home.vault.read_bytes()
  refused(home, "get", account, *source, words=words, code=code)
  refused(home, "list", *source, words=words, code=code)
  refused(home, "verify", *source, words=words, code=code)
  refused(home, "set", account, *source, words=words, code=code, input=b"next secret")
  refused(home, "delete", account, *source, words=words, code=code)
  assert home.vault.read_bytes() == before


@contextmanager
def attacked(home: Home, *source: str, **secrets: bytes) -> Iterator[Path]:
  """Lets the vault be attacked; the good file, put back afterwards, must be believed as before.

  The secrets are what its items have.
  """
  good = home.vault.read_bytes()
  yield home.vault
  home.vault.write_bytes(good)
  for account, secret in secrets.items():
    assert home.get(account, *source) == secret
  home.set("afterwards", b"x", *source)
  home.run("verify", *source)


@contextmanager
def first_use(home: Home) -> Iterator[None]:
  """As on a machine that has not seen the vault; what was seen comes back afterwards."""
  away = home.state / "away"
  (home.state / "seen").rename(away)
  yield
  shutil.rmtree(home.state / "seen", ignore_errors=True)
  away.rename(home.state / "seen")


# What attackers know.


def device_key(home: Home) -> Secrets:
  return Secrets(device=(home.state / "device.key").read_bytes())


def secrets_of(home: Home, name: str = "identity") -> Secrets:
  """The secret of an identity; its pins are left out, as an attacker minds none."""
  return Secrets(identity=IdentityFile.decoded((home.folder / name).read_bytes()).seed)


def key_file(home: Home) -> Secrets:
  return Secrets(key_file=(home.folder / "key").read_bytes())


def code_of(home: Home) -> Secrets:
  return Secrets(recovery_code=recovery_code_of_file((home.folder / "code").read_bytes()))


def t0_of(home: Home) -> Forge:
  """The vault in the hands of who holds the device key."""
  return Forge.of(home.vault, device_key(home), 0)


def seed_of(path: Path, secrets: Secrets) -> bytes:
  """The administration key, for an administrator."""
  vault = opened(path, secrets)
  return administration_seed(vault.head, vault.root)


def older(home: Home, name: str = "older.db") -> Path:
  """An older copy, for later."""
  return home.copy_vault(name)


def forget_seen(home: Home) -> None:
  """As on another machine, or if the folder was lost."""
  shutil.rmtree(home.state / "seen")


def put_in_place(home: Home, forger: Forger) -> None:
  home.vault.write_bytes(forger.file())


class Team:
  """A shared vault: the home of who administers it, and those of its members."""

  def __init__(self, home: Home, make_home) -> None:
    self.home, self.make_home = home, make_home
    recipient(home, "identity")
    home.run("init", "--shared", *MINE, "--name", "alice", "--code-file", "code")
    home.set("api", b"old secret", *MINE)

  def add(self, name: str, may: str) -> Home:
    """Adds a member, who has seen the vault and is pinned to it."""
    member = self.make_home()
    key = recipient(member, "identity")
    self.home.run("slots", "add", "--recipient", key, "--name", name, "--may", may, *MINE)
    member.vault.parent.mkdir(mode=0o700)
    self.give(member)
    check = self.home.run("status", "--json").json["check"]
    member.run("identity", "pin", "identity", "--check", check)
    assert member.get("api", *MINE) == self.home.get("api", *MINE)
    return member

  def number(self, name: str) -> int:
    members = opened(self.home.vault, secrets_of(self.home)).members.members
    return next(member.number for member in members if member.name == name)

  def give(self, member: Home) -> None:
    """Copies the vault to a member, as a shared folder does."""
    shutil.copy(self.home.vault, member.vault)

  def remove(self, name: str, *options: str) -> None:
    self.home.run("slots", "remove", str(self.number(name)), "--yes", *MINE, *options)
