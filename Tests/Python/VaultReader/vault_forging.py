"""What attackers do to the file of a vault: without keys, or with some of them. Nothing is checked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import vault_keys as keys
from vault_building import Sealed, SeededBytes, made_base, made_commit, sealed_item
from vault_head import Head
from vault_items import Metadata
from vault_log import Commit
from vault_members import MemberList, VaultKind
from vault_notation import seal
from vault_opening import Secrets
from vault_state import Vault
from vault_writer import Writer


class Forge:
  """A file, and the keys of somebody who changes it.

  The vault is opened once, as it is; `held` are the tiers whose keys the attacker has. What they
  make is in `data`, and follows the commit `number` with `digest`.
  """

  def __init__(
    self, data: bytes, secrets: Secrets, held: Iterable[int] = keys.TIERS,
    writer: Writer | None = None, seed: str = "forge",
  ) -> None:
    # An attacker minds neither pins nor whose key it is.
    head = Head.decoded(data, len(data))
    check = keys.vault_check(head.vault, head.administration)
    self.vault = Vault.of(data, replace(secrets, pins=()), check=check)
    self.data = data[: self.vault.log.end]
    self.tiers = {tier: self.vault.tiers[tier] for tier in held}
    self.writer, self.random = writer, SeededBytes(seed)
    self.number, self.digest = self.vault.log.last.number, self.vault.log.last.digest()

  @staticmethod
  def of(path: Path, secrets: Secrets, *held: int, **options) -> Forge:
    return Forge(path.read_bytes(), secrets, held or keys.TIERS, **options)

  @property
  def open_key(self) -> bytes:
    return self.vault.tiers[0]

  # The file as it is.

  def frames(self) -> list[bytes]:
    """The frame of the base, and those of the commits, each with its boxes."""
    log = self.vault.log
    starts = [self.vault.head.log, *(placed.start for placed in log.commits), log.end]
    return [self.data[start:end] for start, end in zip(starts, starts[1:])]

  def before_log(self) -> bytes:
    return self.data[: self.vault.head.log]

  def cut(self, count: int) -> Forge:
    """Goes back by some commits."""
    log = self.vault.log
    kept = log.commits[: len(log.commits) - count]
    self.data = self.data[: log.commits[len(kept)].start]
    last = kept[-1].commit if kept else log.base
    self.number, self.digest = last.number, last.digest()
    return self

  def stored(self, item: bytes, tier: int) -> Sealed:
    """An item that is in the vault, to put it again."""
    found = self.vault.state[tier][item]
    return Sealed(found.entry, found.metadata or b"", found.box)

  def all_items(self) -> dict[int, list[Sealed]]:
    return {tier: [self.stored(item, tier) for item in found]
            for tier, found in self.vault.state.items()}

  def item(
    self, metadata: Metadata, secret: bytes, item_class: int, device_secret: bytes | None = None,
    **fields,
  ) -> Sealed:
    return sealed_item(
      self.tiers | {0: self.open_key}, self.vault.head.vault, metadata, secret, item_class,
      self.random, device_secret, **fields)

  # Commits.

  def commit(self, changes: dict[int, list[Sealed | bytes]]) -> tuple[Commit, bytes]:
    """The next commit, without proofs, and its boxes."""
    return made_commit(
      self.tiers, self.number + 1, self.digest, changes, self.random,
      writer=self.writer.number if self.writer else 0)

  def proved(self, commit: Commit) -> Commit:
    if self.vault.members.kind == VaultKind.SHARED:
      return commit.signed(self.writer.seed)
    return commit.proved(self.tiers)

  def add(self, commit: Commit, boxes: bytes = b"") -> Forge:
    """Appends a commit as it is."""
    self.data += commit.frame(
      self.open_key, self.vault.head.epoch, self.random.nonce(), boxes)
    self.number, self.digest = commit.number, commit.digest()
    return self

  def append(self, changes: dict[int, list[Sealed | bytes]]) -> Forge:
    """Appends changes with the proofs that the attacker can make."""
    commit, boxes = self.commit(changes)
    return self.add(self.proved(commit), boxes)

  # Bases and lists.

  def base(
    self, items: dict[int, list[Sealed]] | None = None, head: Head | None = None,
    members: MemberList | None = None, administration_seed: bytes | None = None,
  ) -> Forge:
    """Makes a new base, as it can with these keys; other pages are sealed with zero bytes."""
    members = members or self.vault.members
    log = self.vault.log
    hashes = [log.base.body_hash(), *(placed.commit.body_hash() for placed in log.commits)]
    known = hashes[: self.number - log.base.number + 1]
    made = made_base(
      {tier: self.tiers.get(tier, bytes(32)) for tier in keys.TIERS} | {0: self.open_key},
      head or self.vault.head, members.serial, self.number + 1, self.digest,
      log.spine.following(known), self.all_items() if items is None else items, self.random,
      writer=self.writer.number if self.writer else 0)
    commit = self.proved(made.commit)
    if administration_seed is not None:
      commit = commit.signed_by_administration(administration_seed)
    self.data = made.before_log
    return self.add(commit)

  def with_list(self, seed: bytes, **fields) -> tuple[Head, MemberList]:
    """The head with another list, signed by a seed."""
    members = replace(self.vault.members, **fields)
    box = seal(keys.box_key(self.open_key, "members"), members.signed(seed), self.random.nonce())
    return replace(self.vault.head, list=box), members

  def new_list(self, seed: bytes, **fields) -> Forge:
    """Makes the base of another list; by default it is as it must be, with the next serial."""
    plain = {"serial": self.vault.members.serial + 1, "first": self.number + 1, "before": self.digest}
    head, members = self.with_list(seed, **(plain | fields))
    return self.base(head=head, members=members, administration_seed=seed)


def change_byte(data: bytes, place: int) -> bytes:
  place %= len(data)
  return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
