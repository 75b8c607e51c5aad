"""Opens the head of a vault: its slots and its list of members, with the checks of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import vault_keys as keys
from vault_codes import Keys
from vault_errors import Damage, VaultError
from vault_head import Head
from vault_identity import IdentityFile
from vault_members import (
  MemberList, Succession, checked_successions, opened_list, successions_hash)
from vault_notation import FormatError, digest, equal, open_box, open_sealed_box
from vault_signing import signing_public_key
from vault_slots import (
  COSTS, Granted, Slot, SlotKind, slot_commitment, slot_hash, slot_private_key, slot_public_keys)


@dataclass(frozen=True)
class Secrets:
  """The secrets that are presented to open a vault; the identity is its seed.

  `tiers` are keys of tiers themselves, as the unlock cache has them.
  """

  passphrase: bytes | None = None
  key_file: bytes | None = None
  device: bytes | None = None
  recovery_code: bytes | None = None
  identity: bytes | None = None
  pins: tuple[bytes, ...] = ()
  tiers: tuple[bytes, ...] = ()

  @staticmethod
  def of_identity(file: IdentityFile, **others: bytes | None) -> Secrets:
    return Secrets(identity=file.seed, pins=file.pins, **others)

  def of_kind(self, kind: int) -> bytes | None:
    return {
      SlotKind.PASSPHRASE: self.passphrase, SlotKind.KEY_FILE: self.key_file,
      SlotKind.DEVICE: self.device, SlotKind.RECOVERY_CODE: self.recovery_code,
      SlotKind.RECIPIENT: self.identity,
    }.get(kind)

  def input_key(self, slot: Slot) -> bytes:
    secret = self.of_kind(slot.kind)
    try:
      if slot.kind == SlotKind.PASSPHRASE:
        cost = COSTS[slot.parameters]
        return keys.passphrase_key(secret, slot.salt, cost.memory, cost.passes)
      return keys.key_file_key(secret) if slot.kind == SlotKind.KEY_FILE else secret
    except ValueError as error:
      raise VaultError("refused", str(error)) from None


@dataclass(frozen=True)
class Opening:
  """What a slot grants: the root key, if it administers, and the keys of tiers.

  Its public keys are those of the secret that opened it; without a slot, keys were presented.
  """

  tiers: dict[int, bytes]
  root: bytes | None = None
  slot: Slot | None = None
  public_keys: tuple[bytes, bytes | None] | None = None


class Stale(FormatError):
  """A slot that is for the presented secret, and gives no key of this head."""


def opened_head(head: Head, secrets: Secrets) -> Opening:
  """What opens with the secrets: of several slots, the first that grants most."""
  if secrets.tiers:
    opening = Opening(dict(enumerate(secrets.tiers)))
    if not has_keys(head, opening):
      raise VaultError("wrong-key", "a key of a tier is not one of this vault and epoch")
    return opening
  found = list(openings(head, secrets))
  good = [opening for opening in found if opening is not None]
  if not good and found:
    raise Damage("slot", "no slot opens, and one that may have been the right one is damaged")
  if not good:
    raise VaultError("wrong-key", "no slot opens with what was presented")
  return max(good, key=lambda opening: (opening.root is not None, len(opening.tiers)))


def openings(head: Head, secrets: Secrets) -> Iterator[Opening | None]:
  """What each slot gives that is for a presented secret; `None` for one that is no good."""
  for encoded in head.slots:
    if secrets.of_kind(encoded[4] if len(encoded) > 4 else 0) is None:
      continue
    try:
      slot = Slot.checked(encoded)
      opening = opened_slot(head, slot, secrets)
    except FormatError:
      yield None
      continue
    if opening is not None:
      yield opening if has_keys(head, opening) else None


def has_keys(head: Head, opening: Opening) -> bool:
  """Whether the keys are those of this vault and epoch."""
  return all(
    equal(keys.tier_check(key), head.checks[tier]) for tier, key in opening.tiers.items())


def opened_slot(head: Head, slot: Slot, secrets: Secrets) -> Opening | None:
  """What a slot grants, or nothing if it is for another secret."""
  if slot.kind == SlotKind.RECIPIENT:
    identity = Keys(secrets.identity)
    if slot.made != head.administration:
      raise Stale
    plain = granted_to(head.vault, slot, identity)
    public_keys = tuple(vars(identity.recipient()).values())
  else:
    input_key = secrets.input_key(slot)
    plain = granted_by(head.vault, slot, input_key)
    public_keys = slot_public_keys(slot, head.vault, input_key)
  if plain is None:
    return None
  granted, bound_to = plain[:-32], plain[-32:]
  if bound_to != keys.binding(head.vault, head.epoch, head.administration):
    raise Stale
  if slot.granted == Granted.ADMINISTERS:
    tiers = keys.tier_keys(granted, head.vault, head.epoch)
    return Opening(dict(enumerate(tiers)), granted, slot, public_keys)
  parts = [granted[first : first + 32] for first in range(0, len(granted), 32)]
  return Opening(dict(enumerate(parts)), None, slot, public_keys)


def granted_by(vault: bytes, slot: Slot, input_key: bytes) -> bytes | None:
  """The granted keys and their binding, or nothing if the slot is for another input key."""
  header = slot.header(vault)
  if not equal(slot_commitment(input_key, header), slot.commitment):
    return None
  return open_sealed_box(slot_private_key(input_key, header), slot.box)


def granted_to(vault: bytes, slot: Slot, identity: Keys) -> bytes | None:
  """As `granted_by`, of a recipient's slot."""
  try:
    plain = open_sealed_box(identity.private_key, slot.box)
  except FormatError:
    return None
  if not equal(slot_commitment(plain[:32], slot.header(vault)), slot.commitment):
    raise Stale
  return plain


def checked_list(head: Head, opening: Opening) -> tuple[MemberList, list[Succession]]:
  """The list of members and the successions, checked against the head and the slot that opened."""
  try:
    plain = open_box(keys.box_key(opening.tiers[0], "members"), head.list)
    members = opened_list(plain, head.administration)
    successions = checked_successions(head.successions, head.vault, head.epoch)
  except FormatError as error:
    raise Damage("list", str(error)) from None
  if (members.vault, members.epoch, members.administration) != (
      head.vault, head.epoch, head.administration):
    raise Damage("list-head", "the list is of another vault, epoch or administration key")
  if members.successions != successions_hash(head.successions):
    raise Damage("list-successions", "the list is of other successions")
  if members.administration_box != digest(32, head.administration_box):
    raise Damage("list-administration", "the list is of another sealed administration key")
  check_listed(head, members)
  if opening.slot is not None:
    listed = members.member(opening.slot.number)
    if listed is None or (listed.box_key, listed.signing_key) != opening.public_keys:
      raise Damage("slot-keys", f"slot {opening.slot.number} is listed with other public keys")
  return members, successions


def check_listed(head: Head, members: MemberList) -> None:
  """The slots must be exactly those of the list, in whatever order."""
  listed = {
    (member.number.to_bytes(4, "little") + bytes([member.kind, member.granted]), member.slot)
    for member in members.members}
  if {(slot[:6], slot_hash(slot)) for slot in head.slots} != listed:
    raise Damage("slots", "the slots are not those of the list")


def administration_seed(head: Head, root: bytes) -> bytes:
  """`S`, with which changes of the list are signed."""
  try:
    seed = open_box(keys.administration_box_key(root), head.administration_box)
  except FormatError as error:
    raise Damage("administration", str(error)) from None
  if len(seed) != 32 or signing_public_key(seed) != head.administration:
    raise Damage("administration", "the administration key is another one")
  return seed
