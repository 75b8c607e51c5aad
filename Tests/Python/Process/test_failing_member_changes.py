"""A system call of a change of who opens the vault fails: what is told is true, and every secret can still be read."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass

import pytest

from prefs_testing import LITTLE_MEMORY
from thoroughness import PARTS
from test_unknown_outcomes import failing

# The calls that matter most are all tried; of opening, which is most of a start, a share.
CALLS = ("flock", "fsync", "fdatasync", "pwrite64", "renameat2", "ftruncate", "unlink", "openat")


@dataclass(frozen=True)
class Change:
  """A command that changes who opens the vault, and a way to open it before and after."""

  words: tuple[str, ...]
  before: tuple[str, ...]
  after: tuple[str, ...]
  # The file that is made for the change.
  made: str | None = None
  prepare: str = "key file"


KEY = ("--key-file", "key")
DEVICE: tuple[str, ...] = ()
CHANGES = {
  "first key file": Change(("slots", "add", "--new-key-file", "new", "--yes"), DEVICE,
                           ("--key-file", "new"), "new", prepare="device"),
  "first existing key file": Change(("slots", "add", "--with-key-file", "other", "--yes"), DEVICE,
                                    ("--key-file", "other"), prepare="device"),
  "second key file": Change(("slots", "add", "--new-key-file", "new", *KEY), KEY, ("--key-file", "new"), "new"),
  "recipient": Change(("slots", "add", "--recipient", "RECIPIENT", *KEY), KEY, ("--identity", "id")),
  "removal": Change(("slots", "remove", "3", "--yes", *KEY), KEY, KEY, prepare="two"),
  "removal that keeps the keys": Change(("slots", "remove", "3", "--keep-keys", "--yes", *KEY), KEY, KEY,
                                        prepare="two"),
  "new keys": Change(("rekey", "--yes", *KEY), KEY, KEY),
  "new administration key": Change(("rekey", "--new-administration-key", "--yes", *KEY), KEY, KEY),
  "new administration key by an identity": Change(
    ("rekey", "--new-administration-key", "--yes", "--identity", "id"), ("--identity", "id"), ("--identity", "id"),
    prepare="pinned"),
  "recovery code": Change(("recovery", "create", "--code-file", "new", *KEY), KEY,
                          ("--recovery-code-file", "new"), "new"),
  "passphrase": Change(("change-passphrase", "--new-passphrase-file", "second", "--passphrase-file", "first"),
                       ("--passphrase-file", "first"), ("--passphrase-file", "second"), prepare="passphrase"),
  "restored": Change(("accept-restored", "--yes", *KEY), KEY, KEY, prepare="restored"),
  "restored with another list": Change(("accept-restored", "--yes", *KEY), KEY, KEY, prepare="other list"),
}


def prepare(home, kind: str) -> None:
  home.file("other", bytes(range(64)))
  home.run("identity", "create", "id")
  if kind == "passphrase":
    home.file("first", b"the first one\n")
    home.file("second", b"the second one\n")
    home.run("init", "--new-passphrase-file", "first", through=LITTLE_MEMORY)
    home.set("alice", b"secret", "--passphrase-file", "first")
  elif kind == "device":
    home.set("alice", b"secret")
  else:
    home.run("init", "--new-key-file", "key")
    home.set("alice", b"secret", *KEY)
  if kind in ("two", "pinned"):
    home.run("slots", "add", "--recipient", recipient(home), *KEY)
  if kind == "pinned":
    home.run("identity", "pin", "id")
  if kind in ("restored", "other list"):
    old = home.vault.read_bytes()
    home.set("bob", b"secret", *KEY)
    if kind == "other list":
      home.run("slots", "add", "--with-key-file", "other", *KEY)
    home.vault.write_bytes(old)


def recipient(home) -> str:
  return home.run("identity", "show", "id", "--json").json["recipient"]


def reads(home, options: tuple[str, ...]) -> bool:
  if any(not (home.folder / word).exists() for word in options[1:]):
    return False
  home.forget_keys()
  return home.run("get", "alice", *options, code=None).out == b"secret"


@pytest.mark.parametrize("name", CHANGES)
def test_a_failing_call(home, tracing, name):
  change = CHANGES[name]
  prepare(home, change.prepare)
  words = [recipient(home) if word == "RECIPIENT" else word for word in change.words]
  before = home.folder.with_name(home.folder.name + "-before")
  shutil.copytree(home.folder, before)
  try:
    # A new passphrase is hashed with less memory then.
    cheap = LITTLE_MEMORY if change.prepare == "passphrase" else ()
    home.run(*words, through=[*cheap, "strace", "-f", "-qq", "-o", str(home.folder / "trace"), "-e", f"trace={','.join(CALLS)}"])
    trace = (home.folder / "trace").read_text()
    made = [(call, number) for call in CALLS
            for number in range(1, len(re.findall(rf"^\d+ +{call}\(", trace, re.MULTILINE)) + 1)
            if call != "openat" or number % PARTS == 0]
    assert len(made) > 10
    if change.prepare == "passphrase":
      # Each run hashes twice.
      made = made[::6]
    for call, number in made:
      for entry in home.folder.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
      shutil.copytree(before, home.folder, dirs_exist_ok=True)
      vault = home.vault.read_bytes()
      outcome = home.run(*words, code=None, through=[*cheap, *failing(home, call, number)])
      what = f"{call} {number}: {outcome}"
      is_changed = home.vault.read_bytes() != vault
      assert is_changed or outcome.code != 0, what
      assert not is_changed or outcome.code in (0, 81), what
      if change.made is not None:
        # It stays if it may open the vault, and is removed if it surely doesn't.
        is_there = (home.folder / change.made).exists()
        assert is_there if outcome.code in (0, 81) else not is_there or call == "unlink", what
      if outcome.code not in (0, 81):
        # What was recorded before the change is taken back: no other administration key is expected.
        assert all(not any(path.read_bytes()[48:80]) for path in (home.state / "seen").iterdir()), what
      if outcome.code == 0:
        assert "--new-administration-key" not in words or "the vault's check is now" in outcome.error, what
      if change.prepare in ("restored", "other list") and outcome.code != 0:
        # It is refused as before, and can be accepted.
        home.run(*words, code=None)
      assert reads(home, change.after) if outcome.code == 0 else \
        reads(home, change.before) or reads(home, change.after), what
  finally:
    shutil.rmtree(before)
    home.forget_keys()
