"""Attacks with copies that were changed apart, and with numbers of commits that nobody reached."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from attack_testing import (
  KEY, attacked, first_use, key_file, keyed, older, refused, t0_of)
from prefs_testing import Home, hinted

from vault_forging import Forge


@pytest.fixture
def shared_start(home) -> Home:
  keyed(home)
  home.set("shared", b"x")
  return home


def elsewhere(home: Home, make_home, steps: int) -> Path:
  """The copy of another machine, which its user changed there."""
  other = make_home()
  place = other.folder / "copy.db"
  shutil.copy(older(home), place)
  shutil.copy(home.folder / "key", other.folder / "key")
  for step in range(steps):
    other.set(f"elsewhere {step}", b"y", "--vault", str(place), *KEY)
  return place


def test_following_changes_are_not_a_fork(shared_start, make_home):
  home = shared_start
  shutil.copyfile(elsewhere(home, make_home, 3), home.vault)
  assert home.get("elsewhere 2") == b"y"
  home.run("verify")


def test_accepted_fork_loses_the_reported_changes(shared_start, make_home):
  home = shared_start
  copy = elsewhere(home, make_home, 2)
  home.set("acknowledged", b"secret")
  shutil.copyfile(copy, home.vault)
  assert "--yes" in hinted(home.run("accept-restored", *KEY, code=64))
  told = home.run("accept-restored", "--yes", *KEY)
  assert "of another copy" in told.error
  home.run("unlock", *KEY)
  assert home.get("elsewhere 1") == b"y"
  home.run("get", "acknowledged", code=44)
  home.run("verify", *KEY)


def test_two_histories_joined(shared_start, make_home):
  """The commits of one copy behind those of the other follow nothing."""
  home = shared_start
  theirs = Forge.of(elsewhere(home, make_home, 3), key_file(home)).frames()
  home.set("acknowledged", b"secret")
  with attacked(home, acknowledged=b"secret"):
    good = home.vault.read_bytes()
    for tail in (theirs[-2:-1], theirs[-1:], theirs[-2:], theirs[-1:-3:-1]):
      home.vault.write_bytes(good + b"".join(tail))
      found = home.run("get", "elsewhere 0", code=None)
      assert found.code in (44, 65) and found.out == b""
      # A frame of a later number is no unfinished write: an acknowledged one may be gone.
      if theirs[-1] in tail:
        refused(home, "set", "elsewhere 0", input=b"next secret")


@pytest.mark.parametrize("up", [1, 1 << 32, (1 << 40) + 1, 1 << 62], ids=hex)
def test_forged_number(shared_start, up):
  """A holder of T0 would have every good copy count as rolled back; numbers rise by one."""
  home = shared_start
  with attacked(home, *KEY, shared=b"x"):
    forge = t0_of(home)
    commit, boxes = forge.commit({})
    forge.add(forge.proved(replace(commit, number=commit.number + up)), boxes)
    home.vault.write_bytes(forge.data)
    # Beyond the greatest number that there is, it is an unfinished write of no meaning.
    code = None if up > 1 << 40 else 65
    assert home.run("get", "shared", *KEY, code=code).out in (b"", b"x")
    with first_use(home):
      home.run("get", "shared", *KEY, code=code)
