#!/usr/bin/env python3
"""Opens an export of format 1, checks everything in it, and lists it.

Written from the specification alone (Sources/Keychain/KeychainVaultFormat/Documentation.docc/ExportFormat.md).
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from export_content import Content, ExportedItem
from export_stream import opened_export
from vault_errors import VaultError
from vault_keys import ACCESSIBILITIES
from vault_listing import described_metadata, described_secret, exit_code, print_items
from vault_notation import FormatError


def read_export(file: bytes, passphrase: bytes) -> Content:
  """The content of an export; raises `VaultError`."""
  content = opened_export(file, passphrase)
  try:
    return Content.decoded(content)
  except FormatError as error:
    raise VaultError("damaged", f"the content is damaged: {error}") from None


def described(item: ExportedItem, with_secret: bool) -> dict:
  """An item as JSON shows it."""
  shown = {"accessibility": ACCESSIBILITIES[item.item_class]} | described_metadata(item.metadata)
  return shown | described_secret(item.secret) if with_secret else shown


def report(content: Content, with_secrets: bool) -> dict:
  """Returns everything in an export, ordered by identity: the order in the file has no meaning."""
  ordered = sorted(content.items, key=lambda item: item.metadata.identity.encoded())
  return {
    "time": content.time, "left-out": content.left_out,
    "items": [described(item, with_secrets) for item in ordered]}


def arguments() -> argparse.Namespace:
  parser = argparse.ArgumentParser(description="Verifies and lists an export of format 1.")
  parser.add_argument("export", type=Path)
  parser.add_argument(
    "--passphrase-file", type=Path, required=True, help="its bytes, all of them")
  parser.add_argument("--json", action="store_true", help="as JSON, with secrets in base64")
  return parser.parse_args()


def main() -> int:
  options = arguments()
  try:
    content = read_export(options.export.read_bytes(), options.passphrase_file.read_bytes())
  except (VaultError, OSError) as error:
    print(f"export_reader: error: {error}", file=sys.stderr)
    return exit_code(error)
  found = report(content, with_secrets=options.json)
  if options.json:
    json.dump(found, sys.stdout, indent=2)
    print()
  else:
    print_items(found["items"])
  return 0


if __name__ == "__main__":
  sys.exit(main())
