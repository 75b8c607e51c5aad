"""The project's pages, and the Swift in them, so that a compiler can look at it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

# What is written for users and contributors, and the pages of each module.
GUIDES = [ROOT / "README.md", *sorted((ROOT / "Documentation").glob("*.md"))]
ARTICLES = sorted(ROOT.glob("Sources/*/*/Documentation.docc/*.md"))
PAGES = [*GUIDES, *ARTICLES, *(ROOT / f"{name}.md" for name in ("SECURITY", "CONTRIBUTING", "CHANGELOG"))]

FENCE = re.compile(r"(?ms)^( *)```swift\n(.*?)^ *```$")
# A guide has several topics below a heading of the second level, an article of a module has one.
HEADING = re.compile(r"(?m)^##+ .*$")
ARTICLE_HEADING = re.compile(r"(?m)^## .*$")
IMPORT = re.compile(r"(?m)^\s*(?:@\w+ )?import .*\n?")


@dataclass
class Block:
  """A block of Swift in a document, with those of the same section that come before it."""

  document: Path
  line: int
  text: str
  earlier: list["Block"]

  @property
  def name(self) -> str:
    return f"{self.document.name}:{self.line}"

  @property
  def is_manifest(self) -> bool:
    return "Package(" in self.text and "import PackageDescription" in self.text

  @property
  def is_part_of_manifest(self) -> bool:
    lines = [line.strip() for line in self.text.splitlines()]
    return all(line.startswith((".package(", ".product(", "//")) or not line for line in lines)

  @property
  def is_source(self) -> bool:
    return not self.is_manifest and not self.is_part_of_manifest

  @property
  def is_program(self) -> bool:
    """Whether it declares the program's entry point itself."""
    return "@main" in self.text


def blocks(document: Path) -> list[Block]:
  text = document.read_text()
  pattern = ARTICLE_HEADING if document in ARTICLES else HEADING
  headings = [match.start() for match in pattern.finditer(text)]
  found: list[Block] = []
  for match in FENCE.finditer(text):
    section = sum(start < match.start() for start in headings)
    indent = len(match[1])
    lines = [line[indent:] for line in match[2].splitlines()]
    block = Block(document, text.count("\n", 0, match.start()) + 2, "\n".join(lines) + "\n", [])
    block.section = section
    block.earlier = [other for other in found if other.section == section]
    found.append(block)
  return found


def source(block: Block) -> str:
  """Returns the source of a block, as a reader types it from the start of the section.

  A later block may use the names of an earlier one, and give them another meaning: it is nested.
  """
  parts = [other.text for other in block.earlier if other.is_source and not other.is_program]
  if block.is_program or not parts:
    return block.text
  text = "".join(IMPORT.findall("".join([*parts, block.text])))
  for number, part in enumerate([*parts, block.text]):
    text += ("do {\n" if number else "") + IMPORT.sub("", part)
  return text + "}\n" * len(parts)


def manifest(block: Block) -> str:
  """A whole manifest of a block that has parts of one."""
  if block.is_manifest:
    return block.text
  lines = [line.strip().rstrip(",") for line in block.text.splitlines()]
  packages = [line for line in lines if line.startswith(".package(")]
  products = [line for line in lines if line.startswith(".product(")]
  if not any('"../prephirences"' in line for line in packages):
    packages.append('.package(path: "../prephirences")')
  return f"""// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Client",
  dependencies: [{", ".join(packages)}],
  targets: [.executableTarget(name: "Client", dependencies: [{", ".join(products)}])])
"""
