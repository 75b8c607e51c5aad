"""Vaults that were damaged, replaced or restored."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import sys

import pytest

from prefs_testing import LOCKED_ITEMS, hinted
from vault_layout import flip, put


@pytest.fixture
def three(home):
  for name in ("alice", "bob", "carol"):
    home.set(name, name.encode() * 1000, "--label", name)
  return home


def test_damaged_item_is_named_and_others_readable(three):
  three.set("bob", b"bob" * 1000)
  flip(three.vault, three.layout().secrets[-1].start + 30)
  damaged = three.run("get", "bob", code=65)
  assert "'bob'" in damaged.error and "damaged" in damaged.error and damaged.out == b""
  for name in ("alice", "carol"):
    assert three.get(name) == name.encode() * 1000
  checked = three.run("verify", "--json", code=65).json
  assert checked["intact"] is False and "bob" in checked["problems"][0]
  assert b"not intact" in three.run("verify", code=65).out
  assert "'bob'" in three.run("rekey", "--yes", code=65).error
  three.run("rekey", "--yes", "--drop-damaged")
  three.run("get", "bob", code=44)
  assert three.get("alice") == b"alice" * 1000
  three.run("verify")


def test_random_damage_is_never_absence_or_wrong_secret(three):
  contents = three.vault.read_bytes()
  random_bytes = random.Random(1)
  codes = set()
  for offset in random_bytes.sample(range(len(contents)), 60):
    three.vault.write_bytes(contents)
    flip(three.vault, offset)
    for name in ("alice", "bob"):
      outcome = three.run("get", name, code=None)
      codes.add(outcome.code)
      # A slot that was changed opens nothing, as if it were another's.
      assert outcome.code in (0, 65, 77, 78, 79), (offset, outcome)
      assert outcome.code != 79 or "newer" in outcome.error, (offset, outcome)
      assert outcome.out == (name.encode() * 1000 if outcome.code == 0 else b"")
  assert {0, 65} <= codes


def test_a_truncated_vault(three):
  contents = three.vault.read_bytes()
  for size in (1, 100, 4096, len(contents) // 2):
    three.vault.write_bytes(contents[:size])
    three.run("get", "alice", code=65)
    three.set("new", b"x", code=65)
    assert three.vault.read_bytes() == contents[:size]


def test_foreign_files(home):
  text = home.file("text", b"not a vault, but long enough to be one " * 100)
  for command in (["get", "alice"], ["set", "alice", "--allow-empty"], ["status"]):
    refused = home.run(*command, "--vault", text, code=65)
    assert text in refused.error and "vault" in refused.error


def test_format_2_is_refused_in_a_sentence(three):
  three.vault.write_bytes(b"SQLite format 3\0" + bytes(20_000))
  contents = three.vault.read_bytes()
  for command in (["get", "alice"], ["set", "alice", "--allow-empty"], ["verify"], ["status"]):
    refused = three.run(*command, code=79)
    assert "format 2" in refused.error and "export" in hinted(refused)
  assert three.vault.read_bytes() == contents


def test_a_newer_format_is_refused_with_its_number(three):
  put(three.vault, 8, b"\7")
  contents = three.vault.read_bytes()
  for command in (["get", "alice"], ["set", "alice", "--allow-empty"], ["verify"], ["status"]):
    refused = three.run(*command, code=79)
    assert "7" in refused.error and "newer" in refused.error
  assert three.vault.read_bytes() == contents


def test_slot_asking_for_tebibyte_is_refused_immediately(locked):
  parameters = locked.layout().slots[2].start + 10
  assert locked.layout().u64(parameters) == 64 << 20
  put(locked.vault, parameters, (1 << 40).to_bytes(8, "little"))
  # Who tried that much would be refused the memory, or still be at it when `run` gives up.
  refused = locked.run("get", "whenUnlocked", *locked.passphrase(), code=65)
  assert "damaged" in refused.error


# Runs a program, and tells its exit code and the most memory that it had, in MiB.
MEASURE = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL).returncode
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)
"""

# The lengths of the head, the index and the spine; and those of a frame, beside its start.
HEAD_LENGTHS = (12, 16, 20)
FRAME_LENGTHS = (8, 12)


@pytest.mark.parametrize("length", [1 << 18, 1 << 26, (1 << 32) - 1])
@pytest.mark.parametrize("place", [*HEAD_LENGTHS, *(-at for at in FRAME_LENGTHS)])
def test_lengths_that_lie_allocate_no_memory(home, place, length):
  home.set("alice", b"x")
  home.set("bob", b"y")
  start = 0 if place > 0 else home.layout().frames[-2].start
  put(home.vault, start + abs(place), length.to_bytes(4, "little"))
  for command in (["get", "alice"], ["list"], ["verify"], ["backup", "copy.db"], ["status"]):
    measured = subprocess.run(
      [sys.executable, "-c", MEASURE, home.program, "keychain", *command], cwd=home.folder,
      env=home.environment, capture_output=True, check=True)
    code, megabytes = map(int, measured.stdout.split())
    assert megabytes < 64 and code in ((0, 65) if command == ["status"] else (65,)), command


@pytest.mark.parametrize(("place", "words"), [
  ("id", "another vault"), ("administration key", "forked"), ("list", "is damaged"),
  ("base", "is damaged"), ("newest change", "is damaged")], ids=lambda value: value)
def test_a_damaged_file_is_named(three, place, words):
  """What names the vault and its keys is damaged as if they were others; the rest is called damaged."""
  layout = three.layout()
  flip(three.vault, {
    "id": 40, "administration key": 110, "list": layout.slots[1].stop + 50,
    "base": layout.log + 50, "newest change": layout.frames[-1].start + 50}[place])
  failed = three.run("list", code=65)
  assert words in failed.error and str(three.vault) in failed.error
  assert ("backup" if "damaged" in words else "put the") in hinted(failed)


def test_a_damaged_log_can_be_accepted_up_to_the_damage(three):
  flip(three.vault, three.layout().frames[-1].start + 50)
  assert "accept-restored" in hinted(three.run("get", "alice", code=65))
  accepted = three.run("accept-restored", "--yes")
  assert "1 change is lost" in accepted.error
  assert three.get("alice") == b"alice" * 1000
  three.run("get", "carol", code=44)
  three.run("verify")


def test_older_copy_is_refused_until_accepted(three):
  old = three.copy_vault("old.db")
  three.set("dave", b"new")
  shutil.copyfile(old, three.vault)
  for command in (["get", "alice"], ["list"], ["set", "alice", "--allow-empty"]):
    refused = three.run(*command, code=65)
    assert "rolled back" in refused.error or "older" in refused.error
    assert "accept-restored" in hinted(refused)
  shown = three.run("status", code=65)
  assert b"the vault was rolled back" in shown.out and "rolled back" in shown.error
  assert b"check" not in shown.out and b"witness" not in shown.out
  assert refused.error in three.run("doctor", code=65).error
  asked = three.run("accept-restored", code=64)
  assert "--yes" in hinted(asked)
  accepted = three.run("accept-restored", "--yes")
  assert "seen here" in accepted.error and "so 1 change is lost" in accepted.error
  assert "accepted the vault as it is" in accepted.error
  assert three.get("alice") == b"alice" * 1000
  three.run("get", "dave", code=44)
  three.set("dave", b"again")
  three.run("verify")


def test_accepting_shows_the_slots_that_come_back(three):
  three.run("slots", "add", "--passphrase", "--new-passphrase-file", three.passphrase()[1])
  old = three.copy_vault("old.db")
  new = three.file("new", b"another one\n")
  three.run("change-passphrase", "--new-passphrase-file", new, *three.passphrase())
  shutil.copyfile(old, three.vault)
  # The list of what opens it is older, so the vault gets new keys.
  assert "is locked" in three.run("accept-restored", "--yes", code=77).error
  accepted = three.run("accept-restored", "--yes", *three.passphrase())
  assert "it opens by slot 1, device (this one)" in accepted.error
  assert "it opens by slot 2, passphrase" in accepted.error
  three.run("verify", *three.passphrase())
  three.run("get", "alice", "--passphrase-file", new, code=78)


def test_two_changed_copies_are_a_fork(three):
  theirs = three.copy_vault("theirs.db")
  three.set("alice", b"theirs", environment={"KEYCHAIN_VAULT": str(theirs)})
  three.set("alice", b"mine")
  shutil.copyfile(theirs, three.vault)
  for command in (["get", "alice"], ["verify"], ["list"]):
    refused = three.run(*command, code=65)
    assert "forked" in refused.error and "accept-restored" in hinted(refused)
  told = three.run("doctor", code=65)
  assert "forked" in told.out.decode() and refused.error in told.error
  assert three.run("status", "--json", code=65).json["seenRecord"] == "forked"
  assert "of another copy" in three.run("accept-restored", "--yes").error
  assert three.get("alice") == b"theirs"
  three.run("verify")


@pytest.mark.parametrize("damage", [b"", b"\1", b"x" * 320, b"x" * 10_000])
def test_damaged_seen_record_is_reported(three, damage):
  (record,) = (three.state / "seen").iterdir()
  record.write_bytes(damage)
  told = three.run("get", "bob")
  assert "was damaged and has been written again" in told.error and str(record) in told.error
  assert three.run("get", "bob").error == ""
  assert "agrees with the vault" in three.run("doctor").out.decode()


def test_accepting_reports_damaged_seen_record(three):
  (record,) = (three.state / "seen").iterdir()
  record.write_bytes(b"")
  accepted = three.run("accept-restored", "--yes")
  assert "was damaged and has been written again" in accepted.error and str(record) in accepted.error
  assert "was damaged" not in three.run("accept-restored", "--yes").error
  # Where nothing is known of the newest change, its damage is that of a write that was not finished.
  flip(three.vault, three.layout().frames[-2].start + 50)
  record.write_bytes(b"")
  assert "what was seen here before is unknown: its record is damaged" in three.run(
    "accept-restored", "--yes").error
  assert "agrees with the vault" in three.run("doctor").out.decode()


def test_another_vault_in_its_place(three, make_home):
  other = make_home()
  other.set("eve", b"x")
  shutil.copyfile(other.vault, three.vault)
  shutil.copyfile(other.state / "device.key", three.state / "device.key")
  refused = three.run("get", "eve", code=65)
  assert "another vault" in refused.error
  three.run("accept-restored", "--yes")
  assert three.get("eve") == b"x"


def test_verify_of_an_intact_vault(three):
  assert three.run("verify").out == b"checked 3 items: intact\n"
  assert three.run("verify", "--json").json == {
    "intact": True, "items": 3, "opened": 3, "problems": [], "shadowed": [],
    "unfinishedWrite": False, "readable": "unlockedNow"}


def test_verify_reports_how_much_was_unlocked(locked):
  """And names what `compact --drop` takes."""
  told = locked.run("verify")
  assert b"2 of them without opening" in told.out and "that need an unlock" in told.error
  unlock = locked.passphrase()
  assert locked.run("verify", *unlock).error == ""
  locked.set("whenUnlocked", b"again", *unlock)
  flip(locked.vault, locked.layout().secrets[-1].start + 30)
  (blind,) = locked.run("verify", "--json", code=65).json["problems"]
  (named,) = locked.run("verify", "--json", *unlock, code=65).json["problems"]
  item = re.search(r"item ([0-9a-f]{12})", named)[1]
  assert item in blind and "'whenUnlocked'" in named and "'whenUnlocked'" not in blind
  assert "compact --drop" in hinted(locked.run("verify", *unlock, code=65))
  locked.run("compact", "--drop", item, *unlock)
  locked.run("get", "whenUnlocked", *unlock, code=44)
  locked.run("verify", *unlock)


def test_a_torn_device_key(home):
  home.set("alice", b"x")
  (home.state / "device.key").write_bytes(b"short")
  refused = home.run("get", "alice", code=65)
  assert "device.key" in refused.error and "backup" in hinted(refused)


def test_backup_opens_elsewhere(locked, make_home):
  unlock = locked.passphrase()
  told = locked.run("backup", "copy.db", *unlock)
  assert "copied 3 items to copy.db, opened by" in told.error
  elsewhere = make_home()
  elsewhere.vault.parent.mkdir(mode=0o700)
  shutil.copy(locked.folder / "copy.db", elsewhere.vault)
  assert elsewhere.get("whenUnlocked", *elsewhere.passphrase()) == b"whenUnlocked"
  elsewhere.run("get", "whenUnlocked", code=77)
  refused = locked.run("backup", "copy.db", *unlock, code=75)
  assert "exists already" in refused.error


def test_backup_of_a_vault_of_one_device_warns(three):
  told = three.run("backup", "copy.db")
  assert (three.folder / "copy.db").stat().st_mode & 0o777 == 0o600
  assert "only this machine's device key opens the copy" in hinted(told)


def test_a_copy_in_another_home(locked, make_home):
  """The copy of a vault leaves behind what is bound to its device."""
  bound = ("whenUnlockedThisDeviceOnly", "afterFirstUnlockThisDeviceOnly",
           "alwaysThisDeviceOnly", "whenPasscodeSetThisDeviceOnly")
  locked.run("unlock", *locked.passphrase())
  for accessibility in bound:
    locked.set(accessibility, b"bound", "--accessibility", accessibility)
  locked.run("lock", "--all")
  elsewhere = make_home()
  elsewhere.vault.parent.mkdir(mode=0o700)
  shutil.copy(locked.vault, elsewhere.vault)
  elsewhere.run("unlock", *elsewhere.passphrase())
  for name in LOCKED_ITEMS:
    assert elsewhere.get(name) == name.encode()
  for name in bound:
    refused = elsewhere.run("get", name, code=79)
    assert f"'{name}'" in refused.error and "bound to another device" in refused.error
  listed = elsewhere.run("list", "--json")
  assert len(listed.json) == 3 and "4 items are bound to another device" in listed.error
  elsewhere.run("verify")
