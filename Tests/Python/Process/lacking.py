"""Skips tests that fail because a package is missing that only the superuser can install."""

from __future__ import annotations

import os
import re

import pytest

# What is not installed: Scripts/test names it, with the programs and modules.
LACKING = os.environ.get("LACKING", "").split()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport():
  """Skips a test that fails and whose error names what is not installed."""
  report = (yield).get_result()
  if report.failed and (missing := [
      word for word in LACKING if re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", report.longreprtext)]):
    report.outcome = "skipped"
    report.longrepr = (report.nodeid, 0, f"Skipped: needs {missing[0]}, which is not installed")
