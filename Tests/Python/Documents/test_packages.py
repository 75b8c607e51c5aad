"""The package stands in a graph beside others, as its page says. Nothing is built."""

from __future__ import annotations

import json
import os
import pwd
import re
import subprocess
from pathlib import Path

import pytest

from compiling import LIMIT, dumped
from documents import ROOT, blocks

PAGE = ROOT / "Documentation/Packages.md"
PRODUCTS = [
  product["name"] for product in json.loads(subprocess.run(
    ["swift", "package", "--package-path", ROOT, "dump-package"], capture_output=True, check=True).stdout)["products"]
  if "library" in product["type"]]
# Names of C targets in packages that people use.
C_TARGETS = ("CSQLite", "CLibsodium", "CLibcurl", "CLibsecret")


def write(folder: Path, manifest: str, *targets: str) -> None:
  for target in targets:
    source = folder / "Sources" / target / "Source.swift"
    source.parent.mkdir(parents=True)
    source.write_text("")
  (folder / "Package.swift").write_text(manifest)


def package(name: str, targets: tuple[str, ...], *, dependencies: str = "", uses: str = "") -> str:
  listed = ", ".join(f'.target(name: "{target}")' for target in targets)
  return f"""// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "{name}", products: [.library(name: "{name}", targets: ["{name}"])], dependencies: [{dependencies}],
  targets: [.target(name: "{name}", dependencies: [{uses}]), {listed}])
"""


def load(folder: Path) -> subprocess.CompletedProcess[str]:
  """Loads the graph of a package, with the packages that are there already."""
  cache = Path(pwd.getpwuid(os.getuid()).pw_dir) / ".cache/org.swift.swiftpm"
  options = ["--cache-path", cache] if os.access(cache, os.W_OK) else []
  return subprocess.run(
    ["swift", "package", "--package-path", folder, *options, "show-dependencies"],
    capture_output=True, text=True, timeout=LIMIT)


@pytest.fixture
def neighbours(tmp_path) -> Path:
  (tmp_path / "prephirences").symlink_to(ROOT)
  return tmp_path


@pytest.mark.parametrize("product", PRODUCTS)
def test_each_product_works_next_to_common_names(neighbours, product):
  for own, others in ((C_TARGETS[:2], C_TARGETS[2:]), (C_TARGETS[2:], C_TARGETS[:2])):
    client, other = neighbours / f"Client{own[0]}", neighbours / f"Other{own[0]}"
    write(other, package("Other", others), "Other", *others)
    write(
      client, package(
        "Client", own,
        dependencies=f'.package(path: "../prephirences"), .package(name: "Other", path: "../{other.name}")',
        uses=f'.product(name: "{product}", package: "prephirences"), .product(name: "Other", package: "Other")'),
      "Client", *own)
    outcome = load(client)
    assert outcome.returncode == 0, outcome.stderr


def manifests() -> list[str]:
  return [block.text for block in blocks(PAGE) if block.is_manifest]


def test_an_alias_lets_a_target_keep_its_name(neighbours):
  aliased = manifests()[0]
  write(neighbours / "client", aliased, "MyTool", "Keychain")
  outcome = load(neighbours / "client")
  assert outcome.returncode == 0 and "warning" not in outcome.stderr, outcome.stderr


@pytest.mark.parametrize("changed, told", [
  (lambda text: re.sub(r',\s*moduleAliases: \[[^]]*\]', "", text), "conflicting name"),
  (lambda text: text.replace("executableTarget", "target"), "does not match any recursive target"),
  (lambda text: text.replace('.package(path', '.package(name: "Ours", path').replace(
    'package: "prephirences"', 'package: "Ours"'), "does not match any recursive target"),
], ids=["without an alias", "in no product", "by another name"])
def test_where_an_alias_does_not_help(neighbours, changed, told):
  text = changed(manifests()[0])
  assert text != manifests()[0]
  write(neighbours / "client", text, "MyTool", "Keychain")
  outcome = load(neighbours / "client")
  assert outcome.returncode != 0 and told in outcome.stderr


@pytest.mark.parametrize("system, name", [("Linux", "prephirences"), ("macOS", "SwiftyUserDefaults")])
def test_a_manifest_takes_the_original_elsewhere(neighbours, system, name):
  (text,) = manifests()[1:]
  assert text.count("#if os(Linux)") == 1
  write(neighbours / "client", text.replace("#if os(Linux)", f"#if os({system})"), "MyTool")
  read = dumped(neighbours / "client")
  (used,) = (use["product"] for use in read["targets"][0]["dependencies"])
  assert used[:2] == ["SwiftyUserDefaults", name]
  if system == "Linux":
    outcome = load(neighbours / "client")
    assert outcome.returncode == 0, outcome.stderr


def test_the_index_of_packages_shows_every_catalogue():
  catalogues = {path.parent.name for path in ROOT.glob("Sources/*/*/*.docc")}
  assert set(re.findall(r"(?m)^ {8}- (\w+)$", (ROOT / ".spi.yml").read_text())) == catalogues


def test_the_newest_version_of_the_changelog_is_that_of_the_program():
  (version,) = re.findall(
    r'enum Release \{\n  package static let version = "([^"]+)"',
    (ROOT / "Sources/System/PrephirencesSystem/Processes/SystemCalls.swift").read_text())
  assert re.findall(r"(?m)^## (?:\[?([0-9.]+)\]?) - \d{4}-\d{2}-\d{2}$", (ROOT / "CHANGELOG.md").read_text())[0] == version
