"""Vaults that were damaged, replaced or restored."""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace

import pytest

from prefs_testing import LOCKED_ITEMS, hinted
from vault_database import read_rows
from vault_notation import u64
from vault_slots import SlotKind


@pytest.fixture
def three(home):
  for name in ("alice", "bob", "carol"):
    home.set(name, name.encode() * 1000, "--label", name)
  return home


def item_of(home, account: str) -> bytes:
  """The id of an item, found by what changes with it."""
  before = dict(home.rows("SELECT id, secret FROM item"))
  home.set(account, account.encode() * 1000)
  after = dict(home.rows("SELECT id, secret FROM item"))
  return next(item for item, secret in after.items() if before[item] != secret)


def flip(path, offset: int) -> None:
  with open(path, "r+b") as file:
    file.seek(offset)
    byte = file.read(1)[0]
    file.seek(offset)
    file.write(bytes([byte ^ 1]))


@pytest.mark.parametrize("box", ["secret", "metadata"])
def test_damaged_item_is_named_and_others_readable(three, box):
  item = item_of(three, "bob")
  value = bytearray(three.rows(f"SELECT {box} FROM item WHERE id = ?", item)[0][0])
  offset = three.vault.read_bytes().find(bytes(value[24:64]))
  assert offset > 0
  flip(three.vault, offset)
  contents = three.vault.read_bytes()
  damaged = three.run("get", "bob", code=65)
  assert "'bob'" in damaged.error and "damaged" in damaged.error and damaged.out == b""
  for name in ("alice", "carol"):
    assert three.get(name) == name.encode() * 1000
  checked = three.run("verify", code=65)
  assert b"not intact" in checked.out
  three.set("bob", b"new", code=65)
  three.run("delete", "bob", code=65)
  assert three.vault.read_bytes() == contents


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
      assert outcome.code in (0, 65, 79), (offset, outcome)
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
  with closing(sqlite3.connect(home.folder / "other.db")) as other, other:
    other.execute("CREATE TABLE t (x)")
  (home.folder / "other.db").chmod(0o600)
  for path in (text, str(home.folder / "other.db")):
    for command in (["get", "alice"], ["set", "alice", "--allow-empty"], ["status"]):
      refused = home.run(*command, "--vault", path, code=65)
      assert path in refused.error and "vault" in refused.error


def test_format_1_is_refused_in_a_sentence(three):
  three.rows("PRAGMA user_version = 1")
  contents = three.vault.read_bytes()
  for command in (["get", "alice"], ["set", "alice", "--allow-empty"], ["verify"], ["status"]):
    refused = three.run(*command, code=79)
    assert "development" in refused.error and "export" in refused.error + hinted(refused)
  assert three.vault.read_bytes() == contents


def test_a_newer_format_is_refused_with_its_number(three):
  three.rows("PRAGMA user_version = 7")
  contents = three.vault.read_bytes()
  for command in (["get", "alice"], ["set", "alice", "--allow-empty"], ["verify"], ["status"]):
    refused = three.run(*command, code=79)
    assert "7" in refused.error and "newer" in refused.error
  assert three.vault.read_bytes() == contents


def test_slot_asking_for_tebibyte_is_refused_immediately(locked):
  slot = next(slot for slot in read_rows(locked.vault).slots if slot.kind == SlotKind.PASSPHRASE)
  assert slot.cost() == (256 << 20, 3)
  greedy = replace(slot, parameters=u64(1 << 40) + slot.parameters[8:])
  locked.rows("UPDATE slot SET parameters = ?, sum = ? WHERE number = ?",
              greedy.parameters, greedy.computed_sum(), greedy.number)
  # Who tried that much would be refused the memory, or still be at it when `run` gives up.
  refused = locked.run("get", "whenUnlocked", *locked.passphrase(), code=65)
  assert "slot 2" in refused.error and "damaged" in refused.error
  assert locked.get("always") == b"always"


# Runs a program, and tells its exit code and the most memory that it had, in MiB.
MEASURE = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL).returncode
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)
"""

# A process of its own: what SQLite takes here would count for what is started here.
LENGTHEN = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("PRAGMA synchronous = OFF")
connection.execute("UPDATE " + sys.argv[2])
connection.commit()
"""


@pytest.mark.parametrize("column", [
  "item SET metadata", "item SET secret", "state SET box", "slot SET box", "token SET token",
  "access_group SET box", "members SET list", "chain SET box", "item SET tokens",
  "item_node SET content", "slot SET parameters"])
def test_oversized_value_allocates_no_memory(home, column):
  home.set("alice", b"x", "--access-group", "group")
  subprocess.run(
    [sys.executable, "-c", LENGTHEN, str(home.vault), f"{column} = zeroblob(300000000)"
     + (" WHERE token = (SELECT min(token) FROM token)" if column.startswith("token") else "")],
    check=True)
  group = ("--access-group", "group")
  reading = {
    "get": ["get", "alice", *group], "list": ["list", *group], "verify": ["verify"],
    "backup": ["backup", "copy.db"], "status": ["status"], "slots": ["slots", "list"],
    "show": ["show", "alice", *group]}
  codes = {}
  for name, command in reading.items():
    measured = subprocess.run(
      [sys.executable, "-c", MEASURE, home.program, "keychain", *command], cwd=home.folder,
      env=home.environment, capture_output=True, check=True)
    codes[name], megabytes = map(int, measured.stdout.split())
    assert megabytes < 200, (name, megabytes)
  assert codes["verify"] == codes["backup"] == 65
  # What does not meet the value answers.
  assert set(codes.values()) <= {0, 65}, codes
  if column.startswith("item"):
    assert codes["get"] == codes["list"] == 65


def test_damaged_count_is_reported_before_acceptance(three):
  three.rows("UPDATE state SET box = zeroblob(length(box))")
  told = three.run("accept-restored", code=64).error
  assert "the row that says how much it should hold is damaged" in told
  assert "it holds 3 items" in told and "should hold 0" not in told and "should have 0" not in told
  three.run("accept-restored", "--yes")
  assert three.get("alice") == b"alice" * 1000


@pytest.mark.parametrize(("change", "words"), [
  ("UPDATE head SET sum = zeroblob(16)", "its head is damaged"),
  ("DELETE FROM head", "damaged"),
])
def test_a_damaged_file_is_named(three, change, words):
  three.rows(change)
  failed = three.run("list", code=65)
  assert words in failed.error and str(three.vault) in failed.error and "backup" in hinted(failed)


def test_older_copy_is_refused_until_accepted(three):
  old = three.copy_vault("old.db")
  three.set("dave", b"new")
  shutil.copyfile(old, three.vault)
  for command in (["get", "alice"], ["list"], ["set", "alice", "--allow-empty"]):
    refused = three.run(*command, code=65)
    assert "rolled back" in refused.error or "older" in refused.error
    assert "accept-restored" in hinted(refused)
  assert b"the vault was rolled back" in three.run("status").out
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
  assert three.run("status", "--json").json["seenRecord"] == "forked"
  assert "of another copy" in three.run("accept-restored", "--yes").error
  assert three.get("alice") == b"theirs"
  three.run("verify")


@pytest.mark.parametrize("damage", [b"", b"\1", b"x" * 89, b"x" * 10_000])
def test_damaged_seen_record_is_reported(three, damage):
  (record,) = (three.state / "seen").iterdir()
  record.write_bytes(damage)
  assert "damaged or unreadable" in three.run("doctor").out.decode()
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
  three.rows("DELETE FROM item WHERE id = ?", item_of(three, "bob"))
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


def test_rows_put_back_are_found_by_verify(three):
  three.rows("DELETE FROM item WHERE id = ?", item_of(three, "bob"))
  three.run("get", "bob", code=65)
  problems = three.run("verify", "--json", code=65).json
  assert problems["intact"] is False and problems["problems"]
  assert "restore" in hinted(three.run("verify", code=65))


def test_verify_of_an_intact_vault(three):
  assert three.run("verify").out == b"checked 3 items: intact\n"
  assert three.run("verify", "--json").json == {
    "intact": True, "items": 3, "opened": 3, "problems": []}


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
