"""Attacks that a person is to accept: an older list with a removed slot, under a forged counter."""

from __future__ import annotations

import pytest

from attack_testing import (
  KEY, MINE, Team, add_recipient, forget_seen, keyed, older, opening, refused, secrets_of, signer,
  slot_numbers, t0_of)

import vault_forging as forging
from vault_rows import change, replace_table


@pytest.mark.parametrize("kept", [False, True], ids=["not named", "named"])
def test_older_list_of_a_local_vault(home, kept):
  """Accepting makes new keys, and the removed slot stays only if a person says so."""
  keyed(home).set("alice", b"secret")
  number = add_recipient(home, "theirs")
  copy = older(home)
  home.run("slots", "remove", str(number), "--keep-keys", "--yes", *KEY)
  t0 = t0_of(home)
  for table in ("members", "slot"):
    replace_table(home.vault, table, copy)
  counter = forging.state_of(home.vault, t0).state.counter + (1 << 32) - 9
  forging.reseal(home.vault, t0, counter=counter, first=counter)
  change(home.vault, "DELETE FROM chain WHERE place <> ?", counter % 1000)
  refused(home, "get", "alice", words="rolled back")
  refused(home, "rekey", "--yes", *KEY, words="rolled back")
  asked = refused(home, "accept-restored", *KEY, code=64)
  assert f"slot {number}" in asked.error, asked
  # The keys that are in the kernel do not administer.
  assert home.run("accept-restored", "--yes", code=None).code in (77, 79)
  home.run("accept-restored", "--yes", *KEY, *(["--keep-slot", str(number)] if kept else []))
  assert (number in slot_numbers(home)) == kept
  assert forging.read(home.vault).head.epoch == 2
  own = home.run("get", "alice", "--identity", "theirs", code=None)
  assert own.code in ((0, 65) if kept else (65, 78)) and (kept or own.out == b""), own
  assert home.get("alice", *KEY) == b"secret"
  home.run("verify", *KEY)


@pytest.fixture
def team(home, make_home) -> Team:
  return Team(home, make_home)


def test_older_list_of_a_shared_vault(team):
  """Neither a forged counter nor a hasty person brings the removed slot back."""
  dave = team.add("dave", "write")
  team.remove("dave", "--keep-keys")
  team.home.set("api", b"secret", *MINE)
  t0, own = opening(dave.vault, secrets_of(dave, "identity")).tiers[0], signer(dave.vault, dave)
  for table in ("members", "slot"):
    replace_table(team.home.vault, table, dave.vault)
  counter = forging.state_of(team.home.vault, t0).state.counter + (1 << 32) - 9
  forging.reseal(team.home.vault, t0, own, counter=counter, first=counter)
  change(team.home.vault, "DELETE FROM chain WHERE place <> ?", counter % 1000)
  refused(team.home, "get", "api", *MINE, words="rolled back")
  refused(team.home, "rekey", "--yes", *MINE, words="rolled back")
  asked = team.home.run("accept-restored", *MINE, code=64)
  assert "'dave'" in asked.error, asked
  refused(team.home, "accept-restored", "--yes", code=77)
  epoch = forging.read(team.home.vault).head.epoch
  team.home.run("accept-restored", "--yes", *MINE)
  assert forging.read(team.home.vault).head.epoch > epoch
  dave.vault.write_bytes(team.home.vault.read_bytes())
  forget_seen(dave)
  assert dave.run("get", "api", *MINE, code=None).code in (65, 78)
  unpinned = (dave.folder / "identity").read_text().split("vault:")[0]
  refused(dave, "get", "api", "--identity", dave.file("unpinned", unpinned.encode()), code=78)
  assert team.home.get("api", *MINE) == b"secret"
  team.home.run("verify", *MINE)
