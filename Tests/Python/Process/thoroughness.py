"""The share of the cases that is tested: a tenth, or all if PREPHIRENCES_THOROUGH is 1."""

from __future__ import annotations

import os

PARTS = 1 if os.environ.get("PREPHIRENCES_THOROUGH") == "1" else 10


def tried(all_of_them: int) -> int:
  return all_of_them // PARTS
