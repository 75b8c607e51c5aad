"""Compiler errors for members that do not exist."""

from __future__ import annotations

import pytest

from compiling import typecheck

REFUSAL = "KeychainPreferences has no such member; a value is keychain[\"key\"]"


def outcome(folder, text: str):
  source = folder / "main.swift"
  source.write_text(
    f'import Keychain\nlet keychain = KeychainPreferences(service: "s")\n{text}\n')
  return typecheck(source)


@pytest.mark.parametrize("text", [
  'keychain.servce = "x"', "print(keychain.lastEror as Any)", "keychain.token = nil",
  "let token = keychain.token as? String", "let path = \\KeychainPreferences.token",
  'KeychainPreferences.sharedInstance.token = "x"',
])
def test_missing_member_is_refused(tmp_path, text):
  refused = outcome(tmp_path, text)
  assert refused.returncode != 0
  assert REFUSAL in refused.stderr


def test_existing_members_and_generic_code_compile(tmp_path):
  accepted = outcome(tmp_path, """
    keychain.accessGroup = "g"
    keychain.accessible = .always
    print(keychain.lastError as Any, keychain.service as Any)
    keychain["token"] = "x"

    func use<Preferences: MutablePreferencesType>(_ preferences: Preferences) -> Any? {
      preferences.token = "x"
      return preferences.token
    }
    print(use(keychain) as Any)
    let any: any MutablePreferencesType = keychain
    any.token = "x"
    print(any.token as Any)
    let preferences: any PreferencesType = keychain
    print(preferences.token as Any)
    """)
  assert accepted.returncode == 0, accepted.stderr
