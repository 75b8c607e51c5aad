#!/usr/bin/env python3
"""Creates a vault with one of everything in format 1, and the secrets that open it."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, field
from pathlib import Path

from vault_codes import public_key, recovery_text
from vault_database import read_rows
from vault_identity import IdentityFile
from vault_keys import ACCESSIBILITIES
from vault_notation import digest
from vault_reader import Item, described
from vault_records import Granted, Identity, Metadata, SeenRecord, box_hash
from vault_writer import CHEAP, INTERACTIVE, MODERATE, Cost, VaultWriter

PASSPHRASE = "test passphrase, not a secret \u00e9 e\u0301".encode("utf-8")
KEY_FILE = b"A key file for tests. Every byte of it counts.\n\x00\xff"
DEVICE = digest(32, b"test device secret")
OTHER_DEVICE = digest(32, b"test device secret of another device")
RECOVERY_CODE = digest(16, b"test recovery code")
RECIPIENT = digest(32, b"test recipient")
WARNING = "Test data: everyone knows this key."
GROUPS = ("team", "gr\u00fcppe \U0001f511")
LONG_AGO = -2_208_988_800_000_001  # A microsecond before 1900.
CREATED = 1_750_000_000_123_456

COSTS = {"cheap": CHEAP, "interactive": INTERACTIVE, "moderate": MODERATE}


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
  entries: dict[bytes, Entry] = field(default_factory=dict)

  def put(self, entry: Entry) -> None:
    item_id = self.writer.put(entry.metadata, entry.secret, entry.item_class, entry.device)
    self.entries[item_id] = entry

  def expected(self) -> list[dict]:
    """The items as a reader with every secret of this device shows them."""
    shown = []
    for item_id, entry in sorted(self.entries.items()):
      row = self.writer.items[item_id][0]
      open_item = Item(row, "open", entry.metadata, entry.secret)
      is_here = entry.device == DEVICE
      shown.append(described(open_item if is_here else Item(row, "other device"), True))
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


def make_sample(seed: str = "sample", cost: Cost = CHEAP) -> Sample:
  """A vault with a slot of each kind and every kind of item."""
  writer = VaultWriter(seed)
  writer.add_passphrase(PASSPHRASE, cost)
  writer.add_key_file(KEY_FILE)
  writer.add_device(DEVICE)
  writer.add_recovery_code(RECOVERY_CODE)
  writer.add_recipient(public_key(RECIPIENT))
  sample = Sample(writer)
  for entry in entries():
    sample.put(entry)
  return sample


def make_server_sample(seed: str = "server") -> Sample:
  """A vault that only the device opens, as a server has it."""
  writer = VaultWriter(seed)
  writer.add_device(DEVICE, Granted.ROOT)
  sample = Sample(writer)
  for entry in class_entries()[:6]:
    sample.put(entry)
  return sample


def write_files(folder: Path, name: str, sample: Sample) -> None:
  """The vault, what opens it, what is in it, and the seen record of a user who has seen it."""
  database = folder / f"{name}.db"
  database.unlink(missing_ok=True)
  sample.writer.write(database)
  checks = sample.writer.vault.checks
  files = {
    "test-passphrase": PASSPHRASE, "test-key-file": KEY_FILE, "test-device.key": DEVICE,
    "test-recovery-code": RECOVERY_CODE, "test-recipient.key": RECIPIENT,
    "test-recovery-code.txt": recovery_text(RECOVERY_CODE).encode("ascii") + b"\n",
    "test-identity": IdentityFile(RECIPIENT).encoded(WARNING),
    f"{name}.identity": IdentityFile(RECIPIENT, (checks[0],)).encoded(WARNING),
    f"{name}.seen": SeenRecord(
      (checks[0],), sample.writer.counter, box_hash(read_rows(database).state_box)).encoded()}
  for file_name, contents in files.items():
    (folder / file_name).write_bytes(contents)
  expected = {
    "counter": sample.writer.counter, "checks": [check.hex() for check in checks],
    "slots": len(sample.writer.slots), "items": sample.expected()}
  (folder / f"{name}.expected.json").write_text(json.dumps(expected, indent=1) + "\n", "utf-8")


def main() -> None:
  parser = argparse.ArgumentParser(description="Makes a vault of format 1 for tests.")
  parser.add_argument("folder", type=Path)
  parser.add_argument("--name", default="format1-python")
  parser.add_argument("--seed", default="sample")
  parser.add_argument("--cost", choices=COSTS, default="cheap")
  parser.add_argument("--server", action="store_true", help="with a device slot alone")
  options = parser.parse_args()
  sample = (
    make_server_sample(options.seed) if options.server
    else make_sample(options.seed, COSTS[options.cost]))
  write_files(options.folder, options.name, sample)


if __name__ == "__main__":
  main()
