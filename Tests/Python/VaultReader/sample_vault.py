#!/usr/bin/env python3
"""Creates a vault with one of everything in format 3, and the secrets that open it."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, field
from pathlib import Path

from vault_building import Sealed
from vault_codes import Keys, base32, recovery_text
from vault_identity import IdentityFile
from vault_items import Identity, Metadata
from vault_keys import ACCESSIBILITIES, key_file_key, passphrase_key
from vault_listing import described
from vault_members import VaultKind
from vault_notation import digest
from vault_slots import INTERACTIVE, MODERATE, Cost, Granted, SlotKind, slot_seed
from vault_state import Item
from vault_writer import VaultWriter

PASSPHRASE = "test passphrase, not a secret \u00e9 e\u0301".encode("utf-8")
KEY_FILE = b"A key file for tests. Every byte of it counts.\n\x00\xff"
DEVICE = digest(32, b"test device secret")
OTHER_DEVICE = digest(32, b"test device secret of another device")
RECOVERY_CODE = digest(16, b"test recovery code")
# A code whose slot is of an earlier administration key: it was not at hand when that changed.
OLD_CODE = digest(16, b"test recovery code of before")
# Seeds of identities.
IDENTITY = digest(32, b"test identity")
WRITING_IDENTITY = digest(32, b"test identity that reads and writes")
READING_IDENTITY = digest(32, b"test identity that reads")
OTHER_IDENTITY = digest(32, b"test identity of somebody else")
WARNING = "Test data: everyone knows this key."
GROUPS = ("team", "gr\u00fcppe \U0001f511")
LONG_AGO = -2_208_988_800_000_001  # A microsecond before 1900.
CREATED = 1_750_000_000_123_456

COSTS = {"interactive": INTERACTIVE, "moderate": MODERATE}


@dataclass(frozen=True)
class Entry:
  """An item to write."""

  metadata: Metadata
  secret: bytes
  item_class: int = 0
  device: bytes = DEVICE


@dataclass
class Sample:
  """A vault not yet in a file, and what is expected in it."""

  writer: VaultWriter
  entries: dict[Identity, Entry] = field(default_factory=dict)

  def put(self, entry: Entry) -> Identity:
    self.writer.put(entry.metadata, entry.secret, entry.item_class, entry.device)
    self.entries[entry.metadata.identity] = entry
    return entry.metadata.identity

  def remove(self, identity: Identity) -> None:
    self.writer.remove(self.writer.id_of(identity))
    del self.entries[identity]

  def sealed(self, identity: Identity) -> Sealed:
    item = self.writer.id_of(identity)
    return next(found[item] for found in self.writer.items.values() if item in found)

  def expected(self) -> list[dict]:
    """The items as a reader with every secret of this device shows them."""
    shown = []
    found = [(self.sealed(identity).entry, one) for identity, one in self.entries.items()]
    for entry, one in sorted(found, key=lambda pair: pair[0].id):
      is_here = one.device == DEVICE
      shown.append(described(
        Item(entry, "open", one.metadata, one.secret) if is_here
        else Item(entry, "other device", one.metadata), True))
    return shown


def generic(service: str, account: str, group: str = "", **fields) -> Metadata:
  return Metadata(Identity(0, group, (service, account)), CREATED, CREATED + 1, **fields)


def internet(parts: tuple, group: str = "", **fields) -> Metadata:
  return Metadata(Identity(1, group, parts), CREATED, CREATED, **fields)


def entries() -> list[Entry]:
  return class_entries() + name_entries() + secret_entries() + [
    Entry(generic("device", "elsewhere"), b"never seen here", 1, OTHER_DEVICE)]


def class_entries() -> list[Entry]:
  """One item of each accessibility."""
  return [
    Entry(generic("class", name), f"secret of {name}".encode("ascii"), number)
    for number, name in enumerate(ACCESSIBILITIES)]


def name_entries() -> list[Entry]:
  """Names, attributes and times of every shape."""
  composed, decomposed = "caf\u00e9", "cafe\u0301"
  attributes = (
    ("env", "production"), ("\U0001f600", ""), (composed, decomposed), (decomposed, composed))
  everything = ("example.org", "https", 8443, "/a/b?c", "user@example.org", "realm", "httpBasic")
  return [
    Entry(generic("", ""), b"no names at all"),
    Entry(generic(composed, "a"), b"composed"),
    Entry(generic(decomposed, "a"), b"decomposed"),
    Entry(generic("nul\0inside", "line\nbreak\ttab \u202e right to left"), b"control characters"),
    Entry(generic("class", "whenUnlocked", GROUPS[0]), b"the same names in a group", 2),
    Entry(generic("s", "a", GROUPS[1]), b"a group of odd letters", 5),
    Entry(
      generic("all", "fields", label="Label \u2603", comment="", content_type="text/plain",
              expires=CREATED + 86_400_000_000, attributes=attributes), b"everything set", 3),
    Entry(Metadata(Identity(0, "", ("time", "early")), LONG_AGO, -1, expires=0), b"before 1970"),
    Entry(internet(everything, attributes=(("env", "production"),)), b"all seven names"),
    Entry(internet(("example.org", "", 0, "", "", "", "")), b"a server alone", 4),
    Entry(internet(("example.org", "", 65535, "", "", "", ""), GROUPS[0]), b"highest port", 6)]


def secret_entries() -> list[Entry]:
  """Secrets at the edges of the padding, and bytes that are no text."""
  sizes = [0, 1, 251, 252, 253, 1000, 20_000]
  return [
    Entry(generic("size", str(size)), (bytes(range(256)) * (size // 256 + 1))[:size])
    for size in sizes]


def many_entries() -> list[Entry]:
  """So many items that each tier has several pages."""
  return [
    Entry(generic("many", str(number), f"group {number % 9}"), str(number).encode(), number % 3 * 2)
    for number in range(80)]


def make_sample(seed: str = "sample", cost: Cost = INTERACTIVE) -> Sample:
  """A local vault with a slot of each kind and every kind of item, and a slot that was removed."""
  writer = VaultWriter(seed)
  with writer.transaction():
    writer.add_passphrase(PASSPHRASE, cost, name="the passphrase \u00e9")
    writer.add_key_file(KEY_FILE)
    writer.add_device(DEVICE, name="this device")
    writer.add_recovery_code(RECOVERY_CODE)
    writer.add_recipient(Keys(IDENTITY).recipient(), name="alice")
    writer.add_recovery_code(OLD_CODE, name="in the drawer")
  sample = Sample(writer)
  for entry in entries():
    sample.put(entry)
  left = writer.add_recipient(Keys(OTHER_IDENTITY).recipient(), name="bob")
  with writer.transaction():
    for entry in many_entries():
      sample.put(entry)
  with writer.transaction():
    writer.remove_slot(left)
    writer.present(1, passphrase_key(PASSPHRASE, writer.slots[1].salt, cost.memory, cost.passes))
    writer.present(2, key_file_key(KEY_FILE))
    writer.present(3, DEVICE)
    writer.present(4, RECOVERY_CODE)
  gone = sample.put(Entry(generic("gone", "gone", "gone"), b"gone"))
  sample.remove(gone)
  sample.put(Entry(generic("moved", "up"), b"below", 4))
  sample.put(Entry(generic("moved", "up"), b"above"))
  writer.compact()
  sample.put(Entry(generic("class", "always"), b"replaced in the log", 4))
  sample.remove(generic("size", "1000").identity)
  with writer.transaction():
    sample.put(Entry(generic("together", "1"), b"one commit", 2))
    sample.put(Entry(generic("together", "2"), b"of three tiers", 4))
    sample.put(Entry(generic("together", "3"), b"and three items"))
  return sample


def make_shared_sample(seed: str = "shared") -> Sample:
  """A shared vault of four members, whose administration key was changed twice."""
  writer = VaultWriter(seed, VaultKind.SHARED)
  with writer.transaction():
    writer.add_own(Keys(IDENTITY), name="alice")
    writer.add_recovery_code(RECOVERY_CODE)
    writing = writer.add_recipient(
      Keys(WRITING_IDENTITY).recipient(), Granted.READS_AND_WRITES, "walter")
    writer.add_recipient(Keys(READING_IDENTITY).recipient(), Granted.READS, "rita")
  sample = Sample(writer)
  for entry in (entry for entry in entries() if entry.item_class in (0, 2, 4)):
    sample.put(entry)
  left = writer.add_recipient(Keys(OTHER_IDENTITY).recipient(), name="bob")
  writer.remove_slot(left, recovery_seed(writer))
  with writer.transaction():
    writer.rekey(True, recovery_seed(writer))
    writer.present(2, RECOVERY_CODE)
  writer.writes_as(writing, Keys(WRITING_IDENTITY))
  sample.put(Entry(generic("written", "by walter"), b"by walter", 2))
  return sample


def recovery_seed(writer: VaultWriter) -> bytes:
  """The seed with which the recovery code of a sample signs."""
  slot = next(slot for slot in writer.slots.values() if slot.kind == SlotKind.RECOVERY_CODE)
  return slot_seed(RECOVERY_CODE, slot.signing_fields(writer.id))


def make_server_sample(seed: str = "server") -> Sample:
  """A vault that only the device opens, as a server has it."""
  writer = VaultWriter(seed)
  writer.add_device(DEVICE, Granted.ADMINISTERS)
  sample = Sample(writer)
  for entry in class_entries()[:6]:
    sample.put(entry)
  return sample


SAMPLES = {"local": make_sample, "shared": make_shared_sample, "server": make_server_sample}


def write_files(folder: Path, name: str, sample: Sample) -> None:
  """The vault, what is in it, and what a user has who has seen it."""
  writer = sample.writer
  writer.write(folder / f"{name}.vault")
  (folder / f"{name}.identity").write_bytes(
    IdentityFile(IDENTITY, (writer.check,)).encoded(WARNING))
  (folder / f"{name}.seen").write_bytes(writer.seen().encoded())
  expected = {
    "number": writer.number, "witness": base32(writer.digest[:20]), "epoch": writer.epoch, "serial": writer.serial,
    "id": writer.id.hex(), "check": writer.check.hex(), "slots": len(writer.slots),
    "items": sample.expected()}
  (folder / f"{name}.expected.json").write_text(json.dumps(expected, indent=1) + "\n", "utf-8")


def write_secrets(folder: Path) -> None:
  """What opens the samples."""
  files = {
    "test-passphrase": PASSPHRASE, "test-key-file": KEY_FILE, "test-device.key": DEVICE,
    "test-recovery-code": RECOVERY_CODE,
    "test-recovery-code.txt": recovery_text(RECOVERY_CODE).encode("ascii") + b"\n",
    "test-old-recovery-code.txt": recovery_text(OLD_CODE).encode("ascii") + b"\n",
    "test-identity": IdentityFile(IDENTITY).encoded(WARNING),
    "test-writing-identity": IdentityFile(WRITING_IDENTITY).encoded(WARNING),
    "test-reading-identity": IdentityFile(READING_IDENTITY).encoded(WARNING)}
  for name, contents in files.items():
    (folder / name).write_bytes(contents)


def main() -> None:
  parser = argparse.ArgumentParser(description="Makes a vault of format 3 for tests.")
  parser.add_argument("folder", type=Path)
  parser.add_argument("--name", default="format3-python")
  parser.add_argument("--seed", default="sample")
  parser.add_argument("--cost", choices=COSTS, default="interactive")
  parser.add_argument("--kind", choices=SAMPLES, default="local")
  options = parser.parse_args()
  make = SAMPLES[options.kind]
  given = {"cost": COSTS[options.cost]} if options.kind == "local" else {}
  write_secrets(options.folder)
  write_files(options.folder, options.name, make(options.seed, **given))


if __name__ == "__main__":
  main()
