"""Runs the compiler with the modules of the debug build."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from documents import ROOT

BUILD = ROOT / ".build" / "debug"
MODULES = BUILD / "Modules"
# Of the client with all traits, which has a web server, too.
SERVER_MODULES = ROOT / ".build" / "clients" / "TraitClient" / "debug" / "Modules"
LIMIT = 300


def run(*command: str | Path, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
  return subprocess.run(
    [str(word) for word in command], cwd=folder, capture_output=True, text=True, timeout=LIMIT)


def c_modules(build: Path = BUILD) -> list[str]:
  """Returns the options with which the compiler finds the C modules of a build."""
  folders = [*ROOT.glob("Sources/*/*"), *(build.parent / "checkouts").glob("*/Sources/*")]
  maps = [path for folder in folders for path in folder.glob("module.modulemap")]
  maps += [path for folder in folders for path in folder.glob("include/module.modulemap")]
  maps += build.glob("*.build/module.modulemap")
  return [word for path in sorted(maps) for word in ("-Xcc", f"-fmodule-map-file={path}")]


def typecheck(
  *sources: Path, modules: tuple[Path, ...] = (MODULES,), options: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
  """Checks sources as a client compiles them; modules are searched in the order of the folders."""
  folders = [word for folder in modules for word in ("-I", folder)]
  return run(
    "swiftc", "-typecheck", "-swift-version", "6", "-module-name", "Client", *folders,
    *(option for one in (MODULES, SERVER_MODULES) if one in modules for option in c_modules(one.parent)),
    *options, *sources)


def make_module(name: str, folder: Path, *sources: Path, options: tuple[str, ...] = ()) -> None:
  """Makes a module that others can import, but not run."""
  outcome = run(
    "swiftc", "-emit-module", "-parse-as-library", "-module-name", name, "-emit-module-path",
    folder / f"{name}.swiftmodule", "-swift-version", "6", "-I", MODULES, *c_modules(), *options,
    *sources, folder=folder)
  assert outcome.returncode == 0, outcome.stderr


def dumped(folder: Path) -> dict:
  """Returns what SwiftPM reads from the manifest of a folder."""
  outcome = run("swift", "package", "--package-path", folder, "dump-package", folder=folder)
  assert outcome.returncode == 0, outcome.stderr
  return json.loads(outcome.stdout)
