"""The architecture page names the targets, folders, files and functions that there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from compiling import run
from documents import ROOT

PAGE = (ROOT / "Documentation" / "Architecture.md").read_text()
TARGETS = {path.name: path for path in ROOT.glob("Sources/*/*") if path.is_dir()}

FILES = sorted(set(re.findall(r"`([\w+]+\.swift)`", PAGE)) - {"Package.swift"})
FOLDERS = sorted(set(re.findall(r"`((?:%s)/\w+)`" % "|".join(TARGETS), PAGE)))


def section(heading: str) -> str:
  return PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def file(name: str) -> Path:
  (path,) = ROOT.glob(f"Sources/**/{name}")
  return path


def test_floors_and_imports_are_those_of_the_manifest():
  outcome = run(ROOT / "Scripts" / "architecture")
  assert outcome.returncode == 0, outcome.stderr


def test_every_floor_and_target_has_a_line():
  assert set(re.findall(r"(?m)^\| \*(\w+)\* \|", section("Floors"))) == {path.parent.name for path in TARGETS.values()}
  floor, listed = "", {}
  for cell in re.findall(r"(?m)^\| ([^|]*) \|", section("Targets")):
    if heading := re.fullmatch(r"\*\*(\w+)\*\*", cell):
      floor = heading[1]
    listed |= {name: floor for name in re.findall(r"`(\w+)`", cell)}
  assert listed == {name: path.parent.name for name, path in TARGETS.items()}


@pytest.mark.parametrize("name", FILES)
def test_named_files_exist(name):
  assert file(name)


@pytest.mark.parametrize("folder", FOLDERS)
def test_named_folders_exist(folder):
  target, name = folder.split("/")
  assert (TARGETS[target] / name).is_dir()


def test_folders_are_found():
  """The check itself finds a known fault."""
  assert FOLDERS and FILES
