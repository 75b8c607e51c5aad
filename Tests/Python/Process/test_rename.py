"""Giving credentials other names."""

from __future__ import annotations


def test_to_the_same_name_nothing_is_written(home):
  home.set("alice", b"a")
  before = home.vault.read_bytes()
  home.run("rename", "alice", "alice")
  assert home.vault.read_bytes() == before


def test_another_devices_item_stays(locked):
  unlock = locked.passphrase()
  locked.set("bound", b"x", "--accessibility", "alwaysThisDeviceOnly", *unlock)
  (locked.state / "device.key").write_bytes(b"d" * 32)
  refused = locked.run("rename", "bound", "new", *unlock, code=79)
  assert "bound to another device" in refused.error
  locked.run("get", "new", *unlock, code=44)
