"""Locking, unlocking, and the accessibilities."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from dataclasses import replace

import pytest

from prefs_testing import LOCKED_ITEMS, PASSPHRASE, hinted
from vault_seen import cache_name

# No account has it; files that belong to it belong to a stranger.
STRANGER = 54321


def readable(home) -> list[str]:
  outcomes = {name: home.run("get", name, code=None) for name in LOCKED_ITEMS}
  assert {outcome.code for outcome in outcomes.values()} <= {0, 77}
  return [name for name in LOCKED_ITEMS if outcomes[name].out == name.encode()]


def test_what_unlock_and_lock_open_and_close(locked):
  assert readable(locked) == ["always"]
  locked.run("unlock", *locked.passphrase())
  assert readable(locked) == ["always", "afterFirstUnlock", "whenUnlocked"]
  locked.run("lock")
  assert readable(locked) == ["always", "afterFirstUnlock"]
  locked.run("lock", "--all")
  assert readable(locked) == ["always"]


def test_locked_gives_a_hint(locked):
  refused = locked.run("get", "whenUnlocked", code=77)
  assert refused.out == b"" and "is locked" in refused.error
  assert "KEYCHAIN_PASSPHRASE_FILE" in hinted(refused)
  locked.set("new", b"x", code=77)
  locked.run("delete", "whenUnlocked", code=77)
  locked.run("update", "whenUnlocked", "--label", "x", code=77)


def test_refused_command_records_no_store(locked):
  def records():
    return sorted(path.name for path in (locked.state / "stores").glob("*"))

  before = records()
  refused = locked.set("new", b"x", "--service", "new", code=77)
  assert "are kept in" not in refused.error
  assert records() == before
  locked.set("new", b"x", "--service", "new", *locked.passphrase())
  assert len(records()) == len(before) + 1


def test_missing_and_locked_items_are_distinguished(locked):
  locked.run("get", "nobody", code=44)
  locked.run("delete", "nobody", "--if-exists")


def test_locked_items_are_counted_not_named(locked):
  listed = locked.run("list", "--json")
  assert [item["account"] for item in listed.json] == ["always"]
  assert "2 items are locked" in listed.error and "whenUnlocked" not in listed.error


def test_wrong_passphrase_and_wrong_kind_of_source(locked):
  refused = locked.run("get", "always", *locked.passphrase(b"wrong"), code=78)
  assert "does not open the vault" in refused.error and "wrong" not in refused.error
  key = locked.file("key", b"k" * 32)
  assert "has no such slot" in locked.run("get", "always", "--key-file", key, code=78).error
  empty = locked.file("empty", b"\n")
  assert "holds no passphrase" in locked.run(
    "get", "always", "--passphrase-file", empty, code=78).error


def test_the_first_source_of_the_environment_decides(locked):
  right, wrong = locked.passphrase()[1], locked.passphrase(b"wrong")[1]
  both = {"KEYCHAIN_PASSPHRASE_FILE": wrong, "KEYCHAIN_PASSPHRASE": PASSPHRASE.decode()}
  refused = locked.run("get", "whenUnlocked", environment=both, code=78)
  assert "KEYCHAIN_PASSPHRASE_FILE" in refused.error and PASSPHRASE.decode() not in refused.error
  # What needs no unlock does not look at it.
  locked.run("get", "always", environment=both)
  # An option comes before all of them.
  assert locked.get("whenUnlocked", "--passphrase-file", right, environment=both)


@pytest.mark.parametrize("source", ["file", "variable"])
def test_environment_source_unlocks_for_a_while(locked, source):
  environment = {
    "file": {"KEYCHAIN_PASSPHRASE_FILE": locked.passphrase()[1]},
    "variable": {"KEYCHAIN_PASSPHRASE": PASSPHRASE.decode()}}[source]
  assert locked.get("whenUnlocked", environment=environment) == b"whenUnlocked"
  assert locked.get("whenUnlocked") == b"whenUnlocked"


def test_an_explicit_source_unlocks_nothing_for_others(locked):
  assert locked.get("whenUnlocked", *locked.passphrase())
  assert readable(locked) == ["always"]


def test_a_passphrase_by_a_descriptor(locked):
  reader, writer = os.pipe()
  os.write(writer, PASSPHRASE + b"\n")
  os.close(writer)
  assert locked.get("whenUnlocked", "--passphrase-fd", str(reader), pass_fds=[reader])
  os.close(reader)
  refused = locked.run("get", "whenUnlocked", "--passphrase-fd", "77", code=64)
  assert "descriptor 77, given by --passphrase-fd, is not open" in refused.error


@pytest.mark.parametrize("number", range(10))
def test_closed_descriptor_is_refused(home, number):
  """Files that the program opened itself must not be read as passphrases."""
  for options in (["get", "alice", "--passphrase-fd"], ["init", "--new-passphrase-fd"]):
    refused = home.run(*options, str(number), code=64, close_fds=True,
                       preexec_fn=lambda: number < 3 and os.close(number))
    if number != 2:
      assert f"descriptor {number}, given by {options[-1]}, is not open" in refused.error
  assert not home.vault.exists()


def test_locking_device_vault_warns_it_stays_open(home):
  assert "there is no vault" in hinted(home.run("lock"))
  home.set("alice", b"x")
  told = hinted(home.run("lock", "--all"))
  assert "by the device key alone" in told and "slots add --passphrase" in told
  assert home.get("alice") == b"x"


def test_passphrase_vault_locks_silently(locked):
  locked.run("unlock", *locked.passphrase())
  assert locked.run("lock").error == ""


@pytest.mark.parametrize("change", [
  {"vault": bytes(16)}, {"epoch": 2}, {"administration": bytes(32)},
  {"checks": (bytes(16),) * 3}])
def test_lock_forgets_keys_of_vault_with_changed_head(locked, change):
  locked.run("unlock", *locked.passphrase())
  head = locked.head()
  locked.put_head(replace(head, **change))
  locked.run("lock", "--all", code=None)
  locked.put_head(head)
  assert readable(locked) == ["always"]


def test_a_vault_whose_head_was_changed_is_damaged(locked, make_home):
  """With the check of another vault, whose members know its key, which is unlocked here, too."""
  other = make_home()
  other.init()
  for home in (locked, other):
    home.run("unlock", *home.passphrase())
  own, theirs = locked.head(), other.head()
  locked.put_head(replace(own, checks=(*own.checks[:2], theirs.checks[2])))
  refused = locked.set("new", b"x", code=65)
  assert "damaged" in refused.error
  for command in (["get", "whenUnlocked"], ["list"], ["status"], ["doctor"], ["verify"]):
    locked.run(*command, code=65)
  locked.put_head(own)
  locked.run("get", "new", code=44)
  assert locked.run("verify").out == b"checked 3 items: intact\n"


def test_lock_forgets_keys_of_missing_vault(locked):
  locked.run("unlock", *locked.passphrase())
  away = locked.vault.with_suffix(".away")
  locked.vault.rename(away)
  assert "is gone; its keys were forgotten" in hinted(locked.run("lock", "--all"))
  away.rename(locked.vault)
  assert readable(locked) == ["always"]


@pytest.mark.parametrize("place", ["file", "folder"])
@pytest.mark.parametrize("target", ["nothing", "another vault"])
def test_lock_forgets_keys_of_the_vault_whose_place_a_link_took(locked, make_home, place, target):
  locked.run("unlock", *locked.passphrase())
  own = locked.vault if place == "file" else locked.vault.parent
  away = locked.folder / "away"
  own.rename(away)
  other = make_home()
  if target == "another vault":
    other.set("x", b"x")
  own.symlink_to(other.vault if place == "file" else other.vault.parent)
  locked.run("lock", "--all")
  own.unlink()
  away.rename(own)
  assert readable(locked) == ["always"]


def test_lock_forgets_keys_of_the_vault_that_another_file_replaced(locked, make_home):
  locked.run("unlock", *locked.passphrase())
  away = locked.vault.with_suffix(".away")
  locked.vault.rename(away)
  other = make_home()
  other.set("x", b"x")
  shutil.copy(other.vault, locked.vault)
  locked.run("lock", "--all")
  away.rename(locked.vault)
  assert readable(locked) == ["always"]


def test_keys_that_may_stay_are_an_error(locked):
  locked.run("unlock", *locked.passphrase())
  record, = (locked.state / "seen").iterdir()
  record.write_bytes(b"damaged")
  refused = locked.run("lock", "--all", code=65)
  assert "may stay" in refused.error and "keyctl purge" in hinted(refused)
  # Those of the vault that is there are gone.
  assert readable(locked) == ["always"]
  locked.run("lock", "--all")


# It finds which vault was unlocked here, and its key; or nothing.
@pytest.mark.parametrize("failing", ["error=EACCES:when=4+", "error=ENOMEM"])
def test_a_key_that_the_kernel_does_not_remove_is_an_error(locked, tracing, failing):
  locked.run("unlock", *locked.passphrase())
  refused = locked.run("lock", code=74, through=through_keyctl(failing))
  assert "does not remove a key" in refused.error
  assert "whenUnlocked" in readable(locked)
  locked.run("lock", "--all")


def test_keys_of_an_unknown_vault_are_an_error(locked, tracing):
  locked.run("unlock", *locked.passphrase())
  # Which vault was unlocked here is found, but not read.
  assert "does not remove a key" in locked.run("lock", code=74, through=through_keyctl("error=EACCES:when=2")).error


# Whichever call of the kernel fails, the vault that was unlocked here before another one is found.
def test_lock_finds_the_vault_that_was_there_before(home, make_home, tracing):
  other = make_home()
  vaults = []
  for one in (home, other):
    one.run("init", "--new-key-file", "key")
    one.set("alice", b"x", "--accessibility", "whenUnlocked", "--key-file", "key")
    vaults.append((one.vault.read_bytes(), ["--key-file", one.folder / "key"]))

  def put(vault: bytes) -> None:
    shutil.rmtree(home.state / "seen", ignore_errors=True)
    home.vault.write_bytes(vault)

  for number in range(1, 50):
    put(vaults[0][0])
    home.run("unlock", *vaults[0][1])
    put(vaults[1][0])
    outcome = home.run("unlock", *vaults[1][1], code=None, through=through_keyctl(f"error=EACCES:when={number}"))
    put(vaults[1][0])
    home.run("lock", "--all")
    home.run("get", "alice", code=77)
    put(vaults[0][0])
    assert home.run("get", "alice", code=None).code == 77, (number, outcome)
  assert outcome.code == 0, outcome


# Room for some of the keys is not enough: what was there before stays, and nothing else.
@pytest.mark.parametrize("first", ["nothing", "afterFirstUnlock"])
def test_unlocking_that_fails_unlocks_nothing(home, tracing, first):
  key = ["--key-file", "key"]
  home.run("init", "--new-key-file", "key")
  for name in LOCKED_ITEMS:
    home.set(name, name.encode(), "--accessibility", name, *key)
  if first != "nothing":
    home.run("unlock", *key)
    home.run("lock")
  before = readable(home)
  codes = set()
  for number in range(1, 30):
    outcome = home.run("unlock", *key, code=None, through=through_keyctl(f"error=ENOMEM:when={number}"))
    codes.add(outcome.code)
    if outcome.code == 79:
      assert readable(home) == before, (number, outcome)
    else:
      assert outcome.code == 0, (number, outcome)
      home.run("lock", *["--all"] * (first == "nothing"))
  assert codes == {0, 79}


def test_lock_finds_what_was_unlocked_behind_a_link(locked):
  folder, there = locked.vault.parent, locked.folder / "there"
  folder.rename(there)
  folder.symlink_to(there)
  locked.run("unlock", *locked.passphrase())
  folder.unlink()
  folder.mkdir(mode=0o700)
  shutil.rmtree(locked.state / "seen")
  locked.run("lock", "--all")
  folder.rmdir()
  folder.symlink_to(there)
  assert readable(locked) == ["always"]


# The kernel counts the time of a key in whole seconds, so that one second may end at once.
def test_slow_kernel_is_not_a_missing_keyring(locked, tracing):
  refused = locked.run(
    "get", "whenUnlocked", "--no-prompt", code=77, through=through_keyctl("delay_exit=250000"))
  assert "prefs keychain unlock" in hinted(refused)


def through_keyctl(fault: str) -> list[str]:
  return ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=keyctl", "-e", f"inject=keyctl:{fault}"]


def test_lock_forgets_keys_despite_writable_folder(locked):
  locked.run("unlock", *locked.passphrase())
  locked.folder.chmod(0o757)
  refused = locked.run("lock", "--all", code=79)
  assert "other users can write" in refused.error and "chmod go-w" in hinted(refused)
  assert "keys of the vault were forgotten" in refused.error
  locked.folder.chmod(0o700)
  assert readable(locked) == ["always"]


def test_lock_forgets_keys_despite_foreign_link(locked, superuser):
  locked.run("unlock", *locked.passphrase())
  own, away = locked.vault.parent, locked.folder / "away"
  own.rename(away)
  own.symlink_to(locked.folder / "elsewhere")
  os.lchown(own, STRANGER, STRANGER)
  assert "made by another user" in locked.run("lock", "--all", code=79).error
  own.unlink()
  away.rename(own)
  assert readable(locked) == ["always"]


def test_list_says_how_to_see_locked_items(locked):
  for options in ([], ["--json"]):
    listed = locked.run("list", *options)
    assert "2 items are locked" in listed.error
    assert hinted(listed) == "run 'prefs keychain unlock' to see them"


def test_a_vault_of_a_key_file_is_not_unlocked_by_a_passphrase(home):
  """Otherwise `list` says `unlock`, and `unlock` asks for the key file."""
  home.run("init", "--new-key-file", "key")
  home.set("alice", b"x", "--key-file", "key")
  home.run("lock", "--all")
  way = "'prefs keychain unlock --key-file FILE'"
  assert hinted(home.run("list", code=77)) == f"run {way} to see them"
  assert f"to unlock, run {way}" in home.run("doctor").out.decode()
  for command in ["unlock"], ["get", "alice"]:
    assert way in hinted(home.run(*command, code=77))
  home.run("unlock", "--key-file", "key")
  assert home.get("alice") == b"x"


def test_a_timeout_is_fixed(locked):
  locked.run("unlock", "--timeout", "100s", *locked.passphrase())
  assert 0 < locked.run("status", "--json").json["cachedForSeconds"] <= 100
  locked.get("whenUnlocked")
  assert locked.run("status", "--json").json["cachedForSeconds"] <= 100


def test_a_timeout_ends(locked):
  locked.run("unlock", "--timeout", "1s", *locked.passphrase())
  time.sleep(1.2)
  assert readable(locked) == ["always", "afterFirstUnlock"]


def test_use_prolongs_and_looking_does_not(locked):
  locked.run("unlock", *locked.passphrase())
  name = cache_name(2, locked.head().vault).decode()
  key = subprocess.run(["keyctl", "search", "@u", "user", name],
                       capture_output=True, check=True, text=True).stdout.strip()
  subprocess.run(["keyctl", "timeout", key, "100"], check=True)
  for looking in (["status"], ["doctor"], ["list"], ["slots", "list"], ["verify"],
                  ["show", "whenUnlocked"], ["get", "always"]):
    locked.run(*looking)
    if looking[0] in ("status", "doctor"):
      assert locked.run("status", "--json").json["cachedForSeconds"] <= 100, looking
  locked.get("whenUnlocked")
  assert locked.run("status", "--json").json["cachedForSeconds"] > 800


def test_status(locked):
  status = locked.run("status", "--json").json
  assert status["exists"] and status["items"] == 3 and status["readable"] == "nothing"
  assert [slot["kind"] for slot in status["slots"]] == ["device", "passphrase"]
  assert "items that need no unlock are readable" in locked.run("status").out.decode()
  locked.run("unlock", *locked.passphrase())
  assert locked.run("status", "--json").json["readable"] == "unlockedNow"
  assert "unlocked, for" in locked.run("status").out.decode()
  locked.run("lock")
  assert locked.run("status", "--json").json["readable"] == "unlockedSinceBoot"


def test_commands_on_no_vault(home):
  assert home.run("status", "--json").json["exists"] is False
  home.run("lock")
  for command in (["unlock"], ["verify"], ["slots", "list"], ["backup", "x"]):
    assert "there is no vault" in home.run(*command, code=69).error
  assert not home.vault.exists()


def test_the_vault_of_a_device_is_always_open(home):
  home.set("alice", b"x")
  home.run("lock", "--all")
  assert home.get("alice") == b"x"
  (home.state / "device.key").rename(home.folder / "gone")
  refused = home.run("get", "alice", code=77)
  assert "device.key" in hinted(refused)
