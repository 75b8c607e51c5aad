"""The pages for users, and the commands in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PAGES = [
  *(ROOT / f"{name}.md" for name in ("README", "SECURITY", "CONTRIBUTING")),
  *sorted((ROOT / "Documentation").glob("*.md")), *sorted(ROOT.glob("Sources/*/*/Documentation.docc/*.md"))]


@dataclass
class Block:
  """A block of code in a page."""

  page: str
  language: str
  text: str

  def __str__(self) -> str:
    return f"{self.page}: {self.text.splitlines()[0]}"


def blocks(*languages: str) -> list[Block]:
  found = []
  for page in PAGES:
    for match in re.finditer(r"(?ms)^( *)```(\w+)\n(.*?)^ *```$", page.read_text()):
      if match[2] in languages:
        text = re.sub(rf"(?m)^{match[1]}", "", match[3])
        found.append(Block(page.name, match[2], text))
  return found


def spans() -> list[tuple[str, str]]:
  """Returns the text between single backquotes on each page."""
  found = []
  for page in PAGES:
    text = re.sub(r"(?ms)^ *```.*?^ *```$", "", page.read_text())
    found += [(page.name, re.sub(r"\s+", " ", span)) for span in re.findall(r"(?<!`)`([^`]+)`(?!`)", text)]
  return found
