"""Tests that the reader refuses a list of members or successions that are not right."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

import vault_forging as forging
import vault_keys as keys
from member_cases import refused_lists
from sample_vault import (
  DEVICE, IDENTITY, KEY_FILE, OTHER_IDENTITY, READING_IDENTITY, WRITING_IDENTITY, Entry, generic)
from vault_codes import Keys
from vault_members import Reason, Succession, VaultKind, checked_successions, follows, leads
from vault_notation import FormatError, seal
from vault_opening import Secrets
from vault_rows import change, put_rows, replace_table, rows_of
from vault_signing import signing_public_key
from vault_slots import Granted
from vault_testing import ALL, damage, error_code, opened, problems, recovery_seed
from vault_writer import VaultWriter, Writer

# The list.


@pytest.mark.parametrize("name", refused_lists())
def test_refused_lists(path, writer, name):
  """Whoever signed it, and however it is sealed."""
  encoded = refused_lists()[name]
  signed = encoded + forging.MemberList.signed(Raw(encoded), writer.administration_seed)[-64:]
  put_list_box(path, writer, signed)
  assert damage(path) == "list"


class Raw:
  """Bytes in place of a list."""

  def __init__(self, encoded: bytes) -> None:
    self._encoded = encoded

  def encoded(self) -> bytes:
    return self._encoded


def put_list_box(path, writer, plain: bytes) -> None:
  box = seal(keys.members_box_key(writer.tiers[0]), plain, os.urandom(24))
  change(path, "UPDATE members SET list = ?", box)


def test_list_that_does_not_open(path):
  change(path, "UPDATE members SET list = zeroblob(length(list))")
  assert damage(path) == "list-box"


def test_list_of_another_vault_does_not_open(path, tmp_path):
  other = VaultWriter("other")
  other.add_key_file(KEY_FILE)
  other.write(tmp_path / "other.db")
  replace_table(path, "members", tmp_path / "other.db")
  assert damage(path) == "list-box"


def test_list_that_another_key_signed(path, writer):
  """Whoever has T0 can seal a list, and not sign it."""
  forging.forge_list(path, writer.tiers[0], bytes(32))
  forging.reseal(path, writer.tiers[0])
  assert damage(path) == "list"


def test_list_without_a_signature(path, writer):
  put_list_box(path, writer, writer.member_list().encoded())
  assert damage(path) == "list"
  put_list_box(path, writer, b"short")
  assert damage(path) == "list"


@pytest.mark.parametrize("fields", [
  {"vault": bytes(16)}, {"epoch": 1}, {"epoch": 3}, {"administration": bytes(32)}])
def test_list_is_of_the_head(path, writer, fields):
  forging.forge_list(path, writer.tiers[0], writer.administration_seed, **fields)
  assert damage(path) == "list-head"


def test_list_has_the_successions(path, writer):
  forging.forge_list(path, writer.tiers[0], writer.administration_seed, successions=bytes(32))
  assert damage(path) == "list-successions"


def test_dropped_succession(path):
  change(path, "DELETE FROM succession")
  assert damage(path) == "list-successions"


def test_older_administration_column(path, writer):
  forging.put_administration(path, writer.root, writer.administration_seed)
  assert damage(path) == "list-administration"


def test_administration_key_of_another(path, writer):
  """A column that the list has, and that holds another key."""
  hashed = forging.put_administration(path, writer.root, bytes(32))
  forging.forge_list(
    path, writer.tiers[0], writer.administration_seed, administration_box=hashed)
  forging.reseal(path, writer.tiers[0])
  assert problems(path) == {"administration"}


def test_state_is_of_the_list(path, writer):
  """An older list, or one of another content, under the state of the newer one."""
  forging.forge_list(path, writer.tiers[0], writer.administration_seed, next_number=100)
  assert damage(path) == "state-list"


# Successions.


def following(*successions: Succession, epoch: int = 9, last: bytes | None = None):
  rows = [(one.epoch, one.encoded()) for one in successions]
  return checked_successions(rows, VAULT, epoch, last or successions[-1].new)


VAULT = bytes(range(16))
SEEDS = [bytes([number] * 32) for number in range(1, 5)]
PUBLIC = [signing_public_key(seed) for seed in SEEDS]
RECOVERY_SEED = bytes([9] * 32)
RECOVERY_KEY = signing_public_key(RECOVERY_SEED)


def made(place: int, epoch: int, recovery_seed: bytes | None = RECOVERY_SEED) -> Succession:
  return Succession.made(
    VAULT, epoch, SEEDS[place], SEEDS[place + 1], bytes(32), Reason.ON_REQUEST, recovery_seed)


def test_successions_in_a_row():
  found = following(made(0, 2), made(1, 3), made(2, 9))
  assert follows(found, PUBLIC[0], RECOVERY_KEY, PUBLIC[3])
  assert follows(found, PUBLIC[2], RECOVERY_KEY, PUBLIC[3])
  assert follows(found, PUBLIC[3], None, PUBLIC[3])
  assert not follows(found, PUBLIC[1], bytes(32), PUBLIC[3])
  assert not follows(found, bytes(32), RECOVERY_KEY, PUBLIC[3])
  assert leads(found, PUBLIC[0], PUBLIC[3]) and not leads(found, bytes(32), PUBLIC[3])


@pytest.mark.parametrize("successions, options", [
  ((made(0, 2), made(2, 3)), {}), ((made(0, 3), made(1, 2)), {}), ((made(0, 2), made(1, 2)), {}),
  ((made(0, 2),), {"last": PUBLIC[2]}), ((made(0, 2),), {"epoch": 1})])
def test_successions_that_are_none(successions, options):
  with pytest.raises(FormatError, match="does not follow|does not lead"):
    following(*successions, **options)


@pytest.mark.parametrize("fields", [
  {"vault": bytes(16)}, {"old_signature": bytes(64)}, {"new_signature": bytes(64)},
  {"list_hash": bytes(range(32))}])
def test_succession_that_is_not_signed(fields):
  one = replace(made(0, 2), **fields)
  with pytest.raises(FormatError, match="is not of this epoch and vault, or is not signed"):
    following(one)
  assert not leads([one], PUBLIC[0], PUBLIC[1]) or "vault" in fields


def test_succession_of_another_epoch():
  one = made(0, 2)
  with pytest.raises(FormatError, match="is not of this epoch"):
    checked_successions([(3, one.encoded())], VAULT, 9, one.new)


@pytest.mark.parametrize("fields", [{"recovery_signature": bytes(64)}, {
  "recovery_key": PUBLIC[0]}])
def test_recovery_code_must_sign_what_is_followed(fields):
  one = replace(made(0, 2), **fields)
  assert not follows([one], PUBLIC[0], RECOVERY_KEY, PUBLIC[1])


def test_succession_without_a_recovery_code_leads_and_is_not_followed():
  for one in (made(0, 2, None), replace(made(0, 2, None), reason=0)):
    assert leads(following(one), PUBLIC[0], PUBLIC[1])
    assert not follows([one], PUBLIC[0], RECOVERY_KEY, PUBLIC[1])


def test_damaged_succession(path, writer):
  """A record that the list has, and that is none."""
  change(path, "UPDATE succession SET record = x'00'")
  hashed = forging.successions_hash([b"\0"])
  forging.forge_list(path, writer.tiers[0], writer.administration_seed, successions=hashed)
  forging.reseal(path, writer.tiers[0])
  assert damage(path) == "succession"


# Shared vaults.


def test_members_open_a_shared_vault(shared, shared_path):
  for seed, root in ((IDENTITY, True), (WRITING_IDENTITY, False), (READING_IDENTITY, False)):
    vault = opened(shared_path, Secrets(identity=seed))
    assert vault.problems == [] and (vault.root is not None) == root
    assert len(vault.tiers) == 3 and {item.status for item in vault.items} == {"open"}
  assert error_code(shared_path, Secrets(identity=OTHER_IDENTITY)) == "wrong-key"


def reader_of(shared) -> Writer:
  number = next(one.number for one in shared.writer.members.values()
                if one.granted == Granted.READS)
  return Writer(number, Keys(READING_IDENTITY).signing_seed)


def test_state_of_a_member_who_reads_does_not_count(shared, shared_path):
  forging.reseal(shared_path, shared.writer.tiers[0], reader_of(shared))
  assert damage(shared_path, Secrets(identity=IDENTITY)) == "state-writer"


def test_state_that_names_another_writer(shared, shared_path):
  """A member who reads signs in the name of one who writes."""
  writer = Writer(shared.writer.writer.number, Keys(READING_IDENTITY).signing_seed)
  forging.reseal(shared_path, shared.writer.tiers[0], writer)
  assert damage(shared_path, Secrets(identity=IDENTITY)) == "state-signature"


def test_state_without_a_signature(shared, shared_path):
  opens = shared.writer.tiers[0]
  state = forging.state_of(shared_path, opens)
  forging.put_state(shared_path, opens, replace(state, signature=None))
  assert damage(shared_path, Secrets(identity=IDENTITY)) == "state-signature"


@pytest.mark.parametrize("fields", [{"time": 0}, {"counter": 40}, {"first": 2}])
def test_signature_is_of_the_state(shared, shared_path, fields):
  forging.forge_state(shared_path, shared.writer.tiers[0], **fields)
  assert damage(shared_path, Secrets(identity=IDENTITY)) == "state-signature"


def test_signature_is_of_the_state_before(shared, shared_path):
  forging.forge_state(shared_path, shared.writer.tiers[0], previous=bytes(32))
  assert damage(shared_path, Secrets(identity=IDENTITY)) == "state-signature"


@pytest.mark.parametrize("number", [0, 99])
def test_state_of_nobody(shared, shared_path, number):
  forging.reseal(shared_path, shared.writer.tiers[0], Writer(number, bytes(32)))
  assert damage(shared_path, Secrets(identity=IDENTITY)) == "state-writer"


def test_state_of_a_removed_writer(shared, shared_path, tmp_path):
  """It counts no longer, even if the removed member still had the keys."""
  writer, number = shared.writer, shared.writer.writer.number
  gone = writer.writer
  owner = next(one.number for one in writer.members.values() if one.name == "alice")
  writer.writes_as(owner, Keys(IDENTITY))
  writer.remove_slot(number, keep_keys=True)
  writer.write(tmp_path / "after.db")
  forging.reseal(tmp_path / "after.db", writer.tiers[0], gone)
  assert damage(tmp_path / "after.db", Secrets(identity=IDENTITY)) == "state-writer"
  assert rows_of(shared_path, "slot").keys() > rows_of(tmp_path / "after.db", "slot").keys()


@pytest.mark.parametrize("fields", [{"writer": 1}, {"time": 1}])
def test_state_of_a_local_vault_has_no_writer(path, writer, fields):
  forging.forge_state(path, writer.tiers[0], **fields)
  assert damage(path) == "state-writer"


def test_state_of_a_local_vault_has_no_signature(path, writer):
  state = forging.state_of(path, writer.tiers[0])
  forging.put_state(path, writer.tiers[0], state.signed(bytes(32)))
  assert damage(path) == "state-writer"


def test_item_of_a_device_in_a_shared_vault(shared, tmp_path):
  shared.put(Entry(generic("a", "b"), b"x", 1))
  shared.writer.write(tmp_path / "bound.db")
  assert problems(tmp_path / "bound.db", Secrets(identity=IDENTITY)) == {"item-class"}


def test_item_that_needs_a_passcode(tmp_path):
  writer = VaultWriter("passcode")
  writer.add_key_file(KEY_FILE)
  writer.put(generic("a", "b"), b"x", 6, DEVICE)
  writer.write(tmp_path / "vault.db")
  assert problems(tmp_path / "vault.db") == {"item-passcode"}


# Changes of the administration key, as who has seen the vault meets them.


def test_rekey_and_succession_keep_every_slot(tmp_path, writer):
  for number in range(3):
    writer.rekey(Reason.ON_REQUEST if number else None)
  writer.write(tmp_path / "newer.db")
  vault = opened(tmp_path / "newer.db")
  assert vault.problems == [] and len(vault.successions) == 3
  assert vault.members.kind == VaultKind.LOCAL


def test_change_that_the_recovery_code_signed_is_followed(path, writer, tmp_path):
  seen = writer.seen()
  writer.rekey(Reason.ADMINISTRATOR_LEFT, recovery_seed(writer))
  writer.write(tmp_path / "newer.db")
  assert problems(tmp_path / "newer.db", seen=seen) == set()


def test_change_without_the_recovery_code_is_not_followed(writer, tmp_path):
  seen = writer.seen()
  writer.rekey(Reason.ON_REQUEST)
  writer.write(tmp_path / "newer.db")
  assert error_code(tmp_path / "newer.db", seen=seen) == "administration-changed"
  # While it changes, both keys are trusted.
  both = replace(seen, next_administration=writer.administration)
  assert problems(tmp_path / "newer.db", seen=both) == set()


def test_rival_of_the_same_epoch_is_a_fork(tmp_path):
  """A removed administrator makes an epoch of their own out of the same one."""
  rivals = []
  for name in ("mine", "theirs"):
    writer = VaultWriter("rivals")
    writer.add_key_file(KEY_FILE)
    writer.random = VaultWriter(name).random
    writer.rekey(Reason.ADMINISTRATOR_LEFT)
    writer.write(tmp_path / f"{name}.db")
    rivals.append(writer)
  assert problems(tmp_path / "theirs.db", Secrets(key_file=KEY_FILE)) == set()
  assert error_code(
    tmp_path / "theirs.db", Secrets(key_file=KEY_FILE), seen=rivals[0].seen()) == "fork"


def test_older_list_is_rolled_back(path, writer, tmp_path):
  """The list and the slots before a change, in a vault of the present epoch."""
  old = copy_of_tables(path)
  writer.add_recipient(Keys(OTHER_IDENTITY).recipient())
  newer = tmp_path / "newer.db"
  writer.write(newer)
  for table, rows in old.items():
    change(newer, f"DELETE FROM {table}")
    put_rows(newer, table, *rows)
  forging.reseal(newer, writer.tiers[0], counter=writer.counter + 1000)
  assert problems(newer, ALL) <= {"chain"}
  assert error_code(newer, ALL, seen=writer.seen()) == "rolled-back"


def copy_of_tables(path) -> dict[str, list[tuple]]:
  return {table: list(rows_of(path, table).values()) for table in ("members", "slot")}
