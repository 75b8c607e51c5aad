"""Helpers of the tests of the reader."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import sample_vault
from sample_vault import DEVICE, IDENTITY, KEY_FILE, PASSPHRASE, RECOVERY_CODE, generic
from vault_codes import Keys
from vault_errors import Damage, VaultError
from vault_members import VaultKind
from vault_opening import Secrets
from vault_slots import Granted
from vault_state import Vault
from vault_writer import VaultWriter

FIXTURES = Path(__file__).resolve().parents[2] / "Data" / "Fixtures"
# A key file costs nothing, and opens everything.
ALL = Secrets(key_file=KEY_FILE, device=DEVICE)
# Secrets of the slots of the sample, by their numbers.
OF_SLOT = {
  1: Secrets(passphrase=PASSPHRASE), 2: Secrets(key_file=KEY_FILE), 3: Secrets(device=DEVICE),
  4: Secrets(recovery_code=RECOVERY_CODE), 5: Secrets(identity=IDENTITY)}
T0_ALONE = Secrets(device=DEVICE)
NAMES = [generic("tier", str(tier)) for tier in range(3)]
CLASSES = (4, 2, 0)


@cache
def _sample(kind: str) -> sample_vault.Sample:
  return sample_vault.SAMPLES[kind]()


def sample(kind: str = "local") -> sample_vault.Sample:
  """A sample of one's own; each is made once."""
  made = _sample(kind)
  return sample_vault.Sample(made.writer.copied(), dict(made.entries))


@cache
def _small() -> VaultWriter:
  writer = VaultWriter("small")
  with writer.transaction():
    writer.add_key_file(KEY_FILE)
    writer.add_device(DEVICE)
  with writer.transaction():
    for metadata, item_class in zip(NAMES, CLASSES):
      writer.put(metadata, b"first", item_class)
  writer.compact()
  for metadata, item_class in zip(NAMES, CLASSES):
    writer.put(metadata, b"second", item_class)
  return writer


def small() -> VaultWriter:
  """A vault with an item in each tier: base 3 has the first secrets, commits 4 to 6 the second."""
  return _small().copied()


@cache
def _team() -> VaultWriter:
  writer = VaultWriter("team", VaultKind.SHARED)
  with writer.transaction():
    writer.add_own(Keys(IDENTITY), "alice")
    writer.add_recipient(
      Keys(sample_vault.WRITING_IDENTITY).recipient(), Granted.READS_AND_WRITES, "walter")
    writer.add_recipient(Keys(sample_vault.READING_IDENTITY).recipient(), Granted.READS, "rita")
    writer.add_recovery_code(RECOVERY_CODE)
  writer.put(generic("team", "a"), b"by alice", 0)
  writer.writes_as(2, Keys(sample_vault.WRITING_IDENTITY))
  writer.put(generic("team", "b"), b"by walter", 4)
  return writer


def team() -> VaultWriter:
  """A shared vault: Alice administers, Walter, who writes now, may do so, and Rita only reads."""
  return _team().copied()


def opened(data: bytes, secrets: Secrets = ALL, **options) -> Vault:
  return Vault.of(data, secrets, **options)


def secret_of(vault: Vault, metadata) -> bytes | str | None:
  """The secret, or why there is none."""
  item = vault.lookup(metadata.identity)
  if item is None:
    return None
  return item.secret if item.status == "open" else item.status


def error_code(data: bytes, secrets: Secrets = ALL, **options) -> str:
  """Returns why a vault cannot be opened."""
  with pytest.raises(VaultError) as raised:
    opened(data, secrets, **options)
  return raised.value.code


def damage(data: bytes, secrets: Secrets = ALL, **options) -> str:
  """Returns the check that a damaged vault fails."""
  with pytest.raises(Damage) as raised:
    opened(data, secrets, **options)
  return raised.value.check


def run_command(program: str, *arguments: str) -> subprocess.CompletedProcess:
  """Runs a program of this folder among the checked-in files."""
  return subprocess.run(
    [sys.executable, str(Path(__file__).resolve().parent / program), *arguments],
    capture_output=True, text=True, cwd=FIXTURES, timeout=60)
