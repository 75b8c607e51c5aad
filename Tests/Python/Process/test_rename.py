"""Giving credentials other names."""

from __future__ import annotations

import pytest


def test_to_the_same_name_nothing_is_written(home):
  home.set("alice", b"a")
  before = home.vault.read_bytes()
  home.run("rename", "alice", "alice")
  assert home.vault.read_bytes() == before


@pytest.mark.parametrize("account, code", [
  ("always", 0), ("afterFirstUnlock", 77), ("whenUnlocked", 77)])
def test_a_locked_vault(locked, account, code):
  locked.run("rename", account, "new", code=code)
  renamed = locked.run("rename", account, "new", *locked.passphrase(), code=44 if code == 0 else 0)
  assert locked.get("new", *locked.passphrase()) == account.encode(), renamed
  # A name that is taken by an item that is locked is taken all the same.
  if account == "always":
    locked.run("rename", "new", "whenUnlocked", code=75)


def test_another_devices_item_stays(locked):
  unlock = locked.passphrase()
  locked.set("bound", b"x", "--accessibility", "alwaysThisDeviceOnly", *unlock)
  (locked.state / "device.key").write_bytes(b"d" * 32)
  refused = locked.run("rename", "bound", "new", *unlock, code=79)
  assert "bound to another device" in refused.error
  locked.run("get", "new", *unlock, code=44)
