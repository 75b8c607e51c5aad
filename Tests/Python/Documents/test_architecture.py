"""The architecture page shows the actual targets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from compiling import run
from documents import ROOT

PAGE = (ROOT / "Documentation" / "Architecture.md").read_text()


def section(heading: str) -> str:
  return PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def test_every_folder_is_a_room():
  parts = re.split(r"(?m)^`(\w+)` ", section("Rooms"))[1:]
  rooms = dict(zip(parts[::2], parts[1::2]))
  listed = {target: sorted(re.findall(r"(?m)^\| `(\w+)` \|", text)) for target, text in rooms.items()}
  assert listed == {target: names for target, names in folders().items() if names}


def folders() -> dict[str, list[str]]:
  """Returns the folders of each target that is not written in C."""
  targets = [path for path in (ROOT / "Sources").iterdir() if not (path / "include").is_dir()]
  return {
    path.name: sorted(
      folder.name for folder in path.iterdir() if folder.is_dir() and folder.suffix != ".docc")
    for path in targets}


def test_picture_is_that_of_the_manifest():
  outcome = run(ROOT / "Scripts" / "architecture", "--check")
  assert outcome.returncode == 0, outcome.stderr


STEPS = re.findall(r"(?m)^\|.*\| `(\w+)` \| `([\w+]+\.swift)` \|$", PAGE)
FILES = sorted(set(re.findall(r"`([\w+]+\.swift)`", PAGE)) - {"NameCommand.swift"})


def sources(name: str) -> list[Path]:
  return list((ROOT / "Sources").glob(f"**/{name}"))


def test_every_target_has_a_line():
  listed = set(re.findall(r"(?m)^\| `(\w+)` \|", section("Targets")))
  assert listed == {path.name for path in (ROOT / "Sources").iterdir() if path.is_dir()}


@pytest.mark.parametrize("name", FILES)
def test_named_files_exist(name):
  assert len(sources(name)) == 1


@pytest.mark.parametrize(("function", "name"), STEPS, ids=["-".join(step) for step in STEPS])
def test_named_functions_exist(function, name):
  (path,) = sources(name)
  assert re.search(rf"\bfunc {function}\b", path.read_text())


def counts(walk: str) -> tuple[str, ...]:
  """How many functions and files a walk has, and how many of these are marked."""
  steps = re.findall(r"(?m)^\| (●?) ?\|.*\| `\w+` \| `([\w+]+\.swift)` \|$", walk)
  marked = [step for step in steps if step[0]]
  return tuple(str(len(found)) for rows in (steps, marked) for found in (rows, {row[1] for row in rows}))


def test_walks_state_their_length():
  walks = section("The walk of a secret").split("\n### ")[1:]
  assert len(walks) == 2
  for walk in walks:
    (stated,) = re.findall(r"(\d+) functions in (\d+) files\..*: (\d+) functions in (\d+) files\.", walk)
    assert stated == counts(walk)


def test_page_names_functions_and_files():
  """The check itself finds a known fault."""
  assert len(STEPS) > 25 and len(FILES) > 25
