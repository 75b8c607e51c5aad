"""The table of who can do what names a test for each of its rows."""

from __future__ import annotations

import re

from documents import ROOT

PAGE = (ROOT / "Documentation" / "ThreatModel.md").read_text()
TABLE = PAGE.split("## Who can do what")[1].split("\n## ")[0]
ROWS = re.findall(r"(?m)^\| (can|cannot) \| (.+) \| (.+) \|$", TABLE)


def test_each_row_names_tests_that_exist():
  tests = {
    name for file in (ROOT / "Tests" / "Python" / "Process").glob("test_*.py")
    for name in re.findall(r"(?m)^def (test_\w+)", file.read_text())}
  named = {what: re.findall(r"`(test_\w+)`", shown) for _, what, shown in ROWS}
  assert len(named) > 25 and all(named.values())
  assert {name for names in named.values() for name in names} - tests == set()
