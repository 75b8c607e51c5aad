"""Too little memory for a password hash."""

from __future__ import annotations

import os
import resource
from contextlib import ExitStack

import pytest

from machine import control_group
from prefs_testing import hinted

MEBIBYTE = 1 << 20


@pytest.fixture
def limited_group(control_groups):
  """Makes a control group with a limit of memory, and returns what moves a process into it."""
  with ExitStack() as groups:
    def make(limit: int):
      group = groups.enter_context(control_group(limit))
      return lambda: (group / "cgroup.procs").write_text(str(os.getpid()))

    yield make


@pytest.fixture
def locked(home):
  """A locked vault whose passphrase is hashed with 256 MiB."""
  home.init(through=())
  home.set("whenUnlocked", b"x", *home.passphrase())
  home.set("always", b"always", "--accessibility", "always")
  home.forget_keys()
  return home


def test_small_control_group_prevents_hashing(locked, limited_group):
  refused = locked.run(
    "get", "whenUnlocked", *locked.passphrase(), preexec_fn=limited_group(200 * MEBIBYTE), code=71)
  assert "not enough memory" in refused.error and "256 MiB" in refused.error
  assert "container" in hinted(refused) and "keychain.key" in hinted(refused)


def test_commands_without_passphrase_need_no_hash_memory(locked, limited_group):
  assert locked.get("always", preexec_fn=limited_group(64 * MEBIBYTE)) == b"always"


def test_new_passphrase_is_hashed_cheaper_with_warning(home, limited_group):
  made = home.run(
    "init", "--new-passphrase-file", home.passphrase()[1],
    preexec_fn=limited_group(200 * MEBIBYTE))
  assert "memory is short" in made.error and "64 MiB" in made.error
  slots = home.run("slots", "list", "--json").json
  assert [slot["memory"] for slot in slots if slot["kind"] == "passphrase"] == [64 * MEBIBYTE]
  assert "fair" in home.run("doctor").out.decode()


def test_far_too_little_memory_for_a_passphrase(home, limited_group):
  refused = home.run(
    "init", "--new-passphrase-file", home.passphrase()[1],
    preexec_fn=limited_group(60 * MEBIBYTE), code=71)
  assert "not enough memory" in refused.error
  assert not home.vault.exists()


def address_space(limit: int):
  return lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def test_a_limit_of_address_space(locked):
  refused = locked.run(
    "get", "whenUnlocked", *locked.passphrase(), preexec_fn=address_space(300 * MEBIBYTE), code=71)
  assert "not enough memory" in refused.error and "256 MiB" in refused.error


def test_the_least_address_space(home):
  """With less than a command takes, Swift would end it by a signal."""
  home.set("alice", b"x")

  def get(limit: int):
    return home.run("get", "alice", code=None, preexec_fn=address_space(limit))

  # The linker fails with the one, and the command needs less than the other.
  few, enough = 16 * MEBIBYTE, 256 * MEBIBYTE
  while enough - few > 16 << 10:
    middle = (few + enough) // 2
    few, enough = (few, middle) if get(middle).code == 0 else (middle, enough)
  for less in range(64, 577, 64):
    refused = get(enough - (less << 10))
    assert (refused.code, refused.out) == (71, b""), (less, refused)
    assert refused.error.endswith(": error: there is not enough memory to start\n")


def test_a_limit_of_file_size(home):
  home.set("alice", b"old")
  size = home.vault.stat().st_size
  refused = home.set(
    "alice", os.urandom(1 << 20), code=74,
    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
  assert str(home.vault) in refused.error
  assert home.get("alice") == b"old"
  home.run("verify")


# With less, the runtime's dispatch library gives up.
@pytest.mark.parametrize("limit", range(5, 10))
def test_a_limit_of_open_files(home, limit):
  home.set("alice", b"x")
  outcome = home.run(
    "get", "alice", code=None,
    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))
  assert outcome.code in (0, 74), outcome
  assert outcome.out == (b"x" if outcome.code == 0 else b"")
  assert outcome.code == 0 or "too many open files" in outcome.error or "vault" in outcome.error
