"""Slots: created with the vault, added, removed."""

from __future__ import annotations

from prefs_testing import Home, hinted


def kinds(home: Home) -> list[tuple[str, str]]:
  return [(slot["kind"], slot["grant"]) for slot in home.run("slots", "list", "--json").json]


def test_init_variants(make_home):
  bare = make_home()
  assert "created the vault" in bare.run("init").error
  assert kinds(bare) == [("device", "administers")]
  with_passphrase = make_home()
  with_passphrase.init()
  assert kinds(with_passphrase) == [("device", "openTier"), ("passphrase", "administers")]
  alone = make_home()
  alone.init("--no-device")
  assert kinds(alone) == [("passphrase", "administers")]
  assert not (alone.state / "device.key").exists()
  alone.set("alice", b"x", *alone.passphrase())
  assert "is locked" in alone.run("get", "alice", code=77).error


def test_init_with_a_given_source_reports_once(home):
  made = home.run("init", environment={"KEYCHAIN_PASSPHRASE_FILE": home.passphrase()[1]})
  assert kinds(home) == [("device", "openTier"), ("passphrase", "administers")]
  assert made.error.count("created the vault") == 1


def test_first_passphrase_ends_full_device_access(home):
  home.set("alice", b"secret")
  home.set("open", b"open", "--accessibility", "always")
  old = home.copy_vault("old.db")
  path = home.passphrase()[1]
  added = home.run("slots", "add", "--new-passphrase-file", path)
  assert "added slot 2: passphrase" in added.error
  assert "the vault is locked now; 'prefs keychain unlock' opens it" in hinted(added)
  assert "device key alone now opens only" in added.error
  assert kinds(home) == [("device", "openTier"), ("passphrase", "administers")]
  home.run("get", "alice", code=77)
  assert home.get("open") == b"open"
  assert home.get("alice", *home.passphrase()) == b"secret"
  home.run("verify", *home.passphrase())
  # What an older copy holds it goes on to hold.
  assert home.get("alice", "--vault", str(old)) == b"secret"


def test_a_passphrase_is_changed_by_adding_and_removing(home):
  home.init()
  home.set("alice", b"secret", *home.passphrase())
  new = home.passphrase(b"new")[1]
  added = home.run("slots", "add", "--new-passphrase-file", new, *home.passphrase())
  assert "locked now" not in hinted(added)
  removed = home.run("slots", "remove", "2", "--yes", "--passphrase-file", new)
  assert removed.out == b"" and "removed slot 2: passphrase" in removed.error
  assert "sealed 1 item again" in removed.error
  home.run("get", "alice", *home.passphrase(), code=78)
  assert home.get("alice", "--passphrase-file", new) == b"secret"


def test_vault_made_with_source_gets_its_slot(make_home):
  home = make_home()
  made = home.set("alice", b"x", environment={"KEYCHAIN_PASSPHRASE_FILE": home.passphrase()[1]})
  assert "passphrase" in made.error
  assert kinds(home) == [("device", "openTier"), ("passphrase", "administers")]
  home.run("lock")
  home.run("get", "alice", code=77)


def test_slots_in_text(home):
  home.init("--new-key-file", str(home.folder / "key"), through=())
  lines = [line.split("\t") for line in home.run("slots", "list").out.decode().splitlines()]
  assert [line[:2] for line in lines] == [
    ["1", "device (this one)"], ["2", "passphrase"], ["3", "key file"]]
  assert lines[1][4] == "256 MiB, 3 passes"
