#!/usr/bin/env python3
"""Writes the test vectors: a known answer for each derivation and encoding of the formats.

The keys are fixed, and plainly no secrets. Run it again after a change of a format; the test of
the reader fails while a file differs from what this makes.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Python" / "VaultReader"))

from code_cases import code_cases
from export_cases import export_cases
from item_cases import item_cases
from key_cases import key_cases, notation_cases
from log_cases import log_cases
from member_cases import member_cases
from slot_cases import slot_cases
from vault_cases import vault_cases
from vector_cases import Cases

FAMILIES = {
  "format3.json": (
    notation_cases, key_cases, item_cases, slot_cases, member_cases, log_cases, vault_cases),
  "codes2.json": (code_cases,), "export1.json": (export_cases,)}


def generated() -> dict[str, str]:
  """The text of each file, by its name."""
  texts = {}
  for name, adders in FAMILIES.items():
    cases = Cases()
    for add in adders:
      add(cases)
    texts[name] = cases.written()
  return texts


if __name__ == "__main__":
  for name, written in generated().items():
    (Path(__file__).resolve().parent / name).write_text(written, "ascii")
