"""Domains and keys that real shells offer."""

from __future__ import annotations

import pytest

from preference_testing import Preferences
from test_name_completions import HOSTILE, SHELLS, Shells


@pytest.fixture
def shells(home) -> Shells:
  return Shells(home)


@pytest.fixture
def preferences(home) -> Preferences:
  return Preferences(home)


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_domains_and_keys_are_offered(shells, preferences, shell):
  preferences.run("write", "port", "1")
  preferences.run("write", "path", "1")
  preferences.run("write", "key", "1", domain="worker")
  before = preferences.files()
  for line, names in {
    "prefs read --domain ": {"web", "worker"},
    "prefs list -d wo": {"worker"},
    "prefs read --domain web ": {"port", "path"},
    "prefs write -d web po": {"port"},
    "prefs delete -d web port ": {"port", "path"},
    "prefs rm -d worker ": {"key"},
    "prefs watch -d worker ": {"key"},
    "prefs read -d missing ": set(),
    "prefs write key --type u": {"url", "uuid"},
  }.items():
    assert shells.offered(shell, line) == names, line
  assert {path.name for path in preferences.files()} - {"fish"} == {path.name for path in before}


@pytest.mark.parametrize("shell", SHELLS)
def test_keys_arrive_as_they_are(shells, preferences, shell):
  preferences.run("write", "my key: one", "1", domain="a domain")
  assert shells.typed(shell, "prefs read -d a\t my\t") == [
    "prefs", "read", "-d", "a domain", "my key: one"]


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_hostile_keys_run_nothing(shells, preferences, shell):
  for name in HOSTILE:
    preferences.run("write", "--", name, "1")
  assert "hé日本" in shells.offered(shell, "prefs read -d web h")
  assert not (shells.home.folder / "x").exists()
