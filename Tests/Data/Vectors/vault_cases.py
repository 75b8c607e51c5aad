"""Vectors of what is next to a vault, and of whole vaults."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from log_cases import ADMINISTRATION, EPOCH, OPEN, TIERS, VAULT
from member_cases import RECOVERY_KEY, SHARED
from vault_building import made_commit
from vault_codes import Keys
from vault_head import MAXIMUM_EPOCH
from vault_items import Identity, Metadata
from vault_members import MAXIMUM_FIRST, MAXIMUM_SERIAL, NUMBERS, VaultKind
from vault_notation import digest, sized, u64
from vault_opening import Secrets
from vault_seen import (
  SeenCommit, SeenRecord, cache_name, cache_payload, place_name, seen_name)
from vault_slots import Granted
from vault_state import Vault
from vault_writer import VaultWriter
from vector_cases import BINDING, Cases, changed, pattern, refuses

KEY_FILE = pattern(0x80, 100)
DEVICE = pattern(0x20, 32)
READER = Keys(pattern(0x30, 32))
OWNER = Keys(pattern(0x70, 32))


def vault_cases(cases: Cases) -> None:
  seen_cases(cases)
  cache_cases(cases)
  whole_cases(cases)


def seen_cases(cases: Cases) -> None:
  commits = (SeenCommit(9, 45, pattern(0x31, 32)), SeenCommit(9, 42, pattern(0x32, 32)),
             SeenCommit(8, 41, pattern(0x33, 32)))
  record = SeenRecord(
    VAULT, ADMINISTRATION, bytes(32), RECOVERY_KEY, EPOCH, 9, SHARED.hash(), commits)
  records = {
    "": record, "administration key that changes": replace(record, next_administration=RECOVERY_KEY),
    "no recovery code": replace(record, recovery_key=bytes(32)),
    "T0 alone": replace(record, proved=(commits[0], SeenCommit(), SeenCommit()))}
  for variant, one in records.items():
    encoded = one.encoded()
    proved = {
      f"{name}{tier}": value for tier, commit in enumerate(one.proved)
      for name, value in (("serial", commit.serial), ("n", commit.number), ("digest", commit.digest))}
    cases.add("seen record", variant, encoded, vault=one.vault, administration=one.administration,
              nextAdministration=one.next_administration, recoveryKey=one.recovery_key,
              epoch=one.epoch, serial=one.serial, listHash=one.list_hash, **proved)
    cases.add("decoded seen record", variant or "good", encoded, record=encoded)
  good = record.encoded()
  before = good[:-17]
  refused = {
    "damaged": changed(good), "cut short": good[:-1], "too long": good + b"\0", "empty": b"",
    "record of format 2": good[:240], "summed again, too short": before + digest(16, before),
    "greatest serial and one": replace(record, serial=MAXIMUM_SERIAL + 1).encoded(),
    "no serial": replace(record, serial=0).encoded(),
    "greatest epoch and one": replace(record, epoch=MAXIMUM_EPOCH + 1).encoded(),
    "no epoch": replace(record, epoch=0).encoded(),
    "greatest serial of a commit and one": replace(
      record, proved=(replace(commits[0], serial=MAXIMUM_SERIAL + 1), *commits[1:])).encoded(),
    "greatest number and one": replace(
      record, proved=(replace(commits[0], number=MAXIMUM_FIRST + NUMBERS + 1), *commits[1:])).encoded()}
  for variant, data in refused.items():
    assert refuses(SeenRecord.decoded, data), variant
    cases.add("decoded seen record", variant, None, record=data)
  for path in ("/home/user/.local/share/keychain/vault", "/srv/\u00e9/vault"):
    name = seen_name(path.encode("utf-8"))
    cases.add("seen name", path, bytes.fromhex(name), path=path)
    cases.add("cache place", path, place_name(path.encode("utf-8")), path=path)


def cache_cases(cases: Cases) -> None:
  for tier in range(3):
    cases.add("cache name", str(tier), cache_name(tier, VAULT), vault=VAULT, tier=tier)
  for variant, limit, key in (
      ("no limit", (1 << 64) - 1, OPEN), ("prolonged", 43_200_000_000_000, TIERS[2]),
      ("fixed", 43_200_000_000_001, TIERS[2])):
    cases.add("cache payload", variant, cache_payload(limit, BINDING, key), limit=u64(limit),
              binding=BINDING, tierKey=key)


def generic(service: str, account: str) -> Metadata:
  return Metadata(Identity(0, "", (service, account)), 0, 0)


@cache
def local_vault() -> bytes:
  """A base and five commits, and an item that T0 planted below another of its name."""
  writer = VaultWriter("vector, local")
  with writer.transaction():
    writer.add_key_file(KEY_FILE)
    writer.add_device(DEVICE)
  with writer.transaction():
    writer.put(generic("class", "whenUnlocked"), b"in the base", 0)
    writer.put(generic("class", "always"), b"in the base", 4)
    gone = writer.put(generic("gone", ""), b"in the base", 2)
    writer.put(generic("replaced", ""), b"in the base", 2)
  writer.compact()
  writer.put(generic("class", "afterFirstUnlock"), b"in the log", 2)
  writer.put(generic("class", "always"), b"replaced in the log", 4)
  writer.put(generic("device", ""), b"of this device", 1, DEVICE)
  with writer.transaction():
    writer.put(generic("replaced", ""), b"now higher", 0)
    writer.remove(gone)
  planted = writer.sealed(generic("class", "whenUnlocked"), b"planted", 4)
  commit, boxes = made_commit(
    writer.tiers, writer.number + 1, writer.digest, {0: [planted]}, writer.random)
  commit = commit.proved({0: writer.tiers[0]})
  return writer.file() + commit.frame(
    writer.tiers[0], writer.epoch, writer.random.nonce(), boxes)


@cache
def shared_vault() -> bytes:
  writer = VaultWriter("vector, shared", VaultKind.SHARED)
  with writer.transaction():
    writer.add_own(OWNER, "alice")
    writing = writer.add_recipient(Keys(DEVICE).recipient(), Granted.READS_AND_WRITES)
    writer.add_recipient(READER.recipient(), Granted.READS)
  writer.put(generic("by", "alice"), b"of the owner", 0)
  writer.writes_as(writing, Keys(DEVICE))
  writer.put(generic("by", "walter"), b"of a writer", 4)
  writer.compact()
  writer.put(generic("by", "walter"), b"of a writer, again", 4)
  return writer.file()


def read_vault(file: bytes, secrets: Secrets) -> bytes:
  vault = Vault.of(file, secrets)
  opened = [item for item in vault.items if item.status == "open"]
  return vault.log.last.digest() + b"".join(
    sized(item.metadata.identity.encoded()) + sized(item.secret) for item in opened)


def whole_cases(cases: Cases) -> None:
  local, shared = local_vault(), shared_vault()
  all_keys = {"keyFile": KEY_FILE, "device": DEVICE}
  good = {
    "local": (local, all_keys), "local, with the key file": (local, {"keyFile": KEY_FILE}),
    "local, with the device key": (local, {"device": DEVICE}), "local, unfinished write":
    (local + local[-500:-100], all_keys), "local, half of a frame": (local[:-700], all_keys),
    "local, damaged last box": (changed(local), all_keys), "shared, administrator":
    (shared, {"seed": OWNER.seed}), "shared, reader": (shared, {"seed": READER.seed})}
  vault = Vault.of(local, Secrets(key_file=KEY_FILE))
  head, log = vault.head, vault.log
  places = {
    "head": 40, "list": 700, "index": head.spine_place - 1, "spine": head.log - 1,
    "base": log.commits[0].start - 1, "first frame": log.commits[0].start,
    "first commit": log.commits[0].boxes - 1, "last frame but one": log.commits[-2].start}
  bad = {f"local, changed {name}": (changed(local, place), all_keys)
         for name, place in places.items()}
  bad |= {
    "local, wrong key file": (local, {"keyFile": KEY_FILE[1:]}), "local, cut in the base":
    (local[: log.commits[0].start - 1], all_keys), "local, a commit left out":
    (local[: log.commits[1].start] + local[log.commits[2].start :], all_keys),
    "shared, of nobody": (shared, {"seed": pattern(9, 32)})}
  cases.read("vault", good, bad, lambda given: read_vault(given[0], secrets_of(given[1])),
             lambda given: {"file": given[0], **given[1]})


def secrets_of(given: dict[str, bytes]) -> Secrets:
  return Secrets(
    key_file=given.get("keyFile"), device=given.get("device"), identity=given.get("seed"))
