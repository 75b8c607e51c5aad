"""Homes for the tests, each with a folder, a vault and kernel keys of its own."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from prefs_testing import Home


@pytest.fixture(scope="session")
def program() -> str:
  path = os.environ.get("PREFS")
  if path is None:
    pytest.fail("PREFS names no program; Scripts/test sets it")
  return path


@pytest.fixture
def make_home(program):
  """Makes homes; at the end none is left, nor any key of their vaults."""
  made = []

  def make() -> Home:
    # Not below the folder of the user's temporary files, which other users cannot enter.
    folder = Path(tempfile.mkdtemp(prefix="prefs-test.", dir="/var/tmp")).resolve()
    made.append(Home(folder, program))
    return made[-1]

  yield make
  for home in made:
    home.forget_keys()
    shutil.rmtree(home.folder)


@pytest.fixture
def home(make_home) -> Home:
  return make_home()


@pytest.fixture
def superuser() -> None:
  """For tests that mount file systems, limit memory or run as other users."""
  if os.geteuid() != 0:
    pytest.fail("this test needs the superuser: run Scripts/test as root")
