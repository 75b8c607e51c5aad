"""Giving credentials other names."""

from __future__ import annotations

import pytest

from prefs_testing import hinted


def accounts(home) -> list[tuple]:
  return sorted(
    (item.get("service", item.get("server")), item["account"], item["accessGroup"])
    for item in home.run("list", "--all-groups", "--json").json)


def test_a_new_account_keeps_everything_else(home):
  home.set("alice", b"sec\nret", "--label", "Work", "--attribute", "env=prod", "--expires", "90d")
  old = home.run("show", "alice", "--json").json
  renamed = home.run("rename", "alice", "bob")
  assert renamed.out == b"" and renamed.error == ""
  new = home.run("show", "bob", "--json").json
  assert new.pop("version") != old.pop("version") and new.pop("modified") >= old.pop("modified")
  assert new == old | {"account": "bob"}
  assert home.get("bob") == b"sec\nret"
  home.run("get", "alice", code=44)
  home.run("verify")


def test_other_services_groups_and_servers(home):
  home.set("alice", b"x", "--service", "one")
  home.run("rename", "alice", "alice", "--service", "one", "--to-service", "two")
  assert accounts(home) == [("two", "alice", "")]
  home.run("mv", "alice", "alice", "--service", "two", "--to-access-group", "team")
  assert accounts(home) == [("two", "alice", "team")]
  moved = home.run(
    "rename", "alice", "bob", "--service", "two", "--access-group", "team", "--to-access-group",
    "", "--to-server", "h", "--to-protocol", "https", "--to-port", "443", "--to-path", "/p",
    "--json").json
  assert (moved["kind"], moved["server"], moved["port"], moved["account"]) == (
    "internetPassword", "h", 443, "bob")
  # Of an internet password each name changes alone, and a part of its names is enough to find it.
  moved = home.run("rename", "bob", "bob", "--server", "h", "--to-port", "8443", "--json").json
  assert (moved["server"], moved["protocol"], moved["port"], moved["path"]) == (
    "h", "https", 8443, "/p")
  home.run("rename", "bob", "carol", "--server", "h", "--to-service", "three")
  assert accounts(home) == [("three", "carol", "")]
  assert home.get("carol", "--service", "three") == b"x"


def test_what_is_refused(home):
  home.set("alice", b"a")
  home.set("bob", b"b")
  version = int(home.run("show", "alice", "--json").json["version"])
  taken = home.run("rename", "alice", "bob", code=75)
  assert "'bob' of service 'default' exists already" in taken.error
  assert "'carol'" in home.run("rename", "carol", "dave", code=44).error
  home.run("rename", "alice", "dave", "--expected-version", str(version + 1), code=75)
  assert "--to-server" in hinted(home.run("rename", "alice", "dave", "--to-port", "1", code=64))
  home.run("rename", "alice", "dave", "--to-service", "s", "--to-server", "h", code=64)
  home.run("rename", "alice", code=64)
  assert home.get("alice") == b"a" and home.get("bob") == b"b"
  home.run("rename", "alice", "dave", "--expected-version", str(version))
  assert home.get("dave") == b"a"


def test_to_the_same_name_nothing_is_written(home):
  home.set("alice", b"a")
  before = home.vault.read_bytes()
  home.run("rename", "alice", "alice")
  assert home.vault.read_bytes() == before


def test_names_are_bytes(home):
  home.set("\u00e9", b"a")
  home.run("rename", "\u00e9", "e\u0301")
  assert home.get("e\u0301") == b"a"
  home.run("get", "\u00e9", code=44)


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


def test_an_empty_account_is_refused(home):
  """An unset variable must not remove a name."""
  home.set("alice", b"x")
  refused = home.run("rename", "alice", "", code=64)
  assert "the account is empty" in refused.error
  home.run("rename", "alice", "", "--to-service", "s", code=64)
  assert home.get("alice") == b"x"
  home.run("rename", "alice", "", "--to-server", "example.com")
  assert home.run("get", "", "--server", "example.com").out == b"x"
