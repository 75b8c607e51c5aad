"""The examples in documentation comments compile, and the main declarations have one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from compiling import SERVER_MODULES, typecheck
from documents import ROOT

COMMENT = re.compile(r"(?m)(?:^ *///.*\n)+")
EXAMPLE = re.compile(r"(?ms)^ */// ```swift\n(.*?)^ */// ```$")

# Declarations that a function cannot contain, and parts of a class that the reader has.
OUTSIDE = re.compile(r"(?m)^(extension|enum)\b")
DECLARATION = re.compile(r"(extension|enum|struct)\b")
MEMBERS = re.compile(r"(?m)^(required init|func addObserver)\b")

# Modules that need a trait, or the macros of Swift Testing.
WITHOUT = {"KeychainTesting", "RemotePrephirences"}

# Modules that need the traits for servers.
SERVER = {path.name for path in (ROOT / "Sources" / "Server").iterdir()}

FIRST = [
  "class KeychainPreferences", "class KeychainPreference", "struct KeychainCommand",
  "protocol CredentialStore", "struct Credential", "struct CredentialQuery", "struct KeychainError",
  "class InMemoryCredentialStore", "class SecretServiceStore", "struct SecretBytes", "class AutomaticStore",
  "struct CredentialMigration", "class Vault", "struct VaultConfiguration", "protocol PreferencesType",
  "class Preference", "class UserDefaultsPreference", "class CompositePreferences", "class Plist",
  "class Prephirences", "class DurablePreferences", "class DurableUserDefaults", "class SharedPreferences",
  "class NSUbiquitousKeyValueStore", "class KeychainProvider", "class PreferencesProvider",
  "struct SharedPreferencesService",
]


@dataclass
class Example:
  path: Path
  line: int
  text: str

  @property
  def module(self) -> str:
    return self.path.relative_to(ROOT / "Sources").parts[1]

  def source(self, number: int) -> str:
    """Returns a source in which errors have the line numbers of the comment."""
    text = re.sub(r"(?m)^import .*$", "", self.text)
    if MEMBERS.search(text):
      return f"final class Example{number}: GivenPreferences {{\n{self.located(text)}}}\n"
    outside, inside = "", text
    if OUTSIDE.search(text):
      parts = [(bool(DECLARATION.match(part)), part) for part in re.split(r"\n\n(?=\S)", text)]
      outside = "\n".join(part for declares, part in parts if declares) + "\n"
      inside = "\n".join(part for declares, part in parts if not declares) + "\n"
    kind = "async throws" if "await" in inside else "throws"
    return f"{self.located(outside)}func example{number}() {kind} {{\n{self.located(inside)}}}\n"

  def located(self, text: str) -> str:
    """If the parts of an example are moved, the error has its first line."""
    return f'#sourceLocation(file: "{self.path}", line: {self.line})\n{text}#sourceLocation()\n'


def examples() -> list[Example]:
  found = []
  for path in sorted(ROOT.glob("Sources/**/*.swift")):
    text = path.read_text()
    for match in EXAMPLE.finditer(text):
      lines = [re.sub(r"^ */// ?", "", line) for line in match[1].splitlines()]
      found.append(Example(path, text.count("\n", 0, match.start()) + 2, "\n".join(lines) + "\n"))
  return found


ALL = [example for example in examples() if example.module not in WITHOUT]
PROGRAMS = [example for example in ALL if "@main" in example.text]
MODULES = sorted({example.module for example in ALL})


@pytest.mark.parametrize("module", MODULES)
def test_examples_compile(module, tmp_path):
  source = tmp_path / "Examples.swift"
  if module in SERVER:
    imports = {"Configuration", "ServiceLifecycle", module}
    given, options = "GivenServer.swift", {"modules": (SERVER_MODULES,)}
  else:
    imports = {
      "Foundation", "CryptoPrephirences", "GRDB", "Keychain", "PrephirencesDurable", "PrephirencesRecords", module}
    given, options = "Given.swift", {}
  mine = [example for example in ALL if example.module == module and example not in PROGRAMS]
  source.write_text(
    "".join(f"import {name}\n" for name in sorted(imports))
    + "".join(example.source(number) for number, example in enumerate(mine)))
  outcome = typecheck(
    source, Path(__file__).with_name(given), options=("-parse-as-library",), **options)
  assert outcome.returncode == 0, outcome.stderr


@pytest.mark.parametrize("example", PROGRAMS, ids=lambda example: example.path.name)
def test_example_programs_compile(example, tmp_path):
  source = tmp_path / "Tool.swift"
  source.write_text(f"import ArgumentParser\nimport {example.module}\n{example.text}")
  outcome = typecheck(
    source, Path(__file__).with_name("Client.swift"), options=("-parse-as-library",))
  assert outcome.returncode == 0, outcome.stderr


def documented(declaration: str) -> str:
  """The comment above a public declaration."""
  pattern = re.compile(
    rf"(?m)((?:^ *///.*\n)+)(?: *@.*\n)* *(?:public|open) (?:final )?{re.escape(declaration)}(?!\w)")
  for path in sorted(ROOT.glob("Sources/**/*.swift")):
    if match := pattern.search(path.read_text()):
      return match[1]
  raise AssertionError(f"there is no documented {declaration}")


@pytest.mark.parametrize("declaration", FIRST)
def test_first_declarations_have_an_example(declaration):
  assert "```swift" in documented(declaration)
