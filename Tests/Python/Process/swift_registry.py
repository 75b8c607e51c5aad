"""A package that depends on a registry of Swift packages."""

from __future__ import annotations

import json
from pathlib import Path

from client_servers import HOST, WebServer

MANIFEST = """// swift-tools-version: 5.9
import PackageDescription

let package = Package(
  name: "App", dependencies: [.package(id: "example.Tool", exact: "1.0.0")],
  targets: [.target(name: "App", dependencies: [.product(name: "Tool", package: "example.Tool")])])
"""


def resolving(folder: Path, server: WebServer, kind: str) -> list[str]:
  """Makes the package, and returns the command that resolves its dependency.

  The credentials are a `token`, or `basic`, in a netrc file at the marker of `run`. Everything that
  SwiftPM keeps is in the folder of the package: it does not heed `HOME`.
  """
  package = folder / f"app{server.port}"
  (package / "Sources" / "App").mkdir(parents=True, exist_ok=True)
  (package / "Sources" / "App" / "App.swift").write_text("")
  (package / "Package.swift").write_text(MANIFEST)
  settings = package / "config"
  settings.mkdir(exist_ok=True)
  (settings / "registries.json").write_text(json.dumps({
    "version": 1,
    "registries": {"[default]": {"url": server.url, "supportsAvailability": False}},
    "authentication": {f"{HOST}:{server.port}": {"type": kind}}}))
  paths = [f"--{name}-path={package / name}" for name in ("cache", "config", "security", "scratch")]
  return [
    "swift", "package", f"--package-path={package}", *paths, "--netrc-file", "@netrc@", "resolve"]
