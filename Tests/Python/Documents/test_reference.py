"""The pages of variables and files are complete."""

from __future__ import annotations

import re

from documents import ROOT

SOURCES = [path for path in ROOT.glob("Sources/**/*.swift") if ".docc" not in path.parts]

# Text in capitals that names no variable, or one that is not read: files cannot set it, or it is passed on.
OTHER_TEXT = {"BUILDS_FOR_LINUX", "NOT_EQUAL", "BASH_ENV", "GCONV_PATH", "GLIBC_TUNABLES", "XDG_CACHE_HOME"}


def part(heading: str) -> str:
  """Returns a part of the page for reference."""
  text = (ROOT / "Documentation" / "Reference.md").read_text()
  return text.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def variables() -> set[str]:
  """Returns the variables that the sources read: literals in capitals with `_`, and names that are looked up."""
  literal = r'"([A-Z]+(?:_[A-Z]+)+)"'
  lookup = r'(?:\b(?:value|absolutePath|secret|getenv|isEmpty|folder|base)\(|\b(?:environment|variables)\[)\s*"([A-Z_]+)"'
  code = [re.sub(r"(?m)^\s*//.*$", "", path.read_text()) for path in SOURCES]
  return {name for text in code for name in re.findall(literal, text) + re.findall(lookup, text)} - OTHER_TEXT


def test_every_variable_has_a_line():
  cells = re.findall(r"(?m)^\| (`[^|]*`) \|", part("Variables"))
  listed = {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}
  assert listed == variables()


def test_every_file_has_a_line():
  """Returns the files that the sources name by the end of their path."""
  names = {
    name for path in SOURCES
    for name in re.findall(r'"[^"\s]*?/?([\w-]+\.(?:lock|turnstile|key|db|copies))"', path.read_text())}
  missing = {name for name in names if name not in part("Files")} - {"keychain.key"}
  assert names and not missing
