"""Reads the log of a vault: the base, the commits after it, and an unfinished write behind them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vault_base import Index, Spine
from vault_errors import Damage
from vault_head import Head
from vault_log import (
  HEADER_COUNT, MAXIMUM_FRAME_COUNT, MAXIMUM_LIKENESS_COUNT, Commit, FrameHeader, boxes_hash)
from vault_members import NUMBERS, MemberList, VaultKind
from vault_notation import FormatError, digest
from vault_seen import History, SeenRecord


@dataclass(frozen=True)
class Placed:
  """A commit, and where its frame begins, its boxes begin, and its boxes end."""

  commit: Commit
  start: int
  boxes: int
  end: int


@dataclass(frozen=True)
class Log:
  """What a file holds from its base on; `end` is where the last good frame ends."""

  index: Index
  spine: Spine
  base: Commit
  commits: tuple[Placed, ...]
  end: int

  @property
  def last(self) -> Commit:
    return self.commits[-1].commit if self.commits else self.base

  def history(self) -> History:
    found = self.spine.digests()
    for commit in (self.base, *(placed.commit for placed in self.commits)):
      found[commit.number] = commit.digest()
    return History(found)

  def newest_proved(self, tier: int, key: bytes, shared: bool) -> Commit:
    """The newest commit that was proved under a tier; the base has all proofs."""
    for commit in (*(placed.commit for placed in reversed(self.commits)), self.base):
      try:
        if shared or commit.is_proved(tier, key):
          return commit
      except FormatError as error:
        raise Damage("proof", str(error)) from None
    raise Damage("proof", f"no commit is proved under tier {tier}")


class Scanner:
  """Reads the log of one file with the key of T0."""

  def __init__(self, data: bytes, head: Head, members: MemberList, open_key: bytes) -> None:
    self.data, self.head, self.members, self.open_key = data, head, members, open_key
    self.highest = members.first + NUMBERS
    self.shared = members.kind == VaultKind.SHARED

  def log(self, tiers: dict[int, bytes], seen: SeenRecord | None) -> Log:
    """The log; raises `Damage` where the specification says so."""
    try:
      base, place = self._base(tiers)
      index, spine = self._index_and_spine(base)
    except FormatError as error:
      raise Damage("base", str(error)) from None
    commits: list[Placed] = []
    while placed := self._next(commits[-1].commit if commits else base, place):
      commits.append(placed)
      place = placed.end
    recorded = (seen.proved[0].serial, seen.proved[0].number) if seen else (0, 0)
    if commits and self._order(commits[-1].commit) > recorded and (
        not self._has_its_boxes(commits[-1])):
      place = commits.pop().start
    last = commits[-1].commit if commits else base
    self._check_unfinished(place, last, recorded)
    log = Log(index, spine, base, tuple(commits), place)
    for tier, key in tiers.items():
      newest = log.newest_proved(tier, key, self.shared).number
      if any(placed.commit.number > newest and placed.commit.content.parts[tier].changes
             for placed in commits):
        raise Damage("unproved", f"a change of tier {tier} is not covered by its proof")
    return log

  # The base.

  def _base(self, tiers: dict[int, bytes]) -> tuple[Commit, int]:
    start = self.head.log
    header = FrameHeader.found(
      self.data, self.open_key, self.head.epoch, self.members.first, self.highest, start)
    if header is None or header.boxes_count or start + header.count > len(self.data):
      raise FormatError("the log does not begin with a base")
    box = self.data[start + HEADER_COUNT : start + header.count]
    commit = Commit.opened(self.open_key, header.number, box)
    if not commit.is_base:
      raise FormatError("the first commit of the log is no base")
    self._check_proofs(commit)
    for tier, key in tiers.items():
      if not self.shared and not commit.is_proved(tier, key):
        raise FormatError(f"the base has no proof of tier {tier}")
    if (commit.content.head, commit.content.serial) != (
        digest(32, self.data[: self.head.count]), self.members.serial):
      raise FormatError("the base is of another head or list")
    return commit, start + header.count

  def _check_proofs(self, commit: Commit) -> None:
    """The proofs that T0 needs, and no other than the kind of vault has."""
    proofs, members = commit.proofs, self.members
    if self.shared:
      if any(mac is not None for mac in proofs.macs) or not commit.is_signed(members):
        raise FormatError("a commit is signed by nobody who may write, or has macs")
    elif commit.writer or proofs.signature is not None or not commit.is_proved(0, self.open_key):
      raise FormatError("a commit of a local vault has a writer, or lacks the proof of T0")
    elif commit.is_base and None in proofs.macs:
      raise FormatError("the base lacks a proof")
    if commit.is_base and commit.number == members.first:
      if not commit.is_signed_by_administration(self.head.administration):
        raise FormatError("the first base of the list lacks the signature of the administration key")
    elif proofs.list_signature is not None:
      raise FormatError("a commit has the signature of a list, and must not")

  def _index_and_spine(self, base: Commit) -> tuple[Index, Spine]:
    head = self.head
    box = self.data[head.index_place : head.spine_place]
    if digest(32, box) != base.content.index:
      raise FormatError("the index is not the one of the base")
    index = Index.opened(self.open_key, box, head.count, head.index_place)
    spine_box = self.data[head.spine_place : head.log]
    if digest(32, spine_box) != index.spine:
      raise FormatError("the spine is not the one of the index")
    spine = Spine.opened(self.open_key, spine_box, head.vault, base.number)
    digests = spine.digests()
    if digests[base.number - 1] != base.previous:
      raise FormatError("the base does not follow the spine")
    if digests.get(self.members.first - 1, self.members.before) != self.members.before:
      raise FormatError("the history does not lead over the list's first base")
    return index, spine

  # The commits.

  def _next(self, last: Commit, place: int) -> Placed | None:
    """The commit that is there, if its frame is good."""
    number = last.number + 1
    header = FrameHeader.found(
      self.data, self.open_key, self.head.epoch, number, min(number, self.highest), place)
    if header is None or place + header.count > len(self.data):
      return None
    boxes = place + HEADER_COUNT + header.box_count
    try:
      commit = Commit.opened(self.open_key, number, self.data[place + HEADER_COUNT : boxes])
      if commit.is_base or commit.previous != last.digest():
        return None
      self._check_proofs(commit)
    except FormatError:
      return None
    if sum(commit.content.box_counts()) != header.boxes_count:
      return None
    return Placed(commit, place, boxes, place + header.count)

  def _has_its_boxes(self, placed: Placed) -> bool:
    return boxes_hash(self.data[placed.boxes : placed.end]) == placed.commit.content.boxes

  def _order(self, commit: Commit) -> tuple[int, int]:
    return self.members.serial, commit.number

  def _check_unfinished(self, place: int, last: Commit, recorded: tuple[int, int]) -> None:
    """Refuses what follows the last good frame, unless it is an unfinished write."""
    if place == len(self.data):
      return
    if self._order(last) < recorded:
      raise Damage("log", "a commit that was seen is damaged")
    if len(self.data) - place > MAXIMUM_FRAME_COUNT:
      raise Damage("log", "what follows the last good frame is longer than any frame")
    # Headers are looked for only where the number has the zero bytes that all numbers have here.
    used = (self.highest.bit_length() + 7) // 8
    numbers = re.compile(b"(?s)(?=(?!\0{%d}).{%d}\0{%d})" % (used, used, 8 - used))
    likenesses = 0
    for found in numbers.finditer(self.data, place):
      if not FrameHeader.possible(self.data, last.number + 2, self.highest, found.start()):
        continue
      likenesses += 1
      if likenesses > MAXIMUM_LIKENESS_COUNT:
        raise Damage("log", "what follows the last good frame was not written by a writer")
      if FrameHeader.found(
          self.data, self.open_key, self.head.epoch, last.number + 2, self.highest, found.start()):
        raise Damage("log", f"commit {last.number + 1} is damaged, and a later one is there")
