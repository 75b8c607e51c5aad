"""How much the tests try of what can be tried: a tenth, or all where PREPHIRENCES_THOROUGH is 1."""

from __future__ import annotations

import os

PARTS = 1 if os.environ.get("PREPHIRENCES_THOROUGH") == "1" else 10


def tried(all_of_them: int) -> int:
  return all_of_them // PARTS
