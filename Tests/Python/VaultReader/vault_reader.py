#!/usr/bin/env python3
"""Opens a vault of format 3, verifies all that the presented keys can verify, and lists it.

Written from the specification alone (VaultFormat.md and VaultReaders.md in
Sources/Keychain/KeychainVaultFormat/Documentation.docc),
as the second reader that keeps the specification honest. Needs PyNaCl and argon2-cffi.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from vault_codes import recovery_code_of_file
from vault_errors import VaultError
from vault_identity import IdentityFile, UnknownLine
from vault_listing import described, exit_code, print_items
from vault_notation import FormatError
from vault_opening import Secrets
from vault_seen import SeenRecord
from vault_slots import Granted, SlotKind
from vault_state import Item, Vault

__all__ = ["Item", "Secrets", "Vault", "described", "report"]


def report(vault: Vault, with_secrets: bool) -> dict:
  """Everything about a vault, as JSON shows it."""
  return {
    "number": vault.log.last.number, "witness": vault.witness, "epoch": vault.members.epoch,
    "serial": vault.members.serial, "root": vault.root is not None,
    "slots": described_members(vault),
    "items": [described(item, with_secrets) for item in vault.items],
    "notices": vault.notices,
    "problems": [{"code": problem.code, "subject": problem.subject} for problem in vault.problems]}


def described_members(vault: Vault) -> list[dict]:
  return [
    {"number": member.number, "name": member.name,
     "kind": SlotKind(member.kind).name.lower() if member.is_known() else member.kind,
     "granted": Granted(member.granted).name.lower() if member.is_known() else member.granted}
    for member in vault.members.members]


def arguments() -> argparse.Namespace:
  parser = argparse.ArgumentParser(description="Verifies and lists a vault of format 3.")
  parser.add_argument("vault", type=Path)
  parser.add_argument("--passphrase-file", type=Path, help="its bytes, all of them")
  parser.add_argument("--key-file", type=Path)
  parser.add_argument("--device-key", type=Path)
  parser.add_argument("--recovery-code-file", type=Path, help="the code as it is written down")
  parser.add_argument("--identity", type=Path, help="an identity file")
  parser.add_argument("--seen", type=Path, help="the seen record to compare with")
  parser.add_argument("--check", help="the check of the vault, as a person compared it")
  parser.add_argument("--json", action="store_true", help="as JSON, with secrets in base64")
  return parser.parse_args()


def contents(path: Path | None) -> bytes | None:
  return None if path is None else path.read_bytes()


def presented(options: argparse.Namespace) -> Secrets:
  try:
    return secrets_of(options)
  except UnknownLine as error:
    raise VaultError("other-format", str(error)) from None
  except FormatError as error:
    raise VaultError("wrong-key", str(error)) from None


def secrets_of(options: argparse.Namespace) -> Secrets:
  code = contents(options.recovery_code_file)
  identity = contents(options.identity)
  others = {
    "passphrase": contents(options.passphrase_file), "key_file": contents(options.key_file),
    "device": contents(options.device_key),
    "recovery_code": None if code is None else recovery_code_of_file(code)}
  if identity is None:
    return Secrets(**others)
  return Secrets.of_identity(IdentityFile.decoded(identity), **others)


def opened(options: argparse.Namespace) -> Vault:
  record = contents(options.seen)
  seen = None if record is None else SeenRecord.decoded(record)
  check = None if options.check is None else bytes.fromhex(options.check)
  return Vault(options.vault, presented(options), seen=seen, check=check)


def main() -> int:
  options = arguments()
  try:
    vault = opened(options)
  except (VaultError, FormatError, OSError) as error:
    print(f"vault_reader: error: {error}", file=sys.stderr)
    return exit_code(error)
  found = report(vault, with_secrets=options.json)
  if options.json:
    json.dump(found, sys.stdout, indent=2)
    print()
  else:
    print_items(found["items"])
  for notice in vault.notices:
    print(f"vault_reader: notice: {notice}", file=sys.stderr)
  for problem in vault.problems:
    print(f"vault_reader: problem: {problem.code}: {problem.subject}", file=sys.stderr)
  return 65 if vault.problems else 0


if __name__ == "__main__":
  sys.exit(main())
