"""Homes for the tests of `run`."""

from __future__ import annotations

import pytest

from prefs_testing import Home


@pytest.fixture
def vault(home: Home) -> Home:
  """A home whose vault has a secret, and opens by the device key."""
  home.set("token", b"s3cret", "--service", "s")
  return home


@pytest.fixture
def locked(home: Home) -> Home:
  """A home whose vault has a secret, and opens by a passphrase only."""
  home.init("--no-device")
  home.set("token", b"s3cret", "--service", "s", *home.passphrase())
  home.forget_keys()
  return home
