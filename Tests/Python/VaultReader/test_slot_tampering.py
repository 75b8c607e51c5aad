"""Tests that the reader refuses slots that are damaged, foreign, old or not listed."""

from __future__ import annotations

from dataclasses import replace

import pytest

import vault_forging as forging
from sample_vault import DEVICE, IDENTITY, KEY_FILE, OTHER_IDENTITY, PASSPHRASE, RECOVERY_CODE
from vault_codes import Keys
from vault_notation import FormatError, sealed_box
from vault_opening import Secrets
from vault_rows import change, copied, drop_row, put_rows, rows_of
from vault_schema import MAXIMUM_PASSPHRASE_SLOTS, MAXIMUM_SLOTS
from vault_slot_shape import slot_of
from vault_slots import Granted, SlotKind, cost_parameters, slot_commitment
from vault_testing import ALL, OF_SLOT, damage, error_code, opened, problems
from vault_writer import VaultWriter

# Damaged slots.


@pytest.mark.parametrize("column", range(9))
@pytest.mark.parametrize("value", ["text", b"", None])
def test_slot_column_of_another_type_or_length(writer, column, value):
  for slot in writer.slots.values():
    values = list(slot.columns())
    if values[column] == value:
      continue
    values[column] = value
    with pytest.raises(FormatError):
      slot_of(tuple(values))


def check_damaged(path, number: int) -> None:
  """Expects a slot to be damaged: it opens nothing, and the others do."""
  for other, secrets in OF_SLOT.items():
    if other != number:
      assert problems(path, secrets) & {"slot-shape", "slot-sum"}
  assert damage(path, OF_SLOT[number]) == "slot"
  assert damage(path, Secrets(recovery_code=bytes(16))) == "slot"


@pytest.mark.parametrize("number", OF_SLOT)
@pytest.mark.parametrize("column, count", [
  ("parameters", 1), ("salt", 31), ("salt", 33), ("made", 31), ("made", 33), ("commitment", 31),
  ("commitment", 33), ("box", 111), ("box", 113), ("box", 176), ("box", 0)])
def test_slot_of_another_length(path, writer, number, column, count):
  forging.put_slot(path, writer.slots[number], **{column: bytes(count)})
  check_damaged(path, number)


@pytest.mark.parametrize("memory, passes", [
  (1 << 40, 3), ((1 << 30) + 1024, 3), (64 << 20, 11), (64 << 20, 0), (4096, 1), (0, 1),
  (8193, 1), ((64 << 10) + 512, 1)])
def test_cost_outside_the_limits_is_damage(path, writer, memory, passes):
  forging.put_slot(path, writer.slots[1], parameters=cost_parameters(memory, passes))
  check_damaged(path, 1)


@pytest.mark.parametrize("sql", ["kind = 256", "kind = -1", "granted = 256", "salt = x''"])
def test_slot_of_no_known_shape(path, sql):
  change(path, f"UPDATE slot SET {sql} WHERE number = 1")
  check_damaged(path, 1)


def test_slot_without_a_number(path):
  change(path, "UPDATE slot SET number = 0 WHERE number = 1")
  check_damaged(path, 1)


@pytest.mark.parametrize("column", ["salt", "made", "commitment", "box", "sum"])
def test_slot_whose_sum_differs_is_not_tried(path, column):
  change(path, f"UPDATE slot SET {column} = zeroblob(length({column})) WHERE number = 1")
  check_damaged(path, 1)


@pytest.mark.parametrize("kind, limit", [
  (SlotKind.PASSPHRASE, MAXIMUM_PASSPHRASE_SLOTS), (SlotKind.RECOVERY_CODE, MAXIMUM_SLOTS)])
def test_number_of_slots(tmp_path, kind, limit):
  writer = VaultWriter("many")
  add = writer.add_passphrase if kind == SlotKind.PASSPHRASE else writer.add_recovery_code
  with writer.transaction():
    for _ in range(limit):
      add(RECOVERY_CODE)
  secrets = Secrets(passphrase=RECOVERY_CODE, recovery_code=RECOVERY_CODE)
  writer.write(tmp_path / "most.db")
  assert problems(tmp_path / "most.db", secrets) == set()
  add(RECOVERY_CODE)
  writer.write(tmp_path / "more.db")
  assert damage(tmp_path / "more.db", secrets) == "slot-limit"


def test_damaged_slots_count(path, writer):
  put_rows(path, "slot", *(
    (number, 4, 1, b"", b"", b"", b"", b"", b"") for number in range(100, 128)))
  assert damage(path) == "slot-limit"


# Unknown slots.


@pytest.mark.parametrize("fields", [{"kind": 6}, {"granted": 5}])
def test_unknown_slot_is_passed_over(path, writer, fields):
  """It may have any parameters and box; the list has it, and refuses to be changed."""
  number, opens, seed = 5, writer.tiers[0], writer.administration_seed
  slot = forging.put_slot(path, writer.slots[number], parameters=b"x", box=b"y", **fields)
  forging.list_slot(path, opens, seed, slot)
  forging.reseal(path, opens)
  assert problems(path) == set()
  assert opened(path).members.has_unknown()
  assert error_code(path, OF_SLOT[number]) == "wrong-key"


# What a slot opens to.


def granted(writer) -> bytes:
  return writer.root + writer.binding


def put_box(path, writer, number: int, plain: bytes, **fields) -> None:
  box = sealed_box(writer.members[number].box_key, plain, bytes(range(32)))
  forging.put_slot(path, writer.slots[number], box=box, **fields)


@pytest.mark.parametrize("number", [1, 2, 4])
def test_box_that_does_not_open_is_damage(path, writer, number):
  forging.put_slot(path, writer.slots[number], box=bytes(112))
  assert damage(path, OF_SLOT[number]) == "slot-box"


def test_recipient_box_that_does_not_open_is_skipped(path, writer):
  forging.put_slot(path, writer.slots[5], box=bytes(112))
  assert error_code(path, OF_SLOT[5]) == "wrong-key"


@pytest.mark.parametrize("column", ["salt", "made", "parameters"])
def test_header_is_part_of_the_commitment(path, writer, column):
  """Another column in a slot that is consistent but for the commitment: a wrong key, not a box."""
  value = cost_parameters(8192, 1) if column == "parameters" else bytes(32)
  forging.put_slot(path, writer.slots[1], **{column: value})
  assert error_code(path, OF_SLOT[1]) == "wrong-key"


def test_number_is_part_of_the_commitment(path, writer):
  drop_row(path, "slot", (2,))
  forging.put_slot(path, writer.slots[2], number=2000)
  assert error_code(path, OF_SLOT[2]) == "wrong-key"


@pytest.mark.parametrize("number", [1, 2, 4, 5])
@pytest.mark.parametrize("of", ["another vault", "another epoch", "another administration key"])
def test_binding_of_another_vault_or_epoch(path, writer, number, of):
  other = VaultWriter("other")
  bindings = {
    "another vault": forging.keys.binding(other.id, writer.epoch, writer.administration),
    "another epoch": forging.keys.binding(writer.id, writer.epoch - 1, writer.administration),
    "another administration key":
    forging.keys.binding(writer.id, writer.epoch, other.administration)}
  put_box(path, writer, number, writer.root + bindings[of])
  assert damage(path, OF_SLOT[number]) == "slot-binding"


@pytest.mark.parametrize("number", [1, 2, 4, 5])
def test_key_that_is_not_of_the_head(path, writer, number):
  """The binding is right, as everybody can make it; the key is another one."""
  other = VaultWriter("other").root
  slot, fields = writer.slots[number], {}
  if slot.kind == SlotKind.RECIPIENT:
    fields["commitment"] = slot_commitment(other, slot.header(writer.id))
  put_box(path, writer, number, other + writer.binding, **fields)
  assert damage(path, OF_SLOT[number]) == "tier-check"


def test_open_tier_of_another_key(path, writer):
  put_box(path, writer, 3, bytes(32) + writer.binding)
  assert damage(path, OF_SLOT[3]) == "tier-check"


def test_recipient_commitment_is_damage(path, writer):
  forging.put_slot(path, writer.slots[5], commitment=bytes(32))
  assert damage(path, OF_SLOT[5]) == "slot-commitment"


def test_slot_that_is_no_good_hides_no_other(path, writer):
  """Two slots of one recipient: the first is of another epoch, the second one opens."""
  number = writer.add_recipient(Keys(IDENTITY).recipient())
  newer = path.with_name("newer.db")
  writer.write(newer)
  forging.put_slot(newer, writer.slots[5], box=sealed_box(
    writer.members[5].box_key, bytes(32) + bytes(32), bytes(range(32))))
  vault = opened(newer, OF_SLOT[5])
  assert vault.slot.number == number and vault.root == writer.root


# The list of members.


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_slot_that_is_not_listed_opens_nothing(path, writer, number):
  members = writer.member_list()
  kept = tuple(member for member in members.members if member.number != number)
  opens = writer.tiers[0]
  forging.forge_list(
    path, opens, writer.administration_seed, members=kept, serial=members.serial + 1)
  forging.reseal(path, opens)
  assert damage(path, OF_SLOT[number]) == "slot-unlisted"
  found = problems(path, OF_SLOT[2 if number != 2 else 1])
  assert found - {"item-passcode"} == {"slot-unlisted"}


@pytest.mark.parametrize("number", [1, 2, 4, 5])
def test_row_that_the_list_has_otherwise(path, writer, number):
  """A slot made again with right keys, by somebody who has the root key but not the other one."""
  put_box(path, writer, number, granted(writer))
  assert damage(path, OF_SLOT[number]) == "slot-unlisted"
  assert problems(path, OF_SLOT[1 if number != 1 else 2]) == {"slot-row"}


def test_grant_is_that_of_the_list(path, writer):
  """A device's row grants the root key, where the list gives it the open tier alone."""
  put_box(path, writer, 3, granted(writer), granted=int(Granted.ADMINISTERS))
  assert damage(path, OF_SLOT[3]) == "slot-unlisted"


def test_kind_is_that_of_the_list(path, writer):
  opens, member = writer.tiers[0], writer.members[2]
  forging.forge_member(path, opens, writer.administration_seed, 2, kind=1)
  forging.reseal(path, opens)
  assert damage(path, OF_SLOT[2]) == "slot-unlisted" and member.kind == 2


@pytest.mark.parametrize("number, fields", [
  (1, {"box_key": Keys(OTHER_IDENTITY).recipient().box_key}),
  (4, {"signing_key": Keys(OTHER_IDENTITY).recipient().signing_key}),
  (5, {"box_key": Keys(OTHER_IDENTITY).recipient().box_key}),
  (5, {"signing_key": Keys(OTHER_IDENTITY).recipient().signing_key})])
def test_public_keys_are_those_of_the_list(path, writer, number, fields):
  opens = writer.tiers[0]
  forging.forge_member(path, opens, writer.administration_seed, number, **fields)
  forging.reseal(path, opens)
  assert damage(path, OF_SLOT[number]) == "slot-keys"
  assert problems(path, OF_SLOT[2]) == set()


def test_dropped_slot(path):
  drop_row(path, "slot", (4,))
  assert problems(path) == {"slot-missing"}


def test_removed_slot_put_back_by_a_file_writer(tmp_path):
  """The removed recipient's row opens nothing: its binding is of an older epoch."""
  writer = VaultWriter("removed")
  with writer.transaction():
    writer.add_key_file(KEY_FILE)
    number = writer.add_recipient(Keys(OTHER_IDENTITY).recipient())
  old, new = tmp_path / "old.db", tmp_path / "new.db"
  writer.write(old)
  slot = writer.slots[number]
  writer.remove_slot(number)
  writer.write(new)
  put_rows(new, "slot", slot.columns())
  assert damage(new, Secrets(identity=OTHER_IDENTITY)) == "slot-binding"
  assert problems(new, Secrets(key_file=KEY_FILE)) == {"slot-unlisted"}


def test_removed_slot_with_kept_keys_opens_nothing(tmp_path):
  writer = VaultWriter("kept")
  with writer.transaction():
    writer.add_key_file(KEY_FILE)
    number = writer.add_recipient(Keys(OTHER_IDENTITY).recipient())
  old, new = tmp_path / "old.db", tmp_path / "new.db"
  writer.write(old)
  before, slot = writer.seen(), writer.slots[number]
  writer.remove_slot(number, keep_keys=True)
  writer.write(new)
  put_rows(new, "slot", slot.columns())
  assert damage(new, Secrets(identity=OTHER_IDENTITY)) == "slot-unlisted"
  # The older list goes with it, and a state that a holder of T0 forges.
  put_rows(new, "members", *forging_rows(old, "members"))
  forging.reseal(new, writer.tiers[0])
  assert problems(new, Secrets(identity=OTHER_IDENTITY)) == set()
  assert error_code(new, Secrets(key_file=KEY_FILE), seen=writer.seen()) == "rolled-back"
  assert problems(new, Secrets(key_file=KEY_FILE), seen=before) == set()


def forging_rows(path, table: str) -> list[tuple]:
  return list(rows_of(path, table).values())


def test_slot_made_under_another_administration_key(path, writer):
  """A holder of T0 makes a vault of their own around the public keys of the list."""
  forged = forged_vault(path, writer)
  for number in (1, 2, 4, 5):
    assert damage(forged, OF_SLOT[number]) == "slot-made"


def test_recovery_code_of_a_forged_vault(path, writer):
  """Nor does a succession help that the real administration key did not sign."""
  forged = forged_vault(path, writer, with_succession=True)
  assert damage(forged, OF_SLOT[2]) == "succession"


def forged_vault(path, writer, with_succession: bool = False):
  """Everything but `made` is that of the forger: keys, head, list, state and boxes."""
  copy = copied(path)
  forger = VaultWriter("forger")
  root, seed = forger.root, forger.administration_seed
  tiers = dict(enumerate(forging.keys.tier_keys(root, writer.id, writer.epoch)))
  checks = tuple(forging.keys.tier_check(key) for key in tiers.values())
  forging.forge_head(copy, tiers, checks=checks, administration=forger.administration)
  binding = forging.keys.binding(writer.id, writer.epoch, forger.administration)
  members = []
  for number, slot in writer.slots.items():
    plain = tiers[0] if slot.granted == Granted.OPEN_TIER else root
    row = forging.resealed_slot(slot, writer.id, writer.members[number].box_key, plain, binding)
    put_rows(copy, "slot", row.columns())
    members.append(replace(writer.members[number], row=row.row_hash()))
  box = forging.put_administration(copy, root, seed)
  hashed = forging.put_successions(copy)
  if with_succession:
    mine = forging.Succession.made(
      writer.id, writer.epoch, VaultWriter("another").administration_seed, seed, bytes(32), 0)
    hashed = forging.put_successions(copy, replace(mine, old=writer.administration))
  forging.put_list(copy, tiers[0], replace(
    writer.member_list(), administration=forger.administration, administration_box=box,
    successions=hashed, members=tuple(members)), seed)
  for table in ("item", "token", "access_group"):
    change(copy, f"DELETE FROM {table}")
  roots = forging.put_nodes(copy, tiers[0])
  change(copy, "DELETE FROM chain")
  state = replace(
    writer.signed_state.state, roots=roots, list_hash=forging.list_of(copy, tiers[0]).hash(),
    first=writer.counter)
  forging.put_state(copy, tiers[0], forging.SignedState(state, bytes(32)))
  return copy


def test_forged_vault_is_consistent(path, writer):
  """It opens by what `made` does not bind, so that `made` is what stops it."""
  forged = forged_vault(path, writer)
  secret = Keys(IDENTITY)
  slot, members = writer.slots[5], forging.list_of(forged, tier_of(forged))
  forger = VaultWriter("forger")
  row = forging.resealed_slot(
    replace(slot, made=forger.administration), writer.id, secret.recipient().box_key,
    forger.root, forging.keys.binding(writer.id, writer.epoch, forger.administration))
  put_rows(forged, "slot", row.columns())
  forging.list_slot(forged, tier_of(forged), forger.administration_seed, row)
  forging.reseal(forged, tier_of(forged))
  assert problems(forged, OF_SLOT[5]) == set()
  assert members.administration == forger.administration


def tier_of(forged) -> bytes:
  head = forging.read(forged).head
  return forging.keys.tier_key(VaultWriter("forger").root, head.id, head.epoch, 0)


def test_best_slot_is_taken(path):
  secrets = Secrets(device=DEVICE, passphrase=PASSPHRASE)
  assert opened(path, secrets).slot.kind == SlotKind.PASSPHRASE
  assert opened(path, ALL).root is not None
