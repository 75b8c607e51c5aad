#!/usr/bin/env python3
"""Makes vaults of format 2 from the specification alone, for readers to be tested with.

Everything random comes from a seed, so that one seed makes one vault. Such a vault protects
nothing: it is test data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import vault_keys as keys
from vault_codes import Keys, Recipient, public_key
from vault_tables import write_tables
from vault_members import Member, MemberList, Reason, Succession, VaultKind, successions_hash
from vault_notation import digest, pad, seal, sealed_box, u64
from vault_records import NO_FEATURES, GroupRow, Head, Identity, ItemRow, Metadata
from vault_schema import CHAIN_COUNT
from vault_signing import signing_public_key
from vault_slots import (
  Granted, SlotKind, SlotRow, cost_parameters, slot_commitment, slot_header, slot_private_key,
  slot_seed)
from vault_state import NO_DIGEST, ChainEntry, SeenRecord, SignedState, State
from vault_tokens import token_entries
from vault_tree import Tree, made_nodes, root_of


@dataclass(frozen=True)
class Cost:
  """The costs of Argon2id: memory in bytes, and passes."""

  memory: int
  passes: int


CHEAP = Cost(64 << 10, 1)
INTERACTIVE = Cost(64 << 20, 2)
MODERATE = Cost(256 << 20, 3)
TIME = 1_750_000_000_000_000


class SeededBytes:
  """Bytes that look random and come from a seed: for test data only."""

  def __init__(self, seed: str) -> None:
    self._seed = seed.encode("utf-8")
    self._count = 0

  def take(self, count: int) -> bytes:
    taken = b""
    while len(taken) < count:
      taken += digest(64, u64(self._count) + self._seed)
      self._count += 1
    return taken[:count]


@dataclass
class Writer:
  """Who signs the states of a shared vault: the number of the slot, and its Ed25519 seed."""

  number: int
  seed: bytes


class VaultWriter:
  """A vault in memory, which `write` puts into a file.

  Each change is a transaction, which makes a new state; several within `transaction()` are one.
  The vault begins with the transaction that adds its first slots.
  """

  def __init__(self, seed: str, kind: VaultKind = VaultKind.LOCAL) -> None:
    self.random = SeededBytes(seed)
    self.id = self.random.take(16)
    self.kind = kind
    self.epoch, self.generation, self.serial, self.counter = 1, 1, 0, 0
    self.next_number = 1
    self.administration_seed = self.random.take(32)
    self.slots: dict[int, SlotRow] = {}
    self.members: dict[int, Member] = {}
    self.successions: list[Succession] = []
    self.items: dict[bytes, ItemRow] = {}
    self.groups: dict[tuple[bytes, int], GroupRow] = {}
    self.group_names: set[tuple[str, int]] = set()
    self.plain: dict[bytes, tuple[Metadata, bytes, bytes | None]] = {}
    self.chain: dict[int, ChainEntry] = {}
    self.chain_boxes: dict[int, bytes] = {}
    self.list_box = self.state_box = b""
    self.writer: Writer | None = None
    self.time = TIME
    self.first = 1
    self.signed_state: SignedState | None = None
    self.committed_list: MemberList | None = None
    self._depth = 0
    self._list_changed = False
    self._make_root()

  # Keys.

  def _make_root(self) -> None:
    """Makes a new root key, under which the present administration key lies."""
    self.root = self.random.take(32)
    self.tiers = keys.tier_keys(self.root, self.id, self.epoch)
    self.administration_box = self._sealed(
      keys.administration_box_key(self.root), self.administration_seed)

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
    return self.tiers[0] if granted == Granted.OPEN_TIER else b"".join(self.tiers)

  # Transactions.

  @contextmanager
  def transaction(self):
    """Makes the changes within one, which ends with one new state."""
    self._depth += 1
    yield
    self._depth -= 1
    if self._depth == 0:
      self._commit()

  def _commit(self) -> None:
    if self._list_changed:
      self.serial += 1
      self._list_changed = False
      self.list_box = self._sealed(
        keys.members_box_key(self.tiers[0]), self.member_list().signed(self.administration_seed))
    self.committed_list = self.member_list()
    previous = NO_DIGEST if self.signed_state is None else self.signed_state.digest()
    self.counter += 1
    self.first = max(self.first, self.counter - CHAIN_COUNT + 1)
    self.time += 1
    self.signed_state = self.made_state(previous)
    entry = self.signed_state.entry()
    self.chain[entry.place()] = entry
    self.chain_boxes.pop(entry.place(), None)
    for place in self.chain.keys() - self.chain_boxes.keys():
      self.chain_boxes[place] = self._sealed(
        keys.chain_box_key(self.tiers[0]), self.chain[place].encoded())
    self.state_box = self._sealed(keys.state_box_key(self.tiers[0]), self.signed_state.encoded())

  def _sealed(self, key: bytes, plain: bytes) -> bytes:
    return seal(key, plain, self.random.take(24))

  def made_state(self, previous: bytes) -> SignedState:
    """The state of what the vault holds now, signed if it is shared."""
    shared = self.kind == VaultKind.SHARED
    roots = tuple(
      root_of(tree, self.nodes(tree), len(self.entries(tree))) for tree in Tree)
    state = SignedState(State(
      self.generation, self.epoch, self.serial, self.member_list().hash(), self.counter,
      self.first, roots,
      self.writer.number if shared else 0, self.time if shared else 0), previous)
    return state.signed(self.writer.seed) if shared else state

  # Members.

  def add_passphrase(self, passphrase: bytes, cost: Cost = CHEAP, name: str = "") -> int:
    def input_key(salt: bytes) -> bytes:
      return keys.passphrase_key(passphrase, salt, cost.memory, cost.passes)
    parameters = cost_parameters(cost.memory, cost.passes)
    return self._add_slot(
      SlotKind.PASSPHRASE, Granted.ADMINISTERS, input_key, parameters, name=name)

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
        number, int(SlotKind.RECIPIENT), int(granted), bytes(32), recipient.box_key, recipient.signing_key,
        name)
      self._put_slot(SlotRow(
        number, int(SlotKind.RECIPIENT), int(granted), b"", self.random.take(32),
        self.administration, b"", b""))
    return number

  def add_own(self, identity: Keys, name: str = "") -> int:
    """Adds a recipient that administers, and signs states from now on."""
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
      made = self.administration
      header = slot_header(self.id, number, kind, parameters, salt, made)
      signs = kind == SlotKind.RECOVERY_CODE
      signing_seed = slot_seed(input_key, header)
      self.members[number] = Member(
        number, int(kind), int(granted), bytes(32), public_key(slot_private_key(input_key, header)),
        signing_public_key(signing_seed) if signs else b"", name)
      if signs and self.kind == VaultKind.SHARED and self.writer is None:
        self.writer = Writer(number, signing_seed)
      commitment = slot_commitment(input_key, header)
      self._put_slot(SlotRow(
        number, int(kind), int(granted), parameters, salt, made, commitment, b""))
    return number

  def _take_number(self) -> int:
    number = self.next_number
    self.next_number += 1
    return number

  def _put_slot(self, slot: SlotRow) -> None:
    """Makes the box of a slot, and the commitment of a recipient's, for the keys of now."""
    member, granted = self.members[slot.number], self.granted_keys(slot.granted)
    if slot.kind == SlotKind.RECIPIENT:
      slot = replace(slot, commitment=slot_commitment(granted[:32], slot.header(self.id)))
    box = sealed_box(member.box_key, granted + self.binding, self.random.take(32))
    slot = replace(slot, box=box).finished()
    self.slots[slot.number] = slot
    self.members[slot.number] = replace(member, row=slot.row_hash())
    self._list_changed = True

  def remove_slot(self, number: int, keep_keys: bool = False) -> None:
    """Removes a slot and makes new keys; a new administration key, too, if it administered."""
    with self.transaction():
      administered = self.members.pop(number).granted == Granted.ADMINISTERS
      del self.slots[number]
      self._list_changed = True
      if not keep_keys:
        self.rekey(Reason.ADMINISTRATOR_LEFT if administered else None)

  def member_list(self) -> MemberList:
    ordered = tuple(member for _, member in sorted(self.members.items()))
    hashed = successions_hash(succession.encoded() for succession in self.successions)
    return MemberList(
      self.id, self.epoch, self.administration, digest(32, self.administration_box), self.serial,
      self.next_number, self.kind, hashed, ordered)

  def rekey(
    self, reason: Reason | None = None, recovery_seed: bytes | None = None,
    epoch: int | None = None,
  ) -> None:
    """Makes a new root key, and with a reason a new administration key, too."""
    with self.transaction():
      self.epoch = epoch or self.epoch + 1
      if reason is not None:
        new_seed = self.random.take(32)
        self.successions.append(Succession.made(
          self.id, self.epoch, self.administration_seed, new_seed,
          self.committed_list.hash(), reason, recovery_seed))
        self.administration_seed = new_seed
      self._make_root()
      self.chain_boxes = {}
      for slot in list(self.slots.values()):
        self._put_slot(slot)
      plain, classes = self.plain, {key: row.item_class for key, row in self.items.items()}
      versions = {key: row.version for key, row in self.items.items()}
      groups = self.group_names
      self.plain, self.items, self.groups = {}, {}, {}
      self.group_names = set()
      for name, item_class in sorted(groups):
        self.name_group(name, item_class)
      for key, (metadata, secret, device) in plain.items():
        self.put(metadata, secret, classes[key], device, versions[key])

  # Items.

  def put(
    self, metadata: Metadata, secret: bytes, item_class: int, device_secret: bytes | None = None,
    version: int | None = None,
  ) -> bytes:
    """Adds or replaces an item, and returns its id."""
    with self.transaction():
      row = self.sealed_item(metadata, secret, item_class, device_secret, version)
      self.items[row.id] = row
      self.plain[row.id] = metadata, secret, device_secret
      self.name_group(metadata.identity.group, item_class)
    return row.id

  def id_of(self, identity: Identity) -> bytes:
    """The id that an item has in this epoch."""
    return keys.item_id(self.tiers[0], identity.encoded())

  def remove(self, item_id: bytes) -> None:
    with self.transaction():
      del self.items[item_id], self.plain[item_id]

  def sealed_item(
    self, metadata: Metadata, secret: bytes, item_class: int, device_secret: bytes | None = None,
    version: int | None = None, item_id: bytes | None = None,
  ) -> ItemRow:
    """The row of an item, which is not put into the vault."""
    key_of_class = keys.class_key(
      self.tiers[keys.TIER_OF_CLASS[item_class]], item_class, device_secret)
    item_id = item_id or keys.item_id(self.tiers[0], metadata.identity.encoded())
    key = keys.group_key(key_of_class, metadata.identity.group)
    version = version or int.from_bytes(self.random.take(8), "little") >> 1 or 1
    boxes = [
      self._sealed(keys.item_key(key, part, item_id, version), pad(plain))
      for part, plain in enumerate((metadata.encoded(), secret))]
    is_bound = item_class in keys.DEVICE_CLASSES
    device = keys.device_id(device_secret, self.id) if is_bound else None
    tokens = b"".join(metadata.tokens(self.tiers[0]))
    return ItemRow(item_id, item_class, device, version, tokens, digest(32, boxes[1]), *boxes)

  def name_group(self, group: str, item_class: int) -> None:
    """Adds the row of a named group, unless it is there."""
    token = keys.group_token(self.tiers[0], group)
    if not group or (token, item_class) in self.groups:
      return
    with self.transaction():
      key = keys.group_name_key(self.tiers[keys.TIER_OF_CLASS[item_class]], item_class, token)
      box = self._sealed(key, pad(group.encode("utf-8")))
      self.groups[token, item_class] = GroupRow(token, item_class, box)
      self.group_names.add((group, item_class))

  # Rows.

  def entries(self, tree: Tree) -> dict[bytes, bytes]:
    """The keys and values of a tree."""
    if tree == Tree.ITEMS:
      return {row.id: row.row_hash() for row in self.items.values()}
    if tree == Tree.TOKENS:
      return token_entries(self.tiers[0], self.items.values())
    return {row.key(): digest(32, row.box) for row in self.groups.values()}

  def nodes(self, tree: Tree) -> dict[int, bytes]:
    return made_nodes(tree, self.entries(tree))

  def head(self) -> Head:
    checks = tuple(keys.tier_check(key) for key in self.tiers)
    return finished_head(
      Head(self.id, self.epoch, checks, NO_FEATURES, self.administration,
           generation=self.generation), self.tiers)

  def seen(self) -> SeenRecord:
    """The seen record of a user who has seen the vault as it is."""
    members = self.member_list()
    return SeenRecord(
      self.id, self.administration, bytes(32), members.trusted_recovery_key(), self.epoch,
      self.serial, members.hash(), self.counter, self.signed_state.digest())

  def write(self, path: Path) -> None:
    """Makes the file; it must not exist yet."""
    write_tables(path, self.tables())

  def tables(self) -> dict[str, Iterable[tuple]]:
    """All rows, by table."""
    return {
      "head": [(1, *self.head().columns())],
      "members": [(1, self.list_box, self.administration_box)],
      "succession": [(one.epoch, one.encoded()) for one in self.successions],
      "slot": [slot.columns() for slot in self.slots.values()],
      "state": [(1, self.state_box)],
      "chain": sorted(self.chain_boxes.items()),
      "item": [tuple(vars(row).values()) for row in self.items.values()],
      "token": [(token, row.id) for row in self.items.values() for token in row.token_list()],
      "access_group": [tuple(vars(group).values()) for group in self.groups.values()],
      **{tree.table: sorted(self.nodes(tree).items()) for tree in Tree}}


def finished_head(head: Head, tiers: Iterable[bytes]) -> Head:
  """A head with the macs of these tiers, and the sum that belongs to it."""
  head = replace(head, macs=tuple(keys.head_mac(key, head.fields()) for key in tiers))
  return replace(head, sum=head.computed_sum())
