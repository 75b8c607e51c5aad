"""A vault that was opened: the state of its items, by tier and id, and lookups in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import vault_keys as keys
from vault_base import Page, opened_page
from vault_codes import base32
from vault_errors import Problem
from vault_head import Head
from vault_items import Entry, Identity, Metadata, Part, id_of, opened_secret, secret_key
from vault_members import VaultKind
from vault_notation import FormatError, digest
from vault_opening import Secrets, checked_list, opened_head
from vault_scanning import Scanner
from vault_seen import NONE, SeenCommit, SeenRecord, check_made, check_pins, check_seen

# In this order, the first tier that has an id counts.
LOOKUP = (2, 1, 0)


@dataclass(frozen=True)
class Stored:
  """An entry with its box, and where that is; the metadata are `None` where they cannot be opened."""

  entry: Entry
  metadata: bytes | None
  box: bytes
  place: int


@dataclass(frozen=True)
class Item:
  """A credential; `status` is open, locked, other device or damaged."""

  entry: Entry
  status: str
  metadata: Metadata | None = None
  secret: bytes | None = None


class Vault:
  """A vault as a file has it, verified as far as the keys that were presented go.

  The file is read once, and what was verified is what is used. Raises `VaultError` where the
  specification says to refuse it.
  """

  def __init__(
    self, path: Path | None, secrets: Secrets, seen: SeenRecord | None = None,
    check: bytes | None = None, data: bytes | None = None,
  ) -> None:
    self.data = Path(path).read_bytes() if data is None else data
    self.head = Head.decoded(self.data, len(self.data))
    opening = opened_head(self.head, secrets)
    self.slot, self.root, self.tiers = opening.slot, opening.root, opening.tiers
    self.device_secret = secrets.device
    self.members, self.successions = checked_list(self.head, opening)
    self._check_trust(secrets, seen, check)
    scanner = Scanner(self.data, self.head, self.members, self.tiers[0])
    self.log = scanner.log(self.tiers, seen)
    self.before = seen
    self.notices = [] if seen is None else check_seen(
      seen, self.head, self.members, self.successions, self.log.history())
    if secrets.identity and not secrets.pins and seen is None and self.check != check:
      self.notices.append(f"trusted on first use: {self.check.hex()}")
    self.problems: list[Problem] = []
    self.state: dict[int, dict[bytes, Stored]] = {tier: {} for tier in keys.TIERS}
    self._read_pages()
    self._apply_commits()
    self.shadowed = self._shadowed()
    self.notices += [f"shadowed: {tier}/{item.hex()}" for tier, item in self.shadowed]
    ids = sorted({item for stored in self.state.values() for item in stored})
    self.items = [self.item(item) for item in ids]

  @staticmethod
  def of(data: bytes, secrets: Secrets, **options) -> Vault:
    """The vault in the bytes of a file."""
    return Vault(None, secrets, data=data, **options)

  @property
  def witness(self) -> str:
    """What people compare."""
    return base32(self.log.last.digest()[:20])

  @property
  def check(self) -> bytes:
    return keys.vault_check(self.head.vault, self.head.administration)

  def _check_trust(self, secrets: Secrets, seen: SeenRecord | None, check: bytes | None) -> None:
    if secrets.identity is not None and seen is None:
      check_pins(self.head, secrets.pins)
    if self.slot is not None:
      check_made(self.slot.made, self.head, self.successions, seen, check)

  # The state.

  def _read_pages(self) -> None:
    for tier in keys.TIERS:
      pages = self.log.index.pages[tier]
      for page, after in zip(pages, (*pages[1:], None)):
        try:
          part = self._page(tier, page, after)
        except FormatError as error:
          self.problems.append(Problem("page", f"{tier}/{page.first.hex()}: {error}"))
          continue
        self._apply(tier, part, page.boxes)

  def _page(self, tier: int, page: Page, after: Page | None) -> Part:
    box = self.data[page.place : page.place + page.length]
    if digest(32, box) != page.hash:
      raise FormatError("a page is not the one of the index")
    part = opened_page(self.tiers[0], tier, box)
    if part.puts[0].id != page.first or len(part.puts) != page.count:
      raise FormatError("a page has other entries than the index says")
    if after is not None and part.puts[-1].id >= after.first:
      raise FormatError("a page has an id of the next one")
    if page.boxes + sum(entry.box_count for entry in part.puts) > self.head.index_place:
      raise FormatError("the boxes of a page are not before the index")
    return part

  def _apply_commits(self) -> None:
    for placed in self.log.commits:
      boxes = self.data[placed.boxes : placed.end]
      if digest(32, boxes) != placed.commit.content.boxes:
        self.problems.append(Problem("boxes", str(placed.commit.number)))
      place = placed.boxes
      for tier, part in zip(keys.TIERS, placed.commit.content.parts):
        self._apply(tier, part, place)
        place += sum(entry.box_count for entry in part.puts)

  def _apply(self, tier: int, part: Part, place: int) -> None:
    """Puts and removes what a part says; the boxes of its entries begin at `place`."""
    found = self._metadata(tier, part)
    for change in part.changes:
      if isinstance(change, Entry):
        box = self.data[place : place + change.box_count]
        self.state[tier][change.id] = Stored(change, next(found), box, place)
        place += change.box_count
      else:
        self.state[tier].pop(change, None)

  def _metadata(self, tier: int, part: Part):
    try:
      if tier in self.tiers:
        return iter(part.metadata(self.tiers[tier]))
    except FormatError as error:
      self.problems.append(Problem("names", f"{tier}/{id_of(part.changes[0]).hex()}: {error}"))
    return iter([None] * len(part.puts))

  def _shadowed(self) -> list[tuple[int, bytes]]:
    """Entries below one of a higher tier, which do not count."""
    return [
      (tier, item) for tier in (1, 0) for item in sorted(self.state[tier])
      if any(item in self.state[higher] for higher in LOOKUP if higher > tier)]

  # Lookups.

  def lookup(self, identity: Identity) -> Item | None:
    """The item of an identity; it may be locked. Nothing if it is absent as far as T0 says."""
    item = keys.item_id(self.tiers[0], identity.encoded())
    known = any(item in stored for stored in self.state.values())
    return self.item(item) if known else None

  def item(self, item: bytes) -> Item:
    stored = next(self.state[tier][item] for tier in LOOKUP if item in self.state[tier])
    try:
      return self._opened(stored)
    except FormatError as error:
      problem = Problem("item", f"{item.hex()}: {error}")
      if problem not in self.problems:
        self.problems.append(problem)
      return Item(stored.entry, "damaged")

  def _opened(self, stored: Stored) -> Item:
    entry = stored.entry
    if digest(32, stored.box) != entry.box_hash:
      raise FormatError("the box is not the one of the entry")
    if self.members.kind == VaultKind.SHARED and entry.device is not None:
      raise FormatError("an item of a shared vault is bound to a device")
    if entry.tier not in self.tiers:
      return Item(entry, "locked")
    if stored.metadata is None:
      raise FormatError("the metadata cannot be opened")
    metadata = Metadata.decoded(stored.metadata)
    if keys.item_id(self.tiers[0], metadata.identity.encoded()) != entry.id:
      raise FormatError("the item is of another identity")
    if keys.service_mark(self.tiers[0], metadata.identity.parts[0]) != entry.service:
      raise FormatError("the entry is marked with another service")
    if entry.device is not None and (
        self.device_secret is None
        or entry.device != keys.device_id(self.device_secret, self.head.vault)):
      return Item(entry, "other device", metadata)
    key = secret_key(
      self.tiers[entry.tier], entry.id, entry.item_class, entry.version, self.device_secret)
    return Item(entry, "open", metadata, opened_secret(key, stored.box))

  # The seen record.

  def seen(self) -> SeenRecord:
    """The record of a user who has now seen the vault; what their keys don't prove stays."""
    members, before = self.members, self.before
    record = SeenRecord(
      members.vault, members.administration, NONE, members.trusted_recovery_key(), members.epoch,
      members.serial, members.hash(), before.proved if before else (SeenCommit(),) * 3)
    proved = list(record.proved)
    for tier, key in self.proving_tiers():
      commit = self.log.newest_proved(tier, key, members.kind == VaultKind.SHARED)
      proved[tier] = SeenCommit(members.serial, commit.number, commit.digest())
    return replace(record, proved=tuple(proved))

  def proving_tiers(self) -> list[tuple[int, bytes]]:
    if self.members.kind == VaultKind.SHARED:
      return [(tier, b"") for tier in keys.TIERS]
    return sorted(self.tiers.items())
