"""What somebody who has keys of a vault can forge with them: head, list, slots, trees and state.

Nothing here checks anything: what is forged is as wrong as the caller wants it to be.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import vault_keys as keys
from vault_database import Rows, take_rows
from vault_members import Member, MemberList, Succession, successions_hash
from vault_notation import digest, open_box, seal, sealed_box
from vault_records import GroupRow, Head, ItemRow
from vault_rows import change, put_rows
from vault_slots import SlotKind, SlotRow, slot_commitment
from vault_state import ChainEntry, SignedState
from vault_tokens import token_entries
from vault_tree import Tree, made_nodes, root_of
from vault_writer import Writer


def read(path: Path) -> Rows:
  """The rows of a vault, without the checks that a reader makes."""
  with closing(sqlite3.connect(path)) as connection:
    return take_rows(connection)


# The head.


def put_head(path: Path, head: Head, tiers: Mapping[int, bytes] = {}, with_sum: bool = True) -> Head:
  """Writes a head, with new macs of the tiers whose keys are at hand."""
  macs = [
    keys.head_mac(tiers[tier], head.fields()) if tier in tiers else mac
    for tier, mac in enumerate(head.macs)]
  head = replace(head, macs=tuple(macs))
  if with_sum:
    head = replace(head, sum=head.computed_sum())
  put_rows(path, "head", (1, *head.columns()))
  return head


def forge_head(path: Path, tiers: Mapping[int, bytes] = {}, **fields) -> Head:
  """Changes fields of the head, and makes the macs that fit of the tiers whose keys are at hand."""
  return put_head(path, replace(read(path).head, **fields), tiers)


# Members.


def list_of(path: Path, open_key: bytes) -> MemberList:
  """The list of members, whoever signed it."""
  plain = open_box(keys.members_box_key(open_key), read(path).list_box)
  return MemberList.decoded(plain[:-64])


def put_list(path: Path, open_key: bytes, members: MemberList, seed: bytes) -> None:
  """Writes a list, signed with the administration key of this seed."""
  box = seal(keys.members_box_key(open_key), members.signed(seed), os.urandom(24))
  change(path, "UPDATE members SET list = ?", box)


def forge_list(path: Path, open_key: bytes, seed: bytes, **fields) -> MemberList:
  """Changes fields of the list, and signs it with the administration key of this seed."""
  members = replace(list_of(path, open_key), **fields)
  put_list(path, open_key, members, seed)
  return members


def forge_member(path: Path, open_key: bytes, seed: bytes, number: int, **fields) -> MemberList:
  """Changes fields of one entry of the list, and signs it."""
  members = list_of(path, open_key).members
  changed = tuple(
    replace(member, **fields) if member.number == number else member for member in members)
  return forge_list(path, open_key, seed, members=changed)


def list_slot(path: Path, open_key: bytes, seed: bytes, slot: SlotRow, **fields) -> MemberList:
  """Lists a slot's row as it is, next to its other fields in the list."""
  return forge_member(
    path, open_key, seed, slot.number, kind=slot.kind, granted=slot.granted, row=slot.row_hash(),
    **fields)


def put_slot(path: Path, slot: SlotRow, with_sum: bool = True, **fields) -> SlotRow:
  """Writes the row of a slot with other columns, and with the sum that belongs to it."""
  slot = replace(slot, **fields)
  if with_sum:
    slot = slot.finished()
  put_rows(path, "slot", slot.columns())
  return slot


def resealed_slot(
  slot: SlotRow, vault: bytes, box_key: bytes, granted_keys: bytes, binding: bytes, **fields,
) -> SlotRow:
  """A slot whose box holds other keys, sealed to a public key: everybody with T0 knows it."""
  slot = replace(slot, **fields)
  if slot.kind == SlotKind.RECIPIENT:
    slot = replace(slot, commitment=slot_commitment(granted_keys[:32], slot.header(vault)))
  box = sealed_box(box_key, granted_keys + binding, os.urandom(32))
  return replace(slot, box=box).finished()


def put_administration(path: Path, root: bytes, seed: bytes) -> bytes:
  """Seals an administration key under a root key; the hash of the column is returned."""
  box = seal(keys.administration_box_key(root), seed, os.urandom(24))
  change(path, "UPDATE members SET administration = ?", box)
  return digest(32, box)


def put_successions(path: Path, *successions: Succession) -> bytes:
  """Replaces all successions, and returns what the list has of them."""
  change(path, "DELETE FROM succession")
  put_rows(path, "succession", *((one.epoch, one.encoded()) for one in successions))
  return successions_hash(one.encoded() for one in successions)


# Trees and state.


def put_nodes(path: Path, open_key: bytes) -> tuple:
  """Makes all trees again from the rows of items and groups, and returns their roots."""
  roots = []
  for tree, entries in tree_entries(read(path), open_key).items():
    nodes = made_nodes(tree, entries)
    change(path, f"DELETE FROM {tree.table}")
    put_rows(path, tree.table, *nodes.items())
    roots.append(root_of(tree, nodes, len(entries)))
  return tuple(roots)


def tree_entries(rows: Rows, open_key: bytes) -> dict[Tree, dict[bytes, bytes]]:
  """What the trees have, if the rows of items and groups are right."""
  return {
    Tree.ITEMS: {row.id: row.row_hash() for row in rows.items},
    Tree.TOKENS: token_entries(open_key, rows.items),
    Tree.GROUPS: {row.key(): digest(32, row.box) for row in rows.groups}}


def state_of(path: Path, open_key: bytes) -> SignedState:
  """The state, without its checks."""
  return SignedState.decoded(open_box(keys.state_box_key(open_key), read(path).state_box))


def chain_of(path: Path, open_key: bytes) -> dict[int, ChainEntry]:
  """The entries of the chain, by their places."""
  key = keys.chain_box_key(open_key)
  return {place: ChainEntry.decoded(open_box(key, box)) for place, box in read(path).chain.items()}


def put_state(
  path: Path, open_key: bytes, signed: SignedState, with_chain: bool = True,
) -> SignedState:
  """Writes a state, and its entry of the chain."""
  box = seal(keys.state_box_key(open_key), signed.encoded(), os.urandom(24))
  change(path, "UPDATE state SET box = ?", box)
  if with_chain:
    put_chain_entry(path, open_key, signed.entry())
  return signed


def put_chain_entry(
  path: Path, open_key: bytes, entry: ChainEntry, place: int | None = None,
) -> None:
  box = seal(keys.chain_box_key(open_key), entry.encoded(), os.urandom(24))
  put_rows(path, "chain", (entry.place() if place is None else place, box))


def forge_state(
  path: Path, open_key: bytes, signer: Writer | None = None, previous: bytes | None = None,
  with_chain: bool = True, **fields,
) -> SignedState:
  """Changes fields of the state as it is; a member signs it, as in a shared vault.

  Its counter stays unless it is given, so that there are then two states of one counter.
  """
  found = state_of(path, open_key)
  if signer is not None:
    fields.setdefault("writer", signer.number)
  signed = SignedState(
    replace(found.state, **fields), found.previous if previous is None else previous,
    found.signature)
  if signer is not None:
    signed = signed.signed(signer.seed)
  return put_state(path, open_key, signed, with_chain)


def reseal(path: Path, open_key: bytes, signer: Writer | None = None, **fields) -> SignedState:
  """Makes trees and the next state that fit the rows, the list and the head, as a writer does.

  Whoever has T0 of a local vault can do this; of a shared one, a member who may write.
  """
  roots, rows = put_nodes(path, open_key), read(path)
  members, before = list_of(path, open_key), state_of(path, open_key)
  counter = fields.get("counter", before.state.counter + 1)
  fitting = {
    "roots": roots, "epoch": members.epoch, "serial": members.serial,
    "list_hash": members.hash(), "generation": rows.head.generation, "counter": counter,
    "first": max(before.state.first, counter - 999)}
  return forge_state(
    path, open_key, signer, previous=before.digest(), **(fitting | fields))


# Items.


def put_item(path: Path, row: ItemRow) -> None:
  """Writes the row of an item, and the rows of its tokens."""
  change(path, "DELETE FROM token WHERE item = ?", row.id)
  put_rows(path, "item", tuple(vars(row).values()))
  put_rows(path, "token", *((token, row.id) for token in row.token_list()))


def put_group(path: Path, row: GroupRow) -> None:
  put_rows(path, "access_group", tuple(vars(row).values()))


def added_member(members: MemberList, member: Member) -> MemberList:
  """A list with a member more, of the next serial."""
  return replace(
    members, serial=members.serial + 1, next_number=member.number + 1,
    members=(*members.members, member))
