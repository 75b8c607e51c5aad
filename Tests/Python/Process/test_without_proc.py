"""Commands where /proc is not mounted, as in a bare chroot or below some sandboxes."""

from __future__ import annotations

import os
import subprocess

import pytest

from desktop_session import desktop
from prefs_testing import LIMIT, PASSPHRASE, Home, ended, helps

# An empty file system in its place, in a mount namespace of its own. A user namespace would not do:
# the folders above the vault belong to nobody there, and it is refused.
HIDING = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh")


@pytest.fixture
def without_proc(superuser, mounting) -> tuple[str, ...]:
  """The words that start a program without /proc."""
  return HIDING


@pytest.fixture
def bare(home, without_proc) -> Home:
  """A home whose commands run without /proc."""

  class Bare(Home):
    def start(self, *arguments, **options):
      # The limit by which a hash costs less is not seen without /proc.
      return super().start(*arguments, **options | {"through": without_proc})

    def terminal(self, *arguments, **options):
      return super().terminal(*arguments, through=without_proc, **options)

  host = Bare.__new__(Bare)
  host.__dict__ |= home.__dict__
  return host


def test_credentials(bare):
  assert bare.set("api", b"token", "--label", "Work").out == b""
  assert bare.get("api") == b"token"
  assert [item["account"] for item in bare.run("list", "--json").json] == ["api"]
  assert b"Work" in bare.run("show", "api").out
  bare.run("update", "api", "--label", "Home")
  bare.run("rename", "api", "key")
  bare.run("get", "api", code=44)
  bare.run("delete", "key")
  bare.run("verify")


def test_unknown_state_is_reported(bare):
  bare.set("api", b"token")
  assert b"keychain/vault" in bare.run("status").out
  assert b"/proc is not mounted" in bare.run("doctor").out
  assert bare.run("doctor", "--json").json["processFilesAreMounted"] is False


def test_known_state_is_not_reported(home):
  assert b"/proc" not in home.run("doctor").out
  assert home.run("doctor", "--json").json["processFilesAreMounted"] is True


def test_a_passphrase_and_the_kernels_cache(bare):
  bare.init()
  bare.run("lock", "--all")
  bare.set("api", b"token", code=77)
  bare.run("unlock", *bare.passphrase())
  bare.set("api", b"token", "--accessibility", "whenUnlocked")
  assert bare.get("api") == b"token"
  status = bare.run("status", "--json").json
  # The kernel's list of keys has the time; the limit alone is no answer.
  assert status["readable"] == "unlockedNow" and "cachedForSeconds" not in status
  told = " ".join(bare.run("doctor").out.decode().split())
  assert "unlocked, for at most 11h 59m more" in told and "how soon an unused vault locks" in told


def test_a_passphrase_from_a_descriptor(bare):
  bare.init()
  bare.run("lock", "--all")
  read, write = os.pipe()
  os.write(write, PASSPHRASE + b"\n")
  os.close(write)
  try:
    bare.run("unlock", "--passphrase-fd", str(read), pass_fds=[read])
  finally:
    os.close(read)
  for number in ("7", "70000"):
    refused = bare.run("unlock", "--passphrase-fd", number, code=64)
    assert f"descriptor {number}, given by --passphrase-fd, is not open" in refused.error


def test_the_desktop_keyring(bare):
  with desktop(bare):
    assert "the desktop keyring" in bare.set("api", b"token").error
    assert bare.get("api") == b"token"
    assert b"/proc is not mounted" in bare.run("doctor").out


def test_files_that_are_made(bare):
  bare.set("api", b"token")
  bare.run("backup", str(bare.folder / "backup.db"))
  bare.run("get", "api", "--output", str(bare.folder / "secret"))
  assert (bare.folder / "secret").read_bytes() == b"token"
  bare.run("slots", "add", "--new-key-file", str(bare.folder / "key"))
  bare.run("slots", "list")


def test_a_question(bare):
  terminal = bare.terminal("set", "api")
  for prompt in ("(service default): ", "again: "):
    terminal.expect_exact(prompt)
    terminal.sendline("token")
  assert ended(terminal)[0] == 0
  assert bare.get("api") == b"token"


def test_wrong_use(bare):
  assert "there is no command 'gte'" in bare.run("gte", code=64).error
  assert "not valid UTF-8" in bare.run("get", b"\xff", code=64).error
  assert "is an option with nothing" in bare.run("get", "--service=", "a", code=64).error


def test_every_help(bare, without_proc):
  texts = dict(helps(bare.program, bare.environment, through=without_proc))
  assert len(texts) > 20 and all("USAGE" in text for text in texts.values())


def test_hosts(home, sample_tool, without_proc):
  """Asynchronous programs are not among them: without /proc, Swift's own threads end them."""
  home.set("api", b"12345", "--service", "com.example.mytool")
  for words, said in [
      (["whoami"], b"5 characters\n"), (["keychain", "get", "api"], b"12345"),
      (["arguments", "--some", "words"], b"arguments --some words\n")]:
    done = subprocess.run(
      [*without_proc, sample_tool, *words], env=home.environment, capture_output=True,
      timeout=LIMIT)
    assert (done.returncode, done.stdout) == (0, said), done.stderr
