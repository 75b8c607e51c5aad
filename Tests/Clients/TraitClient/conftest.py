"""Homes with a vault that a key file opens, as a service of systemd has it."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from configuration_testing import SERVICE, Home

FIRST = "first-password-73"


@pytest.fixture
def home() -> Home:
  """A home without a vault, and with a key file for one."""
  # Not below the folder of the user's temporary files, which other users cannot enter.
  folder = Path(tempfile.mkdtemp(prefix="prefs-test.", dir="/var/tmp")).resolve()
  home = Home(folder, os.environ["PREFS"])
  (folder / "credentials").mkdir(mode=0o700)
  home.file("credentials/keychain.key", os.urandom(32), mode=0o400)
  home.environment["CREDENTIALS_DIRECTORY"] = str(folder / "credentials")
  yield home
  home.forget_keys()
  shutil.rmtree(folder)


@pytest.fixture
def service(home) -> Home:
  """A home with the password of the service."""
  home.set("database.password", FIRST.encode(), *SERVICE)
  return home
