"""The page for authors who also build for Apple's platforms."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from compiling import dumped, make_module, typecheck
from documents import ROOT, blocks

PAGE = ROOT / "Sources/Keychain/Keychain/Documentation.docc/ApplePlatforms.md"
RELEASED = Path(__file__).with_name("Released") / "Prephirences.swift"


@pytest.fixture
def page() -> dict:
  found = blocks(PAGE)
  assert [block.is_manifest for block in found] == [True, False]
  return {"manifest": found[0].text, "source": found[1].text}


@pytest.fixture
def released(tmp_path) -> Path:
  """The module of the original, of which only the declarations are there."""
  folder = tmp_path / "released"
  folder.mkdir()
  make_module("Prephirences", folder, RELEASED, options=("-swift-version", "5"))
  return folder


def test_its_source_compiles_against_the_original(page, released, tmp_path):
  source = tmp_path / "TokenStore.swift"
  source.write_text(page["source"])
  outcome = typecheck(source, modules=(released,))
  assert outcome.returncode == 0, outcome.stderr


def test_only_the_original_is_there(released, tmp_path):
  """The check distinguishes the two libraries."""
  source = tmp_path / "main.swift"
  source.write_text("import Keychain\n")
  assert "no such module 'Keychain'" in typecheck(source, modules=(released,)).stderr
  source.write_text(
    'import Prephirences\nvar keychain = KeychainPreferences(service: "s")\nkeychain.token = 1\n')
  assert typecheck(source, modules=(released,)).returncode == 0


def dependency(text: str, folder: Path) -> tuple[dict, str]:
  """The package that a manifest depends on, and the product of it."""
  client = folder / "client"
  client.mkdir()
  (folder / "prephirences").symlink_to(ROOT)
  (client / "Package.swift").write_text(text)
  read = dumped(client)
  (package,) = read["dependencies"]
  (product,) = (use["product"][0] for use in read["targets"][0]["dependencies"])
  return package, product


def test_its_manifest_takes_this_package_on_linux(page, tmp_path):
  package, product = dependency(page["manifest"], tmp_path)
  assert Path(package["fileSystem"][0]["path"]).name == "prephirences"
  assert product == "Keychain"


def test_its_manifest_takes_the_original_elsewhere(page, tmp_path):
  text = page["manifest"]
  assert text.count("#if os(Linux)") == 1
  package, product = dependency(text.replace("#if os(Linux)", "#if os(macOS)"), tmp_path)
  assert "phimage/Prephirences" in str(package["sourceControl"])
  assert product == "Prephirences"


@pytest.mark.parametrize(("system", "names"), [
  ("Linux", ["Keychain", "KeychainCommands"]), ("macOS", ["Prephirences"])])
def test_the_commands_are_linked_on_linux_alone(page, tmp_path, system, names):
  (commands,) = re.findall(r"(?ms)^```\n(let commands.*?)^```$", PAGE.read_text())
  text = page["manifest"].replace("#if os(Linux)", f"#if os({system})")
  assert (text.count("let package"), text.count("      ])\n")) == (1, 1)
  text = text.replace("let package", f"{commands}\nlet package")
  text = text.replace("      ])\n", "      ] + commands)\n")
  client = tmp_path / "client"
  client.mkdir()
  (tmp_path / "prephirences").symlink_to(ROOT)
  (client / "Package.swift").write_text(text)
  (target,) = dumped(client)["targets"]
  assert [use["product"][0] for use in target["dependencies"]] == names
