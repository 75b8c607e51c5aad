"""The page about the architecture shows the targets as they are."""

from __future__ import annotations

import re

from compiling import run
from documents import ROOT

PAGE = (ROOT / "Documentation" / "Architecture.md").read_text()


def test_picture_is_that_of_the_manifest():
  outcome = run(ROOT / "Scripts" / "architecture", "--check")
  assert outcome.returncode == 0, outcome.stderr


def test_every_target_has_a_line():
  listed = set(re.findall(r"(?m)^\| `(\w+)` \|", PAGE))
  assert listed == {path.name for path in (ROOT / "Sources").iterdir() if path.is_dir()}
