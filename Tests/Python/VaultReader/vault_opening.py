"""Opens a vault: its slots, its list of members and its state, with the checks of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import vault_keys as keys
from vault_codes import Keys
from vault_database import Rows
from vault_file import Damage, VaultError
from vault_identity import IdentityFile
from vault_members import (
  MemberList, Succession, VaultKind, checked_successions, leads, opened_list,
  successions_hash)
from vault_notation import FormatError, digest, equal, open_box, open_sealed_box
from vault_records import Head
from vault_signing import is_signed, signing_public_key
from vault_slots import (
  Granted, SlotKind, SlotRow, slot_commitment, slot_private_key, slot_public_keys)
from vault_state import STATE_LABEL, SignedState


@dataclass(frozen=True)
class Secrets:
  """The secrets that are presented to open a vault; the identity is its seed."""

  passphrase: bytes | None = None
  key_file: bytes | None = None
  device: bytes | None = None
  recovery_code: bytes | None = None
  identity: bytes | None = None
  pins: tuple[bytes, ...] = ()

  @staticmethod
  def of_identity(file: IdentityFile, **others: bytes | None) -> Secrets:
    return Secrets(identity=file.seed, pins=file.pins, **others)

  def of_kind(self, kind: int) -> bytes | None:
    return {
      SlotKind.PASSPHRASE: self.passphrase, SlotKind.KEY_FILE: self.key_file,
      SlotKind.DEVICE: self.device, SlotKind.RECOVERY_CODE: self.recovery_code,
      SlotKind.RECIPIENT: self.identity,
    }[SlotKind(kind)]

  def input_key(self, slot: SlotRow) -> bytes:
    secret = self.of_kind(slot.kind)
    try:
      if slot.kind == SlotKind.PASSPHRASE:
        return keys.passphrase_key(secret, slot.salt, *slot.cost())
      return keys.key_file_key(secret) if slot.kind == SlotKind.KEY_FILE else secret
    except ValueError as error:
      raise VaultError("refused", str(error)) from None


@dataclass(frozen=True)
class Opening:
  """What a slot grants: the root key, if it administers, and the keys of tiers.

  Its public keys are those of the secret that opened it; of the second one there is only a
  recipient's and a recovery code's.
  """

  slot: SlotRow
  public_keys: tuple[bytes, bytes]
  root: bytes | None
  tiers: dict[int, bytes]


@dataclass(frozen=True)
class Opened:
  """A vault whose list and state hold."""

  opening: Opening
  members: MemberList
  successions: list[Succession]
  signed_state: SignedState


def open_rows(rows: Rows, secrets: Secrets) -> Opened:
  """Opens a vault; raises `VaultError` where the specification says to refuse it."""
  if rows.head.computed_sum() != rows.head.sum:
    raise Damage("head-sum", "the head is damaged")
  found: list[tuple[Opening, MemberList]] = []
  candidates, failures = openings(rows, secrets)
  for opening in candidates:
    try:
      check_tiers(rows.head, opening)
      members = checked_list(rows, opening.tiers[0])
      check_listed(rows.head, members, successions_of(rows), opening)
      found.append((opening, members))
    except Damage as damage:
      failures.append((opening.slot, damage))
  # A slot that is no good must not hide another one, unless that opens less.
  found.sort(key=lambda pair: pair[0].root is None)
  root = found[0][0].root if found else None
  for slot, damage in failures:
    if not found or (root is None and slot.granted == Granted.ADMINISTERS):
      raise damage
  if not found:
    raise nothing_opened(rows)
  opening, members = found[0]
  return Opened(
    opening, members, successions_of(rows), checked_state(rows, opening.tiers[0], members))


def nothing_opened(rows: Rows) -> VaultError:
  if rows.has_damaged_slots():
    return Damage("slot", "no slot opens, and one is damaged that may have been the right one")
  return VaultError("wrong-key", "no slot opens with what was presented")


def openings(
  rows: Rows, secrets: Secrets,
) -> tuple[list[Opening], list[tuple[SlotRow, Damage]]]:
  """What opens with the secrets, and why others that should have opened did not."""
  found, failures = [], []
  for slot in rows.intact_slots():
    if not slot.is_known() or secrets.of_kind(slot.kind) is None:
      continue
    try:
      found += opened_slot(rows.head, slot, secrets)
    except Damage as damage:
      failures.append((slot, damage))
  return found, failures


def opened_slot(head: Head, slot: SlotRow, secrets: Secrets) -> Iterator[Opening]:
  """What a slot grants, if it is for the presented secret."""
  header = slot.header(head.id)
  if slot.kind == SlotKind.RECIPIENT:
    try:
      plain = open_sealed_box(Keys(secrets.identity).private_key, slot.box)
    except FormatError:
      return
    commitment = slot_commitment(plain[:32], header)
    public_keys = tuple(vars(Keys(secrets.identity).recipient()).values())
  else:
    input_key = secrets.input_key(slot)
    if not equal(slot_commitment(input_key, header), slot.commitment):
      return
    try:
      plain = open_sealed_box(slot_private_key(input_key, header), slot.box)
      public_keys = slot_public_keys(slot.kind, input_key, header)
    except FormatError:
      raise Damage("slot-box", f"the box of slot {slot.number} does not open") from None
    commitment = slot.commitment
  granted, bound_to = plain[:-32], plain[-32:]
  if bound_to != keys.binding(head.id, head.epoch, head.administration):
    raise Damage("slot-binding", f"slot {slot.number} gives a key of another vault or epoch")
  if not equal(commitment, slot.commitment):
    raise Damage("slot-commitment", f"slot {slot.number} gives a key that it is not committed to")
  yield opening_of(head, slot, public_keys, granted)


def opening_of(
  head: Head, slot: SlotRow, public_keys: tuple[bytes, bytes], granted: bytes,
) -> Opening:
  if slot.granted == Granted.ADMINISTERS:
    tiers = keys.tier_keys(granted, head.id, head.epoch)
    return Opening(slot, public_keys, granted, dict(enumerate(tiers)))
  parts = [granted[first : first + 32] for first in range(0, len(granted), 32)]
  return Opening(slot, public_keys, None, dict(enumerate(parts)))


def check_tiers(head: Head, opening: Opening) -> None:
  """Compares each key with the head before it is used for anything else."""
  for tier, key in opening.tiers.items():
    if not equal(keys.tier_check(key), head.checks[tier]):
      raise Damage("tier-check", f"the key of tier {tier} is an old one")
    if not equal(keys.head_mac(key, head.fields()), head.macs[tier]):
      raise Damage("head-mac", f"the head is not the one of tier {tier}")


def checked_list(rows: Rows, open_key: bytes) -> MemberList:
  """The list of members, checked against the head and the successions."""
  head = rows.head
  try:
    plain = open_box(keys.members_box_key(open_key), rows.list_box)
  except FormatError as error:
    raise Damage("list-box", str(error)) from None
  try:
    members = opened_list(plain, head.administration)
  except FormatError as error:
    raise Damage("list", str(error)) from None
  if (members.vault, members.epoch, members.administration) != (
      head.id, head.epoch, head.administration):
    raise Damage("list-head", "the list is of another vault, epoch or administration key")
  if members.successions != successions_hash(record for _, record in rows.successions):
    raise Damage("list-successions", "the list is of other successions")
  if members.administration_box != digest(32, rows.administration_box):
    raise Damage("list-administration", "the list is of another sealed administration key")
  return members


def check_listed(
  head: Head, members: MemberList, successions: list[Succession], opening: Opening,
) -> None:
  """A slot that is not listed opens nothing, nor does one of another administration key."""
  slot = opening.slot
  listed = members.member(slot.number)
  if listed is None or (listed.kind, listed.granted, listed.row) != (
      slot.kind, slot.granted, slot.row_hash()):
    raise Damage("slot-unlisted", f"slot {slot.number} is not listed as it is")
  if (listed.box_key, listed.signing_key) != opening.public_keys:
    raise Damage("slot-keys", f"slot {slot.number} is listed with other public keys")
  if not leads(successions, slot.made, head.administration):
    raise Damage("slot-made", f"slot {slot.number} was made under another administration key")


def successions_of(rows: Rows) -> list[Succession]:
  head = rows.head
  try:
    return checked_successions(rows.successions, head.id, head.epoch, head.administration)
  except FormatError as error:
    raise Damage("succession", str(error)) from None


def checked_state(rows: Rows, open_key: bytes, members: MemberList) -> SignedState:
  """The state, which must be of this head and this list."""
  try:
    signed = SignedState.decoded(open_box(keys.state_box_key(open_key), rows.state_box))
  except FormatError as error:
    raise Damage("state-box", str(error)) from None
  state = signed.state
  if state.generation != rows.head.generation:
    raise Damage("state-generation", "the state is of another generation")
  if (state.epoch, state.serial, state.list_hash) != (
      members.epoch, members.serial, members.hash()):
    raise Damage("state-list", "the state is of another epoch or list")
  if members.kind == VaultKind.LOCAL:
    if (state.writer, state.time, signed.signature) != (0, 0, None):
      raise Damage("state-writer", "the state of a local vault has a writer")
    return signed
  check_writer(members, signed)
  return signed


def check_writer(members: MemberList, signed: SignedState) -> None:
  """In a shared vault, only a member that may write makes a state that counts."""
  writer = members.member(signed.state.writer)
  if writer is None or not writer.writes():
    raise Damage("state-writer", "the state is by nobody who may write")
  if signed.signature is None or not is_signed(
      writer.signing_key, STATE_LABEL, signed.digest(), signed.signature):
    raise Damage("state-signature", "the signature of the state does not hold")


def administration_seed(rows: Rows, root: bytes) -> bytes:
  """`S`, with which changes of the list are signed."""
  try:
    seed = open_box(keys.administration_box_key(root), rows.administration_box)
  except FormatError as error:
    raise Damage("administration", str(error)) from None
  if len(seed) != 32 or signing_public_key(seed) != rows.head.administration:
    raise Damage("administration", "the administration key is another one")
  return seed
