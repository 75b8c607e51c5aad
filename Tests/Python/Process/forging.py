"""Loads a vault's file with some of its keys, to go on with it as an attacker would: nothing is checked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import vault_keys as keys
from vault_building import Sealed
from vault_codes import Keys
from vault_head import Head
from vault_members import VaultKind
from vault_opening import Secrets, administration_seed
from vault_signing import signing_public_key
from vault_slots import Slot
from vault_state import Vault
from vault_writer import Plain, VaultWriter, Writer


def opened(path: Path, secrets: Secrets) -> Vault:
  """The vault as the reader has it; an attacker minds no check."""
  head = Head.decoded(path.read_bytes(), path.stat().st_size)
  return Vault(path, secrets, check=keys.vault_check(head.vault, head.administration))


class Forger(VaultWriter):
  """A writer that has the keys of those secrets, and claims the vault's administration key."""

  def __init__(self, path: Path, secrets: Secrets) -> None:
    vault = opened(path, secrets)
    self.claimed: bytes | None = vault.head.administration
    super().__init__("forger", VaultKind(vault.members.kind))
    self._take_state(vault)
    self._take_items(vault)
    if secrets.identity is not None and self.kind == VaultKind.SHARED:
      self.writer = Writer(vault.slot.number, Keys(secrets.identity).signing_seed)

  def _take_state(self, vault: Vault) -> None:
    head, members, log = vault.head, vault.members, vault.log
    self.id, self.epoch = head.vault, head.epoch
    self.serial, self.accepted, self.next_number = members.serial, members.accepted, members.next_number
    self.first, self.before = members.first, members.before
    self.number, self.digest = log.last.number, log.last.digest()
    self.tiers = dict(vault.tiers)
    if vault.root is not None:
      self.root, self.administration_seed = vault.root, administration_seed(head, vault.root)
    self.administration_box, self.list_box = head.administration_box, head.list
    self.list_hash = members.hash()
    self.slots = {slot.number: slot for slot in map(Slot.decoded, head.slots)}
    self.members = {member.number: member for member in members.members}
    self.successions = list(vault.successions)
    self.spine = log.spine
    self.hashes = [commit.body_hash() for commit in (log.base, *(one.commit for one in log.commits))]
    self.before_log, self.log = vault.data[: head.log], vault.data[head.log : log.end]

  def _take_items(self, vault: Vault) -> None:
    for tier, found in vault.state.items():
      self.items[tier] = {
        one.entry.id: Sealed(one.entry, one.metadata, one.box) for one in found.values()}
    for item in vault.items:
      if item.status == "open":
        self.plain[item.entry.id] = Plain(
          item.metadata, item.secret, item.entry.item_class, vault.device_secret, item.entry.version)

  @property
  def administration(self) -> bytes:
    return self.claimed or signing_public_key(self.administration_seed)

  def own_administration(self) -> None:
    """Goes on under an administration key of the forger's own."""
    self.claimed, self.administration_seed = None, self.random.take(32)

  def append(self, changes: dict[int, list[Sealed | bytes]]) -> None:
    """Appends these changes, with the proofs that the forger can make."""
    with self.transaction():
      for tier, found in changes.items():
        for change in found:
          self.changes[tier][change if isinstance(change, bytes) else change.id] = change

  def moved(self, item: Sealed, **fields) -> Sealed:
    """An item with other outer fields."""
    return replace(item, entry=replace(item.entry, **fields))

  def cut(self, number: int) -> None:
    """Goes on after the commit with this number, which the log has."""
    place = 0
    while int.from_bytes(self.log[place : place + 8], "little") <= number and place < len(self.log):
      counts = (int.from_bytes(self.log[place + at : place + at + 4], "little") for at in (8, 12))
      place += 32 + sum(counts)
    self.log = self.log[:place]
