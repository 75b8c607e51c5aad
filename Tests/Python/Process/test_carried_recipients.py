"""A recipient that was removed, and what puts it into a vault with new keys."""

from __future__ import annotations

from dataclasses import replace

import pytest

from prefs_testing import Home, hinted
from vault_keys import state_box_key
from vault_notation import seal
from vault_reader import Secrets, Vault

SLOT = f"INSERT INTO slot VALUES ({', '.join('?' * 9)})"


def forge_state(home: Home) -> None:
  """Writes a state row that fits the rows as they are: the device key gives T0, and that is enough.

  Its counter is the next one: another state row with the same counter would be a fork.
  """
  vault = Vault(home.vault, Secrets(device=(home.state / "device.key").read_bytes()))
  state = replace(
    vault.state, counter=vault.state.counter + 1, items=len(vault.rows.items), slots=len(vault.rows.slots), sum=vault.computed_sum())
  home.rows("UPDATE state SET box = ?",
            seal(state_box_key(vault.tiers[0]), state.encoded(), bytes(24)))


def take_row(home: Home, number: int) -> tuple:
  """Hides a slot without `prefs`."""
  row = home.rows("SELECT * FROM slot WHERE number = ?", number)[0]
  home.rows("DELETE FROM slot WHERE number = ?", number)
  return row


@pytest.fixture
def theirs(locked) -> str:
  """The recipient of the identity file `theirs`, which slot 3 lets open the vault `locked`."""
  recipient = locked.run("identity", "create", "theirs").out.decode().strip()
  locked.run("slots", "add", "--recipient", recipient, *locked.passphrase())
  assert locked.get("whenUnlocked", "--identity", "theirs") == b"whenUnlocked"
  return recipient


@pytest.fixture
def put_back(locked, theirs) -> str:
  """The recipient after its removal, when its row was put back and the state row was forged."""
  row = locked.rows("SELECT * FROM slot WHERE number = 3")[0]
  locked.run("slots", "remove", "3", "--yes", *locked.passphrase())
  locked.rows(SLOT, *row)
  forge_state(locked)
  assert "intact\n" in locked.run("verify", *locked.passphrase()).out.decode()
  return theirs


def test_rekey_drops_recipients_that_are_not_named(locked, put_back):
  unlock = locked.passphrase()
  locked.run("rekey", "--yes", *unlock)
  refused = locked.run("get", "whenUnlocked", "--identity", "theirs", code=None)
  assert refused.code in (65, 78) and refused.out == b""
  assert [slot["kind"] for slot in locked.run("slots", "list", "--json").json] == [
    "device", "passphrase"]


def test_without_a_terminal_each_recipient_is_named(locked, put_back):
  vault = locked.vault.read_bytes()
  refused = locked.run("rekey", *locked.passphrase(), code=64)
  assert f"slot 3, recipient {put_back}" in refused.error
  assert "--keep-recipient" in hinted(refused)
  assert locked.vault.read_bytes() == vault


def test_removal_with_new_keys_drops_restored_slot(locked, put_back):
  locked.run("slots", "remove", "3", "--rekey", *locked.passphrase(), "--yes")
  locked.run("get", "whenUnlocked", "--identity", "theirs", code=78)


def test_hidden_slot_prevents_adding_recipient_again(locked, theirs):
  """Its number would be reused, and both removals would remove the second row."""
  unlock = locked.passphrase()
  row = take_row(locked, 3)
  added = locked.run("slots", "add", "--recipient", theirs, *unlock, code=None)
  if added.code == 0:
    locked.run("slots", "remove", "3", "--yes", *unlock)
    locked.rows(SLOT, *row)
    locked.run("verify", *unlock)
    assert locked.get("whenUnlocked", "--identity", "theirs") == b"whenUnlocked"
  assert added.code == 65 and "should have 3 slots, and has 2" in added.error
  assert "verify" in hinted(added)


@pytest.mark.parametrize("change", [
  ["slots", "add", "--new-key-file", "key"], ["slots", "add", "--new-passphrase-file", "new"],
  ["slots", "remove", "1", "--yes"], ["change-passphrase", "--new-passphrase-file", "new"],
  ["recovery", "create", "--code-file", "code"], ["rekey", "--yes"],
  ["slots", "remove", "1", "--rekey", "--yes"]])
def test_a_hidden_slot_ends_every_change_of_slots(locked, theirs, change):
  locked.file("new", b"new\n")
  take_row(locked, 3)
  vault = locked.vault.read_bytes()
  refused = locked.run(*change, *locked.passphrase(), code=65)
  assert "should have 3 slots, and has 2" in refused.error
  assert locked.vault.read_bytes() == vault
  assert not (locked.folder / "key").exists() and not (locked.folder / "code").exists()


def test_first_passphrase_drops_unnamed_recipient(home):
  home.set("alice", b"secret")
  recipient = home.run("identity", "create", "theirs").out.decode().strip()
  home.run("slots", "add", "--recipient", recipient)
  new = home.passphrase()[1]
  refused = home.run("slots", "add", "--new-passphrase-file", new, code=79)
  assert recipient in refused.error and "--keep-recipient" in hinted(refused)
  assert "slots remove 2'" in hinted(refused)
  home.run("slots", "add", "--new-passphrase-file", new, "--keep-recipient", recipient)
  home.run("identity", "pin", "theirs", "--replace")
  assert home.get("alice", "--identity", "theirs") == b"secret"
