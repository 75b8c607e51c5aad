"""The default service is the name that Foundation has for the program, wherever that lies."""

from __future__ import annotations

import os
import plistlib
import subprocess
from pathlib import Path

import pytest

from machine import require

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = ROOT / ".build" / "debug" / "ProgramName"


def information(name="com.example.id", **more) -> bytes:
  return plistlib.dumps({"CFBundleIdentifier": name, **more})


def names(program: Path, argument: str | None = None) -> list[str]:
  run = subprocess.run(
    [argument or str(program)], executable=program, capture_output=True, text=True, timeout=60)
  assert run.returncode == 0, run.stderr
  return run.stdout.split("\n")[:2]


def place(folder: Path, program: str, files: dict) -> Path:
  """Puts the program and files into a folder; a file that is None is a folder."""
  require("the debug program ProgramName", None if PROGRAM.exists() else "it is not built")
  path = folder / program
  path.parent.mkdir(parents=True, exist_ok=True)
  try:
    os.link(PROGRAM, path)
  except OSError:
    path.write_bytes(PROGRAM.read_bytes())
    path.chmod(0o755)
  for name, content in files.items():
    file = folder / name
    if content is None:
      file.mkdir(parents=True, exist_ok=True)
    else:
      file.parent.mkdir(parents=True, exist_ok=True)
      file.write_bytes(content)
  return path


ID = information()
OTHER = information("com.example.other")

PLACES = {
  "alone": ("tool", {}, "tool"),
  "beside": ("tool", {"Info.plist": ID}, "com.example.id"),
  "empty": ("tool", {"Info.plist": information("")}, ""),
  "binary": (
    "tool", {"Info.plist": plistlib.dumps({"CFBundleIdentifier": "b"}, fmt=plistlib.FMT_BINARY)},
    "b"),
  "old style": ("tool", {"Info.plist": b'{ CFBundleIdentifier = "old"; }'}, "old"),
  "no list": ("tool", {"Info.plist": b"garbage"}, "tool"),
  "array": ("tool", {"Info.plist": plistlib.dumps(["a"])}, "tool"),
  "contents": ("tool", {"Contents/Info.plist": ID, "Info.plist": OTHER}, "com.example.id"),
  "resources": ("tool", {"Resources/Info.plist": ID, "Info.plist": OTHER}, "com.example.id"),
  "support": ("tool", {"Support Files/Info.plist": ID, "Info.plist": OTHER}, "com.example.id"),
  "first": ("tool", {"Contents/Info.plist": ID, "Resources/Info.plist": OTHER}, "com.example.id"),
  "empty contents": ("tool", {"Contents": None, "Info.plist": ID}, "tool"),
  "other case": ("tool", {"contents": None, "Info.plist": ID}, "tool"),
  "file contents": ("tool", {"Contents": b"", "Info.plist": ID}, "com.example.id"),
  "application": ("X.app/Contents/Linux/tool", {"X.app/Contents/Info.plist": ID}, "com.example.id"),
  "of another system": ("X.app/Contents/MacOS/tool", {"X.app/Contents/Info.plist": ID}, "tool"),
  "executables": (
    "X/Executables/Linux/tool", {"Info.plist": ID}, "com.example.id"),
  "in contents": ("X/Contents/tool", {"X/Contents/Info.plist": ID}, "tool"),
  "bundle beside": ("tool", {"tool.bundle/Info.plist": ID}, "tool"),
  "resources of the program": ("tool", {"tool.resources/Info.plist": ID}, "tool"),
  "tests": ("tool.xctest", {"Info.plist": ID}, "com.example.id"),
  "spaces": ("a b/to ol", {}, "to ol"),
}


@pytest.mark.parametrize("program, files, expected", PLACES.values(), ids=PLACES.keys())
def test_the_service_is_what_foundation_names(tmp_path, program, files, expected):
  assert names(place(tmp_path, program, files)) == [expected, expected]


def test_neither_a_link_nor_the_first_argument_counts(tmp_path):
  program = place(tmp_path / "a", "tool", {"Info.plist": ID})
  link = tmp_path / "link"
  link.symlink_to(program)
  assert names(link, "another") == ["com.example.id"] * 2


