"""The pages of modules and the comments in them link to symbols that exist."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from compiling import MODULES, c_modules, run
from documents import ROOT

# The modules with pages, and those whose symbols they export.
EXPORTED = {
  "Keychain": [
    "KeychainCredentials", "KeychainSecretService", "KeychainSecrets", "KeychainStores",
    "KeychainVault", "KeychainVaultFormat", "PreferencesCore"],
  "KeychainVault": ["KeychainVaultFormat"],
  "KeychainVaultFormat": [],
  "KeychainSecretService": [],
  "Prephirences": ["PreferencesCore"],
  "CryptoPrephirences": [],
  "PreferencesDurable": [],
  "PrephirencesDurable": ["PreferencesCore", "PreferencesDurable"],
  "PrephirencesRecords": [],
  "PrephirencesShared": ["PreferencesCore", "PreferencesDurable", "PreferencesShared"],
  "Palau": [],
  "SwiftyUserDefaults": [],
  "TypedDefaults": [],
}

WARNING = re.compile(
  r"(?m)^(?:warning|error): (.*)\n +--> (\S+?):(\d+):")
MISSING = re.compile(r"'([\w.]+)[^']*' doesn't exist at")


def public_names() -> set[str]:
  """Returns types and pages of all modules, which comments of other modules may link to."""
  declaration = re.compile(r"\b(?:class|struct|enum|protocol|typealias) (\w+)")
  names = {path.stem for path in ROOT.glob("Sources/*/*/Documentation.docc/*.md")}
  for path in ROOT.glob("Sources/**/*.swift"):
    names |= set(declaration.findall(path.read_text()))
  return names


def catalogue(module: str) -> Path:
  (folder,) = ROOT.glob(f"Sources/*/{module}/Documentation.docc")
  return folder


def warnings(module: str, folder: Path) -> list[tuple[str, str]]:
  """Returns DocC's messages about a module, with their places."""
  graphs = folder / "graphs"
  graphs.mkdir()
  target = MODULES.resolve().parents[1].name
  extracted = run(
    "swift", "symbolgraph-extract", "-module-name", module, "-target", target, "-I", MODULES,
    *c_modules(), "-output-dir", graphs, "-minimum-access-level", "public",
    "-skip-synthesized-members",
    *([f"-experimental-allowed-reexported-modules={','.join(EXPORTED[module])}"] if EXPORTED[module] else []))
  assert extracted.returncode == 0, extracted.stderr
  converted = run(
    "docc", "convert", catalogue(module), "--output-path",
    folder / "archive", "--additional-symbol-graph-dir", graphs, "--fallback-display-name", module,
    "--fallback-bundle-identifier", module, "--diagnostic-level", "warning",
    # A copied page template would get its owner, which only the superuser can do.
    "--no-transform-for-static-hosting")
  assert converted.returncode == 0, converted.stderr
  # A parameter whose name says everything needs no line.
  return [
    (f"{place}:{line}", text) for text, place, line in WARNING.findall(converted.stderr + converted.stdout)
    if not text.endswith("is missing documentation")]


def is_link_to_another_module(place: str, text: str, names: set[str]) -> bool:
  missing = MISSING.match(text)
  return missing is not None and ".md" not in place and missing[1] in names


@pytest.mark.skipif(shutil.which("docc") is None, reason="docc is a part of Swift's toolchain")
@pytest.mark.parametrize("module", sorted(EXPORTED))
def test_symbol_links_lead_somewhere(module, tmp_path):
  names = public_names()
  assert not [
    f"{place}: {text}" for place, text in warnings(module, tmp_path)
    if not is_link_to_another_module(place, text, names)]


def test_every_module_with_pages_is_looked_at():
  # Its sources compile only with a trait.
  elsewhere = {"RemotePrephirences"}
  found = {path.parent.name for path in ROOT.glob("Sources/*/*/Documentation.docc")}
  assert found - elsewhere == set(EXPORTED)
