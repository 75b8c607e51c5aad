"""Helpers of the tests of the reader."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from sample_vault import DEVICE, PASSPHRASE
from vault_database import VaultError
from vault_notation import seal
from vault_keys import state_box_key
from vault_reader import Secrets, Vault
from vault_records import ItemRow, SlotRow
from vault_writer import finished_slot

FIXTURES = Path(__file__).resolve().parents[2] / "Data" / "Fixtures"
ALL = Secrets(passphrase=PASSPHRASE, device=DEVICE)


def opened(path: Path, secrets: Secrets = ALL, **options) -> Vault:
  return Vault(path, secrets, **options)


def problems(path: Path, secrets: Secrets = ALL, **options) -> set[str]:
  return {problem.code for problem in opened(path, secrets, **options).problems}


def error_code(path: Path, secrets: Secrets = ALL) -> str:
  """Returns why a vault cannot be opened."""
  with pytest.raises(VaultError) as raised:
    opened(path, secrets)
  return raised.value.code


def change(path: Path, sql: str, *values) -> int:
  """Runs a statement, and returns how many rows it changed."""
  with closing(sqlite3.connect(path)) as connection, connection:
    connection.execute("PRAGMA synchronous = OFF")
    return connection.execute(sql, values).rowcount


def row_of(path: Path, service: str, account: str) -> ItemRow:
  for item in opened(path).items:
    if item.metadata and item.metadata.identity.parts == (service, account):
      return item.row
  raise AssertionError("the sample has no such item")


def forge_state(path: Path, sample) -> None:
  """Writes a state row that matches the present rows, as a holder of T0 can."""
  vault, key = opened(path), sample.writer.tiers[0]
  state = replace(
    vault.state, items=len(vault.rows.items), slots=len(vault.rows.slots),
    sum=vault.computed_sum())
  change(path, "UPDATE state SET box = ?",
         seal(state_box_key(key), state.encoded(), bytes(24)))


def replace_slot(path: Path, slot: SlotRow, root: bytes, **columns) -> None:
  """Writes a slot of other columns with the mac of `root`, and the right sum."""
  plain = tuple(vars(replace(slot, **columns)).values())[:7]
  values = tuple(vars(finished_slot(plain, root)).values())
  change(path, "REPLACE INTO slot VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", *values)


def run_command(program: str, *arguments: str) -> subprocess.CompletedProcess:
  """Runs a program of this folder among the checked-in files."""
  return subprocess.run(
    [sys.executable, str(Path(__file__).resolve().parent / program), *arguments],
    capture_output=True, text=True, cwd=FIXTURES, timeout=60)
