"""Vectors of the state and its chain, and of the files and keys next to a vault."""

from __future__ import annotations

from dataclasses import replace

import vault_keys as keys
from member_cases import RECOVERY_KEY, SHARED
from vault_notation import digest, seal, u64
from vault_state import (
  NO_DIGEST, ChainEntry, SeenRecord, SignedState, State, cache_name, cache_payload, seen_name)
from vault_tree import Root
from vector_cases import (
  ADMINISTRATION, BINDING, EPOCH, NONCE, OPEN, TIERS, VAULT, Cases, pattern,
  refuses)

ROOTS = (Root(7, pattern(1, 32)), Root(1 << 40, pattern(2, 32)), Root())
LOCAL = State(1, EPOCH, 9, SHARED.hash(), 42, 1, ROOTS)
SIGNED = replace(LOCAL, generation=5, counter=2345, first=1346, writer=4,
                 time=1_750_000_000_123_456)
FIRST = State(1, 1, 1, pattern(9, 32), 1, 1, (Root(),) * 3)
STATES = {"first": (FIRST, NO_DIGEST), "local": (LOCAL, pattern(3, 32)),
          "shared": (SIGNED, pattern(4, 32)),
          "time before 1970": (replace(SIGNED, time=-1), pattern(4, 32))}
SEED = pattern(0xE0, 32)


def state_cases(cases: Cases) -> None:
  one_state_cases(cases)
  refused_cases(cases)
  seen_cases(cases)
  cache_cases(cases)


def one_state_cases(cases: Cases) -> None:
  for variant, (state, previous) in STATES.items():
    signed = SignedState(state, previous)
    given = {
      "generation": state.generation, "epoch": state.epoch, "serial": state.serial,
      "listHash": state.list_hash, "counter": state.counter, "first": state.first,
      "writer": state.writer, "time": state.time,
      **{f"root{place}": root.hash for place, root in enumerate(state.roots)},
      **{f"count{place}": root.count for place, root in enumerate(state.roots)}}
    cases.add("state", variant, state.encoded(), **given)
    cases.add("state hash", variant, state.hash(), **given)
    cases.add("chain digest", variant, signed.digest(), previous=previous, **given)
    cases.add("state signature", variant, signed.signed(SEED).signature, seed=SEED,
              previous=previous, **given)
    for plain in (signed, signed.signed(SEED)):
      add_state(cases, f"{variant}, {'signed' if plain.signature else 'not signed'}",
                plain.encoded(), plain.encoded())
    entry = signed.entry()
    add_entry(cases, variant, entry.encoded(), entry.counter, entry.encoded())
    cases.add("chain place", variant, u64(entry.place()), counter=state.counter)
  for counter, first in ((1, 1), (999, 1), (1000, 1), (1001, 1), (5000, 10), (5000, 4999)):
    cases.add("first entry of the chain", f"{counter} after {first}",
              u64(max(first, counter - 999)), counter=counter, first=first)


def add_state(cases: Cases, variant: str, plain: bytes, expect: bytes | None) -> None:
  cases.add("opened state", variant, expect, tier0=OPEN,
            box=seal(keys.state_box_key(OPEN), plain, NONCE))


def add_entry(
  cases: Cases, variant: str, plain: bytes, counter: int, expect: bytes | None,
) -> None:
  """An entry is looked for by its counter."""
  cases.add("opened chain entry", variant, expect, tier0=OPEN, counter=counter,
            box=seal(keys.chain_box_key(OPEN), plain, NONCE))


def refused_states() -> dict[str, bytes]:
  """Contents of the box of a state that every reader refuses."""
  states = {
    "counter 0": replace(LOCAL, counter=0, first=0), "first 0": replace(LOCAL, first=0),
    "counter above 2^48": replace(LOCAL, counter=(1 << 48) + 1, first=(1 << 48) - 1),
    "first above the counter": replace(LOCAL, first=43),
    "chain of 1001 entries": replace(LOCAL, counter=1001, first=1),
    "hash of the list too short": replace(LOCAL, list_hash=bytes(31)),
    "root too long": replace(LOCAL, roots=(Root(7, bytes(33)), *ROOTS[1:])),
    "count of 2^63": replace(LOCAL, roots=(Root(1 << 63, pattern(1, 32)), *ROOTS[1:])),
    "root without keys": replace(LOCAL, roots=(Root(0, pattern(1, 32)), *ROOTS[1:])),
    "keys without a root": replace(LOCAL, roots=(Root(7), *ROOTS[1:]))}
  contents = {
    variant: SignedState(state, pattern(3, 32)).encoded() for variant, state in states.items()}
  good = SignedState(LOCAL, pattern(3, 32), bytes(64))
  return contents | {
    "previous too short": replace(good, previous=bytes(31)).encoded(),
    "signature too long": replace(good, signature=bytes(65)).encoded(),
    "optional that begins with 2": replace(good, signature=None).encoded()[:-1] + b"\2",
    "empty": b"", "a byte follows": good.encoded() + b"\0", "a byte is missing": good.encoded()[:-1]}


def refused_cases(cases: Cases) -> None:
  for variant, data in refused_states().items():
    assert refuses(SignedState.decoded, data), variant
    add_state(cases, variant, data, None)
  good = SignedState(LOCAL, pattern(3, 32)).encoded()
  cases.add("opened state", "under another key", None, tier0=OPEN,
            box=seal(keys.chain_box_key(OPEN), good, NONCE))
  entry = ChainEntry(42, pattern(3, 32), pattern(4, 32))
  entries = {
    "previous too short": replace(entry, previous=bytes(31)),
    "hash too long": replace(entry, state_hash=bytes(33))}
  data = {variant: one.encoded() for variant, one in entries.items()} | {
    "empty": b"", "a byte follows": entry.encoded() + b"\0",
    "a byte is missing": entry.encoded()[:-1]}
  for variant, encoded in data.items():
    assert refuses(ChainEntry.decoded, encoded), variant
    add_entry(cases, variant, encoded, 42, None)
  add_entry(cases, "of another counter", entry.encoded(), 1042, None)
  cases.add("opened chain entry", "under another key", None, tier0=OPEN, counter=42,
            box=seal(keys.state_box_key(OPEN), entry.encoded(), NONCE))


def seen_cases(cases: Cases) -> None:
  record = SeenRecord(
    VAULT, ADMINISTRATION, bytes(32), RECOVERY_KEY, EPOCH, 9, SHARED.hash(), 42, pattern(0x30, 32))
  records = {
    "": record, "administration key that changes": replace(record, next_administration=RECOVERY_KEY),
    "no recovery code": replace(record, recovery_key=bytes(32)),
    "greatest counter": replace(record, counter=1 << 48)}
  for variant, one in records.items():
    encoded = one.encoded()
    cases.add("seen record", variant, encoded, vault=one.vault, administration=one.administration,
              nextAdministration=one.next_administration, recoveryKey=one.recovery_key,
              epoch=one.epoch, serial=one.serial, listHash=one.list_hash, counter=one.counter,
              digest=one.digest)
    cases.add("decoded seen record", variant or "good", encoded, record=encoded)
  good = record.encoded()
  refused = {
    "damaged": good[:-1] + bytes([good[-1] ^ 1]), "cut short": good[:-1], "too long": good + b"\0",
    "empty": b"", "record of format 1": good[:89], "summed again, too short": summed(good[:-17]),
    "counter above 2^48": replace(record, counter=(1 << 48) + 1).encoded()}
  for variant, data in refused.items():
    assert refuses(SeenRecord.decoded, data), variant
    cases.add("decoded seen record", variant, None, record=data)
  for path in ("/home/user/.local/share/keychain/vault.db", "/srv/\u00e9/vault.db"):
    name = seen_name(path.encode("utf-8"))
    cases.add("seen name", path, bytes.fromhex(name), path=path)


def summed(before: bytes) -> bytes:
  return before + digest(16, before)


def cache_cases(cases: Cases) -> None:
  for tier in keys.TIERS:
    cases.add("cache name", str(tier), cache_name(tier, VAULT), vault=VAULT, tier=tier)
  for variant, limit, key in (
      ("no limit", (1 << 64) - 1, OPEN), ("prolonged", 43_200_000_000_000, TIERS[2]),
      ("fixed", 43_200_000_000_001, TIERS[2])):
    cases.add("cache payload", variant, cache_payload(limit, BINDING, key), limit=u64(limit),
              binding=BINDING, tierKey=key)
