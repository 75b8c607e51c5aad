"""Slots: created with the vault, added, removed."""

from __future__ import annotations

import base64

import pytest

from prefs_testing import PASSPHRASE, Home, hinted


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


def test_init_with_key_files(home, make_home):
  key = str(home.folder / "key")
  home.run("init", "--new-key-file", key)
  assert kinds(home) == [("device", "openTier"), ("keyFile", "administers")]
  assert (home.folder / "key").stat().st_mode & 0o777 == 0o600
  home.set("alice", b"x", "--key-file", key)
  assert home.get("alice", environment={"KEYCHAIN_KEY_FILE": key}) == b"x"
  other = make_home()
  other.run("init", "--with-key-file", key, "--no-device")
  other.set("alice", b"y", "--key-file", key)
  refused = make_home().run("init", "--with-key-file", home.file("short", b"short"), code=79)
  assert "5 bytes" in refused.error and "at least 32" in refused.error


@pytest.mark.parametrize("options", [
  ["--no-device"], ["--new-key-file", "a", "--with-key-file", "b"],
  ["--passphrase-file", "x"], ["--new-passphrase-fd", "3", "--new-passphrase-file", "x"]])
def test_init_options_that_make_no_sense(home, options):
  home.run("init", *options, code=64)
  assert not home.vault.exists() and not (home.folder / "a").exists()


def test_failed_init_leaves_no_key_file(home):
  home.set("alice", b"x")
  refused = home.run("init", "--new-key-file", "key", code=75)
  assert "there is a vault" in refused.error and "slots add" in hinted(refused)
  assert not (home.folder / "key").exists()
  home.file("there", b"mine")
  refused = home.run("slots", "add", "--new-key-file", "there", code=75)
  assert "there exists already" in refused.error and "--with-key-file" in hinted(refused)
  assert (home.folder / "there").read_bytes() == b"mine"


def test_passphrases_that_are_refused(home):
  assert "protects nothing" in home.run(
    "init", "--new-passphrase-file", home.file("empty", b"\n"), code=79).error
  shared = home.file("shared", PASSPHRASE, mode=0o644)
  assert f"chmod 600 {shared}" in hinted(home.run(
    "init", "--new-passphrase-file", shared, code=79))
  home.run("init", "--passphrase", code=64)
  assert not home.vault.exists()


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


def test_slots_need_the_root_key(home):
  home.init()
  home.run("unlock", *home.passphrase())
  for command in (
      ["slots", "add", "--new-key-file", "key"], ["slots", "remove", "2", "--yes"], ["rekey", "--yes"],
      ["recovery", "create", "--code-file", "code"],
      ["change-passphrase", "--new-passphrase-file", home.passphrase(b"another one")[1]]):
    refused = home.run(*command, code=77)
    assert "is unlocked, but this needs a secret that opens it" in refused.error, command
    assert "give the passphrase, with --passphrase-file FILE" in hinted(refused), command
    assert "keychain unlock" not in hinted(refused), command
  assert not (home.folder / "key").exists()
  home.run("lock", "--all")
  refused = home.run("slots", "add", "--new-key-file", "key", code=77)
  assert "is locked" in refused.error and "--passphrase-file FILE" in hinted(refused)
  home.run("slots", "add", "--new-key-file", "key", *home.passphrase(b"wrong"), code=78)
  home.run("slots", "add", "--new-key-file", "key", *home.passphrase())
  assert home.run("get", "nobody", "--key-file", "key", code=44)


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


def test_the_last_way_in_is_not_removed(home):
  home.set("alice", b"x")
  refused = home.run("slots", "remove", "1", "--yes", code=79)
  assert "slot 1" in refused.error or "nothing else" in refused.error
  assert "99" in home.run("slots", "remove", "99", code=44).error
  assert home.get("alice") == b"x"


def test_removing_a_slot_needs_a_yes(home):
  home.init()
  refused = home.run("slots", "remove", "1", *home.passphrase(), code=64)
  assert "--yes" in hinted(refused)
  assert kinds(home) == [("device", "openTier"), ("passphrase", "administers")]


def test_removing_last_passphrase_restores_device_access(home):
  home.init()
  home.set("alice", b"x", *home.passphrase())
  home.run("slots", "remove", "2", "--yes", *home.passphrase())
  assert kinds(home) == [("device", "administers")]
  assert home.get("alice") == b"x"
  home.run("verify")


def test_passcode_items_keep_the_last_passphrase(home):
  home.init()
  unlock = home.passphrase()
  home.set("alice", b"x", "--accessibility", "whenPasscodeSetThisDeviceOnly", *unlock)
  home.set("bob", b"y", *unlock)
  refused = home.run("slots", "remove", "2", "--yes", *unlock, code=79)
  assert "--delete-items" in refused.error
  asked = home.run("slots", "remove", "2", "--delete-items", *unlock, code=64)
  assert "'alice'" in asked.error and "--yes" in hinted(asked)
  assert home.get("alice", *unlock) == b"x"
  removed = home.run("slots", "remove", "2", "--delete-items", "--yes", *unlock)
  assert "'alice'" in removed.error and "'bob'" not in removed.error
  assert "deleted 1 item" in removed.error
  home.run("get", "alice", code=44)
  assert home.get("bob") == b"y"


def test_a_key_file_is_no_passcode(home):
  home.run("init", "--new-key-file", "key")
  home.set("alice", b"x", "--accessibility", "whenPasscodeSetThisDeviceOnly",
           "--key-file", "key", code=79)


def test_the_device_slot_goes_and_comes(home):
  home.init()
  unlock = home.passphrase()
  home.run("slots", "remove", "1", "--yes", *unlock)
  assert kinds(home) == [("passphrase", "administers")]
  home.run("slots", "add", "--device", *unlock)
  assert sorted(kinds(home)) == [("device", "openTier"), ("passphrase", "administers")]
  assert home.run("slots", "add", "--device", *unlock, code=75)
  home.run("slots", "add", code=64)
  home.run("slots", "add", "--device", "--passphrase", code=64)


def test_vault_made_with_source_gets_its_slot(make_home):
  home = make_home()
  made = home.set("alice", b"x", environment={"KEYCHAIN_PASSPHRASE_FILE": home.passphrase()[1]})
  assert "passphrase" in made.error
  assert kinds(home) == [("device", "openTier"), ("passphrase", "administers")]
  home.run("lock")
  home.run("get", "alice", code=77)


def test_the_state_is_always_reported(home):
  states = [home.run("status", "--json").json["state"]]
  home.init()
  states.append(home.run("status", "--json").json["state"])
  home.run("unlock", *home.passphrase())
  states.append(home.run("status", "--json").json["state"])
  assert states == ["absent", "locked", "unlocked"]


def test_slots_in_text(home):
  home.init("--new-key-file", str(home.folder / "key"), through=())
  lines = [line.split("\t") for line in home.run("slots", "list").out.decode().splitlines()]
  assert [line[:2] for line in lines] == [
    ["1", "device (this one)"], ["2", "passphrase"], ["3", "key file"]]
  assert lines[1][4] == "256 MiB, 3 passes"


def test_removing_last_passphrase_lists_losses_first(home):
  home.init()
  home.run("slots", "add", *home.passphrase(), "--new-passphrase-file", home.passphrase(b"two")[1])
  first = home.run("slots", "remove", "3", "--yes", *home.passphrase())
  assert "device key alone" not in first.error
  refused = home.run("slots", "remove", "2", *home.passphrase(), code=64)
  assert "device key alone opens everything" in refused.error
  assert len(home.run("slots", "list", "--json").json) == 2


WORDS = b"correct horse battery staple correct"


def test_key_file_of_few_words_is_reported(home, make_home):
  """Key files are not stretched; their content is never shown."""
  words = home.file("words", WORDS + b"\n")
  made = [home.run("init", "--with-key-file", words)]
  assert f"the key file {words} holds a few readable words" in made[0].error
  other = make_home()
  other.set("alice", b"x")
  made.append(other.run("slots", "add", "--with-key-file", words))
  first = make_home()
  made.append(first.set("alice", b"x", environment={"KEYCHAIN_KEY_FILE": words}))
  for outcome in made:
    assert "few readable words" in outcome.error
    assert "correct" not in outcome.error and b"correct" not in outcome.out
  # It is said once, where the key file gets its slot.
  assert "readable" not in home.run("list", "--key-file", words).error


def test_random_key_files_are_not_reported(make_home):
  key = bytes(range(7, 39))
  for contents in (key, key.hex().encode(), base64.b64encode(key) + b"\n"):
    home = make_home()
    assert "readable" not in home.run("init", "--with-key-file", home.file("key", contents)).error
