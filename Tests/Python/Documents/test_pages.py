"""Pages are short, their lines fit a screen, and their links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from documents import ARTICLES, GUIDES, PAGES, ROOT

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def ids(page: Path) -> str:
  return str(page.relative_to(ROOT))


def prose(page: Path) -> list[str]:
  """Returns the lines of a page outside its code blocks."""
  lines, within = [], False
  for line in page.read_text().splitlines():
    if line.lstrip().startswith("```"):
      within = not within
      line = ""
    lines.append("" if within else line)
  return lines


def anchors(page: Path) -> set[str]:
  """Returns GitHub's anchors of a page's headings."""
  found = set()
  for line in prose(page):
    if match := re.match(r"#+ (.*)", line):
      text = re.sub(r"[^\w\- ]", "", match[1].strip().lower())
      found.add(text.replace(" ", "-"))
  return found


@pytest.mark.parametrize(
  ("name", "limit"),
  [("README.md", 600), ("CONTRIBUTING.md", 900), ("SECURITY.md", 1500), ("CHANGELOG.md", 1500),
   ("Documentation/Architecture.md", 2500)])
def test_a_first_page_is_short(name, limit):
  assert len((ROOT / name).read_text().split()) <= limit


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_lines_fit_into_120_columns(page):
  """Table rows, formulas, program output and pictures cannot be wrapped."""
  unbreakable = re.compile(r"\|.*|    .*|\s*`[^`]+`[.,]?|!\[.*\]\(.*\)")
  assert not [
    line for line in prose(page) if len(line) > 120 and not unbreakable.fullmatch(line)]


# A shell empties the file before the command runs: typed again, the line would destroy what is in use. `dd` with
# `conv=excl` and the commands of the keychain keep it.
@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_no_command_overwrites_a_key(page):
  onto = re.compile(r"(?<![-=2&>])>{1,2}\s*[^\s;|&)>]*(?:key|password|passphrase|secret|token|\.new)\b|-keyout (?!\"\$1)")
  shell = re.findall(r"(?ms)^ *```(?:sh|dockerfile|console)\n(.*?)^ *```$", page.read_text())
  assert not [line for text in shell for line in text.splitlines() if onto.search(line)]


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_links_lead_somewhere(page):
  for target in LINK.findall("\n".join(prose(page))):
    if "://" in target:
      continue
    path, _, anchor = target.partition("#")
    other = (page.parent / path).resolve() if path else page
    assert other.exists(), target
    # DocC has anchors of its own within a catalogue.
    if anchor and not (page in ARTICLES and not path):
      assert anchor in anchors(other), target


def linked(page: Path) -> set[Path]:
  return {
    (page.parent / target.partition("#")[0]).resolve()
    for target in LINK.findall(page.read_text()) if "://" not in target}


def test_every_guide_is_linked_from_the_list():
  index = ROOT / "Documentation" / "README.md"
  assert index in linked(ROOT / "README.md")
  assert {*GUIDES} - linked(index) == {index}


def test_links_and_headings_are_found(tmp_path):
  """The check itself finds a known fault."""
  page = tmp_path / "page.md"
  page.write_text("# A `code` *word*\n\n```sh\n# no heading\n```\n\n[there](other.md#a-b)\n")
  assert anchors(page) == {"a-code-word"}
  assert LINK.findall(page.read_text()) == ["other.md#a-b"]
