"""What a vault's file shows without a key: its head's numbers, and where the frames of its log lie."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MAGIC = b"PKVAULT\n"
PREFIX_COUNT = 32
FRAME_HEADER_COUNT = 32


@dataclass(frozen=True)
class Frame:
  """A commit: its number, and where its header, its box and the boxes of its secrets lie."""

  number: int
  start: int
  box: range
  boxes: range

  @property
  def end(self) -> int:
    return self.boxes.stop


class Layout:
  """The places in a vault's file; nothing here is verified."""

  def __init__(self, path: Path) -> None:
    self.data = path.read_bytes()
    assert self.data[:12] == MAGIC + (3).to_bytes(4, "little"), "not a vault of format 3"
    self.head_count, self.index_count, self.spine_count = map(self.u32, (12, 16, 20))
    self.log = self.u64(24)
    self.id = self.data[32:48]
    self.epoch = self.u64(48)
    self.administration = self.data[104:136]
    self.frames = list(self._frames())

  def u32(self, place: int) -> int:
    return int.from_bytes(self.data[place : place + 4], "little")

  def u64(self, place: int) -> int:
    return int.from_bytes(self.data[place : place + 8], "little")

  def _frames(self) -> Iterator[Frame]:
    """The frames, up to one that does not lie in the file."""
    start = self.log
    while start + FRAME_HEADER_COUNT <= len(self.data):
      box = start + FRAME_HEADER_COUNT
      boxes = box + self.u32(start + 8)
      end = boxes + self.u32(start + 12)
      if end > len(self.data):
        return
      yield Frame(self.u64(start), start, range(box, boxes), range(boxes, end))
      start = end

  @property
  def slots(self) -> dict[int, range]:
    """Where the slots of the head lie, by their numbers."""
    assert self.u32(136) == 0, "a vault without features is expected"
    found, place = {}, 144
    for _ in range(self.u32(140)):
      count = self.u32(place)
      found[self.u32(place + 4)] = range(place + 4, place + 4 + count)
      place += 4 + count
    return found

  @property
  def pages(self) -> bytes:
    """The pages and secrets of the base."""
    return self.data[self.head_count : self.log - self.index_count - self.spine_count]

  @property
  def secrets(self) -> list[range]:
    """Where the boxes of the secrets lie that the commits since the base brought."""
    return [frame.boxes for frame in self.frames if frame.boxes]


def put(path: Path, place: int, value: bytes) -> None:
  """Overwrites a part of a file, in place."""
  with open(path, "r+b") as file:
    file.seek(place)
    file.write(value)


def flip(path: Path, offset: int) -> None:
  """Changes one bit of a file, in place."""
  put(path, offset, bytes([path.read_bytes()[offset] ^ 1]))
