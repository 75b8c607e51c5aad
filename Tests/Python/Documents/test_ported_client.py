"""A file of an application for iOS that uses iCloud's store is ported by one import."""

from __future__ import annotations

import pytest

from compiling import typecheck
from documents import ROOT

CLIENT = ROOT / "Tests/Clients/UbiquitousSettings"
SOURCES = [CLIENT / "Settings.swift", CLIENT / "UbiquitousSettings.swift"]


def test_one_import_differs():
  before = (CLIENT / "Before/Settings.swift").read_text().splitlines()
  after = (CLIENT / "Settings.swift").read_text().splitlines()
  after.remove("import PrephirencesShared")
  assert before == after


@pytest.mark.parametrize("mode", ["5", "6"])
def test_it_compiles_in_the_language_mode(mode):
  outcome = typecheck(
    *SOURCES, options=("-parse-as-library", "-swift-version", mode, "-warnings-as-errors"))
  assert outcome.returncode == 0, outcome.stderr


def test_class_is_missing_without_the_import():
  """The check itself finds a known fault."""
  outcome = typecheck(
    CLIENT / "Before/Settings.swift", SOURCES[1], options=("-parse-as-library",))
  assert "cannot find 'NSUbiquitousKeyValueStore' in scope" in outcome.stderr
