#!/usr/bin/env python3
"""Opens a vault of format 1, verifies all that the presented keys can verify, and lists it.

Written from the specification alone (Sources/KeychainVaultFormat/Documentation.docc/VaultFormat.md), as
the second reader that keeps the specification honest. Needs PyNaCl and argon2-cffi.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path

from nacl.bindings import crypto_box_seal_open
from nacl.exceptions import CryptoError

import vault_keys as keys
from vault_codes import public_key, recovery_code_of_file
from vault_database import Problem, Rows, VaultError, has_shape, read_rows
from vault_identity import IdentityFile
from vault_listing import described_metadata, described_secret, exit_code, print_items
from vault_notation import BOX_OVERHEAD, FormatError, equal, open_box, padded_count, unpad
from vault_records import (
  LARGEST_STEP, MAXIMUM_METADATA_COUNT, MAXIMUM_SECRET_COUNT, MAXIMUM_TEXT_COUNT, Granted, GroupRow, ItemRow, Metadata, SeenRecord, SlotKind,
  SlotRow, State, box_hash, slot_commitment, slot_key, state_sum)


@dataclass(frozen=True)
class Secrets:
  """What is presented to open a vault."""

  passphrase: bytes | None = None
  key_file: bytes | None = None
  device: bytes | None = None
  recovery_code: bytes | None = None
  recipient: bytes | None = None
  pins: tuple[bytes, ...] = ()

  @staticmethod
  def of_identity(identity: IdentityFile, **others: bytes | None) -> Secrets:
    return Secrets(recipient=identity.private_key, pins=identity.pins, **others)

  def of_kind(self, kind: int) -> bytes | None:
    return {
      SlotKind.PASSPHRASE: self.passphrase, SlotKind.KEY_FILE: self.key_file,
      SlotKind.DEVICE: self.device, SlotKind.RECOVERY_CODE: self.recovery_code,
      SlotKind.RECIPIENT: self.recipient,
    }[SlotKind(kind)]

  def input_key(self, slot: SlotRow) -> bytes:
    secret = self.of_kind(slot.kind)
    if slot.kind == SlotKind.PASSPHRASE:
      return keys.passphrase_key(secret, slot.salt, *slot.cost())
    return keys.key_file_key(secret) if slot.kind == SlotKind.KEY_FILE else secret


@dataclass(frozen=True)
class Item:
  """A credential; `status` tells whether its key was at hand, and both boxes opened."""

  row: ItemRow
  status: str
  metadata: Metadata | None = None
  secret: bytes | None = None


class Vault:
  """An opened vault: its items, and whatever is wrong with it."""

  def __init__(self, path: Path, secrets: Secrets, seen: SeenRecord | None = None) -> None:
    self.rows: Rows = read_rows(path)
    self.problems: list[Problem] = list(self.rows.problems)
    self.device_secret = secrets.device
    if secrets.pins and self.rows.vault.checks[0] not in secrets.pins:
      raise VaultError("another-vault", "the identity is pinned to another vault")
    self.root, self.tiers = open_slots(self.rows, secrets)
    for tier, key in self.tiers.items():
      if not equal(keys.tier_check(key), self.rows.vault.checks[tier]):
        self._report("check", f"tier {tier}")
    self._check_macs()
    self.state = self._opened_state()
    self.group_names = {
      (row.token, row.item_class): name for row in self.rows.groups
      if (name := self._group_name(row)) is not None}
    self.items = [self._opened(row) for row in self.rows.items]
    self._check_seen(seen)

  def _report(self, code: str, subject: str) -> None:
    self.problems.append(Problem(code, subject))

  def _check_macs(self) -> None:
    if self.root is None:
      return
    for slot in self.rows.slots:
      if not equal(slot.computed_mac(self.root), slot.mac):
        self._report("slot-mac", f"slot {slot.number}")

  def _opened_state(self) -> State | None:
    rows, key = self.rows, self.tiers[0]
    try:
      state = State.decoded(open_box(keys.state_box_key(key), rows.state_box))
    except FormatError:
      self._report("state-box", "state row")
      return None
    if (state.items, state.slots) != (len(rows.items), rows.slot_count()):
      self._report("state-counts", "state row")
    if not equal(self.computed_sum(), state.sum):
      self._report("state-sum", "state row")
    return state

  def computed_sum(self) -> bytes:
    """The sum that a state row of these rows holds."""
    rows, key = self.rows, self.tiers[0]
    # A row of another shape has no term; the sum then differs, as it should.
    items = [row.term(key, rows.tokens_of(row.id)) for row in rows.items if has_shape(row)]
    others = [row.term(key) for row in (*rows.slots, *rows.groups, rows.vault)]
    return state_sum(items + others)

  def _group_name(self, row: GroupRow) -> str | None:
    """The name of a group; `None` if it is locked or damaged."""
    tier = self.tiers.get(keys.TIER_OF_CLASS[row.item_class])
    if tier is None:
      return None
    key = keys.group_name_key(tier, row.item_class, row.token)
    try:
      name = opened_text(key, row.box, MAXIMUM_TEXT_COUNT).decode("utf-8")
    except (FormatError, UnicodeDecodeError):
      name = ""
    if name and keys.group_token(self.tiers[0], name) == row.token:
      return name
    self._report("group-name", row.token.hex())
    return None

  def _opened(self, row: ItemRow) -> Item:
    if not has_shape(row):
      return Item(row, "damaged")
    if self.state is not None and row.version > self.state.counter:
      self._report("item-version", row.id.hex())
    if keys.TIER_OF_CLASS[row.item_class] not in self.tiers:
      return Item(row, "locked")
    if row.item_class in keys.DEVICE_CLASSES and not self._is_of_this_device(row):
      return Item(row, "other device")
    return self._decrypted(row)

  def _is_of_this_device(self, row: ItemRow) -> bool:
    secret = self.device_secret
    return secret is not None and row.device == keys.device_id(secret)

  def _decrypted(self, row: ItemRow) -> Item:
    try:
      metadata, secret = self._plain(row)
    except FormatError as error:
      self._report("item-box", f"{row.id.hex()}: {error}")
      return Item(row, "damaged")
    self._check_item(row, metadata)
    return Item(row, "open", metadata, secret)

  def _plain(self, row: ItemRow) -> tuple[Metadata, bytes]:
    tier = self.tiers[keys.TIER_OF_CLASS[row.item_class]]
    key_of_class = keys.class_key(tier, row.item_class, self.device_secret)
    key, metadata = self._metadata(row, key_of_class)
    secret_key = keys.item_key(key, 1, row.id, row.version)
    return metadata, opened_text(secret_key, row.secret, MAXIMUM_SECRET_COUNT)

  def _metadata(self, row: ItemRow, key_of_class: bytes) -> tuple[bytes, Metadata]:
    """The group key and the metadata; an item that has the token of no named group has none."""
    for group in [*self._named_groups(row), ""]:
      key = keys.group_key(key_of_class, group)
      metadata_key = keys.item_key(key, 0, row.id, row.version)
      try:
        plain = opened_text(metadata_key, row.metadata, MAXIMUM_METADATA_COUNT)
      except FormatError:
        continue
      return key, Metadata.decoded(plain)
    raise FormatError("a box does not open")

  def _named_groups(self, row: ItemRow) -> list[str]:
    tokens = self.rows.tokens_of(row.id)
    names = [self.group_names.get((token, row.item_class)) for token in tokens]
    return [name for name in names if name is not None]

  def _check_item(self, row: ItemRow, metadata: Metadata) -> None:
    key = self.tiers[0]
    if keys.item_id(key, metadata.identity.encoded()) != row.id:
      self._report("item-id", row.id.hex())
    if self.rows.tokens_of(row.id) != metadata.tokens(key, row.id):
      self._report("item-tokens", row.id.hex())

  def _check_seen(self, seen: SeenRecord | None) -> None:
    if seen is None or self.state is None:
      return
    if self.rows.vault.checks[0] not in seen.checks:
      self._report("another-vault", "seen record")
    elif self.state.counter < seen.counter:
      self._report("rolled-back", "seen record")
    elif self.state.counter > seen.counter + LARGEST_STEP:
      self._report("forged-counter", "seen record")
    elif self.state.counter == seen.counter and box_hash(self.rows.state_box) != seen.box_hash:
      self._report("forked", "seen record")


def opened_text(key: bytes, box: bytes, limit: int) -> bytes:
  """What is padded in a box; one that is too long is not opened."""
  if len(box) > BOX_OVERHEAD + padded_count(limit):
    raise FormatError("a box is too long")
  data = unpad(open_box(key, box))
  if len(data) > limit:
    raise FormatError("there is more in a box than may be")
  return data


def open_slots(rows: Rows, secrets: Secrets) -> tuple[bytes | None, dict[int, bytes]]:
  """The root key, if a presented secret grants it, and the keys of the tiers."""
  slots = [slot for slot in rows.intact_slots() if secrets.of_kind(slot.kind) is not None]
  granted = [
    (slot.granted, key) for slot in slots if slot.kind != SlotKind.RECIPIENT
    if (key := open_slot(slot, secrets)) is not None]
  roots = {key for what, key in granted if what == Granted.ROOT}
  roots |= roots_of_recipient(slots, secrets, rows.vault.checks)
  if len(roots) > 1:
    raise VaultError("damaged", "two slots grant different root keys")
  if roots:
    root = roots.pop()
    return root, {tier: keys.tier_key(root, tier) for tier in keys.TIERS}
  if not granted:
    code = "damaged" if rows.has_damaged_slots() else "wrong-key"
    raise VaultError(code, "no slot opens with what was presented")
  return None, {0: granted[0][1]}


def open_slot(slot: SlotRow, secrets: Secrets) -> bytes | None:
  """The key that a slot grants; `None` if it is not for the presented secret."""
  try:
    input_key = secrets.input_key(slot)
  except ValueError as error:
    raise VaultError("refused", str(error)) from None
  if not equal(slot_commitment(input_key, slot.header()), slot.commitment):
    return None
  try:
    return open_box(slot_key(input_key, slot.header()), slot.box)
  except FormatError:
    raise VaultError("damaged", f"the box of slot {slot.number} does not open") from None


def roots_of_recipient(
  slots: list[SlotRow], secrets: Secrets, checks: tuple[bytes, ...],
) -> set[bytes]:
  """The root key that slots of the presented private key grant, if there are any."""
  recipients = [slot for slot in slots if slot.kind == SlotKind.RECIPIENT]
  own = [slot for slot in recipients if slot.parameters == public_key(secrets.recipient)]
  roots = {root for slot in own if has_checks(root := recipient_root(slot, secrets), checks)}
  if own and not roots:
    raise VaultError("damaged", f"slot {own[0].number} does not give the key of the vault")
  return roots


def recipient_root(slot: SlotRow, secrets: Secrets) -> bytes | None:
  """The key that a slot of the presented private key grants; `None` if it is none."""
  try:
    granted = crypto_box_seal_open(slot.box, slot.parameters, secrets.recipient)
  except CryptoError:
    return None
  return granted if equal(slot_commitment(granted, slot.header()), slot.commitment) else None


def has_checks(root: bytes | None, checks: tuple[bytes, ...]) -> bool:
  """Whether a root key is that of the vault with these checks."""
  return root is not None and all(
    equal(keys.tier_check(keys.tier_key(root, tier)), checks[tier]) for tier in keys.TIERS)


def described(item: Item, with_secret: bool) -> dict:
  """An item as JSON shows it."""
  row = item.row
  shown: dict = {
    "id": row.id.hex(), "accessibility": accessibility(row), "version": row.version,
    "status": item.status}
  if item.metadata is None:
    return shown
  shown |= described_metadata(item.metadata)
  return shown | described_secret(item.secret) if with_secret else shown


def accessibility(row: ItemRow) -> str:
  known = row.item_class in range(len(keys.ACCESSIBILITIES))
  return keys.ACCESSIBILITIES[row.item_class] if known else f"class {row.item_class}"


def report(vault: Vault, with_secrets: bool) -> dict:
  """Everything about a vault, as JSON shows it."""
  return {
    "counter": vault.state.counter if vault.state else None,
    "root": vault.root is not None,
    "slots": [
      {"number": slot.number, "kind": SlotKind(slot.kind).name.lower(),
       "granted": Granted(slot.granted).name.lower()} for slot in vault.rows.slots],
    "items": [described(item, with_secrets) for item in vault.items],
    "problems": [{"code": problem.code, "subject": problem.subject} for problem in vault.problems]}


def arguments() -> argparse.Namespace:
  parser = argparse.ArgumentParser(description="Verifies and lists a vault of format 1.")
  parser.add_argument("vault", type=Path)
  parser.add_argument("--passphrase-file", type=Path, help="its bytes, all of them")
  parser.add_argument("--key-file", type=Path)
  parser.add_argument("--device-key", type=Path)
  parser.add_argument("--recovery-code-file", type=Path, help="the code as it is written down")
  parser.add_argument("--identity", type=Path, help="an identity file")
  parser.add_argument("--seen", type=Path, help="the seen record to compare with")
  parser.add_argument("--json", action="store_true", help="as JSON, with secrets in base64")
  return parser.parse_args()


def contents(path: Path | None) -> bytes | None:
  return None if path is None else path.read_bytes()


def presented(options: argparse.Namespace) -> Secrets:
  try:
    return secrets_of(options)
  except FormatError as error:
    raise VaultError("wrong-key", str(error)) from None


def secrets_of(options: argparse.Namespace) -> Secrets:
  code = contents(options.recovery_code_file)
  identity = contents(options.identity)
  others = {
    "passphrase": contents(options.passphrase_file), "key_file": contents(options.key_file),
    "device": contents(options.device_key),
    "recovery_code": None if code is None else recovery_code_of_file(code)}
  if identity is None:
    return Secrets(**others)
  return Secrets.of_identity(IdentityFile.decoded(identity), **others)


def opened(options: argparse.Namespace) -> Vault:
  record = contents(options.seen)
  seen = None if record is None else SeenRecord.decoded(record)
  return Vault(options.vault, presented(options), seen=seen)


def main() -> int:
  options = arguments()
  try:
    vault = opened(options)
  except (VaultError, FormatError, OSError) as error:
    print(f"vault_reader: error: {error}", file=sys.stderr)
    return exit_code(error)
  found = report(vault, with_secrets=options.json)
  if options.json:
    json.dump(found, sys.stdout, indent=2)
    print()
  else:
    print_items(found["items"])
  for problem in vault.problems:
    print(f"vault_reader: problem: {problem.code}: {problem.subject}", file=sys.stderr)
  return 65 if vault.problems else 0


if __name__ == "__main__":
  sys.exit(main())
