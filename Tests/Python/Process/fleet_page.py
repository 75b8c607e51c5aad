"""Reads the page about the settings of a fleet."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = (Path(__file__).resolve().parents[3] / "Documentation/Fleet.md").read_text()


def block(language: str, section: str, number: int = 0) -> str:
  """Returns a block of a section, up to the next heading of any level."""
  text = re.split(rf"(?m)^##+ {re.escape(section)}$", PAGE)[1]
  text = re.split(r"(?m)^##+ ", text)[0]
  return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", text)[number]
