"""A vault in a separate folder for each test."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "Python" / "VaultReader"), str(TESTS / "Data" / "Vectors")]

import sample_vault


@pytest.fixture
def sample():
  return sample_vault.make_sample()


@pytest.fixture
def path(tmp_path, sample):
  file = tmp_path / "vault.db"
  sample.writer.write(file)
  return file
