"""Where the tests find the modules."""

from __future__ import annotations

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "Python" / "VaultReader"), str(TESTS / "Data" / "Vectors")]
