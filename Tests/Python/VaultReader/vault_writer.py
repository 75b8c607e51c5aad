"""Makes vaults of format 3 from the specification alone, for readers to be tested with.

Everything random comes from a seed, so that one seed makes one vault. Such a vault protects
nothing: it is test data.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import vault_keys as keys
from vault_base import Spine
from vault_building import (
  Sealed, SeededBytes, made_base, made_commit, sealed_item)
from vault_codes import Keys, Recipient
from vault_head import Head
from vault_items import Identity, Metadata
from vault_log import Commit, first_digest
from vault_members import Member, MemberList, Succession, VaultKind, successions_hash
from vault_notation import digest, seal, sealed_box
from vault_seen import NONE, SeenCommit, SeenRecord
from vault_signing import signing_public_key
from vault_slots import (
  INTERACTIVE, Cost, Granted, Slot, SlotKind, slot_commitment, slot_hash, slot_public_keys,
  slot_seed)

TIME = 1_750_000_000_000_000


@dataclass(frozen=True)
class Plain:
  """An item as it was put."""

  metadata: Metadata
  secret: bytes
  item_class: int
  device_secret: bytes | None
  version: int


@dataclass(frozen=True)
class Writer:
  """Who signs the commits of a shared vault: the number of the slot, and its Ed25519 seed."""

  number: int
  seed: bytes


class VaultWriter:
  """A vault in memory, which `write` puts into a file.

  Each change is a transaction: a commit, or where members or keys change, a new base. Several
  within `transaction()` are one. The vault begins with the transaction that adds its first slots.
  """

  def __init__(self, seed: str, kind: VaultKind = VaultKind.LOCAL) -> None:
    self.random = SeededBytes(seed)
    self.id = self.random.take(16)
    self.kind = kind
    self.epoch, self.serial, self.accepted, self.number, self.next_number = 1, 0, 0, 0, 1
    self.administration_seed = self.random.take(32)
    self.slots: dict[int, Slot] = {}
    self.members: dict[int, Member] = {}
    self.successions: list[Succession] = []
    self.items: dict[int, dict[bytes, Sealed]] = {tier: {} for tier in keys.TIERS}
    self.plain: dict[bytes, Plain] = {}
    self.changes: dict[int, dict[bytes, Sealed | bytes]] = {tier: {} for tier in keys.TIERS}
    self.digest = self.before = first_digest(self.id)
    self.first = 1
    self.spine = Spine(0, self.digest)
    self.hashes: list[bytes] = []
    self.list_box = self.before_log = self.log = b""
    self.list_hash = NONE
    self.writer: Writer | None = None
    self.time = TIME
    self._depth = 0
    self._list_changed = self._base_wanted = False
    self._make_root()

  def copied(self) -> VaultWriter:
    """A second writer of the same vault, as on another machine."""
    return copy.deepcopy(self)

  # Keys.

  def _make_root(self) -> None:
    """Makes a new root key, under which the present administration key lies."""
    self.root = self.random.take(32)
    self.tiers = dict(enumerate(keys.tier_keys(self.root, self.id, self.epoch)))
    self.administration_box = seal(
      keys.administration_box_key(self.root), self.administration_seed, self.random.nonce())

  @property
  def administration(self) -> bytes:
    return signing_public_key(self.administration_seed)

  @property
  def binding(self) -> bytes:
    return keys.binding(self.id, self.epoch, self.administration)

  @property
  def check(self) -> bytes:
    return keys.vault_check(self.id, self.administration)

  def granted_keys(self, granted: int) -> bytes:
    """What the box of a slot holds before the binding."""
    if granted == Granted.ADMINISTERS:
      return self.root
    return self.tiers[0] if granted == Granted.OPEN_TIER else b"".join(self.tiers.values())

  # Commits.

  @contextmanager
  def transaction(self):
    """Makes the changes within one commit."""
    self._depth += 1
    yield
    self._depth -= 1
    if self._depth == 0:
      self.time += 1
      if self._list_changed or self._base_wanted:
        self._make_base()
      else:
        self._append()

  def compact(self) -> None:
    """Makes a new base of the same list."""
    with self.transaction():
      self._base_wanted = True

  def _append(self) -> None:
    changes = {tier: list(found.values()) for tier, found in self.changes.items()}
    commit, boxes = made_commit(
      self.tiers, self.number + 1, self.digest, changes, self.random, self.time, self._writer())
    commit = self._proved(commit)
    self.log += commit.frame(self.tiers[0], self.epoch, self.random.nonce(), boxes)
    self._committed(commit)

  def _make_base(self) -> None:
    number = self.number + 1
    if self._list_changed:
      self.serial += 1
      self.first, self.before = number, self.digest
      if self.accepted == -1:
        self.accepted = self.serial
      members = self.member_list()
      self.list_hash = members.hash()
      self.list_box = seal(
        keys.box_key(self.tiers[0], "members"), members.signed(self.administration_seed),
        self.random.nonce())
    self.spine = self.spine.following(self.hashes)
    self.hashes = []
    base = made_base(
      self.tiers, self.head(), self.serial, number, self.digest, self.spine,
      {tier: found.values() for tier, found in self.items.items()}, self.random, self.time,
      self._writer())
    commit = self._proved(base.commit)
    if number == self.first:
      commit = commit.signed_by_administration(self.administration_seed)
    self.before_log = base.before_log
    self.log = commit.frame(self.tiers[0], self.epoch, self.random.nonce())
    self._committed(commit)
    self._list_changed = self._base_wanted = False

  def _writer(self) -> int:
    return self.writer.number if self.kind == VaultKind.SHARED else 0

  def _proved(self, commit: Commit) -> Commit:
    if self.kind == VaultKind.SHARED:
      return commit.signed(self.writer.seed)
    return commit.proved(self.tiers)

  def _committed(self, commit: Commit) -> None:
    self.number, self.digest = commit.number, commit.digest()
    self.hashes.append(commit.body_hash())
    self.changes = {tier: {} for tier in keys.TIERS}

  # Members.

  def add_passphrase(self, passphrase: bytes, cost: Cost = INTERACTIVE, name: str = "") -> int:
    def input_key(salt: bytes) -> bytes:
      return keys.passphrase_key(passphrase, salt, cost.memory, cost.passes)
    return self._add_slot(
      SlotKind.PASSPHRASE, Granted.ADMINISTERS, input_key, cost.parameters(), name=name)

  def add_key_file(self, contents: bytes, name: str = "") -> int:
    return self._add_slot(
      SlotKind.KEY_FILE, Granted.ADMINISTERS, lambda _: keys.key_file_key(contents), name=name)

  def add_device(
    self, device_secret: bytes, granted: Granted = Granted.OPEN_TIER, name: str = "",
  ) -> int:
    return self._add_slot(SlotKind.DEVICE, granted, lambda _: device_secret, name=name)

  def add_recovery_code(self, code: bytes, name: str = "") -> int:
    return self._add_slot(
      SlotKind.RECOVERY_CODE, Granted.ADMINISTERS, lambda _: code, name=name)

  def add_recipient(
    self, recipient: Recipient, granted: Granted = Granted.ADMINISTERS, name: str = "",
  ) -> int:
    with self.transaction():
      number = self._take_number()
      self.members[number] = Member(
        number, int(SlotKind.RECIPIENT), int(granted), NONE, recipient.box_key,
        recipient.signing_key, name)
      self._put_slot(Slot(
        number, int(SlotKind.RECIPIENT), int(granted), b"", self.random.take(32),
        self.administration, NONE, b""))
    return number

  def add_own(self, identity: Keys, name: str = "") -> int:
    """Adds a recipient that administers, and signs commits from now on."""
    with self.transaction():
      number = self.add_recipient(identity.recipient(), name=name)
      self.writes_as(number, identity)
    return number

  def writes_as(self, number: int, identity: Keys) -> None:
    self.writer = Writer(number, identity.signing_seed)

  def _add_slot(
    self, kind: SlotKind, granted: Granted, input_key_of: Callable[[bytes], bytes],
    parameters: bytes = b"", name: str = "",
  ) -> int:
    with self.transaction():
      number, salt = self._take_number(), self.random.take(32)
      input_key = input_key_of(salt)
      self.members[number] = Member(number, int(kind), int(granted), NONE, NONE, None, name)
      slot = Slot(number, int(kind), int(granted), parameters, salt, NONE, NONE, b"")
      if self.kind == VaultKind.SHARED and self.writer is None:
        self.writer = Writer(number, slot_seed(input_key, slot.signing_fields(self.id)))
      self._put_made(slot, input_key)
    return number

  def _put_made(self, slot: Slot, input_key: bytes) -> None:
    """A slot of the present administration key."""
    slot = replace(slot, made=self.administration)
    slot = replace(slot, commitment=slot_commitment(input_key, slot.header(self.id)))
    box_key, signing_key = slot_public_keys(slot, self.id, input_key)
    self.members[slot.number] = replace(
      self.members[slot.number], box_key=box_key, signing_key=signing_key)
    self._put_slot(slot)

  def present(self, number: int, input_key: bytes) -> None:
    """Presents a slot's secret in a change of members: it counts as made under the key of now."""
    with self.transaction():
      self._put_made(self.slots[number], input_key)

  def _take_number(self) -> int:
    number = self.next_number
    self.next_number += 1
    return number

  def _put_slot(self, slot: Slot) -> None:
    """Makes the box of a slot, and the commitment of a recipient's, for the keys of now."""
    member, granted = self.members[slot.number], self.granted_keys(slot.granted)
    if slot.kind == SlotKind.RECIPIENT:
      slot = replace(slot, made=self.administration)
      slot = replace(slot, commitment=slot_commitment(granted[:32], slot.header(self.id)))
    box = sealed_box(member.box_key, granted + self.binding, self.random.take(32))
    slot = replace(slot, box=box)
    self.slots[slot.number] = slot
    self.members[slot.number] = replace(member, slot=slot_hash(slot.encoded()))
    self._list_changed = True

  def remove_slot(self, number: int, recovery_seed: bytes | None = None) -> None:
    """Removes a slot and makes new keys; a new administration key, too, if it administered."""
    with self.transaction():
      administered = self.members.pop(number).granted == Granted.ADMINISTERS
      del self.slots[number]
      self.rekey(administered, recovery_seed)

  def accept(self, serial: int) -> None:
    """Makes a list that accepts this file where lists up to this serial were seen."""
    with self.transaction():
      self.serial, self.accepted = max(self.serial, serial), -1
      self._list_changed = True

  def member_list(self) -> MemberList:
    ordered = tuple(member for _, member in sorted(self.members.items()))
    hashed = successions_hash(succession.encoded() for succession in self.successions)
    return MemberList(
      self.id, self.epoch, self.administration, digest(32, self.administration_box), self.serial,
      self.accepted, self.first, self.before, self.next_number, int(self.kind), hashed, ordered)

  def rekey(
    self, new_administration: bool = False, recovery_seed: bytes | None = None,
    epoch: int | None = None,
  ) -> None:
    """Makes a new root key; a new administration key, too, with a succession if a code signs it."""
    with self.transaction():
      self.epoch = epoch or self.epoch + 1
      self._list_changed = True
      if new_administration:
        old, self.administration_seed = self.administration, self.random.take(32)
        if recovery_seed is not None:
          self.successions.append(Succession.made(
            self.id, self.epoch, old, self.administration, self.list_hash, recovery_seed))
      self._make_root()
      for slot in list(self.slots.values()):
        self._put_slot(slot)
      plain, self.plain = self.plain, {}
      self.items = {tier: {} for tier in keys.TIERS}
      for one in plain.values():
        self.put(one.metadata, one.secret, one.item_class, one.device_secret, one.version)

  # Items.

  def put(
    self, metadata: Metadata, secret: bytes, item_class: int, device_secret: bytes | None = None,
    version: int | None = None,
  ) -> bytes:
    """Adds or replaces an item, and returns its id."""
    with self.transaction():
      item = self.sealed(metadata, secret, item_class, device_secret, version)
      self._take_out(item.id, but=item.entry.tier)
      self.items[item.entry.tier][item.id] = item
      self.changes[item.entry.tier][item.id] = item
      self.plain[item.id] = Plain(
        metadata, secret, item_class, device_secret, item.entry.version)
    return item.id

  def sealed(
    self, metadata: Metadata, secret: bytes, item_class: int, device_secret: bytes | None = None,
    version: int | None = None,
  ) -> Sealed:
    """An item, which is not put into the vault."""
    return sealed_item(
      self.tiers, self.id, metadata, secret, item_class, self.random, device_secret, version)

  def id_of(self, identity: Identity) -> bytes:
    """The id that an item has in this epoch."""
    return keys.item_id(self.tiers[0], identity.encoded())

  def remove(self, item_id: bytes) -> None:
    with self.transaction():
      self._take_out(item_id)
      del self.plain[item_id]

  def _take_out(self, item_id: bytes, but: int | None = None) -> None:
    for tier in keys.TIERS:
      if tier != but and self.items[tier].pop(item_id, None):
        self.changes[tier][item_id] = item_id

  # The file.

  def head(self) -> Head:
    checks = tuple(keys.tier_check(key) for key in self.tiers.values())
    return Head(
      self.id, self.epoch, checks, self.administration,
      tuple(slot.encoded() for slot in self.slots.values()), self.list_box,
      self.administration_box, tuple(one.encoded() for one in self.successions))

  def seen(self) -> SeenRecord:
    """The seen record of a user who has seen the vault as it is, with the keys of all tiers."""
    members = self.member_list()
    commit = SeenCommit(self.serial, self.number, self.digest)
    return SeenRecord(
      self.id, self.administration, NONE, members.trusted_recovery_key(), self.epoch,
      self.serial, self.list_hash, (commit,) * 3)

  def file(self) -> bytes:
    return self.before_log + self.log

  def write(self, path: Path) -> None:
    path.write_bytes(self.file())
