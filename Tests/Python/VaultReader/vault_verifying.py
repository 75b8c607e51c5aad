"""An opened vault: reads of single items with their proofs, and the verification of everything."""

from __future__ import annotations

from pathlib import Path

import vault_keys as keys
from vault_database import Rows, has_shape, read_rows
from vault_file import Damage, Problem
from vault_items import Item, ItemKeys
from vault_members import VaultKind
from vault_notation import FormatError, digest
from vault_opening import Secrets, administration_seed, open_rows
from vault_records import Identity, ItemRow, Metadata
from vault_slots import SlotKind
from vault_state import SeenRecord
from vault_tokens import entry_count, token_entries, token_entry
from vault_tree import Tree, all_entries, looked_up, made_nodes, root_of
from vault_trust import (
  chain_entries, check_chain, check_first_sight, check_history, check_pins, check_seen)


PASSCODE_CLASS = 6


class Vault:
  """An opened vault: its items and its faults.

  `VaultError` is raised where nothing may be used; faults that a verification finds are `problems`.
  """

  def __init__(self, path: Path, secrets: Secrets, seen: SeenRecord | None = None) -> None:
    self.rows: Rows = read_rows(path)
    opened = open_rows(self.rows, secrets)
    opening = opened.opening
    self.slot, self.root, self.tiers = opening.slot, opening.root, opening.tiers
    self.members, self.successions = opened.members, opened.successions
    self.signed_state, self.state = opened.signed_state, opened.signed_state.state
    check_pins(self.rows.head, self.successions, secrets.pins, seen)
    self.is_proved = True
    if seen is None:
      check_first_sight(self.signed_state)
    else:
      check_seen(seen, self.rows.head, self.members, self.successions, self.signed_state)
      self.is_proved = check_history(self.rows, self.open_key, seen, self.signed_state)
    self.item_keys = ItemKeys(self.rows.head.id, self.tiers, secrets.device)
    self.problems: list[Problem] = list(self.rows.problems)
    self.items: list[Item] = []
    self._verify()

  @property
  def open_key(self) -> bytes:
    return self.tiers[0]

  def seen(self) -> SeenRecord:
    """The record of a user who has now seen the vault."""
    head, state = self.rows.head, self.state
    return SeenRecord(
      head.id, head.administration, bytes(32), self.members.trusted_recovery_key(), state.epoch,
      state.serial, state.list_hash, state.counter, self.signed_state.digest())

  # Reads of what is needed, with its proof.

  def value(self, tree: Tree, key: bytes) -> bytes | None:
    """What a tree has for a key; raises `Damage` if the path to it does not hold."""
    try:
      return looked_up(tree, self.state.roots[tree], self.rows.nodes[tree], key)
    except FormatError as error:
      raise Damage(tree.table, str(error)) from None

  def row(self, item_id: bytes) -> ItemRow | None:
    """The newest row of an item, `None` if it is absent."""
    listed, row = self.value(Tree.ITEMS, item_id), self.rows.items_by_id.get(item_id)
    if listed is None:
      return None
    if row is None or not has_shape(row) or row.row_hash() != listed:
      raise Damage("item", f"the row of {item_id.hex()} is not the one that the tree lists")
    return row

  def find(self, identity: Identity) -> Item | None:
    """The item of an identity, `None` if it is absent."""
    row = self.row(keys.item_id(self.open_key, identity.encoded()))
    return None if row is None else self._found(row, [identity.group])

  def search(self, *pairs: tuple[str, str]) -> list[Item]:
    """All items that have these names and values."""
    tokens = [keys.attribute_token(self.open_key, *pair) for pair in pairs]
    entries = {token: self.value(Tree.TOKENS, token) for token in tokens}
    if None in entries.values():
      return []
    rarest = min(tokens, key=lambda token: entry_count(entries[token]))
    rows = self._rows_of(rarest, entries[rarest])
    found = [self._found(row, self._groups_of(row))
             for row in rows if set(tokens) <= set(row.token_list())]
    if any(item.metadata and not has_pairs(item.metadata, pairs) for item in found):
      raise Damage("token", "an item has another value than its token says")
    return found

  def _rows_of(self, token: bytes, entry: bytes) -> list[ItemRow]:
    """The rows of all items of a token."""
    items = self.rows.items_by_token.get(token, [])
    if token_entry(self.open_key, token, items) != entry:
      raise Damage("token", "the items of a token are not those that its entry counts")
    rows = [self.row(item_id) for item_id in items]
    if any(row is None or token not in row.token_list() for row in rows):
      raise Damage("token", "an item has not the token that the table gives it")
    return rows

  def all_rows(self) -> list[ItemRow]:
    """The rows of all items, which all leaves are read for."""
    try:
      listed = all_entries(Tree.ITEMS, self.state.roots[Tree.ITEMS], self.rows.nodes[Tree.ITEMS])
    except FormatError as error:
      raise Damage("item_node", str(error)) from None
    rows = self.rows.items
    if not all(map(has_shape, rows)) or listed != {row.id: row.row_hash() for row in rows}:
      raise Damage("item", "the rows of the items are not those that the tree lists")
    return rows

  def _found(self, row: ItemRow, groups: list[str]) -> Item:
    try:
      return self.item_keys.opened(row, groups)
    except FormatError as error:
      raise Damage("item", str(error)) from None

  # Verification.

  def _report(self, code: str, subject: str) -> None:
    self.problems.append(Problem(code, subject))

  def _verify(self) -> None:
    self._verify_slots()
    self._verify_chain()
    self._verify_trees()
    self._verify_tokens()
    self.group_names = self._verified_groups()
    self.items = [self._verified(row) for row in self.rows.items]

  def _verify_slots(self) -> None:
    if self.root is not None:
      try:
        administration_seed(self.rows, self.root)
      except Damage as damage:
        self._report(damage.check, str(damage))
    slots = {slot.number: slot for slot in self.rows.slots}
    for member in self.members.members:
      slot = slots.pop(member.number, None)
      if slot is None:
        self._report("slot-missing", f"slot {member.number}")
      elif (slot.kind, slot.granted, slot.row_hash()) != (
          member.kind, member.granted, member.row):
        self._report("slot-row", f"slot {member.number}")
    for number in slots:
      self._report("slot-unlisted", f"slot {number}")

  def _verify_chain(self) -> None:
    try:
      check_chain(chain_entries(self.rows, self.open_key), self.signed_state)
    except Damage as damage:
      self._report(damage.check, str(damage))

  def _verify_trees(self) -> None:
    """Makes the trees again, from the rows of items and groups alone."""
    for tree, entries in computed_entries(self.rows, self.open_key).items():
      nodes = made_nodes(tree, entries)
      if root_of(tree, nodes, len(entries)) != self.state.roots[tree]:
        self._report(f"{tree.table}-root", "state")
      if nodes != self.rows.nodes[tree]:
        self._report(tree.table, "nodes")

  def _verify_tokens(self) -> None:
    listed = {(token, row.id) for row in self.rows.items for token in row.token_list()}
    for _, item_id in sorted(listed ^ self.rows.tokens):
      self._report("token", item_id.hex())

  def _verified_groups(self) -> dict[tuple[bytes, int], str]:
    names = {}
    for row in self.rows.groups:
      try:
        name = self.item_keys.group_name(row)
      except FormatError as error:
        self._report("group-name", f"{row.token.hex()}: {error}")
        continue
      if name is not None:
        names[row.token, row.item_class] = name
    return names

  def _groups_of(self, row: ItemRow) -> list[str]:
    """The names of the group of an item: its token's, or else the unnamed one."""
    names = [self.group_names.get((token, row.item_class)) for token in row.token_list()]
    return [name for name in names if name is not None] + [""]

  def _verified(self, row: ItemRow) -> Item:
    if self.members.kind == VaultKind.SHARED and row.item_class in keys.DEVICE_CLASSES:
      self._report("item-class", row.id.hex())
    if row.item_class == PASSCODE_CLASS and SlotKind.PASSPHRASE not in [
        member.kind for member in self.members.members]:
      self._report("item-passcode", row.id.hex())
    if self.item_keys.status(row) == "damaged":
      return Item(row, "damaged")
    try:
      return self.item_keys.opened(row, self._groups_of(row))
    except FormatError as error:
      self._report("item", f"{row.id.hex()}: {error}")
      return Item(row, "damaged")


def computed_entries(rows: Rows, open_key: bytes) -> dict[Tree, dict[bytes, bytes]]:
  """What the trees have, if the rows of items and groups are right."""
  return {
    Tree.ITEMS: {
      row.id: row.row_hash() for row in rows.items
      if row.item_class in range(256) and row.version >= 0},
    Tree.TOKENS: token_entries(
      open_key, [row for row in rows.items if len(row.tokens) % 16 == 0]),
    Tree.GROUPS: {row.key(): digest(32, row.box) for row in rows.groups}}


def has_pairs(metadata: Metadata, pairs: tuple[tuple[str, str], ...]) -> bool:
  return set(pairs) <= set(metadata.identity.pairs() + list(metadata.attributes))
