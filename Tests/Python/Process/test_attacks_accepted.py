"""Attacks that a person is to accept: an older list with a removed slot, and a fork."""

from __future__ import annotations

import pytest

from attack_testing import (
  KEY, MINE, Team, add_recipient, forget_seen, keyed, older, refused, slot_numbers)


@pytest.mark.parametrize("kept", [False, True], ids=["not named", "named"])
def test_older_list_of_a_local_vault(home, kept):
  """Accepting makes new keys, and the removed slot stays only if a person says so."""
  keyed(home).set("alice", b"secret")
  number = add_recipient(home, "theirs")
  copy = older(home)
  home.run("slots", "remove", str(number), "--keep-keys", "--yes", *KEY)
  serial = home.opened().members.serial
  home.vault.write_bytes(copy.read_bytes())
  refused(home, "get", "alice", words="rolled back")
  refused(home, "rekey", "--yes", *KEY, words="rolled back")
  asked = refused(home, "accept-restored", *KEY, code=64)
  assert f"slot {number}" in asked.error, asked
  # The keys that are in the kernel do not administer.
  assert home.run("accept-restored", "--yes", code=None).code in (77, 79)
  home.run("accept-restored", "--yes", *KEY, *(["--keep-slot", str(number)] if kept else []))
  assert (number in slot_numbers(home)) == kept
  members = home.opened().members
  assert members.epoch == 2 and members.serial == members.accepted == serial + 1
  own = home.run("get", "alice", "--identity", "theirs", code=None)
  assert own.code in ((0, 65) if kept else (65, 78)) and (kept or own.out == b""), own
  assert home.get("alice", *KEY) == b"secret"
  home.run("verify", *KEY)


@pytest.fixture
def team(home, make_home) -> Team:
  return Team(home, make_home)


def test_older_list_of_a_shared_vault(team):
  """A hasty person does not bring the removed slot back."""
  dave = team.add("dave", "write")
  team.remove("dave", "--keep-keys")
  team.home.set("api", b"secret", *MINE)
  team.home.vault.write_bytes(dave.vault.read_bytes())
  refused(team.home, "get", "api", *MINE, words="rolled back")
  refused(team.home, "rekey", "--yes", *MINE, words="rolled back")
  asked = team.home.run("accept-restored", *MINE, code=64)
  assert "'dave'" in asked.error, asked
  refused(team.home, "accept-restored", "--yes", code=77)
  team.home.run("accept-restored", "--yes", *MINE)
  dave.vault.write_bytes(team.home.vault.read_bytes())
  forget_seen(dave)
  assert dave.run("get", "api", *MINE, code=None).code in (65, 78)


def test_accepted_fork_is_followed_with_a_notice(team):
  """One who administers accepts it, and everybody else needs to do nothing."""
  carol = team.add("carol", "read")
  copy = older(team.home)
  team.home.set("api", b"lost", *MINE)
  team.give(carol)
  assert carol.get("api", *MINE) == b"lost"
  other = team.make_home()
  other.vault.parent.mkdir(mode=0o700)
  other.vault.write_bytes(copy.read_bytes())
  other.vault.chmod(0o600)
  (other.folder / "identity").write_bytes((team.home.folder / "identity").read_bytes())
  (other.folder / "identity").chmod(0o600)
  other.set("api", b"kept", *MINE)
  team.home.vault.write_bytes(other.vault.read_bytes())
  refused(team.home, "get", "api", *MINE, words="fork")
  team.give(carol)
  refused(carol, "get", "api", *MINE, words="fork")
  team.home.run("accept-restored", "--yes", *MINE)
  assert team.home.get("api", *MINE) == b"kept"
  team.give(carol)
  followed = carol.run("get", "api", *MINE)
  assert followed.out == b"kept" and followed.error
  assert carol.run("get", "api", *MINE).error == ""
