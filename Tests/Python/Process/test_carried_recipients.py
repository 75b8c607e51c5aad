"""A recipient that was removed or hidden, and changes of slots after that."""

from __future__ import annotations

from dataclasses import replace

import pytest

from prefs_testing import hinted

@pytest.fixture
def theirs(locked) -> str:
  """The recipient of the identity file `theirs`, which slot 3 lets open the vault `locked`."""
  recipient = locked.run("identity", "create", "theirs").out.decode().strip()
  locked.run("slots", "add", "--recipient", recipient, *locked.passphrase())
  assert locked.get("whenUnlocked", "--identity", "theirs") == b"whenUnlocked"
  return recipient


@pytest.mark.parametrize("options", [[], ["--keep-keys"]])
def test_a_slot_that_is_put_back_is_damage(locked, theirs, options):
  """Also where the keys stay: the signed list does not have it."""
  unlock = locked.passphrase()
  removed = locked.head().slots[2]
  locked.run("slots", "remove", "3", *options, "--yes", *unlock)
  good, head = locked.vault.read_bytes(), locked.head()
  locked.put_head(replace(head, slots=(*head.slots, removed)))
  refused = locked.run("get", "whenUnlocked", "--identity", "theirs", code=None)
  assert refused.code in (65, 78) and refused.out == b""
  locked.run("verify", *unlock, code=65)
  locked.run("get", "whenUnlocked", *unlock, code=65)
  locked.vault.write_bytes(good)
  assert locked.get("whenUnlocked", *unlock) == b"whenUnlocked"


@pytest.mark.parametrize("change", [
  ["slots", "add", "--new-key-file", "key"], ["slots", "add", "--new-passphrase-file", "new"],
  ["slots", "remove", "1", "--yes"], ["slots", "remove", "1", "--keep-keys", "--yes"],
  ["change-passphrase", "--new-passphrase-file", "new"],
  ["recovery", "create", "--code-file", "code"], ["rekey", "--yes"]])
def test_a_hidden_slot_ends_every_change_of_slots(locked, theirs, change):
  locked.file("new", b"new\n")
  head = locked.head()
  locked.put_head(replace(head, slots=head.slots[:2]))
  vault = locked.vault.read_bytes()
  refused = locked.run(*change, *locked.passphrase(), code=65)
  assert hinted(refused)
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
