"""New keys for a vault: what stays, what is removed, and the value of old copies."""

from __future__ import annotations

import shutil

import pytest

from prefs_testing import Home, ended, hinted

QUESTION = "give the vault new keys? [y/N] "


def kinds(home: Home) -> list[tuple[int, str]]:
  return [(slot["number"], slot["kind"]) for slot in home.run("slots", "list", "--json").json]


def check(home: Home) -> str:
  return home.run("status", "--json").json["check"]


def epoch(home: Home) -> int:
  return home.run("status", "--json").json["epoch"]


def test_a_device_vault_needs_no_question(home):
  home.set("alice", b"secret", "--label", "Work")
  before, old = home.run("show", "alice", "--json").json, check(home)
  copy = home.copy_vault("old.db")
  outcome = home.run("rekey")
  assert outcome.out == b"" and "sealed 1 item again; the vault is opened by slot 1" in outcome.error
  assert "copies of the vault made before still open as they did" in hinted(outcome)
  assert check(home) == old and epoch(home) == 2 and "check" not in outcome.error
  assert home.run("show", "alice", "--json").json == before
  assert home.get("alice") == b"secret"
  assert home.get("alice", "--vault", str(copy)) == b"secret"
  home.run("verify")
  # The old copy is not taken for the vault.
  home.vault.write_bytes(copy.read_bytes())
  assert "rolled back" in home.run("get", "alice", code=65).error


def test_every_slot_stays_without_its_secret(locked):
  """Also a recovery code, which costs nobody a new paper."""
  unlock = locked.passphrase()
  locked.run("slots", "add", "--new-key-file", "key", "--name", "backup", *unlock)
  second = locked.passphrase(b"second")
  locked.run("slots", "add", "--new-passphrase-file", second[1], *unlock)
  locked.run("recovery", "create", "--code-file", "code", *unlock)
  recipient = locked.run("identity", "create", "mine").out.decode().strip()
  locked.run("slots", "add", "--recipient", recipient, *unlock)
  before, vault = kinds(locked), locked.vault.read_bytes()
  refused = locked.run("rekey", *unlock, code=64)
  assert "will open the vault: slot 3, key file 'backup'" in refused.error
  fingerprint = locked.run("identity", "show", "mine", "--json").json["fingerprint"]
  assert f"will open the vault: slot 6, recipient (fingerprint {fingerprint})" in refused.error
  assert "--yes" in hinted(refused) and locked.vault.read_bytes() == vault
  outcome = locked.run("rekey", "--yes", *unlock)
  assert "slot 3 (key file 'backup')" in outcome.error
  assert kinds(locked) == before and epoch(locked) == 2
  for source in (unlock, second, ("--key-file", "key"), ("--recovery-code-file", "code"),
                 ("--identity", "mine")):
    assert locked.get("whenUnlocked", *source) == b"whenUnlocked"
  assert locked.get("always") == b"always"
  locked.run("verify", *unlock)


def test_a_new_administration_key_changes_the_check(locked):
  unlock, old = locked.passphrase(), check(locked)
  outcome = locked.run("rekey", "--new-administration-key", "--yes", *unlock)
  assert check(locked) != old and f"the vault's check is now {check(locked)}" in outcome.error
  assert f"identity pin FILE --check {check(locked)}" in hinted(outcome)
  assert locked.get("whenUnlocked", *unlock) == b"whenUnlocked"


def other_machine(locked: Home, make_home) -> Home:
  """A machine that has seen the vault."""
  other = make_home()
  shutil.copytree(locked.vault.parent, other.vault.parent)
  assert other.get("whenUnlocked", *locked.passphrase()) == b"whenUnlocked"
  return other


@pytest.mark.parametrize("by_code", [False, True])
def test_other_machines_follow_the_recovery_code(locked, make_home, by_code):
  unlock = locked.passphrase()
  locked.run("recovery", "create", "--code-file", "code", *unlock)
  other = other_machine(locked, make_home)
  source = ("--recovery-code-file", "code") if by_code else unlock
  told = locked.run("rekey", "--new-administration-key", "--yes", *source)
  assert ("accept-restored" in hinted(told)) != by_code
  shutil.copy(locked.vault, other.vault)
  if not by_code:
    refused = other.run("get", "whenUnlocked", *unlock, code=65)
    assert "administration key" in refused.error and "accept-restored" in hinted(refused)
    other.run("accept-restored", "--yes", *unlock)
  assert other.get("whenUnlocked", *unlock) == b"whenUnlocked"


def test_the_cache_is_forgotten(locked):
  locked.run("unlock", *locked.passphrase())
  outcome = locked.run("rekey", "--yes", *locked.passphrase())
  assert "the vault is locked now" in hinted(outcome)
  locked.run("get", "whenUnlocked", code=77)
  assert locked.get("always") == b"always"
  locked.run("unlock", *locked.passphrase())
  assert locked.get("whenUnlocked") == b"whenUnlocked"
  locked.run("lock", "--all")


def test_other_devices_lose_what_only_they_could_open(locked, make_home):
  unlock = locked.passphrase()
  locked.set("bound", b"x", "--accessibility", "alwaysThisDeviceOnly", *unlock)
  other = make_home()
  shutil.copytree(locked.vault.parent, other.vault.parent)
  other.set("mine", b"y", "--accessibility", "whenUnlockedThisDeviceOnly", *unlock)
  other.run("slots", "add", "--device", *unlock)
  refused = other.run("rekey", *unlock, code=64)
  assert "slot 1, device (another one)" in refused.error
  assert "will be deleted: 1 item bound to other devices" in refused.error
  done = other.run("rekey", "--yes", *unlock)
  assert "sealed 4 items again, deleted 1 item" in done.error
  assert other.get("mine", *unlock) == b"y"
  other.run("get", "bound", *unlock, code=44)
  assert [kind for _, kind in kinds(other)] == ["device", "passphrase", "device"]


def test_on_a_terminal_a_yes_is_asked_for(locked):
  unlock = locked.passphrase()
  locked.run("slots", "add", "--new-key-file", "key", *unlock)
  vault = locked.vault.read_bytes()
  for answer, result in (("n", 130), ("y", 0)):
    terminal = locked.terminal("rekey", *unlock)
    terminal.expect_exact("will open the vault: slot 3, key file")
    terminal.expect_exact(QUESTION)
    terminal.sendline(answer)
    code, rest = ended(terminal)
    assert code == result and ("nothing was changed" in rest) == (answer == "n")
    assert (locked.vault.read_bytes() == vault) == (answer == "n")
  assert locked.get("whenUnlocked", "--key-file", "key") == b"whenUnlocked"


def test_damaged_items_are_named_and_dropped_on_request(home):
  for name in ("alice", "bob"):
    home.set(name, b"secret")
  home.spoil_secrets()
  home.set("carol", b"secret")
  before = home.vault.read_bytes()
  refused = home.run("rekey", "--yes", code=65)
  assert "'alice'" in refused.error and "'bob'" in refused.error
  assert "--drop-damaged" in hinted(refused) and home.vault.read_bytes() == before
  dropped = home.run("rekey", "--drop-damaged", "--yes")
  assert "'alice'" in dropped.error and "'bob'" in dropped.error
  assert home.layout().epoch == 2 and home.get("carol") == b"secret"
  home.run("get", "alice", code=44)
  home.run("verify")


def test_damaged_vault_keeps_its_keys(home):
  for name in ("alice", "bob"):
    home.set(name, b"secret")
  home.damage_log()
  refused = home.run("rekey", "--yes", code=65)
  assert "damaged" in refused.error and home.layout().epoch == 1
  home.run("rekey", "--vault", str(home.folder / "none.db"), code=69)


@pytest.mark.parametrize("command", [["slots", "remove", "4"], ["rekey", "--remove", "4"]])
def test_a_removal_gives_new_keys(locked, command):
  unlock = locked.passphrase()
  locked.run("slots", "add", "--new-key-file", "key", *unlock)
  second = locked.passphrase(b"second")
  locked.run("slots", "add", "--new-passphrase-file", second[1], *unlock)
  copy, old = locked.copy_vault("old.db"), check(locked)
  refused = locked.run(*command, *unlock, code=64)
  assert "will be removed: slot 4, passphrase" in refused.error and "--yes" in hinted(refused)
  removed = locked.run(*command, "--yes", *unlock)
  assert "removed slot 4: passphrase" in removed.error and "sealed 3 items again" in removed.error
  assert kinds(locked) == [(1, "device"), (2, "passphrase"), (3, "keyFile")]
  # The slot administered, so its former owner knows the administration key.
  assert check(locked) != old and epoch(locked) == 2
  locked.run("get", "whenUnlocked", *second, code=78)
  assert locked.get("whenUnlocked", "--key-file", "key") == b"whenUnlocked"
  assert locked.get("whenUnlocked", "--vault", str(copy), *second) == b"whenUnlocked"
  locked.run("verify", *unlock)


def test_keep_keys_seals_nothing_again(locked):
  unlock = locked.passphrase()
  locked.run("slots", "add", "--new-key-file", "key", *unlock)
  items = locked.entries()
  terminal = locked.terminal("slots", "remove", "3", "--keep-keys", *unlock)
  terminal.expect_exact("the vault keeps its keys, which the slot's owner may know")
  terminal.expect_exact("remove slot 3, key file, and keep the vault's keys? [y/N] ")
  terminal.sendline("n")
  assert ended(terminal)[0] == 130
  removed = locked.run("slots", "remove", "3", "--keep-keys", "--yes", *unlock)
  assert "rekey --new-administration-key" in hinted(removed)
  assert epoch(locked) == 1 and locked.entries() == items
  locked.run("get", "whenUnlocked", "--key-file", "key", code=78)
  # No number is used again.
  locked.run("slots", "add", "--new-key-file", "other", *unlock)
  assert kinds(locked) == [(1, "device"), (2, "passphrase"), (4, "keyFile")]


def test_removing_last_passphrase_gives_device_full_access(locked):
  unlock = locked.passphrase()
  locked.set("bound", b"x", "--accessibility", "whenPasscodeSetThisDeviceOnly", *unlock)
  refused = locked.run("slots", "remove", "2", "--yes", *unlock, code=79)
  assert "--delete-items" in hinted(refused) and "'bound'" in refused.error
  removed = locked.run("slots", "remove", "2", "--delete-items", "--yes", *unlock)
  assert "device key alone now opens everything" in removed.error
  assert "sealed 3 items again, deleted 1 item" in removed.error
  assert kinds(locked) == [(1, "device")]
  assert locked.get("whenUnlocked") == b"whenUnlocked"
  locked.run("get", "bound", code=44)
  locked.run("verify")


def test_a_removal_lists_everything_that_goes_with_it(locked):
  unlock = locked.passphrase()
  locked.run("recovery", "create", "--code-file", "code", *unlock)
  locked.set("bound", b"x", "--accessibility", "whenPasscodeSetThisDeviceOnly", *unlock)
  remove = ("slots", "remove", "2", "--recovery-code-file", "code")
  refused = locked.run(*remove, "--yes", code=79)
  assert "'bound'" in refused.error and "--delete-items" in hinted(refused)
  terminal = locked.terminal(*remove, "--delete-items")
  terminal.expect_exact("will open the vault: slot 3, recovery code")
  terminal.expect_exact("will be removed: slot 2, passphrase")
  terminal.expect_exact("will be deleted: ")
  terminal.expect_exact("'bound'")
  terminal.expect_exact("this machine's device key alone opens everything")
  terminal.expect_exact("remove slot 2, passphrase, and give the vault new keys? [y/N] ")
  terminal.sendline("y")
  code, rest = ended(terminal)
  assert code == 0 and "deleted 1 item" in rest
  assert kinds(locked) == [(1, "device"), (3, "recoveryCode")]
  assert locked.get("whenUnlocked") == b"whenUnlocked"
