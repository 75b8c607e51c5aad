"""Lists, heads, slots and bases after somebody changed them, on first use and with a record."""

from __future__ import annotations

from dataclasses import replace

import pytest

import vault_building
import vault_keys as keys
from sample_vault import (
  DEVICE, IDENTITY, KEY_FILE, READING_IDENTITY, WRITING_IDENTITY, generic, recovery_seed)
from vault_base import Spine
from vault_codes import Keys
from vault_errors import VaultError
from vault_forging import Forge, change_byte
from vault_log import Proofs
from vault_notation import digest, open_box, seal, sealed_box, u32
from vault_opening import Secrets
from vault_seen import NONE, SeenCommit
from vault_slots import Slot, slot_commitment, slot_seed
from vault_testing import ALL, NAMES, T0_ALONE, damage, error_code, opened, secret_of, small, team
from vault_writer import VaultWriter, Writer

ALICE, WALTER, RITA = (
  Secrets(identity=seed) for seed in (IDENTITY, WRITING_IDENTITY, READING_IDENTITY))


def forged(**options) -> Forge:
  return Forge(small().file(), ALL, **options)


# Lists.


def test_a_new_list_is_followed():
  forge = forged()
  forge.new_list(small().administration_seed)
  vault = opened(forge.data, seen=small().seen())
  assert (vault.members.serial, vault.members.first, vault.notices) == (2, 7, [])


@pytest.mark.parametrize("fields", [
  {"first": 6}, {"first": 8}, {"before": bytes(32)}, {"first": 1, "before": bytes(32)}])
def test_a_list_names_its_base(fields):
  """The base is not of the list's number, or the history leads over another digest."""
  forge = forged()
  forge.new_list(small().administration_seed, **fields)
  assert damage(forge.data) == "base"


def test_a_list_with_an_older_base_needs_its_digest():
  """A later base of the same list: `before` is in the spine, and must be the digest there."""
  writer = small()
  writer.compact()
  vault = opened(writer.file())
  assert vault.members.first == 1 and vault.log.base.number == 7
  seed = writer.administration_seed
  forge = Forge(writer.file(), ALL)
  good = forge.vault.log.history().digests[3]
  for before, found in ((good, None), (bytes(32), "base")):
    head, members = forge.with_list(seed, first=4, before=before)
    data = Forge(writer.file(), ALL).base(head=head, members=members).data
    assert (damage(data) if found else opened(data).members.first) == (found or 4)


def test_the_first_base_of_a_list_is_signed():
  for mark in (None, bytes(64)):
    forge = forged()
    forge.new_list(small().administration_seed)
    base = opened(forge.data).log.base
    forge.data = forge.data[: opened(forge.data).head.log]
    forge.add(replace(base, proofs=replace(base.proofs, list_signature=mark)))
    assert damage(forge.data) == "base"


def test_only_the_first_base_of_a_list_is_signed():
  forge = forged().base(administration_seed=small().administration_seed)
  assert damage(forge.data) == "base"


def test_a_list_of_another_signer():
  forge = forged()
  forge.new_list(bytes(32))
  assert damage(forge.data) == "list"


def test_the_base_is_of_the_list():
  forge = forged()
  head, members = forge.with_list(small().administration_seed, serial=2)
  assert damage(forge.base(head=head, members=replace(members, serial=1)).data) == "base"


@pytest.mark.parametrize("fields, check", [
  ({"vault": bytes(16)}, "list-head"), ({"epoch": 2}, "list-head"),
  ({"administration": Keys(bytes(32)).recipient().signing_key}, "list-head"),
  ({"administration_box": bytes(32)}, "list-administration"), ({"successions": NONE}, "list-successions"),
  ({"members": ()}, "list"), ({"serial": 0}, "list"), ({"accepted": 9}, "list")])
def test_a_list_must_fit_the_head(fields, check):
  forge = forged()
  forge.new_list(small().administration_seed, **fields)
  assert damage(forge.data) == check


@pytest.mark.parametrize("change", ["dropped", "added", "replaced", "granted", "twice", "number"])
def test_the_slots_are_those_of_the_list(change):
  head = opened(small().file()).head
  key_file, device = head.slots
  other = replace(Slot.decoded(device), number=9, salt=bytes(32)).encoded()
  slots = {
    "dropped": (key_file,), "added": (key_file, device, other),
    "replaced": (key_file, change_byte(device, -1)), "granted":
    (key_file, device[:5] + b"\1" + device[6:]), "twice": (key_file, key_file),
    "number": (key_file, u32(3) + device[4:])}[change]
  forge = forged()
  forge.base(head=replace(head, slots=slots))
  assert damage(forge.data, Secrets(key_file=KEY_FILE)) == ("head" if change == "twice" else "slots")


def test_slots_in_any_order():
  forge = forged()
  forge.base(head=replace(forge.vault.head, slots=forge.vault.head.slots[::-1]))
  assert opened(forge.data).root is not None


def test_the_public_keys_of_the_slot_that_opens():
  forge = forged()
  members = list(forge.vault.members.members)
  members[0] = replace(members[0], box_key=Keys(bytes(32)).recipient().box_key)
  forge.new_list(small().administration_seed, members=tuple(members))
  assert damage(forge.data) == "slot-keys"
  assert opened(forge.data, T0_ALONE).root is None


# Slots.


def with_slot(number: int, **fields) -> bytes:
  """The small vault with a slot changed as its list says it is; the base is T0's to make no more."""
  forge = forged()
  slots = [Slot.decoded(slot) for slot in forge.vault.head.slots]
  slots[number] = replace(slots[number], **fields)
  encoded = tuple(slot.encoded() for slot in slots)
  return forge.base(head=replace(forge.vault.head, slots=encoded)).data


@pytest.mark.parametrize("fields", [
  {"kind": 9}, {"granted": 9}, {"parameters": b"x"}, {"box": bytes(10)}])
def test_slots_that_are_passed_over(fields):
  data = with_slot(1, **fields)
  # The other slot opens, and then the list says that this one is another.
  assert damage(data, Secrets(key_file=KEY_FILE)) == "slots"
  expected = "wrong-key" if "kind" in fields else "damaged"
  assert error_code(data, T0_ALONE) == expected


def test_stale_slot_is_not_a_wrong_key():
  forge = forged()
  slot = Slot.decoded(forge.vault.head.slots[1])
  member = forge.vault.members.members[1]
  box = sealed_box(member.box_key, forge.open_key + bytes(32), bytes(32))
  data = with_slot(1, box=box)
  assert damage(data, T0_ALONE) == "slot" and slot.box != box


def test_a_key_of_another_root():
  forge = forged()
  member = forge.vault.members.members[0]
  binding = keys.binding(forge.vault.head.vault, 1, forge.vault.head.administration)
  box = sealed_box(member.box_key, bytes(32) + binding, bytes(32))
  assert damage(with_slot(0, box=box), Secrets(key_file=KEY_FILE)) == "slot"


# Heads, indexes, pages and spines.


def test_heads_and_bases_of_two_files_do_not_fit():
  old, new = small(), small()
  new.add_recipient(Keys(bytes(32)).recipient())
  old_head, new_head = (opened(one.file()).head for one in (old, new))
  data = new.file()
  swapped = replace(
    old_head, index_count=new_head.index_count, spine_count=new_head.spine_count,
    log=new_head.log + old_head.count - new_head.count).encoded()
  assert damage(swapped + data[new_head.count :]) == "base"


def test_every_field_of_the_head_is_proven():
  head = opened(small().file()).head
  rest = small().file()[head.count :]
  for fields in (
      {"vault": bytes(16)}, {"epoch": 2}, {"administration": bytes(32)}, {"checks": (bytes(16),) * 3},
      {"list": bytes(300)}, {"administration_box": bytes(72)}, {"slots": head.slots[::-1]}):
    with pytest.raises(VaultError):
      opened(replace(head, **fields).encoded() + rest)


def test_a_change_of_the_index_is_damage():
  """T0 can seal another index, for instance of an older page, and the base doesn't have its hash."""
  forge = forged()
  head, index = forge.vault.head, forge.vault.log.index
  page = replace(index.pages[2][0], hash=bytes(32))
  box = replace(index, pages=(*index.pages[:2], (page,))).sealed(forge.open_key, bytes(24))
  assert len(box) == head.index_count
  data = forge.data[: head.index_place] + box + forge.data[head.spine_place :]
  assert damage(data) == "base"


@pytest.mark.parametrize("name", ["index", "spine", "page"])
def test_the_bytes_of_a_base_count(name):
  """T0 seals the same content again: it is what the key opens, and not what the base names."""
  forge = Forge(compacted().file(), ALL)
  head, page = forge.vault.head, forge.vault.log.index.pages[2][0]
  place, count = {
    "index": (head.index_place, head.index_count), "page": (page.place, page.length),
    "spine": (head.spine_place, head.spine_count)}[name]
  key, box = keys.box_key(forge.open_key, name), forge.data[place : place + count]
  again = seal(key, open_box(key, box), bytes(24))
  data = forge.data[:place] + again + forge.data[place + count :]
  if name == "page":
    assert [problem.code for problem in opened(data).problems] == ["page"]
  else:
    assert damage(data) == "base"


@pytest.mark.parametrize("spine", ["shorter", "other", "longer"])
def test_the_spine_is_that_of_the_base(spine):
  """The author of a base can write any spine; it must lead to the base."""
  forge = forged()
  log = forge.vault.log
  hashes = [log.base.body_hash(), *(placed.commit.body_hash() for placed in log.commits)]
  good = log.spine.following(hashes)
  wrong = {
    "shorter": Spine(1, good.digests()[1], good.hashes[1:]), "other":
    replace(good, hashes=(bytes(32), *good.hashes[1:])), "longer":
    replace(good, hashes=(*good.hashes, bytes(32)))}[spine]
  forge.vault.log = replace(log, spine=Fixed(wrong.m, wrong.digest, wrong.hashes))
  forge.base()
  assert damage(forge.data) == "base"


class Fixed(Spine):
  """A spine that no commit makes longer."""

  def following(self, _hashes: list[bytes]) -> Spine:
    return self


def test_pages_are_compared_with_the_index():
  forge = Forge(compacted().file(), ALL)
  page = forge.vault.log.index.pages[2][0]
  vault = opened(change_byte(forge.data, page.place + 50))
  assert [problem.code for problem in vault.problems] == ["page"]
  assert secret_of(vault, NAMES[0]) == b"second" and secret_of(vault, NAMES[2]) is None


def compacted() -> VaultWriter:
  writer = small()
  writer.compact()
  return writer


def test_exchanged_pages_are_damage():
  writer = small()
  with writer.transaction():
    for number in range(60):
      writer.put(generic("page", str(number)), b"x", 0)
  writer.compact()
  vault = opened(writer.file())
  first, second = vault.log.index.pages[2][:2]
  assert vault.problems == [] and len(vault.log.index.pages[2]) > 2
  data = bytearray(writer.file())
  data[first.place : first.place + 40] = data[second.place : second.place + 40]
  assert {problem.code for problem in opened(bytes(data)).problems} == {"page"}


@pytest.mark.parametrize("fields", [
  lambda page, end: {"first": bytes(32)}, lambda page, end: {"count": page.count + 1},
  lambda page, end: {"hash": bytes(32)}, lambda page, end: {"boxes": end - 10}],
  ids=["first", "count", "hash", "end"])
def test_an_index_that_does_not_fit_its_pages(fields):
  """Somebody who has all keys, or writes in a shared vault, can make one; it must not mislead."""
  forge = Forge(compacted().file(), ALL)
  head, log = forge.vault.head, forge.vault.log
  page = log.index.pages[2][0]
  pages = (*log.index.pages[:2], (replace(page, **fields(page, head.index_place)),))
  box = replace(log.index, pages=pages).sealed(forge.open_key, bytes(24))
  before = forge.before_log()
  forge.data = before[: head.index_place] + box + before[head.spine_place :]
  forge.add(forge.proved(replace(log.base, content=replace(log.base.content, index=digest(32, box)))))
  vault = opened(forge.data)
  assert "page" in {problem.code for problem in vault.problems}
  assert secret_of(vault, NAMES[0]) == b"second"


def test_pages_whose_ids_overlap(monkeypatch):
  writer = small()
  with writer.transaction():
    for number in range(6):
      writer.put(generic("page", str(number)), b"x", 0)

  def crossed(items, _limit: int) -> list:
    ordered = sorted(items, key=lambda item: item.id)
    return [page for page in (ordered[::2], ordered[1::2]) if page]
  monkeypatch.setattr(vault_building, "pages_of", crossed)
  writer.compact()
  assert [problem.code for problem in opened(writer.file()).problems] == ["page"]


def test_boxes_in_the_base_are_compared_with_their_hash():
  data = compacted().file()
  page = opened(data).log.index.pages[2][0]
  vault = opened(change_byte(data, page.boxes + 30))
  assert [problem.code for problem in vault.problems] == ["item"]
  assert secret_of(vault, NAMES[2]) == "damaged"


# What was seen.


def test_serials_and_epochs_that_go_back():
  older, newer = small(), small()
  newer.rekey()
  assert error_code(older.file(), seen=newer.seen()) == "rolled-back"
  seen = newer.seen()
  assert error_code(newer.file(), seen=replace(seen, epoch=3)) == "rolled-back"
  # A higher epoch of the same list.
  assert error_code(newer.file(), seen=replace(seen, epoch=1)) == "rolled-back"


def test_another_list_of_one_serial_is_a_fork():
  left, right = small(), small()
  left.add_recipient(Keys(bytes(32)).recipient())
  right.add_recipient(Keys(DEVICE).recipient())
  assert error_code(left.file(), seen=right.seen()) == "fork"
  # Also for who could not record numbers, as on a disk that only reads.
  assert error_code(left.file(), seen=replace(right.seen(), proved=(SeenCommit(),) * 3)) == "fork"


@pytest.mark.parametrize("tier", [0, 1, 2])
def test_each_of_the_three_is_compared(tier):
  writer = small()
  seen = writer.seen()

  def with_seen(commit: SeenCommit):
    return replace(seen, proved=tuple(
      commit if t == tier else SeenCommit() for t in keys.TIERS))
  digests = opened(writer.file()).log.history().digests
  assert opened(writer.file(), seen=with_seen(SeenCommit(1, 4, digests[4]))).notices == []
  assert opened(writer.file(), seen=with_seen(SeenCommit(1, 2, digests[2]))).notices == []
  assert error_code(writer.file(), seen=with_seen(SeenCommit(1, 4, bytes(32)))) == "fork"
  assert error_code(writer.file(), seen=with_seen(SeenCommit(1, 7, digests[6]))) == "rolled-back"


def test_a_digest_that_a_later_list_lacks_is_a_fork():
  seen, writer = small(), small()
  for number in range(3):
    seen.put(generic("more", str(number)), b"x", 0)
  writer.add_recipient(Keys(bytes(32)).recipient())
  assert writer.number < seen.number
  assert error_code(writer.file(), seen=seen.seen()) == "fork"


def test_an_accepted_file_is_followed_with_a_notice():
  left, right = small(), small()
  left.put(NAMES[0], b"left", 4)
  right.put(NAMES[0], b"right", 4)
  before = left.seen()
  assert error_code(right.file(), seen=before) == "fork"
  right.accept(before.serial)
  vault = opened(right.file(), seen=before)
  assert vault.notices == ["accepted"] and vault.members.accepted == 2
  # Every later list repeats it, and who has seen the accepting list sees no fork any more.
  right.add_recipient(Keys(bytes(32)).recipient())
  assert opened(right.file(), seen=before).notices == ["accepted"]
  assert opened(right.file(), seen=vault.seen()).notices == []


def test_a_list_accepts_nothing_that_is_newer_than_it():
  left, right = small(), small()
  right.put(NAMES[0], b"right", 4)
  right.accept(0)
  left.put(NAMES[0], b"left", 4)
  for seed in (bytes(32), DEVICE):
    left.add_recipient(Keys(seed).recipient())
  assert error_code(right.file(), seen=left.seen()) == "rolled-back"
  # Another list of the serial that accepted was seen: that one accepted something else.
  left = small()
  left.add_recipient(Keys(DEVICE).recipient())
  right.add_recipient(Keys(DEVICE).recipient())
  assert right.member_list().accepted == left.serial == 2 and right.serial == 3
  assert error_code(right.file(), seen=left.seen()) == "fork"


def test_changes_before_the_spine_are_unproved():
  writer = small()
  seen = writer.seen()
  for number in range(1030):
    writer.put(generic("count", ""), b"x", 4)
  assert opened(writer.file(), seen=seen).notices == []
  writer.compact()
  vault = opened(writer.file(), seen=seen)
  assert vault.notices == ["unproved"] and vault.log.spine.m == writer.number - 1025
  # The oldest digest that is known still counts.
  oldest = SeenCommit(1, vault.log.spine.m, vault.log.spine.digest)
  for commit, good in ((oldest, True), (replace(oldest, digest=bytes(32)), False)):
    record = replace(writer.seen(), proved=(commit,) * 3)
    if good:
      assert opened(writer.file(), seen=record).notices == []
    else:
      assert error_code(writer.file(), seen=record) == "fork"


def test_a_record_of_another_vault():
  assert error_code(small().file(), seen=team().seen()) == "another-vault"


# Another administration key.


def changed_key(recovery: bool) -> tuple[VaultWriter, VaultWriter]:
  before = small()
  before.add_recovery_code(bytes(16))
  after = before.copied()
  seed = slot_seed(bytes(16), after.slots[3].signing_fields(after.id)) if recovery else None
  with after.transaction():
    after.rekey(True, seed)
    after.present(1, keys.key_file_key(KEY_FILE))
    after.present(2, DEVICE)
  return before, after


def test_a_succession_is_followed():
  before, after = changed_key(recovery=True)
  assert opened(after.file(), seen=before.seen()).notices == []
  other = replace(before.seen(), recovery_key=NONE)
  assert error_code(after.file(), seen=other) == "administration-changed"


def test_another_key_without_a_succession():
  before, after = changed_key(recovery=False)
  assert error_code(after.file(), seen=before.seen()) == "administration-changed"
  assert opened(after.file()).problems == []


def test_a_key_that_is_being_changed():
  """While the next key is recorded, the old one counts only for exactly what was seen."""
  before, after = changed_key(recovery=False)
  seen = replace(before.seen(), next_administration=after.administration)
  assert opened(after.file(), seen=seen).notices == []
  assert opened(before.file(), seen=seen).notices == []
  before.put(NAMES[0], b"removed administrator", 4)
  assert error_code(before.file(), seen=seen) == "rolled-back"


def test_a_slot_of_an_earlier_key_needs_a_witness():
  before, after = changed_key(recovery=False)
  code = Secrets(recovery_code=bytes(16))
  assert error_code(after.file(), code) == "rolled-back"
  assert opened(after.file(), code, check=after.check).problems == []
  assert error_code(after.file(), code, check=before.check) == "rolled-back"
  assert opened(after.file(), code, seen=after.seen()).problems == []
  alone = replace(after.seen(), proved=(after.seen().proved[0], SeenCommit(), SeenCommit()))
  assert error_code(after.file(), code, seen=alone) == "rolled-back"


def test_pins():
  writer = team()
  pinned = replace(ALICE, pins=(writer.check,))
  assert opened(writer.file(), pinned).problems == []
  assert error_code(writer.file(), replace(ALICE, pins=(bytes(16),))) == "another-vault"
  old = writer.seen()
  writer.writes_as(1, Keys(IDENTITY))
  writer.rekey(True, recovery_seed(writer))
  # A succession leads nowhere from a pin; where there is a record, it counts, and no pin does.
  assert error_code(writer.file(), pinned) == "another-vault"
  assert opened(writer.file(), pinned, seen=old).problems == []


def test_first_use_names_the_check():
  writer = team()
  assert opened(writer.file(), ALICE).notices == [f"trusted on first use: {writer.check.hex()}"]
  for options in ({"seen": writer.seen()}, {"check": writer.check}):
    assert opened(writer.file(), ALICE, **options).notices == []


def test_a_recipient_slot_is_of_the_key_of_the_head():
  """An administrator seals it again for each key, so another `made` is nobody's."""
  forge = Forge(team().file(), ALICE, writer=as_member(1, IDENTITY))
  slots = list(forge.vault.head.slots)
  slot = replace(Slot.decoded(slots[2]), made=bytes(32))
  commitment = slot_commitment(forge.open_key, slot.header(forge.vault.head.vault))
  slots[2] = replace(slot, commitment=commitment).encoded()
  forge.base(head=replace(forge.vault.head, slots=tuple(slots)))
  assert damage(forge.data, RITA) == "slot"

# Shared vaults.


def as_member(number: int, seed: bytes) -> Writer:
  return Writer(number, Keys(seed).signing_seed)


@pytest.mark.parametrize("writer, good", [
  (as_member(1, IDENTITY), True), (as_member(2, WRITING_IDENTITY), True),
  (as_member(3, READING_IDENTITY), False), (as_member(1, WRITING_IDENTITY), False),
  (as_member(9, IDENTITY), False), (as_member(0, IDENTITY), False)])
def test_writers_in_a_shared_vault(writer, good):
  forge = Forge(team().file(), RITA, writer=writer)
  forge.append({0: [forge.item(NAMES[0], b"x", 4)]})
  assert secret_of(opened(forge.data, RITA), NAMES[0]) == (b"x" if good else None)
  forge.append({})
  if not good:
    assert damage(forge.data, RITA) == "log"
  base = Forge(team().file(), RITA, writer=writer).base().data
  assert (opened(base, RITA).problems == []) if good else damage(base, RITA) == "base"


def test_a_reader_proves_nothing_with_the_keys_of_tiers():
  forge = Forge(team().file(), RITA)
  commit, boxes = forge.commit({0: [forge.item(NAMES[0], b"x", 4)]})
  forge.add(commit.proved(forge.tiers), boxes)
  assert opened(forge.data, RITA).log.last.number == team().number


def test_signed_commit_with_macs_is_invalid():
  forge = Forge(team().file(), RITA, writer=as_member(1, IDENTITY))
  commit, boxes = forge.commit({0: [forge.item(NAMES[0], b"x", 4)]})
  signed = forge.proved(commit)
  forge.add(replace(signed, proofs=Proofs((bytes(32), None, None), None, signed.proofs.signature)), boxes)
  assert opened(forge.data, RITA).log.last.number == team().number


def test_a_writer_makes_no_list():
  forge = Forge(team().file(), WALTER, writer=as_member(2, WRITING_IDENTITY))
  forge.new_list(Keys(WRITING_IDENTITY).signing_seed)
  assert damage(forge.data, WALTER) == "list"


def test_a_removed_writer_signs_nothing():
  writer = team()
  writer.writes_as(1, Keys(IDENTITY))
  writer.remove_slot(2)
  forge = Forge(writer.file(), ALICE, writer=as_member(2, WRITING_IDENTITY))
  forge.append({0: [forge.item(NAMES[0], b"x", 4)]})
  assert opened(forge.data, ALICE, check=writer.check).log.last.number == writer.number
  assert error_code(writer.file(), WALTER) == "wrong-key"


def test_a_shared_item_of_a_device_is_damaged():
  forge = Forge(team().file(), ALICE, writer=as_member(1, IDENTITY))
  forge.append({2: [forge.item(NAMES[0], b"x", 1, DEVICE)]})
  assert secret_of(opened(forge.data, ALICE), NAMES[0]) == "damaged"


def test_the_sealed_administration_key_is_that_of_the_list():
  forge = forged()
  box = seal(keys.administration_box_key(small().root), bytes(32), bytes(24))
  forge.base(head=replace(forge.vault.head, administration_box=box))
  assert damage(forge.data) == "list-administration"
