"""What the engine had of a store of shared preferences, and what must be true of it."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from etcd_calls import EtcdCalls, Row

FORM = 1
REMOVAL = 0
HEADER = 42


@dataclass(frozen=True)
class Entry:
  """A row of a key: who wrote it, and its value; a removal has none."""

  key: str
  revision: int
  value: object
  writer: bytes = b""
  number: int = 0
  # The row itself was taken away, which nobody wrote: a removal was collected.
  is_collected: bool = False


def entry(prefix: bytes, row: Row) -> Entry:
  key = row.key.removeprefix(prefix + b"k/").decode()
  if row.value is None:
    return Entry(key, row.revision, None, is_collected=True)
  assert row.value[0] == FORM, f"the row of {key} has the form {row.value[0]}"
  writer, number = row.value[2:18], int.from_bytes(row.value[18:26], "big")
  return Entry(key, row.revision, decoded(row.value[1], row.value[HEADER:]), writer, number)


def decoded(kind: int, data: bytes) -> object:
  """Decodes the kinds of value that the tests share."""
  if kind == REMOVAL:
    return None
  if kind == 1:
    return bool(data[0])
  if kind == 2:
    return struct.unpack("<q", data)[0]
  if kind == 6:
    return data.decode()
  if kind == 7:
    return {"bytes": len(data)}
  raise AssertionError(f"no test shares values of the kind {kind}")


@dataclass
class History:
  """The entries of a store in the order of the engine, collected before it forgets them."""

  prefix: bytes
  entries: list[Entry] = field(default_factory=list)
  # What an engine had that was lost, when an older one was restored in its place.
  lost: list[Entry] = field(default_factory=list)
  revision: int = 0

  def collect(self, calls: EtcdCalls) -> None:
    last = calls.revision()
    for group in calls.history(self.prefix + b"k/", self.revision + 1, last):
      self.entries += [entry(self.prefix, row) for row in group]
    self.revision = last

  def restored(self, revision: int) -> None:
    """The engine has only what it had at a revision, and goes on from there."""
    self.lost += [each for each in self.entries if each.revision > revision]
    self.entries = [each for each in self.entries if each.revision <= revision]
    self.revision = revision

  def by_key(self) -> dict[str, list[Entry]]:
    """What was written to each key; collected rows left out."""
    found: dict[str, list[Entry]] = {}
    for each in self.entries:
      if not each.is_collected:
        found.setdefault(each.key, []).append(each)
    return found

  def values(self) -> dict:
    """What the last writer of each key wrote."""
    last = {each.key: each.value for each in self.entries}
    return {key: value for key, value in last.items() if value is not None}


@dataclass(frozen=True)
class Write:
  """A write that a machine has confirmed: what the key had there before, and what it has now.

  Values are never repeated. Writes with the same transaction belong together.
  """

  machine: str
  key: str
  before: object
  value: object
  transaction: int | None = None


@dataclass
class Model:
  """All writes of the machines, in the order of each; what is wrong with a history is a list of texts."""

  writes: list[Write] = field(default_factory=list)
  # Machines whose program keeps its own value in a conflict, or makes one of both.
  deciding: set[str] = field(default_factory=set)
  # Of each machine whose home is a copy: the machine from which it was copied.
  copied: dict[str, str] = field(default_factory=dict)
  # (machine, key, value): what the program of a machine was told that it has lost.
  conflicts: set[tuple[str, str, object]] = field(default_factory=set)
  # (key, value): writes in flight when their machine was killed. What they replaced is not known.
  uncertain: set[tuple[str, object]] = field(default_factory=set)

  def faults(self, history: History) -> list[str]:
    self.forget_what_did_not_happen(history)
    return [
      *self.repeated(history), *self.unknown(history), *self.lost(history), *self.stale(history),
      *self.torn(history), *self.disordered(history), *self.renamed(history)]

  def forget_what_did_not_happen(self, history: History) -> None:
    """Drops writes that were cut off, and of which nothing was ever seen."""
    seen = {(each.key, each.value) for each in [*history.entries, *history.lost]}
    seen |= {(key, lost) for _, key, lost in self.conflicts}
    seen |= {(write.key, write.before) for write in self.writes}
    gone = self.uncertain - seen
    self.writes = [write for write in self.writes if (write.key, write.value) not in gone]

  def repeated(self, history: History):
    """Nothing is there twice."""
    inherited = self.inherited()
    seen: dict[tuple, Entry] = {}
    for each in history.entries:
      name = (each.key, each.value)
      if each.value is not None and name in seen and name not in inherited:
        yield f"{each.key}: {each.value!r} is written at {seen[name].revision} and at {each.revision}"
      seen[name] = each

  def inherited(self) -> set[tuple]:
    """What two programs may send that keep their own values: one had it from the copy of a home."""
    sources = {source for copy, source in self.copied.items() if copy in self.deciding}
    return {(write.key, write.value) for write in self.writes if write.machine in sources}

  def unknown(self, history: History):
    """Nothing is there that nobody wrote."""
    known = {(write.key, write.value) for write in self.writes}
    for each in history.entries:
      if each.value is not None and (each.key, each.value) not in known:
        yield f"{each.key}: nobody wrote {each.value!r} of {each.revision}"

  def lost(self, history: History):
    """The last write of each machine has arrived, or its program knows that it has lost a conflict."""
    arrived = {(each.key, each.value) for each in history.entries}
    last = {(write.machine, write.key): write for write in self.writes}
    last_lost = {each.key: each for each in history.lost}
    had = {(each.key, each.value) for each in history.lost}
    for (machine, key), write in last.items():
      if write.value is None or (key, write.value) in arrived:
        continue
      if (machine, key, write.value) in self.conflicts and machine not in self.deciding:
        continue
      # A lost engine had it, and another value after it.
      if (key, write.value) in had and last_lost[key].value != write.value:
        continue
      yield f"{key}: {write.value!r} of {machine} never arrived, and no conflict says so"

  def stale(self, history: History):
    """Each value was written by who knew the value before; only a program that decides may differ."""
    writes = {(write.key, write.value): write for write in self.writes if write.value is not None}
    lost = {(each.key, each.value) for each in history.lost}
    arrived = {(each.key, each.value) for each in history.entries}
    earlier = self.earlier()
    for key, entries in history.by_key().items():
      previous = None
      for each in entries:
        write = writes.get((key, each.value))
        if write and write.machine not in self.deciding and (key, each.value) not in lost:
          bases = self.bases(write, earlier, arrived)
          excused = {(key, each.value), *((key, base) for base in bases)}
          if previous not in bases and not excused & (lost | self.uncertain):
            yield (
              f"{key}: {each.value!r} of {write.machine} at {each.revision} is based on one of "
              f"{bases}, but follows {previous!r}")
        previous = each.value

  def earlier(self) -> dict[int, Write]:
    """The own write, or that of the machine of which it is a copy, whose value each write found."""
    found: dict[int, Write] = {}
    last: dict[tuple, Write] = {}
    for write in self.writes:
      for machine in (write.machine, self.copied.get(write.machine)):
        own = last.get((machine, write.key, write.before))
        if own:
          found.setdefault(id(write), own)
      last[(write.machine, write.key, write.value)] = write
    return found

  @staticmethod
  def bases(write: Write, earlier: dict[int, Write], arrived: set) -> list:
    """What the engine may have had for the writer, who may have replaced own writes unsent."""
    bases = [write.before]
    while own := earlier.get(id(write)):
      # One removal looks like another, so it may have arrived or not.
      if own.value is not None and (own.key, own.value) in arrived:
        break
      bases.append(own.before)
      write = own
    return bases

  def torn(self, history: History):
    """A transaction is there in one revision, or not at all."""
    revisions: dict[int, dict[str, int | None]] = {}
    found = {(each.key, each.value): each.revision for each in history.entries}
    lost = {(each.key, each.value) for each in history.lost}
    for write in self.writes:
      if write.transaction is not None and (write.key, write.value) not in lost:
        at = revisions.setdefault(write.transaction, {})
        at[write.key] = found.get((write.key, write.value))
    for number, at in revisions.items():
      if len(set(at.values())) > 1:
        yield f"transaction {number} is torn: {at}"

  def disordered(self, history: History):
    """A machine's writes of a key keep their order."""
    place = {(write.key, write.value): index for index, write in enumerate(self.writes)}
    machine = {(write.key, write.value): write.machine for write in self.writes}
    lost = {(each.key, each.value) for each in history.lost} | self.inherited()
    last: dict[tuple[str, str], Entry] = {}
    for each in history.entries:
      name = (each.key, each.value)
      if each.value is None or name not in place or name in lost:
        continue
      earlier = last.get((machine[name], each.key))
      if earlier and place[name] < place[(each.key, earlier.value)]:
        yield f"{each.key}: {machine[name]} wrote {each.value!r} before {earlier.value!r}, not after it"
      last[(machine[name], each.key)] = each

  def renamed(self, history: History):
    """A machine stays the same writer, unless there is a copy of it, or the engine was restored."""
    if self.copied or history.lost:
      return
    machine = {(write.key, write.value): write.machine for write in self.writes}
    writers: dict[str, set[bytes]] = {}
    for each in history.entries:
      if each.value is not None and (each.key, each.value) in machine:
        writers.setdefault(machine[each.key, each.value], set()).add(each.writer)
    for name, tags in writers.items():
      if len(tags) > 1:
        yield f"{name} took itself for a copy: it wrote as {sorted(tag.hex()[:8] for tag in tags)}"
