"""Every Swift block of the documents compiles unchanged."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from compiling import MODULES, SERVER_MODULES, dumped, make_module, typecheck
from documents import PAGES, ROOT, blocks, manifest, source

ALL = [block for page in PAGES for block in blocks(page)]


def named(found: list) -> dict:
  return {"argvalues": found, "ids": [block.name for block in found]}


@pytest.fixture(scope="session")
def remote(tmp_path_factory) -> Path:
  """Builds the module that needs a trait, which the rest of the build does not enable."""
  folder = tmp_path_factory.mktemp("remote")
  needs_client = {"HTTPTransport.swift", "ConnectionLimit.swift"}
  sources = [
    path for path in (ROOT / "Sources/Compatibility/RemotePrephirences").glob("*.swift")
    if path.name not in needs_client]
  make_module(
    "RemotePrephirences", folder, *sources, Path(__file__).with_name("Transport.swift"),
    # SwiftPM names a package that is built by itself after its folder.
    options=(
      "-D", "RemotePreferences", "-enable-upcoming-feature", "InternalImportsByDefault",
      "-package-name", re.sub(r"\W", "_", ROOT.name.lower())))
  return folder


@pytest.mark.parametrize("block", **named([block for block in ALL if block.is_source]))
def test_a_block_of_source_compiles(block, tmp_path, request):
  main = tmp_path / ("Tool.swift" if block.is_program else "main.swift")
  main.write_text(source(block))
  options = ("-parse-as-library",) if block.is_program else ()
  # Another build, with what the traits for servers bring.
  is_server = "import Configuration" in source(block)
  modules = [SERVER_MODULES if is_server else MODULES]
  sources = [main]
  if block.is_program and not is_server:
    sources.append(Path(__file__).with_name("Client.swift"))
  if "import RemotePrephirences" in source(block):
    modules.insert(0, request.getfixturevalue("remote"))
  outcome = typecheck(*sources, modules=tuple(modules), options=options)
  assert outcome.returncode == 0, f"{block.document}:{block.line}\n{outcome.stderr}"


@pytest.fixture(scope="session")
def own(tmp_path_factory) -> dict:
  return dumped(ROOT)


@pytest.mark.parametrize("block", **named([block for block in ALL if not block.is_source]))
def test_manifest_block_names_existing_products(block, own, tmp_path):
  (tmp_path / "prephirences").symlink_to(ROOT)
  client = tmp_path / "client"
  client.mkdir()
  (client / "Package.swift").write_text(manifest(block))
  read = dumped(client)
  products = {product["name"] for product in own["products"]}
  uses = [
    dependency["product"] for target in read["targets"] for dependency in target["dependencies"]
    if "product" in dependency]
  ours = {product[0] for product in uses if product[1] == "prephirences"}
  assert ours <= products
  traits = {
    trait["name"] for dependency in read["dependencies"]
    for package in dependency.get("fileSystem", [])
    if Path(package["path"]).name == "prephirences"
    for trait in package.get("traits", [])}
  assert traits <= {trait["name"] for trait in own["traits"]} | {"default"}


def test_there_are_blocks_of_each_kind():
  """The check itself finds a known fault."""
  assert any(block.is_manifest for block in ALL)
  assert any(block.is_part_of_manifest for block in ALL)
  assert any(block.is_program for block in ALL)
  assert any(block.earlier for block in ALL if block.is_source)
  assert {"README.md", "Preferences.md", "Keychain.md"} <= {block.document.name for block in ALL}
