"""Missing names are errors with a replacement, not keys of preferences."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from machine import require

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / ".build" / "debug"

# A line of Swift, and what the compiler says of it.
REFUSED = {
  'defaults.setValue(1, forKeyPath: "a.b")': "unavailable: set the dictionary of the first key",
  '_ = defaults.value(forKeyPath: "a.b")': "unavailable: read dictionary(forKey:) and its values",
  '_ = defaults.color(forKey: "a")': "unavailable: store an archive, or a Codable colour",
  'defaults.set(color: 1, forKey: "a")': "unavailable: store an archive, or a Codable colour",
  '_ = defaults.nsRectForKey(key: "a")': "renamed to 'cgRect(forKey:)'",
  '_ = defaults.nsSizeForKey(key: "a")': "renamed to 'cgSize(forKey:)'",
  'defaults.addObserver(object, forKeyPath: "a", options: [.new, .initial], context: nil)':
    "unavailable: use observe(forKey:initial:_:)",
  'defaults.addObserver(object, forKeyPath: "a", options: .new, context: nil)':
    "unavailable: use observe(forKey:initial:_:)",
  'defaults.addObserver(object, forKeyPath: "a", context: nil)':
    "unavailable: use observe(forKey:initial:_:)",
  'defaults.removeObserver(object, forKeyPath: "a")': "unavailable: end the observation",
  "_ = defaults.observe(\\.theme, options: [.new]) { _, change in print(change.newValue as Any) }":
    "unavailable: use observe(forKey:initial:_:)",
  "_ = defaults.observe(\\.theme) { defaults, _ in print(defaults) }":
    "unavailable: use observe(forKey:initial:_:)",
  "_ = defaults.publisher(for: \\.theme)": "unavailable: use observe(forKey:initial:_:)",
  '_ = defaults.boolForKey("a")': "renamed to 'bool(forKey:)'",
  'defaults.setObject("x", forKey: "a")': "renamed to 'set(_:forKey:)'",
  '_ = stored.objectForKey("a")': "renamed to 'object(forKey:)'",
  '_ = stored.stringForKey("a")': "renamed to 'string(forKey:)'",
  'stored.setBool(true, forKey: "a")': "renamed to 'set(_:forKey:)'",
  'stored.removeObjectForKey("a")': "renamed to 'removeObject(forKey:)'",
  "keychain.klass = .genericPassword": "unavailable: init(service:) and init(server:)",
  'keychain.authenticationPrompt = "Please"': "unavailable: how a person is asked",
  "keychain.authenticationContext = nil": "unavailable: how a person is asked",
  "_ = KeychainPreferences.generatePassword()": "unavailable: it is a dialog of iOS",
  "let _: SecurityClass = .key": "unavailable: init(service:) and init(server:)",
}

TAKEN = """
let _: Any? = defaults.value(forKey: "a")
defaults.setValue(nil, forKey: "a")
defaults.setValuesForKeys(["a": 1])
let _: [String: Any] = defaults.dictionaryWithValues(forKeys: ["a"])
defaults.set(url, forKey: "a")
defaults.set(optionalURL, forKey: "a")
let _: KeychainPreferences.Attribute? = keychain.attribute(forKey: "a")
let _: Date? = keychain.attribute(forKey: "a")?.creationDate
let _: Date? = keychain[attribute: "a"]?.modificationDate
let _: String? = keychain[attribute: "a"]?.account
let _: String? = keychain[attribute: "a"]?.service
let _: String? = keychain[attribute: "a"]?.server
let _: String? = keychain[attribute: "a"]?.accessGroup
let _: SecurityAttributeAccessible? = keychain[attribute: "a"]?.accessible
keychain.accessible = .defaultOption
keychain.set(url: url, forKey: "a")
let _: String? = keychain.stringForKey("a")
"""

# A cipher of another library, as published programs write it.
AMBIGUOUS = """
import CryptoPrephirences
import Foundation
import Other
{imports}

struct OtherCipher: {name} {{
  func encrypt(_ data: Data) throws -> Data {{ data }}
  func decrypt(_ data: Data) throws -> Data {{ data }}
}}

let key = TransformationKey.cipher(OtherCipher())
let other: (any Other.Cipher)? = nil
"""


FUNCTION = """
import Foundation
import Keychain
import Prephirences

extension UserDefaults {{
  var theme: String? {{ string(forKey: "theme") }}
}}

func use(
  _ defaults: UserDefaults, _ keychain: KeychainPreferences, _ stored: any MutablePreferencesType,
  _ url: URL, _ optionalURL: URL?, _ object: NSObject
) {{
{lines}
}}
"""


@pytest.fixture
def typecheck(tmp_path):
  """Returns a function that compiles a file and returns the errors."""
  require("the compiler", None if shutil.which("swiftc") else "swiftc is not found")
  require("the modules", None if (BUILD / "Modules").is_dir() else "they are not built")
  checkouts = ROOT / ".build" / "checkouts"
  folders = [
    tmp_path,
    BUILD / "Modules",
    *(ROOT / "Sources" / "System").glob("C*"),
    checkouts / "swift-system" / "Sources" / "CSystem" / "include",
  ]
  options = [option for folder in folders for option in ("-I", str(folder))]
  for path in sorted(BUILD.glob("C*.build/module.modulemap")):
    options += ["-Xcc", f"-fmodule-map-file={path}"]

  def run(source: str) -> list[str]:
    (tmp_path / "names.swift").write_text(source)
    outcome = subprocess.run(
      ["swiftc", "-typecheck", "-swift-version", "6", *options, "names.swift"],
      capture_output=True,
      text=True,
      timeout=300,
      cwd=tmp_path,
    )
    errors = re.findall(r"(?m)^\S+: error: .*$", outcome.stderr)
    assert bool(errors) == bool(outcome.returncode), outcome.stderr
    return errors

  return run


def test_names_that_are_not_here(typecheck):
  source = FUNCTION.format(lines="\n".join(REFUSED))
  errors = {int(error.split(":")[1]): error for error in typecheck(source)}
  lines = source.splitlines()
  said = {lines[number - 1]: error for number, error in errors.items()}
  assert {line for line in REFUSED if REFUSED[line] not in said.get(line, "")} == set()


def test_other_spellings(typecheck):
  assert typecheck(FUNCTION.format(lines=TAKEN)) == []


def test_the_settings_file_of_the_documentation(typecheck):
  page = ROOT / "Sources" / "Compatibility" / "Prephirences" / "Documentation.docc" / "Compatibility.md"
  blocks = re.findall(r"(?ms)^```swift\n(.*?)^```$", page.read_text())
  whole = [block for block in blocks if "struct Settings" in block]
  assert len(whole) == 1
  assert typecheck(whole[0]) == []


def test_a_name_that_another_module_has_too(typecheck, tmp_path):
  (tmp_path / "Other.swift").write_text("public protocol Cipher {}\n")
  subprocess.run(
    ["swiftc", "-emit-module", "-module-name", "Other", "Other.swift"], cwd=tmp_path, check=True
  )
  assert "ambiguous" in typecheck(AMBIGUOUS.format(imports="", name="Cipher"))[0]
  scoped = "import protocol CryptoPrephirences.Cipher"
  assert typecheck(AMBIGUOUS.format(imports=scoped, name="Cipher")) == []
  version = subprocess.run(["swiftc", "--version"], capture_output=True, text=True).stdout
  if [int(part) for part in re.search(r"version (\d+)\.(\d+)", version).groups()] >= [6, 3]:
    assert typecheck(AMBIGUOUS.format(imports="", name="CryptoPrephirences::Cipher")) == []
