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
  ADMINISTRATION, ADMINISTRATION_SEED, BINDING, EPOCH, NONCE, OPEN, TIERS, VAULT, Cases, pattern,
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
    roots = {f"root{place}": root.hash for place, root in enumerate(state.roots)}
    counts = {f"count{place}": root.count for place, root in enumerate(state.roots)}
    cases.add("state", variant, state.encoded(), generation=state.generation, epoch=state.epoch,
              serial=state.serial, listHash=state.list_hash, counter=state.counter,
              first=state.first, writer=state.writer, time=state.time, **roots, **counts)
    cases.add("state hash", variant, state.hash(), state=state.encoded())
    cases.add("chain digest", variant, signed.digest(), counter=state.counter, previous=previous,
              stateHash=state.hash(), writer=state.writer, time=state.time)
    cases.add("state signature", variant, signed.signed(SEED).signature, seed=SEED,
              digest=signed.digest())
    cases.add("decoded state", f"{variant}, not signed", signed.encoded(), contents=signed.encoded())
    marked = signed.signed(SEED).encoded()
    cases.add("decoded state", f"{variant}, signed", marked, contents=marked)
    entry = signed.entry()
    cases.add("chain entry", variant, entry.encoded(), counter=state.counter, previous=previous,
              stateHash=state.hash(), writer=state.writer, time=state.time)
    cases.add("chain place", variant, u64(entry.place()), counter=state.counter)
    cases.add("decoded chain entry", variant, entry.encoded(), contents=entry.encoded())
    for operation, key, plain in (
      ("state box", keys.state_box_key(OPEN), signed.encoded()),
      ("chain box", keys.chain_box_key(OPEN), entry.encoded())):
      cases.add(operation, variant, seal(key, plain, NONCE), tier0=OPEN, contents=plain, nonce=NONCE)
  list_box = seal(keys.members_box_key(OPEN), SHARED.signed(ADMINISTRATION_SEED), NONCE)
  cases.add("members box", "", list_box, tier0=OPEN, contents=SHARED.signed(ADMINISTRATION_SEED),
            nonce=NONCE)


def refused_cases(cases: Cases) -> None:
  states = {
    "counter 0": replace(LOCAL, counter=0, first=0), "first 0": replace(LOCAL, first=0),
    "counter above 2^48": replace(LOCAL, counter=(1 << 48) + 1, first=(1 << 48) - 1),
    "first above the counter": replace(LOCAL, first=43),
    "chain of 1001 entries": replace(LOCAL, counter=1001, first=1),
    "generation 0": replace(LOCAL, generation=0),
    "generation above 2^32": replace(LOCAL, generation=(1 << 32) + 1),
    "epoch 0": replace(LOCAL, epoch=0), "epoch above 2^31": replace(LOCAL, epoch=(1 << 31) + 1),
    "serial 0": replace(LOCAL, serial=0),
    "serial above 2^48": replace(LOCAL, serial=(1 << 48) + 1),
    "hash of the list too short": replace(LOCAL, list_hash=bytes(31)),
    "root too long": replace(LOCAL, roots=(Root(7, bytes(33)), *ROOTS[1:])),
    "root without keys": replace(LOCAL, roots=(Root(0, pattern(1, 32)), *ROOTS[1:])),
    "keys without a root": replace(LOCAL, roots=(Root(7), *ROOTS[1:]))}
  contents = {
    variant: SignedState(state, pattern(3, 32)).encoded() for variant, state in states.items()}
  good = SignedState(LOCAL, pattern(3, 32), bytes(64))
  contents |= {
    "previous too short": replace(good, previous=bytes(31)).encoded(),
    "signature too long": replace(good, signature=bytes(65)).encoded(),
    "optional that begins with 2": replace(good, signature=None).encoded()[:-1] + b"\2",
    "empty": b"", "a byte follows": good.encoded() + b"\0", "a byte is missing": good.encoded()[:-1]}
  for variant, data in contents.items():
    assert refuses(SignedState.decoded, data), variant
    cases.add("decoded state", variant, None, contents=data)
  entry = ChainEntry(42, pattern(3, 32), pattern(4, 32))
  entries = {
    "counter 0": replace(entry, counter=0), "counter above 2^48": replace(entry, counter=(1 << 48) + 1),
    "previous too short": replace(entry, previous=bytes(31)),
    "hash too long": replace(entry, state_hash=bytes(33))}
  data = {variant: one.encoded() for variant, one in entries.items()} | {
    "empty": b"", "a byte follows": entry.encoded() + b"\0",
    "a byte is missing": entry.encoded()[:-1]}
  for variant, encoded in data.items():
    assert refuses(ChainEntry.decoded, encoded), variant
    cases.add("decoded chain entry", variant, None, contents=encoded)


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
