"""Whether a vault is one that was seen before, or that an identity is pinned to."""

from __future__ import annotations

import vault_keys as keys
from vault_database import Rows
from vault_file import Damage, VaultError
from vault_members import MemberList, Succession, follows
from vault_notation import FormatError, open_box
from vault_records import Head
from vault_schema import LARGEST_EPOCH_STEP, LARGEST_FIRST_COUNTER, LARGEST_STEP
from vault_state import ChainEntry, SeenRecord, SignedState


def check_pins(
  head: Head, successions: list[Succession], pins: tuple[bytes, ...], seen: SeenRecord | None,
) -> None:
  """Refuses a vault that an identity is not pinned to.

  A pin of an older administration key counts only if the seen record trusts the present one.
  """
  known = [head.administration]
  if seen is not None and is_trusted(seen, head, successions):
    known += [succession.old for succession in successions]
  if pins and not any(keys.vault_check(head.id, key) in pins for key in known):
    raise VaultError("another-vault", "the identity is pinned to another vault")


def is_trusted(seen: SeenRecord, head: Head, successions: list[Succession]) -> bool:
  """Whether the seen record trusts the administration key of the head."""
  recovery_key = seen.recovery_key if any(seen.recovery_key) else None
  trusted = [key for key in (seen.administration, seen.next_administration) if any(key)]
  return head.id == seen.vault and any(
    follows(successions, key, recovery_key, head.administration) for key in trusted)


def check_first_sight(signed: SignedState) -> None:
  """Refuses a counter after which every good copy would count as rolled back."""
  if signed.state.counter > LARGEST_FIRST_COUNTER:
    raise VaultError("forged", "the counter is so high that it is forged")


def check_seen(
  seen: SeenRecord, head: Head, members: MemberList, successions: list[Succession],
  signed: SignedState,
) -> None:
  """Refuses a vault that is not the one that was seen, or an older state of it."""
  if head.id != seen.vault:
    raise VaultError("another-vault", "another vault was seen here")
  if not is_trusted(seen, head, successions):
    if head.epoch <= seen.epoch:
      raise VaultError("fork", "another administration key was seen in this epoch")
    raise VaultError("administration-changed", "the administration key was changed")
  check_list_seen(seen, members)
  check_counter_seen(seen, signed)


def check_list_seen(seen: SeenRecord, members: MemberList) -> None:
  epochs, serials = members.epoch - seen.epoch, members.serial - seen.serial
  if epochs < 0 or serials < 0 or (epochs > 0 and serials == 0):
    raise VaultError("rolled-back", "a later list of members was seen here")
  if epochs > LARGEST_EPOCH_STEP or serials > LARGEST_STEP:
    raise VaultError("forged", "the epoch or the serial is so much higher that it is forged")
  if (epochs, serials) == (0, 0) and members.hash() != seen.list_hash:
    raise VaultError("fork", "another list of this serial was seen here")


def check_counter_seen(seen: SeenRecord, signed: SignedState) -> None:
  counter = signed.state.counter
  if counter < seen.counter:
    raise VaultError("rolled-back", "a later state was seen here")
  if counter == seen.counter and signed.digest() != seen.digest:
    raise VaultError("fork", "another state of this counter was seen here")
  if counter > seen.counter + LARGEST_STEP:
    raise VaultError("forged", "the counter is so much higher that it is forged")


def chain_entries(rows: Rows, open_key: bytes) -> dict[int, ChainEntry]:
  """The entries of the chain, by their counters."""
  found = {}
  for place, box in rows.chain.items():
    try:
      entry = ChainEntry.decoded(open_box(keys.chain_box_key(open_key), box))
    except FormatError as error:
      raise Damage("chain", str(error)) from None
    if entry.place() != place:
      raise Damage("chain", "an entry of the chain is not at its place")
    found[entry.counter] = entry
  return found


def check_chain(entries: dict[int, ChainEntry], signed: SignedState) -> None:
  """Whether the chain has each entry that it must have, and no other."""
  state = signed.state
  if set(entries) - set(range(state.first, state.counter + 1)):
    raise Damage("chain", "the chain has an entry that it must not have")
  check_links(entries, state.first, signed)


def check_links(entries: dict[int, ChainEntry], start: int, signed: SignedState) -> None:
  """Whether the entries from a counter on follow each other, up to the state."""
  counters = range(start, signed.state.counter + 1)
  if any(counter not in entries for counter in counters):
    raise Damage("chain", "an entry of the chain is missing")
  if entries[counters[-1]] != signed.entry():
    raise Damage("chain", "the last entry of the chain is not the state")
  for earlier, later in zip(counters, counters[1:]):
    if entries[later].previous != entries[earlier].digest():
      raise Damage("chain", "an entry of the chain does not follow the one before")


def check_history(
  rows: Rows, open_key: bytes, seen: SeenRecord, signed: SignedState,
) -> bool:
  """Whether the chain proves that the state follows from the one that was seen."""
  if signed.state.counter == seen.counter:
    return True
  if seen.counter < signed.state.first:
    return False
  entries = chain_entries(rows, open_key)
  entry = entries.get(seen.counter)
  if entry is None:
    raise Damage("chain", "the chain has no entry of the state that was seen")
  if entry.digest() != seen.digest:
    raise VaultError("fork", "another state of the counter that was seen came before this one")
  check_links(entries, seen.counter, signed)
  return True
