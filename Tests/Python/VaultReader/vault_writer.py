#!/usr/bin/env python3
"""Makes vaults of format 1 from the specification alone, for readers to be tested with.

Everything random comes from a seed, so that one seed makes one vault. Such a vault protects
nothing: it is test data.
"""

from __future__ import annotations

import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from nacl.bindings import crypto_box, crypto_scalarmult_base

import vault_keys as keys
from vault_notation import digest, pad, seal, u32, u64
from vault_records import (
  APPLICATION_ID, FORMAT, SCHEMA, Granted, GroupRow, ItemRow, Metadata, SlotKind, SlotRow, State,
  VaultRow, slot_commitment, slot_header, slot_key, state_sum)


@dataclass(frozen=True)
class Cost:
  """The costs of Argon2id: memory in bytes, and passes."""

  memory: int
  passes: int


CHEAP = Cost(64 << 10, 1)
INTERACTIVE = Cost(64 << 20, 2)
MODERATE = Cost(256 << 20, 3)


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


class VaultWriter:
  """A vault in memory, which `write` puts into a file."""

  def __init__(self, seed: str) -> None:
    self.random = SeededBytes(seed)
    self.root = self.random.take(32)
    self.tiers = [keys.tier_key(self.root, tier) for tier in keys.TIERS]
    checks = tuple(keys.tier_check(key) for key in self.tiers)
    self.vault = VaultRow(checks, VaultRow(checks, b"").computed_sum())
    self.counter = 1
    self.slots: list[SlotRow] = []
    self.items: dict[bytes, tuple[ItemRow, list[bytes]]] = {}
    self.groups: dict[tuple[bytes, int], GroupRow] = {}

  def add_passphrase(self, passphrase: bytes, cost: Cost = CHEAP) -> None:
    salt = self.random.take(32)
    input_key = keys.passphrase_key(passphrase, salt, cost.memory, cost.passes)
    parameters = u64(cost.memory) + u32(cost.passes)
    self._add_slot(SlotKind.PASSPHRASE, Granted.ROOT, salt, input_key, parameters)

  def add_key_file(self, contents: bytes) -> None:
    salt = self.random.take(32)
    self._add_slot(SlotKind.KEY_FILE, Granted.ROOT, salt, keys.key_file_key(contents))

  def add_device(self, device_secret: bytes, granted: Granted = Granted.OPEN_TIER) -> None:
    self._add_slot(SlotKind.DEVICE, granted, self.random.take(32), device_secret)

  def add_recovery_code(self, code: bytes) -> None:
    self._add_slot(SlotKind.RECOVERY_CODE, Granted.ROOT, self.random.take(32), code)

  def add_recipient(self, public_key: bytes) -> None:
    salt = self.random.take(32)
    header = slot_header(SlotKind.RECIPIENT, Granted.ROOT, public_key, salt)
    box = self._sealed_box(self.root, public_key)
    self._append_slot(
      SlotKind.RECIPIENT, Granted.ROOT, public_key, salt, slot_commitment(self.root, header), box)

  def _sealed_box(self, message: bytes, public_key: bytes) -> bytes:
    """What `crypto_box_seal` makes, with the sender's key from the seed."""
    sender = self.random.take(32)
    sender_public = crypto_scalarmult_base(sender)
    nonce = digest(24, sender_public + public_key)
    return sender_public + crypto_box(message, nonce, public_key, sender)

  def _add_slot(
    self, kind: SlotKind, granted: Granted, salt: bytes, input_key: bytes, parameters: bytes = b"",
  ) -> None:
    header = slot_header(kind, granted, parameters, salt)
    key = self.root if granted == Granted.ROOT else self.tiers[0]
    box = seal(slot_key(input_key, header), key, self.random.take(24))
    self._append_slot(kind, granted, parameters, salt, slot_commitment(input_key, header), box)

  def _append_slot(self, kind, granted, parameters, salt, commitment, box) -> None:
    number = len(self.slots) + 1
    plain = (number, int(kind), int(granted), parameters, salt, commitment, box)
    self.slots.append(finished_slot(plain, self.root))

  def put(
    self, metadata: Metadata, secret: bytes, item_class: int, device_secret: bytes | None = None,
  ) -> bytes:
    """Writes an item in a transaction of its own, and returns its id."""
    self.counter += 1
    key_of_class = keys.class_key(
      self.tiers[keys.TIER_OF_CLASS[item_class]], item_class, device_secret)
    item_id = keys.item_id(self.tiers[0], metadata.identity.encoded())
    key = keys.group_key(key_of_class, metadata.identity.group)
    boxes = [
      seal(keys.item_key(key, part, item_id, self.counter), pad(plain), self.random.take(24))
      for part, plain in enumerate((metadata.encoded(), secret))]
    device = keys.device_id(device_secret) if item_class in keys.DEVICE_CLASSES else None
    row = ItemRow(item_id, item_class, device, self.counter, *boxes)
    self.items[item_id] = row, metadata.tokens(self.tiers[0], item_id)
    self.name_group(metadata.identity.group, item_class)
    return item_id

  def name_group(self, group: str, item_class: int) -> None:
    """Adds the row of a named group, unless it is there."""
    token = keys.group_token(self.tiers[0], group)
    if not group or (token, item_class) in self.groups:
      return
    key = keys.group_name_key(self.tiers[keys.TIER_OF_CLASS[item_class]], item_class, token)
    box = seal(key, pad(group.encode("utf-8")), self.random.take(24))
    self.groups[token, item_class] = GroupRow(token, item_class, box)

  def state(self) -> State:
    terms = (
      [row.term(self.tiers[0], tokens) for row, tokens in self.items.values()]
      + [row.term(self.tiers[0]) for row in (*self.slots, *self.groups.values(), self.vault)])
    return State(self.counter, len(self.items), len(self.slots), state_sum(terms))

  def write(self, path: Path) -> None:
    """Makes the file; it must not exist yet."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    connection = sqlite3.connect(path)
    try:
      connection.execute("PRAGMA synchronous = OFF")  # Test data need not survive a power loss.
      with connection:
        self._fill(connection)
    finally:
      connection.close()

  def _fill(self, connection: sqlite3.Connection) -> None:
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    for statement in SCHEMA:
      connection.execute(statement)
    connection.execute(
      "INSERT INTO vault VALUES (1, ?, ?, ?, ?)", (*self.vault.checks, self.vault.sum))
    box = seal(
      keys.state_box_key(self.tiers[0]), self.state().encoded(), self.random.take(24))
    connection.execute("INSERT INTO state VALUES (1, ?)", (box,))
    connection.executemany(
      "INSERT INTO slot VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      [tuple(vars(slot).values()) for slot in self.slots])
    connection.executemany(
      "INSERT INTO access_group VALUES (?, ?, ?)",
      [tuple(vars(group).values()) for group in self.groups.values()])
    for row, tokens in self.items.values():
      connection.execute(
        "INSERT INTO item VALUES (?, ?, ?, ?, ?, ?)", tuple(vars(row).values()))
      connection.executemany(
        "INSERT INTO token VALUES (?, ?)", [(token, row.id) for token in tokens])


def finished_slot(plain: tuple, root: bytes) -> SlotRow:
  """A slot row of all columns before the mac, with the mac and the sum that belong to them."""
  mac = SlotRow(*plain, b"", b"").computed_mac(root)
  return SlotRow(*plain, mac, SlotRow(*plain, mac, b"").computed_sum())
