"""The log of a vault after somebody changed it: without keys, with T0, with T0 and T1."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest

import vault_keys as keys
from sample_vault import generic
from vault_codes import Keys
from vault_forging import Forge, change_byte
from vault_items import Part
from vault_log import MAXIMUM_FRAME_COUNT, ChangesBody, Commit, FrameHeader, Proofs
from vault_testing import (
  ALL, NAMES, T0_ALONE, damage, error_code, opened, secret_of, small)

NEW = generic("new", "item")


def frames() -> tuple[bytes, list[bytes]]:
  forge = Forge(small().file(), ALL)
  return forge.before_log(), forge.frames()


def secrets(data: bytes, **options) -> list:
  vault = opened(data, **options)
  assert vault.problems == []
  return [secret_of(vault, metadata) for metadata in NAMES]


FIRST, SECOND = [b"first"] * 3, [b"second"] * 3


# Without keys.


def test_a_cut_between_commits_is_an_older_copy():
  before, parts = frames()
  for count in range(4):
    data = before + b"".join(parts[: count + 1])
    assert secrets(data) == SECOND[:count] + FIRST[count:]
    if count < 3:
      assert error_code(data, seen=small().seen()) == "rolled-back"


@pytest.mark.parametrize("dropped", [0, 1, 2])
def test_a_dropped_commit_is_damage(dropped):
  before, parts = frames()
  assert damage(before + b"".join(parts[:dropped] + parts[dropped + 1 :])) in ("base", "log")


def test_exchanged_and_doubled_commits_are_damage():
  before, (base, first, second, third) = frames()
  for order in ([base, second, first, third], [base, first, third, second], [first, base, second, third]):
    assert damage(before + b"".join(order)) in ("base", "log")
  # A commit once more has a number that was there already, so that nobody's next commit is there:
  # what follows is as good as cut off, unless a commit after the next one shows that it was not.
  for rest in (first, first + second):
    assert secrets(before + base + first + rest) == [b"second", b"first", b"first"]
  assert damage(before + base + first + first + second + third) == "log"


@pytest.mark.parametrize("count", [1, 31, 32, 33, 60, 200, 600, 700])
def test_a_frame_that_is_cut_off_is_an_unfinished_write(count):
  before, parts = frames()
  data = before + b"".join(parts[:3]) + parts[3][:count]
  assert count < len(parts[3])
  assert secrets(data) == [b"second", b"second", b"first"]
  # Who has seen the commit knows that it was finished.
  assert damage(data, seen=small().seen()) == "log"


@pytest.mark.parametrize("tail", [
  b"\0", bytes(4096), b"\xff" * 100, b"PKVAULT\n" * 50], ids=["byte", "zeros", "ones", "text"])
def test_any_bytes_behind_the_log_are_an_unfinished_write(tail):
  data = small().file() + tail
  assert secrets(data) == secrets(data, seen=small().seen()) == SECOND
  assert opened(data).log.end == len(small().file())


@pytest.mark.parametrize("excess", [0, 1])
def test_an_unfinished_write_is_no_longer_than_a_frame(excess):
  data = small().file() + bytes(MAXIMUM_FRAME_COUNT + excess)
  if excess:
    assert damage(data) == "log"
  else:
    assert secrets(data) == SECOND


def test_a_later_commit_anywhere_in_the_tail_shows_damage():
  """Also where zero bytes precede it, and at any place."""
  before, parts = frames()
  for gap in (0, 1, 31, 32, 1000):
    assert damage(before + parts[0] + parts[1] + bytes(gap) + parts[3]) == "log"
    # The next one alone may be what a write left.
    assert secrets(before + parts[0] + parts[1] + b"\1" * gap + parts[2][:100])[:2] == [b"second", b"first"]


def test_a_record_of_an_earlier_list_does_not_count_numbers():
  """Numbers are in the order of the lists: the boxes of a later list's last commit are compared."""
  writer = small()
  seen = writer.seen()
  writer.add_recipient(Keys(bytes(32)).recipient())
  writer.put(NEW, b"x", 0)
  later = replace(seen, proved=tuple(replace(one, number=50) for one in seen.proved))
  assert error_code(writer.file() + b"torn", seen=later) == "fork"
  data = change_byte(writer.file(), -1)
  assert opened(data, seen=seen).log.last.number == 7


def test_a_hole_in_the_last_frame_is_an_unfinished_write():
  """Blocks of a file reach the disk in any order."""
  before, parts = frames()
  for start, end in ((0, 40), (32, 300), (100, len(parts[3]) - 100), (len(parts[3]) - 50, len(parts[3]))):
    torn = parts[3][:start] + bytes(end - start) + parts[3][end:]
    assert secrets(before + b"".join(parts[:3]) + torn) == [b"second", b"second", b"first"]


@pytest.mark.parametrize("place", [0, 8, 12, 16, 31, 32, 60, 200, -290, -1])
def test_damage_in_the_middle_is_damage(place):
  before, parts = frames()
  parts[2] = change_byte(parts[2], place)
  data = before + b"".join(parts)
  if place >= 0:
    assert damage(data) == "log"
    assert damage(data, seen=small().seen()) == "log"
  else:
    # The box of a secret: this item alone.
    vault = opened(data)
    assert [secret_of(vault, one) for one in NAMES] == [b"second", "damaged", b"second"]
    assert {problem.code for problem in vault.problems} == {"item", "boxes"}


def test_zeros_in_place_of_commits_are_damage():
  before, parts = frames()
  assert damage(before + parts[0] + bytes(len(parts[1]) + len(parts[2])) + parts[3]) == "log"


def test_the_boxes_of_the_last_frame_belong_to_it():
  """A commit whose boxes did not reach the disk does not replace what was before."""
  data = change_byte(small().file(), -1)
  assert secrets(data) == [b"second", b"second", b"first"]
  # If it was seen, it was durable: so it is damage, of this item alone.
  vault = opened(data, seen=small().seen())
  assert secret_of(vault, NAMES[2]) == "damaged"


def test_every_byte_before_the_log_counts():
  writer = small()
  writer.compact()
  data = writer.file()
  log = opened(data).head.log
  for place in range(0, log, 37):
    changed = change_byte(data, place)
    try:
      vault = opened(changed)
    except Exception as error:
      assert type(error).__name__ in ("Damage", "VaultError"), place
    else:
      assert vault.problems, place


def test_a_file_cut_anywhere_is_refused_or_older():
  data = small().file()
  log = opened(data).head.log
  for count in [*range(0, log, 97), *range(log, len(data), 13)]:
    cut = data[:count]
    try:
      found = secrets(cut)
    except Exception as error:
      assert type(error).__name__ in ("Damage", "VaultError"), count
      assert count < log + 700
    else:
      assert found in [SECOND[:n] + FIRST[n:] for n in range(4)]


def test_parts_of_older_files_do_not_fit():
  old, new = small(), small()
  new.compact()
  new.put(NEW, b"x", 0)
  old_forge, new_forge = Forge(old.file(), ALL), Forge(new.file(), ALL)
  assert damage(old_forge.before_log() + b"".join(new_forge.frames())) == "base"
  assert damage(new_forge.before_log() + b"".join(old_forge.frames())) == "base"
  frame = new_forge.frames()[-1]
  assert damage(old.file() + frame) == "log"


# With T0: a stolen device key.


def t0(data: bytes | None = None) -> Forge:
  return Forge(data or small().file(), ALL, held=(0,))


def test_t0_changes_items_of_its_own():
  forge = t0()
  forge.append({0: [forge.item(NAMES[0], b"third", 4)]})
  assert secrets(forge.data) == [b"third", b"second", b"second"]


@pytest.mark.parametrize("held, tier", [((0,), 1), ((0,), 2), ((0, 1), 2)])
def test_a_part_after_the_newest_proof_is_damage(held, tier):
  """A removal, and an entry that was there before; both are what T0 has the bytes for."""
  item = Forge(small().file(), ALL).vault.lookup(NAMES[tier].identity).entry.id
  for changes in ([item], [Forge(small().file(), ALL).cut(3).stored(item, tier)]):
    forge = Forge(small().file(), ALL, held=held)
    forge.append({tier: changes})
    assert damage(forge.data) == "unproved"
    # Who lacks the key of the tier can't tell.
    assert secret_of(opened(forge.data, T0_ALONE), NAMES[tier]) in ("locked", None)


def test_a_later_proof_covers_what_was_before():
  forge = t0()
  forge.append({0: [forge.item(NEW, b"x", 4)]})
  whole = Forge(forge.data, ALL)
  whole.append({2: [whole.item(generic("b", ""), b"y", 0)]})
  assert secret_of(opened(whole.data), NEW) == b"x"


@pytest.mark.parametrize("tier", [0, 1, 2])
def test_a_wrong_proof_is_damage(tier):
  forge = Forge(small().file(), ALL)
  commit, boxes = forge.commit({0: [forge.item(NEW, b"x", 4)]})
  macs = list(forge.proved(commit).proofs.macs)
  macs[tier] = bytes(32)
  forge.add(replace(commit, proofs=Proofs(tuple(macs))), boxes)
  if tier == 0:
    # T0's mac is part of a good frame.
    assert opened(forge.data).log.last.number == 6
  else:
    assert damage(forge.data) == "proof"


def test_t0_cannot_move_an_item_down():
  """A lower tier has the id: what is in the higher one counts, and the lower one is reported."""
  for tier in (1, 2):
    forge = t0()
    forge.append({0: [forge.item(NAMES[tier], b"planted", 4)]})
    vault = opened(forge.data)
    assert secret_of(vault, NAMES[tier]) == b"second"
    assert vault.shadowed == [(0, keys.item_id(vault.tiers[0], NAMES[tier].identity.encoded()))]
    assert secret_of(opened(forge.data, T0_ALONE), NAMES[tier]) == "locked"


def test_t0_plants_what_no_other_tier_has():
  forge = t0()
  forge.append({0: [forge.item(NEW, b"planted", 4)]})
  assert secret_of(opened(forge.data), NEW) == b"planted"


def test_entry_of_another_tier_is_invalid():
  """T0 puts an old entry of T2 into its own part."""
  forge = t0()
  old = Forge(small().file(), ALL).stored(forge.vault.lookup(NAMES[2].identity).entry.id, 2)
  forge.append({0: [old]})
  assert opened(forge.data).log.last.number == 6
  forge.append({0: [forge.item(NEW, b"x", 4)]})
  assert damage(forge.data) == "log"


def test_t0_cannot_hide_the_last_proof():
  """Without the proof of a commit, its changes are not covered."""
  forge = Forge(small().file(), ALL)
  last = forge.vault.log.last
  forge.cut(1)
  macs = (*last.proofs.macs[:2], None)
  boxes = small().file()[-last.content.parts[2].puts[0].box_count :]
  forge.add(replace(last, proofs=Proofs(macs)), boxes)
  assert damage(forge.data) == "unproved"


def test_t0_cuts_and_writes_its_own_history():
  """On first use that is an older copy; a reader that saw T2's proof sees a fork."""
  forge = t0().cut(2)
  for count in range(2):
    forge.append({0: [forge.item(generic("new", str(count)), b"x", 4)]})
  assert secrets(forge.data) == [b"second", b"first", b"first"]
  assert error_code(forge.data, seen=small().seen()) == "fork"
  assert error_code(forge.data, T0_ALONE, seen=small().seen()) == "fork"


def test_t0_makes_no_base():
  forge = t0()
  forge.base()
  assert damage(forge.data) == "base"
  assert damage(forge.data, T0_ALONE) == "base"


@pytest.mark.parametrize("tier", [1, 2])
def test_a_base_needs_all_proofs(tier):
  """Proofs of another digest, which is all that T0 has, are wrong."""
  for mac in (None, bytes(32), Forge(small().file(), ALL).vault.log.base.proofs.macs[tier]):
    forge = Forge(small().file(), ALL).base()
    base = Forge(forge.data, ALL).vault.log.base
    macs = list(base.proofs.macs)
    macs[tier] = mac
    forge.data = forge.data[: opened(forge.data).head.log]
    forge.add(replace(base, proofs=Proofs(tuple(macs))))
    assert damage(forge.data) == "base"


def test_two_offline_histories_cannot_be_joined():
  """Each side saw its own; a base of one side doesn't have the digest of the other."""
  left, right = small(), small()
  left.put(NAMES[2], b"left", 0)
  right.put(NAMES[2], b"right", 0)
  right.put(NEW, b"right", 0)
  assert error_code(right.file(), seen=left.seen()) == "fork"
  assert error_code(left.file(), seen=right.seen()) == "rolled-back"
  right.compact()
  assert error_code(right.file(), seen=left.seen()) == "fork"


def test_a_commit_of_the_other_side_does_not_follow():
  left, right = small(), small()
  left.put(NAMES[2], b"left", 0)
  right.put(NAMES[2], b"right", 0)
  right.put(NEW, b"right", 0)
  tail = Forge(right.file(), ALL).frames()[-1]
  vault = opened(left.file() + tail)
  assert vault.log.last.number == 7 and vault.lookup(NEW.identity) is None


# Frames and boxes.


def test_numbers_of_frames():
  forge = Forge(small().file(), ALL)
  for number in (5, 6, 8, 1 << 40):
    commit, boxes = forge.commit({0: [forge.item(NEW, b"x", 4)]})
    data = forge.data + forge.proved(replace(commit, number=number)).frame(
      forge.open_key, forge.vault.head.epoch, forge.random.nonce(), boxes)
    if number > 7:
      assert damage(data) == "log"
    else:
      assert opened(data).log.last.number == 6


def test_numbers_end_2_to_the_40_above_the_first_of_the_list():
  forge = Forge(small().file(), ALL)
  highest = forge.vault.members.first + (1 << 40)
  for number, found in ((highest, True), (highest + 1, False)):
    header = FrameHeader(number, 552, 0).encoded(forge.open_key, 1)
    assert (FrameHeader.found(header, forge.open_key, 1, 1, highest) is not None) == found


def test_a_frame_of_another_number_than_its_box():
  forge = Forge(small().file(), ALL)
  commit, boxes = forge.commit({0: [forge.item(NEW, b"x", 4)]})
  box = forge.proved(commit).sealed(forge.open_key, forge.random.nonce())
  other = forge.proved(replace(commit, number=8)).sealed(forge.open_key, forge.random.nonce())
  for sealed, last in ((box, 7), (other, 6)):
    header = FrameHeader(7, len(sealed), len(boxes)).encoded(forge.open_key, 1)
    assert opened(forge.data + header + sealed + boxes).log.last.number == last


def test_exchanged_boxes_are_damage_of_their_items():
  writer = small()
  with writer.transaction():
    ids = [writer.put(generic("pair", name), name.encode() * 5, 0) for name in "ab"]
  frames_of = Forge(writer.file(), ALL).frames()
  count = writer.items[2][ids[0]].entry.box_count
  last = frames_of[-1]
  swapped = last[: -2 * count] + last[-count:] + last[-2 * count : -count]
  assert swapped != last
  data = writer.file()[: -len(last)] + swapped
  # Not durable as far as anybody knows: an unfinished write.
  assert opened(data).log.last.number == 6
  vault = opened(data, seen=writer.seen())
  assert [secret_of(vault, generic("pair", name)) for name in "ab"] == ["damaged"] * 2


def test_entries_that_name_the_boxes_of_others():
  """Somebody with the tier's key exchanges boxes and hashes: the key of a box has id and version."""
  forge = Forge(small().file(), ALL)
  first, second = (forge.item(generic("pair", name), name.encode() * 5, 0) for name in "ab")
  crossed = [
    replace(one, box=other.box, entry=replace(one.entry, box_hash=other.entry.box_hash))
    for one, other in ((first, second), (second, first))]
  forge.append({2: crossed})
  vault = opened(forge.data)
  assert [secret_of(vault, generic("pair", name)) for name in "ab"] == ["damaged"] * 2


def test_an_entry_of_another_identity_is_damaged():
  forge = Forge(small().file(), ALL)
  item = forge.item(NEW, b"x", 0, item_id=bytes(32))
  forge.append({2: [item]})
  vault = opened(forge.data)
  assert {problem.code for problem in vault.problems} == {"item"}
  assert vault.lookup(NEW.identity) is None


@pytest.mark.parametrize("change", ["box", "service"])
def test_an_entry_that_does_not_say_the_truth(change):
  """The secret sealed again is not the box of the entry; nor is the entry of another service."""
  forge = Forge(small().file(), ALL)
  item = forge.item(NEW, b"x", 0)
  if change == "box":
    again = forge.item(NEW, b"x", 0, version=item.entry.version)
    item = replace(item, box=again.box)
  else:
    item = replace(item, entry=replace(item.entry, service=bytes(8)))
  forge.append({2: [item]})
  vault = opened(forge.data)
  assert secret_of(vault, NEW) == "damaged" and secret_of(vault, NAMES[2]) == b"second"


@pytest.mark.parametrize("change", ["order", "twice", "class", "version", "device", "boxes", "inner"])
def test_parts_that_break_a_rule(change):
  forge = Forge(small().file(), ALL)
  items = sorted(
    (forge.item(generic("pair", name), b"x", 0) for name in "ab"), key=lambda item: item.id)
  commit, boxes = forge.commit({2: items})
  part = commit.content.parts[2]
  first, second = part.changes
  changed = {
    "order": (second, first), "twice": (first, first), "class": (first, replace(second, item_class=4)),
    "version": (first, replace(second, version=0)), "device": (first, replace(second, device=bytes(16))),
    "boxes": (first, replace(second, box_count=second.box_count + 1)), "inner": ()}[change]
  wrong = replace(part, changes=changed)
  content = replace(commit.content, parts=(*commit.content.parts[:2], wrong))
  forge.add(forge.proved(replace(commit, content=content)), boxes)
  # Alone it is no good frame; with another one behind it, it is damage.
  assert opened(forge.data).log.last.number == 6
  forge.append({})
  assert damage(forge.data) == "log"


def test_names_that_do_not_open_damage_their_items_alone():
  forge = Forge(small().file(), ALL)
  commit, boxes = forge.commit({2: [forge.item(NEW, b"x", 0)]})
  part = commit.content.parts[2]
  content = replace(
    commit.content, parts=(*commit.content.parts[:2], replace(part, inner=change_byte(part.inner, -1))))
  forge.add(forge.proved(replace(commit, content=content)), boxes)
  vault = opened(forge.data)
  assert {problem.code for problem in vault.problems} == {"names", "item"}
  assert secret_of(vault, NEW) == "damaged" and secret_of(vault, NAMES[2]) == b"second"


def test_second_base_in_the_log_is_invalid():
  forge = Forge(small().file(), ALL)
  base = replace(forge.vault.log.base, number=7, previous=forge.digest)
  forge.add(forge.proved(base))
  assert opened(forge.data).log.last.number == 6


def test_signatures_that_must_not_be_there():
  for change in (lambda one: one.signed(bytes(32)), lambda one: one.signed_by_administration(
      small().administration_seed), lambda one: replace(one, writer=1).proved(forge.tiers)):
    forge = Forge(small().file(), ALL)
    commit, boxes = forge.commit({0: [forge.item(NEW, b"x", 4)]})
    forge.add(change(forge.proved(commit)), boxes)
    assert opened(forge.data).log.last.number == 6


def test_a_body_that_is_too_long():
  forge = Forge(small().file(), ALL)
  removed = Part(tuple(struct.pack(">I", number).ljust(32, b"\0") for number in range(32_000)))
  commit = Commit(7, forge.digest, 0, 0, ChangesBody(forge.commit({})[0].content.boxes, (removed, Part(), Part())))
  assert len(commit.body()) > 1 << 20
  forge.add(forge.proved(commit))
  assert opened(forge.data).log.last.number == 6
