"""New keys for a vault: what is kept, what is removed, and the value of old copies."""

from __future__ import annotations

import shutil
from dataclasses import replace

from prefs_testing import PASSPHRASE, Home, ended, hinted
from vault_reader import Secrets, Vault

TYPED = PASSPHRASE.decode()


def kinds(home: Home) -> list[tuple[int, str]]:
  return [(slot["number"], slot["kind"]) for slot in home.run("slots", "list", "--json").json]


def check(home: Home) -> str:
  return home.rows("SELECT hex(check0) FROM vault")[0][0].lower()


def test_a_device_vault_needs_no_question(home):
  home.set("alice", b"secret", "--label", "Work")
  before, old = home.run("show", "alice", "--json").json, check(home)
  copy = home.copy_vault("old.db")
  outcome = home.run("rekey")
  assert outcome.out == b"" and "sealed 1 item again; the vault is opened by slot 1" in outcome.error
  assert f"the vault's check is now {check(home)}" in outcome.error and check(home) != old
  assert "copies of the vault made before still open as they did" in hinted(outcome)
  assert home.run("show", "alice", "--json").json == before
  assert home.get("alice") == b"secret"
  assert home.get("alice", "--vault", str(copy)) == b"secret"
  home.run("verify")
  # The old copy is not taken for the vault.
  home.vault.write_bytes(copy.read_bytes())
  assert "another vault" in home.run("get", "alice", code=65).error


def test_rekey_keeps_presented_slots_and_drops_confirmed(locked):
  unlock = locked.passphrase()
  locked.run("slots", "add", "--new-key-file", "key", *unlock)
  locked.run("slots", "add", "--new-passphrase-file", locked.passphrase(b"second")[1], *unlock)
  old, vault = check(locked), locked.vault.read_bytes()
  refused = locked.run("rekey", *unlock, code=64)
  assert "will open nothing any more: slot 3, key file" in refused.error
  assert "slot 4, passphrase" in refused.error
  assert "--keep-key-file" in hinted(refused) and "--yes" in hinted(refused)
  wrong = locked.run("rekey", "--keep-passphrase-file", locked.passphrase(b"wrong")[1], *unlock,
                     "--yes", code=78)
  assert "--keep-passphrase-file does not open" in wrong.error
  assert locked.vault.read_bytes() == vault
  outcome = locked.run("rekey", "--keep-key-file", "key", "--yes", *unlock)
  assert "slot 4, passphrase" in outcome.error and "slot 3, key" not in outcome.error.split("sealed")[0]
  assert kinds(locked) == [(1, "device"), (2, "passphrase"), (3, "keyFile")]
  assert check(locked) != old
  locked.run("get", "whenUnlocked", *locked.passphrase(b"second"), code=78)
  for source in (unlock, ("--key-file", "key")):
    assert locked.get("whenUnlocked", *source) == b"whenUnlocked"
  assert locked.get("always") == b"always"
  locked.run("verify", *unlock)


def test_dropped_recovery_code_must_be_made_again(locked):
  unlock = locked.passphrase()
  locked.run("recovery", "create", "--code-file", "code", *unlock)
  assert "recovery create" in hinted(locked.run("rekey", "--yes", *unlock))
  assert "recovery create" not in hinted(locked.run("rekey", "--yes", *unlock))


def test_several_are_kept(locked):
  unlock = locked.passphrase()
  for name in (b"second", b"third"):
    locked.run("slots", "add", "--new-passphrase-file", locked.passphrase(name)[1], *unlock)
  locked.run("recovery", "create", "--code-file", "code", *unlock)
  second, third = locked.passphrase(b"second")[1], locked.passphrase(b"third")[1]
  # Nothing goes, so nobody has to be asked.
  locked.run("rekey", "--keep-passphrase-file", second, "--keep-passphrase-file", third,
             "--keep-recovery-code-file", "code", *unlock)
  assert [kind for _, kind in kinds(locked)] == ["device"] + ["passphrase"] * 3 + ["recoveryCode"]
  for source in (unlock, ("--passphrase-file", third), ("--recovery-code-file", "code")):
    assert locked.get("whenUnlocked", *source) == b"whenUnlocked"


def test_removed_passphrase_with_old_row_opens_nothing(locked):
  unlock = locked.passphrase()
  second = locked.passphrase(b"second")
  locked.run("slots", "add", "--new-passphrase-file", second[1], *unlock)
  row = locked.rows("SELECT * FROM slot WHERE number = 3")[0]
  locked.run("slots", "remove", "3", "--yes", *unlock)
  put_back = f"INSERT INTO slot VALUES ({', '.join('?' * len(row))})"
  locked.rows(put_back, *row)
  # This is what SECURITY.md says of a removed passphrase, and what new keys are for.
  assert locked.get("whenUnlocked", *second) == b"whenUnlocked"
  locked.rows("DELETE FROM slot WHERE number = 3")
  locked.run("rekey", *unlock)
  locked.rows(put_back, *row)
  assert locked.run("get", "whenUnlocked", *second, code=65)


def test_the_cache_is_forgotten(locked):
  locked.run("unlock", *locked.passphrase())
  outcome = locked.run("rekey", *locked.passphrase())
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
  assert [kind for _, kind in kinds(other)] == ["passphrase", "device"]


def test_passcode_items_keep_a_passphrase(locked):
  unlock = locked.passphrase()
  locked.run("slots", "add", "--new-key-file", "key", *unlock)
  locked.set("bound", b"x", "--accessibility", "whenPasscodeSetThisDeviceOnly", *unlock)
  refused = locked.run("rekey", "--key-file", "key", "--yes", code=79)
  assert "no passphrase would be kept" in refused.error
  locked.run("rekey", "--key-file", "key", "--keep-passphrase-file", unlock[1])
  assert locked.get("bound", *unlock) == b"x"


def test_identities_stay_and_need_the_new_check(locked):
  unlock = locked.passphrase()
  recipients = [
    locked.run("identity", "create", name).out.decode().strip() for name in ("mine", "theirs")]
  for recipient in recipients:
    locked.run("slots", "add", "--recipient", recipient, *unlock)
  for name in ("mine", "theirs"):
    locked.run("identity", "pin", name)
  outcome = locked.run("rekey", "--identity", "mine", "--keep-recipient", recipients[1], "--yes")
  assert f"identity pin FILE --check {check(locked)}" in hinted(outcome)
  assert [kind for _, kind in kinds(locked)] == ["device", "recipient", "recipient"]
  assert locked.get("whenUnlocked", "--identity", "mine") == b"whenUnlocked"
  locked.run("get", "whenUnlocked", "--identity", "theirs", code=65)
  locked.run("identity", "pin", "theirs", "--check", check(locked))
  assert locked.get("whenUnlocked", "--identity", "theirs") == b"whenUnlocked"


def test_on_a_terminal_each_passphrase_is_asked_for(locked):
  unlock = locked.passphrase()
  for name in (b"second", b"third"):
    locked.run("slots", "add", "--new-passphrase-file", locked.passphrase(name)[1], *unlock)
  terminal = locked.terminal("rekey")
  terminal.expect_exact("vault.db: ")
  terminal.sendline(TYPED)
  terminal.expect_exact("passphrase of slot 3 (empty to let it go): ")
  terminal.sendline("wrong")
  terminal.expect_exact("try again")
  terminal.expect_exact("passphrase of slot 3 (empty to let it go): ")
  terminal.sendline("second")
  terminal.expect_exact("passphrase of slot 4 (empty to let it go): ")
  terminal.sendline("")
  terminal.expect_exact("slot 4, passphrase")
  terminal.expect_exact("give the vault new keys, and lose that? [y/N] ")
  terminal.sendline("y")
  code, rest = ended(terminal)
  assert code == 0 and "second" not in rest and "sealed 3 items again" in rest
  assert kinds(locked) == [(1, "device"), (2, "passphrase"), (3, "passphrase")]
  assert locked.get("whenUnlocked", *locked.passphrase(b"second")) == b"whenUnlocked"


def test_no_is_no(locked):
  unlock = locked.passphrase()
  locked.run("slots", "add", "--new-key-file", "key", *unlock)
  vault = locked.vault.read_bytes()
  terminal = locked.terminal("rekey", *unlock)
  terminal.expect_exact("[y/N] ")
  terminal.sendline("n")
  code, rest = ended(terminal)
  assert code == 130 and "nothing was changed" in rest
  assert locked.vault.read_bytes() == vault


def test_damaged_vault_keeps_its_keys(home):
  for name in ("alice", "bob"):
    home.set(name, b"secret")
  home.rows("DELETE FROM token WHERE item = (SELECT min(id) FROM item)")
  old = check(home)
  refused = home.run("rekey", "--yes", code=65)
  assert "not intact" in refused.error and "verify" in hinted(refused)
  assert check(home) == old
  home.run("rekey", "--vault", str(home.folder / "none.db"), code=69)


def test_on_a_terminal_each_recipient_is_asked_about(locked):
  unlock = locked.passphrase()
  recipients = [
    locked.run("identity", "create", name).out.decode().strip() for name in ("mine", "theirs")]
  for recipient in recipients:
    locked.run("slots", "add", "--recipient", recipient, *unlock)
  terminal = locked.terminal("rekey", *unlock)
  for number, recipient, answer in ((3, recipients[0], "y"), (4, recipients[1], "n")):
    terminal.expect_exact(f"slot {number} opens the vault to recipient {recipient}; keep it? [y/N] ")
    terminal.sendline(answer)
  terminal.expect_exact(f"will open nothing any more: slot 4, recipient {recipients[1]}")
  terminal.expect_exact("[y/N] ")
  terminal.sendline("y")
  code, rest = ended(terminal)
  assert code == 0 and f"slot 3 (recipient {recipients[0]})" in rest
  assert [kind for _, kind in kinds(locked)] == ["device", "passphrase", "recipient"]


def test_recipient_without_slot_is_not_kept(locked):
  nobody = locked.run("identity", "create", "mine").out.decode().strip()
  vault = locked.vault.read_bytes()
  refused = locked.run("rekey", "--keep-recipient", nobody, *locked.passphrase(), code=44)
  assert nobody in refused.error and "slots list" in hinted(refused)
  assert locked.vault.read_bytes() == vault
  locked.run("rekey", "--keep-recipient", "pkpub1-x", code=64)


def test_a_slot_is_removed_in_the_same_step(locked):
  unlock = locked.passphrase()
  locked.run("slots", "add", "--new-key-file", "key", *unlock)
  second = locked.passphrase(b"second")
  locked.run("slots", "add", "--new-passphrase-file", second[1], *unlock)
  copy, old = locked.copy_vault("old.db"), check(locked)
  row = locked.rows("SELECT * FROM slot WHERE number = 4")[0]
  refused = locked.run("slots", "remove", "4", "--rekey", *unlock, code=64)
  assert "--yes" in hinted(refused)
  removed = locked.run("slots", "remove", "4", "--rekey", "--keep-key-file", "key", "--yes", *unlock)
  assert "removed slot 4: passphrase" in removed.error and "sealed 3 items again" in removed.error
  assert kinds(locked) == [(1, "device"), (2, "passphrase"), (3, "keyFile")]
  assert check(locked) != old
  # The old row gives a key that opens nothing any more.
  locked.rows(f"INSERT INTO slot VALUES ({', '.join('?' * len(row))})", *row)
  locked.run("get", "whenUnlocked", *second, code=65)
  locked.rows("DELETE FROM slot WHERE number = 4")
  assert locked.get("whenUnlocked", "--key-file", "key") == b"whenUnlocked"
  assert locked.get("whenUnlocked", "--vault", str(copy), *second) == b"whenUnlocked"
  locked.run("verify", *unlock)


def test_rekey_without_passphrase_gives_device_full_access(locked):
  unlock = locked.passphrase()
  locked.set("bound", b"x", "--accessibility", "whenPasscodeSetThisDeviceOnly", *unlock)
  refused = locked.run("slots", "remove", "2", "--rekey", "--yes", *unlock, code=79)
  assert "--delete-items" in hinted(refused) and "'bound'" in refused.error
  removed = locked.run("slots", "remove", "2", "--rekey", "--delete-items", "--yes", *unlock)
  assert "device key alone now opens everything" in removed.error
  assert "sealed 3 items again, deleted 1 item" in removed.error
  assert kinds(locked) == [(1, "device")]
  assert locked.get("whenUnlocked") == b"whenUnlocked"
  locked.run("get", "bound", code=44)
  locked.run("verify")


def test_a_removal_lists_everything_that_goes_with_it(locked):
  unlock = locked.passphrase()
  locked.run("slots", "add", "--new-passphrase-file", locked.passphrase(b"second")[1], *unlock)
  locked.run("recovery", "create", "--code-file", "code", *unlock)
  locked.set("bound", b"x", "--accessibility", "whenPasscodeSetThisDeviceOnly", *unlock)
  remove = ("slots", "remove", "2", "--rekey", "--recovery-code-file", "code")
  refused = locked.run(*remove, "--yes", code=79)
  assert "'bound'" in refused.error and "--delete-items" in hinted(refused)
  terminal = locked.terminal(*remove, "--delete-items")
  terminal.expect_exact("[y/N] ")
  terminal.sendline("y")
  terminal.expect_exact("passphrase of slot 3 (empty to let it go): ")
  terminal.sendline("")
  terminal.expect_exact("will open nothing any more: slot 3, passphrase")
  terminal.expect_exact("will be deleted: ")
  terminal.expect_exact("'bound'")
  terminal.expect_exact("this machine's device key alone opens everything")
  terminal.expect_exact("[y/N] ")
  terminal.sendline("y")
  code, rest = ended(terminal)
  assert code == 0 and "deleted 1 item" in rest
  assert kinds(locked) == [(1, "device"), (4, "recoveryCode")]
  assert locked.get("whenUnlocked") == b"whenUnlocked"


def test_removal_with_new_keys_drops_forged_slot(locked):
  unlock = locked.passphrase()
  locked.run("slots", "add", "--new-key-file", "key", *unlock)
  locked.run("slots", "add", "--new-passphrase-file", locked.passphrase(b"second")[1], *unlock)
  vault = Vault(locked.vault, Secrets(device=(locked.state / "device.key").read_bytes()))
  forged = replace(next(slot for slot in vault.rows.slots if slot.number == 3), mac=bytes(32))
  locked.rows("UPDATE slot SET mac = ?, sum = ? WHERE number = 3", forged.mac, forged.computed_sum())
  locked.run("accept-restored", "--yes", *unlock)
  removed = locked.run("slots", "remove", "4", "--rekey", "--delete-items", "--yes", *unlock)
  assert "slot 3, key file, which no holder of the vault's root key made" in removed.error
  assert kinds(locked) == [(1, "device"), (2, "passphrase")]


def test_slot_removal_suggests_new_keys(locked):
  unlock = locked.passphrase()
  locked.run("slots", "add", "--new-key-file", "key", *unlock)
  terminal = locked.terminal("slots", "remove", "3", *unlock)
  terminal.expect_exact("'slots remove --rekey' does both in one step")
  terminal.expect_exact("[y/N] ")
  terminal.sendline("n")
  assert ended(terminal)[0] == 130
  terminal = locked.terminal("slots", "remove", "1", *unlock)
  terminal.expect_exact("the vault keeps its keys")
  terminal.expect_exact("[y/N] ")
  terminal.sendline("y")
  code, rest = ended(terminal)
  assert code == 0 and "keeps its keys" not in rest
  locked.run("slots", "add", "--device", *unlock)
  removed = locked.run("slots", "remove", "3", "--yes", *unlock)
  assert "slots remove --rekey" in hinted(removed)
  locked.run("slots", "remove", "1", "--keep-key-file", "key", "--yes", *unlock, code=64)
