"""Vaults in a separate folder for each test."""

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
def writer(sample):
  return sample.writer


@pytest.fixture
def path(tmp_path, writer):
  file = tmp_path / "vault.db"
  writer.write(file)
  return file


@pytest.fixture
def shared():
  return sample_vault.make_shared_sample()


@pytest.fixture
def shared_path(tmp_path, shared):
  file = tmp_path / "shared.db"
  shared.writer.write(file)
  return file
