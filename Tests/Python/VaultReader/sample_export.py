#!/usr/bin/env python3
"""Creates an export with one of everything that an export can contain, and the keys that open it."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from export_content import EXPORTED_CLASSES, Content, ExportedItem
from export_reader import report
from export_stream import Head, sealed_export
from sample_vault import CREATED, LONG_AGO, entries, generic
from vault_building import SeededBytes
from vault_items import Identity, Metadata
from vault_keys import DEVICE_CLASSES
from vault_slots import INTERACTIVE, Cost

PASSPHRASE = "test export passphrase, not a secret \u00e9 e\u0301".encode("utf-8")


def make_content() -> Content:
  """What an export of the sample vault holds, and NULs and times before 1970 besides."""
  kept = [entry for entry in entries() if entry.item_class not in DEVICE_CLASSES]
  items = [ExportedItem(entry.item_class, entry.metadata, entry.secret) for entry in kept]
  nul = generic("nul", "\0", "g\0", label="\0", comment="a\0b", attributes=(("\0", "\0"),))
  early = Metadata(Identity(0, "", ("time", "earliest")), LONG_AGO, LONG_AGO, expires=-1)
  items += [ExportedItem(4, nul, b"\0"), ExportedItem(2, early, b"")]
  assert {item.item_class for item in items} == EXPORTED_CLASSES
  return Content(CREATED, len(entries()) - len(kept), tuple(items))


def make_export(
  content: bytes, seed: str = "export", cost: Cost = INTERACTIVE, passphrase: bytes = PASSPHRASE,
) -> bytes:
  """An export of a content; everything random in it comes from a seed."""
  random = SeededBytes(seed)
  head = Head(cost.memory, cost.passes, random.take(32))
  return sealed_export(content, passphrase, head, random.take(24))


def write_files(folder: Path) -> None:
  content = make_content()
  (folder / "export1-python.pkexport").write_bytes(make_export(content.encoded()))
  (folder / "test-export-passphrase").write_bytes(PASSPHRASE)
  expected = json.dumps(report(content, with_secrets=True), indent=1) + "\n"
  (folder / "export1-python.expected.json").write_text(expected, "ascii")


def main() -> None:
  parser = argparse.ArgumentParser(description="Makes an export of format 1 for tests.")
  parser.add_argument("folder", type=Path)
  write_files(parser.parse_args().folder)


if __name__ == "__main__":
  main()
