"""Tests that the reader detects tampering with the head, the state, the chain and the file."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

import vault_forging as forging
import vault_keys as keys
from sample_vault import DEVICE, IDENTITY, KEY_FILE, generic
from state_cases import refused_states
from vault_database import item_of
from vault_file import JOURNAL_MAGIC, VaultError
from vault_identity import IdentityFile
from vault_members import Reason
from vault_notation import FormatError, padded_count, seal, text, u32
from vault_opening import Secrets
from vault_rows import change, copied, drop_row, put_rows, replace_table, rows_of
from vault_schema import (
  LARGEST_EPOCH_STEP, LARGEST_FIRST_COUNTER, LARGEST_STEP, MAXIMUM_METADATA_BOX_COUNT,
  MAXIMUM_ROW_COUNT, MAXIMUM_SECRET_BOX_COUNT)
from vault_state import SeenRecord
from vault_testing import ALL, OF_SLOT, damage, error_code, opened, problems, recovery_seed
from vault_writer import VaultWriter

# The head.


@pytest.mark.parametrize("column", [
  "id", "check0", "check1", "check2", "administration", "mac0", "mac1", "mac2", "sum"])
def test_changed_head(path, column):
  change(path, f"UPDATE head SET {column} = zeroblob(length({column}))")
  assert damage(path) == "head-sum"


@pytest.mark.parametrize("number", ["epoch", "generation"])
def test_changed_number_of_the_head(path, number):
  change(path, f"UPDATE head SET {number} = {number} + 1")
  assert damage(path) == "head-sum"


@pytest.mark.parametrize("fields, found", [
  ({"id": bytes(16)}, "wrong-key"), ({"epoch": 1}, "slot-binding"),
  ({"administration": bytes(32)}, "slot-binding"), ({"checks": (bytes(16),) * 3}, "tier-check"),
  ({"macs": (bytes(32),) * 3}, "head-mac"), ({"generation": 2}, "state-generation")])
def test_head_that_somebody_without_keys_forges(path, fields, found):
  forging.forge_head(path, **fields)
  assert found in (error_code(path), damage(path) if found != "wrong-key" else None)


@pytest.mark.parametrize("tier", keys.TIERS)
def test_head_has_a_mac_under_each_tier(path, writer, tier):
  """Tier confusion: the check of another vault, by somebody who knows the other tiers."""
  other = VaultWriter("other")
  checks = list(writer.head().checks)
  checks[tier] = keys.tier_check(other.tiers[tier])
  known = {one: key for one, key in enumerate(writer.tiers) if one != tier}
  forging.forge_head(path, known, checks=tuple(checks))
  assert damage(path) == "tier-check"
  forging.forge_head(path, known, checks=writer.head().checks, epoch=writer.epoch)
  assert problems(path) == set()
  macs = list(writer.head().macs)
  macs[tier] = bytes(32)
  forging.put_head(path, replace(forging.read(path).head, macs=tuple(macs)))
  assert damage(path) == "head-mac"


def test_device_finds_another_open_tier(path, writer):
  """Whoever has the open tier alone checks its mac."""
  forging.forge_head(path, {1: writer.tiers[1], 2: writer.tiers[2]}, macs=(bytes(32),) * 3)
  assert damage(path, Secrets(device=DEVICE)) == "head-mac"


@pytest.mark.parametrize("parameters, code", [
  (u32(1) + text("generations"), "other-format"), (b"", "damaged"), (u32(0) + b"\0", "damaged"),
  (u32(1), "damaged")])
def test_features_of_the_head(path, writer, parameters, code):
  forging.forge_head(path, dict(enumerate(writer.tiers)), parameters=parameters)
  assert error_code(path) == code


@pytest.mark.parametrize("sql", [
  "epoch = 0", f"epoch = {(1 << 31) + 1}", "generation = 0", f"generation = {(1 << 32) + 1}",
  "id = x'00'", "check1 = x''", "mac2 = zeroblob(31)", "administration = zeroblob(33)",
  "sum = zeroblob(15)"])
def test_head_of_another_shape(path, sql):
  change(path, f"UPDATE head SET {sql}")
  assert damage(path) == "row"


def test_head_of_another_vault(path, tmp_path):
  """Its rows are all right, and open with the same key file."""
  other = VaultWriter("other")
  other.add_key_file(KEY_FILE)
  other.write(tmp_path / "other.db")
  replace_table(path, "head", tmp_path / "other.db")
  assert error_code(path) == "wrong-key"


# The state.


def test_older_state(path, writer, tmp_path):
  older = rows_of(path, "state")[1,]
  writer.put(generic("new", "one"), b"x", 0)
  newer = tmp_path / "newer.db"
  writer.write(newer)
  put_rows(newer, "state", older)
  assert problems(newer) == {"item_node-root", "token_node-root", "chain"}


def test_state_that_does_not_open(path):
  change(path, "UPDATE state SET box = randomblob(length(box))")
  assert damage(path) == "state-box"


@pytest.mark.parametrize("name", refused_states())
def test_state_of_no_known_form(path, writer, name):
  box = seal(keys.state_box_key(writer.tiers[0]), refused_states()[name], bytes(24))
  change(path, "UPDATE state SET box = ?", box)
  assert damage(path) == "state-box"


@pytest.mark.parametrize("fields, found", [
  ({"generation": 2}, "state-generation"), ({"epoch": 1}, "state-list"),
  ({"serial": 1}, "state-list"), ({"list_hash": bytes(32)}, "state-list")])
def test_state_of_another_list(path, writer, fields, found):
  forging.forge_state(path, writer.tiers[0], **fields)
  assert damage(path) == found


# The chain.


def test_dropped_entry_of_the_chain(path, writer):
  for counter in (1, 10, writer.counter):
    copy = copied(path)
    drop_row(copy, "chain", (counter,))
    assert problems(copy) == {"chain"}


def test_entry_of_the_chain_that_does_not_open(path):
  change(path, "UPDATE chain SET box = zeroblob(length(box)) WHERE place = 5")
  assert problems(path) == {"chain"}


def test_entry_of_the_chain_at_another_place(path):
  rows = rows_of(path, "chain")
  put_rows(path, "chain", (500, rows[5,][1]))
  assert problems(path) == {"chain"}


@pytest.mark.parametrize("fields", [
  {"previous": bytes(32)}, {"state_hash": bytes(32)}, {"writer": 1}, {"time": 1}])
def test_entries_of_the_chain_follow_each_other(path, writer, fields):
  opens = writer.tiers[0]
  entry = forging.chain_of(path, opens)[5]
  forging.put_chain_entry(path, opens, replace(entry, **fields))
  assert problems(path) == {"chain"}


def test_last_entry_of_the_chain_is_the_state(path, writer):
  opens = writer.tiers[0]
  entry = forging.chain_of(path, opens)[writer.counter]
  forging.put_chain_entry(path, opens, replace(entry, state_hash=bytes(32)))
  assert problems(path) == {"chain"}


def test_entry_of_the_chain_before_its_first(path, writer):
  """A state that says that the chain is shorter."""
  forging.forge_state(path, writer.tiers[0], first=3)
  assert problems(path) == {"chain"}


def test_ring_of_the_chain(tmp_path):
  writer = VaultWriter("ring")
  writer.add_key_file(KEY_FILE)
  early, item = writer.seen(), generic("a", "b")
  for number in range(1001):
    writer.put(item, b"%d" % number, 0)
    if number == 1:
      kept = writer.seen()
  writer.write(tmp_path / "vault.db")
  vault = opened(tmp_path / "vault.db")
  assert vault.problems == [] and len(vault.rows.chain) == 1000
  assert vault.state.counter == 1002 and vault.state.first == 3
  assert opened(tmp_path / "vault.db", seen=kept).is_proved
  assert not opened(tmp_path / "vault.db", seen=early).is_proved


# The seen record.


def test_seen_record_of_this_state(path, writer):
  assert problems(path, seen=writer.seen()) == set()
  assert opened(path).seen() == writer.seen()


@pytest.mark.parametrize("fields, code", [
  ({"vault": bytes(16)}, "another-vault"), ({"administration": bytes(32)}, "fork"),
  ({"administration": bytes(32), "epoch": 1}, "administration-changed"),
  ({"epoch": 3}, "rolled-back"), ({"serial": 4}, "rolled-back"),
  ({"epoch": 1, "serial": 3}, "rolled-back"), ({"epoch": 1, "serial": 4}, "rolled-back"),
  ({"list_hash": bytes(32)}, "fork"), ({"counter": 33}, "rolled-back"),
  ({"digest": bytes(32)}, "fork")])
def test_vault_that_is_not_the_one_that_was_seen(path, writer, fields, code):
  seen = writer.seen()
  assert (seen.epoch, seen.serial, seen.counter) == (2, 3, 32)
  assert error_code(path, seen=replace(seen, **fields)) == code


@pytest.mark.parametrize("counter", [1, 10, 31])
def test_state_follows_from_the_one_seen(path, writer, counter):
  entry = writer.chain[counter]
  seen = replace(writer.seen(), counter=counter, digest=entry.digest())
  assert opened(path, seen=seen).is_proved
  assert error_code(path, seen=replace(seen, digest=bytes(32))) == "fork"
  drop_row(path, "chain", (counter,))
  assert damage(path, seen=seen) == "chain"


def test_state_that_does_not_follow_from_the_one_seen(path, writer):
  """A link between the two is missing, or forged."""
  seen = replace(writer.seen(), counter=5, digest=writer.chain[5].digest())
  forging.put_chain_entry(path, writer.tiers[0], replace(writer.chain[9], previous=bytes(32)))
  assert damage(path, seen=seen) == "chain"


def test_forged_counter(path, writer):
  seen, opens = writer.seen(), writer.tiers[0]
  for step, code in ((LARGEST_STEP, None), (LARGEST_STEP + 1, "forged")):
    counter = seen.counter + step
    forging.forge_state(path, opens, counter=counter, first=counter)
    if code is None:
      assert not opened(path, seen=seen).is_proved
    else:
      assert error_code(path, seen=seen) == code


def test_forged_counter_at_first_sight(path, writer):
  for counter, code in ((LARGEST_FIRST_COUNTER, None), (LARGEST_FIRST_COUNTER + 1, "forged")):
    forging.forge_state(path, writer.tiers[0], counter=counter, first=counter)
    assert (opened(path).state.counter == counter) if code is None else error_code(path) == code


def test_counter_of_2_to_the_63(path, writer):
  forging.forge_state(path, writer.tiers[0], counter=(1 << 63) - 1, first=(1 << 63) - 1)
  assert damage(path) == "state-box"


def test_forged_serial_and_epoch(tmp_path):
  writer = VaultWriter("steps")
  writer.add_key_file(KEY_FILE)
  seen = writer.seen()
  writer.serial += LARGEST_STEP
  writer.rekey(epoch=writer.epoch + LARGEST_EPOCH_STEP + 1)
  writer.write(tmp_path / "both.db")
  assert error_code(tmp_path / "both.db", seen=seen) == "forged"
  near = replace(seen, serial=seen.serial + 1, epoch=2)
  assert problems(tmp_path / "both.db", seen=near) == set()
  assert error_code(tmp_path / "both.db", seen=replace(near, epoch=1)) == "forged"
  assert error_code(tmp_path / "both.db", seen=replace(near, serial=1)) == "forged"


def test_two_copies_that_were_both_changed(path, writer, tmp_path):
  theirs = copied(path, "theirs.db")
  writer.put(generic("new", "one"), b"x", 0)
  forging.reseal(theirs, writer.tiers[0])
  assert error_code(theirs, seen=writer.seen()) == "fork"
  forging.reseal(theirs, writer.tiers[0])
  assert error_code(theirs, seen=writer.seen()) == "fork"


def test_damaged_seen_record_is_refused(writer):
  good = writer.seen().encoded()
  assert len(good) == 240 and SeenRecord.decoded(good) == writer.seen()
  for position in range(len(good)):
    torn = bytearray(good)
    torn[position] ^= 1
    with pytest.raises(FormatError):
      SeenRecord.decoded(bytes(torn))


# Pins.


def pinned(*pins: bytes) -> Secrets:
  return Secrets.of_identity(IdentityFile(IDENTITY, pins), device=DEVICE)


def test_pinned_vault_opens(path, writer):
  for pins in ((), (writer.check,), (bytes(16), writer.check)):
    assert problems(path, pinned(*pins)) == set()


def test_vault_that_is_not_pinned_is_another_vault(path, writer):
  old = keys.vault_check(writer.id, writer.successions[0].old)
  for pins in ((bytes(16),), (old,), (writer.head().checks[0],)):
    assert error_code(path, pinned(*pins)) == "another-vault"


def test_older_pin_counts_for_who_has_seen_the_vault(path, writer):
  old = keys.vault_check(writer.id, writer.successions[0].old)
  assert problems(path, pinned(old), seen=writer.seen()) == set()
  other = replace(writer.seen(), administration=bytes(32))
  assert error_code(path, pinned(old), seen=other) == "another-vault"


def test_pin_follows_with_the_recovery_code(tmp_path, writer):
  seen, check = writer.seen(), writer.check
  writer.rekey(Reason.ADMINISTRATOR_LEFT, recovery_seed(writer))
  writer.write(tmp_path / "newer.db")
  assert problems(tmp_path / "newer.db", pinned(check), seen=seen) == set()
  assert error_code(tmp_path / "newer.db", pinned(check)) == "another-vault"


# The file.


@pytest.mark.parametrize("sql, code", [
  ("PRAGMA application_id = 1", "foreign"), ("PRAGMA user_version = 1", "other-format"),
  ("PRAGMA user_version = 3", "other-format"), ("PRAGMA user_version = 0", "damaged"),
  ("PRAGMA journal_mode = WAL", "damaged"), ("CREATE INDEX extra ON item (class)", "damaged"),
  ("DROP TABLE chain", "damaged"),
  ("CREATE TRIGGER t AFTER INSERT ON item BEGIN DELETE FROM slot; END", "damaged"),
  ("DELETE FROM head", "damaged"), ("DELETE FROM state", "damaged"),
  ("DELETE FROM members", "damaged"), ("UPDATE chain SET place = 1000 WHERE place = 1", "damaged"),
  ("UPDATE item_node SET prefix = 2 WHERE prefix = 1", "damaged"),
  ("UPDATE item SET id = x'00' WHERE id = (SELECT min(id) FROM item)", "damaged"),
  ("UPDATE token SET token = x'00' WHERE token = (SELECT min(token) FROM token)", "damaged")])
def test_file_of_another_shape(path, sql, code):
  change(path, sql)
  assert error_code(path) == code


@pytest.mark.parametrize("column, value", [
  (0, bytes(31)), (1, b""), (2, bytes(15)), (2, "text"), (3, b""), (4, "text"), (4, None),
  (5, bytes(31)), (5, None), (6, "text"), (6, None), (7, "text"), (7, None)])
def test_item_column_of_another_type_or_length(writer, column, value):
  values = list(vars(next(iter(writer.items.values()))).values())
  assert item_of(tuple(values))
  values[column] = value
  with pytest.raises(FormatError):
    item_of(tuple(values))


def test_foreign_and_empty_files(tmp_path):
  for contents in (b"", b"not a database" * 100):
    (tmp_path / "vault.db").write_bytes(contents)
    assert error_code(tmp_path / "vault.db") == "foreign"


# What SQLite opens next to the file.


def put_beside(path, suffix, contents=b"", mode=0o600):
  file = path.with_name(path.name + suffix)
  file.write_bytes(contents)
  file.chmod(mode)
  return file


@pytest.mark.parametrize("suffix, contents", [
  ("-wal", b"x"), ("-journal", bytes(16) + b"\0\0\0\1" + bytes(4) + JOURNAL_MAGIC)])
def test_file_that_sqlite_would_believe(path, suffix, contents):
  file = put_beside(path, suffix, contents)
  with pytest.raises(VaultError, match="is not empty|names a super-journal") as raised:
    opened(path)
  assert raised.value.code == "damaged" and file.read_bytes() == contents


@pytest.mark.parametrize("suffix, contents", [
  ("-wal", b""), ("-shm", b""), ("-journal", b""), ("-journal", bytes(24) + JOURNAL_MAGIC)])
def test_harmless_file_next_to_the_vault(path, suffix, contents):
  put_beside(path, suffix, contents)
  assert problems(path) == set()


@pytest.mark.parametrize("suffix", ["-journal", "-wal", "-shm"])
@pytest.mark.parametrize("kind", ["open to others", "link", "second name", "pipe", "folder"])
def test_foreign_file_next_to_vault(path, suffix, kind):
  file, other = path.with_name(path.name + suffix), path.with_name("other")
  other.touch(mode=0o600)
  {"open to others": lambda: put_beside(path, suffix, mode=0o640),
   "link": lambda: file.symlink_to(path.with_name("missing")),
   "second name": lambda: os.link(other, file),
   "pipe": lambda: os.mkfifo(file, 0o600), "folder": lambda: file.mkdir(0o700)}[kind]()
  assert error_code(path) == "refused"


# Lengths.


@pytest.mark.parametrize("table, columns", [
  ("item", {"metadata": 10_000_000, "secret": MAXIMUM_ROW_COUNT - 10_000_000}),
  *((table, {column: MAXIMUM_ROW_COUNT}) for table, column in (
    ("item", "tokens"), ("slot", "box"), ("state", "box"), ("members", "list"), ("chain", "box"),
    ("succession", "record"), ("head", "parameters"), ("item_node", "content"),
    ("access_group", "box")))])
def test_row_that_is_too_long_is_not_loaded(path, table, columns):
  changes = ", ".join(f"{column} = zeroblob({count})" for column, count in columns.items())
  key = {"item": "id", "access_group": "token"}.get(table, "rowid")
  change(path, f"UPDATE {table} SET {changes} WHERE {key} = (SELECT max({key}) FROM {table})")
  assert damage(path) == "row-length"


def test_longest_row_is_loaded(path):
  change(path, "UPDATE item SET metadata = zeroblob(?), secret = zeroblob(?)"
         " WHERE id = (SELECT min(id) FROM item)",
         MAXIMUM_METADATA_BOX_COUNT, MAXIMUM_SECRET_BOX_COUNT)
  assert problems(path) == {"item", "item_node", "item_node-root"}


@pytest.mark.parametrize("column, count", [
  ("metadata", padded_count(MAXIMUM_METADATA_BOX_COUNT) + 40),
  ("secret", padded_count(MAXIMUM_SECRET_BOX_COUNT) + 40)])
def test_box_that_is_too_long_is_not_opened(path, column, count):
  change(path, f"UPDATE item SET {column} = zeroblob(?) WHERE id = (SELECT min(id) FROM item)", count)
  found = problems(path)
  assert "item-shape" in found and "item" not in found


def test_reading_changes_nothing(path):
  before = path.read_bytes()
  opened(path, ALL)
  opened(path, OF_SLOT[1])
  assert path.read_bytes() == before
  assert os.listdir(path.parent) == [path.name]
