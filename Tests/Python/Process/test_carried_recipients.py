"""A recipient that was removed or hidden, and changes of slots after that."""

from __future__ import annotations

import pytest

from prefs_testing import Home, hinted

SLOT = f"INSERT INTO slot VALUES ({', '.join('?' * 9)})"


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


@pytest.mark.parametrize("options", [[], ["--keep-keys"]])
def test_a_row_that_is_put_back_opens_nothing(locked, theirs, options):
  """Also where the keys stay: the signed list does not have it."""
  unlock = locked.passphrase()
  row = locked.rows("SELECT * FROM slot WHERE number = 3")[0]
  locked.run("slots", "remove", "3", *options, "--yes", *unlock)
  locked.rows(SLOT, *row)
  refused = locked.run("get", "whenUnlocked", "--identity", "theirs", code=None)
  assert refused.code in (65, 78) and refused.out == b""
  assert "slot 3" in locked.run("verify", *unlock, code=65).error
  # The owner is not kept out, and the next change of slots removes it.
  assert locked.get("whenUnlocked", *unlock) == b"whenUnlocked"
  told = locked.run("rekey", "--yes", *unlock)
  assert "will be removed: the row of slot 3, which opens nothing" in told.error
  assert [slot["number"] for slot in locked.run("slots", "list", "--json").json] == [1, 2]
  locked.run("verify", *unlock)


@pytest.mark.parametrize("change", [
  ["slots", "add", "--new-key-file", "key"], ["slots", "add", "--new-passphrase-file", "new"],
  ["slots", "remove", "1", "--yes"], ["slots", "remove", "1", "--keep-keys", "--yes"],
  ["change-passphrase", "--new-passphrase-file", "new"],
  ["recovery", "create", "--code-file", "code"], ["rekey", "--yes"]])
def test_a_hidden_slot_ends_every_change_of_slots(locked, theirs, change):
  locked.file("new", b"new\n")
  take_row(locked, 3)
  vault = locked.vault.read_bytes()
  refused = locked.run(*change, *locked.passphrase(), code=65)
  assert "slot 3" in refused.error and hinted(refused)
  assert locked.vault.read_bytes() == vault
  assert not (locked.folder / "key").exists() and not (locked.folder / "code").exists()


def test_first_passphrase_lists_each_recipient(home):
  home.set("alice", b"secret")
  recipient = home.run("identity", "create", "theirs").out.decode().strip()
  home.run("slots", "add", "--recipient", recipient, "--name", "bob")
  fingerprint = home.run("identity", "show", "theirs", "--json").json["fingerprint"]
  new = home.passphrase()[1]
  refused = home.run("slots", "add", "--new-passphrase-file", new, code=64)
  assert f"slot 2, recipient 'bob' (fingerprint {fingerprint})" in refused.error
  assert "--yes" in hinted(refused)
  home.run("slots", "add", "--new-passphrase-file", new, "--yes")
  home.run("identity", "pin", "theirs", "--replace")
  assert home.get("alice", "--identity", "theirs") == b"secret"
