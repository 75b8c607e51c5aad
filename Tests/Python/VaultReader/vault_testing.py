"""Helpers of the tests of the reader."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sample_vault import DEVICE, IDENTITY, KEY_FILE, PASSPHRASE, RECOVERY_CODE
from vault_errors import Damage, VaultError
from vault_opening import Secrets
from vault_items import ItemRow
from vault_slots import slot_seed
from vault_verifying import Vault
from vault_writer import VaultWriter

FIXTURES = Path(__file__).resolve().parents[2] / "Data" / "Fixtures"
# A key file costs nothing, and opens everything.
ALL = Secrets(key_file=KEY_FILE, device=DEVICE)
# Secrets of the slots of the sample, by their numbers.
OF_SLOT = {
  1: Secrets(passphrase=PASSPHRASE), 2: Secrets(key_file=KEY_FILE), 3: Secrets(device=DEVICE),
  4: Secrets(recovery_code=RECOVERY_CODE), 5: Secrets(identity=IDENTITY)}


def opened(path: Path, secrets: Secrets = ALL, **options) -> Vault:
  return Vault(path, secrets, **options)


def problems(path: Path, secrets: Secrets = ALL, **options) -> set[str]:
  return {problem.code for problem in opened(path, secrets, **options).problems}


def error_code(path: Path, secrets: Secrets = ALL, **options) -> str:
  """Returns why a vault cannot be opened."""
  with pytest.raises(VaultError) as raised:
    opened(path, secrets, **options)
  return raised.value.code


def damage(path: Path, secrets: Secrets = ALL, **options) -> str:
  """Returns the check that a damaged vault fails."""
  with pytest.raises(Damage) as raised:
    opened(path, secrets, **options)
  return raised.value.check


def row_of(path: Path, service: str, account: str) -> ItemRow:
  for item in opened(path).items:
    if item.metadata and item.metadata.identity.parts == (service, account):
      return item.row
  raise AssertionError("the sample has no such item")


def recovery_seed(writer: VaultWriter) -> bytes:
  """The seed with which the recovery code of the sample signs."""
  return slot_seed(RECOVERY_CODE, writer.slots[4].header(writer.id))


def run_command(program: str, *arguments: str) -> subprocess.CompletedProcess:
  """Runs a program of this folder among the checked-in files."""
  return subprocess.run(
    [sys.executable, str(Path(__file__).resolve().parent / program), *arguments],
    capture_output=True, text=True, cwd=FIXTURES, timeout=60)
