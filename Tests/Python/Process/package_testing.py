"""The packages of a program, as Scripts/package makes them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

# The time of every file in them.
EPOCH = 1_700_000_000


def packing(program: str, output: Path, script: str = "package", **options) -> subprocess.Popen:
  """Starts to pack. To compress well takes long, and shows nothing here."""
  environment = os.environ | {"SOURCE_DATE_EPOCH": str(EPOCH), "DPKG_DEB_COMPRESSOR_LEVEL": "0"}
  return subprocess.Popen(
    [ROOT / "Scripts" / script, "--program", program, "--output", output], env=environment,
    stdin=subprocess.DEVNULL, **options)


def printed(*command: str | Path) -> str:
  return subprocess.run(command, check=True, capture_output=True, text=True).stdout
