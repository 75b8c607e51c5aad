"""What people and scripts do with the commands for preferences out of habit or by mistake."""

from __future__ import annotations

import json
import os
import stat
import unicodedata

import pytest

from preference_testing import Preferences
from prefs_testing import ended

COMPOSED, DECOMPOSED = (unicodedata.normalize(form, "café") for form in ("NFC", "NFD"))


@pytest.fixture
def preferences(home) -> Preferences:
  return Preferences(home)


@pytest.fixture
def two_spellings(preferences) -> Preferences:
  """Two keys that look the same."""
  preferences.run("write", COMPOSED, "one")
  preferences.run("write", DECOMPOSED, "two")
  return preferences


def test_keys_that_look_alike_are_listed(two_spellings):
  rows = [line.split("\t") for line in two_spellings.run("list").out.decode().splitlines()]
  assert rows == [[DECOMPOSED, "string", "two"], [COMPOSED, "string", "one"]]
  assert json.loads(two_spellings.read()) == {COMPOSED: "one", DECOMPOSED: "two"}


def test_keys_that_look_alike_are_watched(two_spellings):
  def line(key: str, value: str) -> bytes:
    return f"set\t{key}\tstring\t{value}\n".encode()

  # With an end, a line that does not come is a failure, not a test that waits for ever.
  options = ["--initial", "--timeout", "20s"]
  with (two_spellings.start("watch", *options) as all_keys,
        two_spellings.start("watch", COMPOSED, *options) as one,
        two_spellings.start("watch", DECOMPOSED, COMPOSED, COMPOSED, *options) as both):
    assert [all_keys.stdout.readline() for _ in range(2)] == [line(DECOMPOSED, "two"), line(COMPOSED, "one")]
    assert one.stdout.readline() == line(COMPOSED, "one")
    assert [both.stdout.readline() for _ in range(2)] == [line(DECOMPOSED, "two"), line(COMPOSED, "one")]
    # Both at once, and last the key that only two of the three are asked for.
    changed = {COMPOSED: "three", DECOMPOSED: "four"}
    two_spellings.run("import", "-", input=json.dumps(changed).encode())
    for watching in [all_keys, both]:
      assert {watching.stdout.readline() for _ in range(2)} == {line(*pair) for pair in changed.items()}
    assert one.stdout.readline() == line(COMPOSED, "three")
    two_spellings.run("write", DECOMPOSED, "five")
    two_spellings.run("write", COMPOSED, "six")
    assert one.stdout.readline() == line(COMPOSED, "six")
    for watching in [all_keys, one, both]:
      watching.terminate()


def test_files_that_are_refused_are_named(preferences):
  preferences.run("write", "key", "value")
  refused = [preferences.folder / f"{name}.preferences" for name in ["damaged", "folder", "open"]]
  refused[0].write_bytes(b"damaged")
  refused[0].chmod(0o600)
  refused[1].mkdir()
  refused[2].write_bytes(b"")
  refused[2].chmod(0o644)
  outcome = preferences.run("list", domain=None, code=65)
  rows = [line.split("\t") for line in outcome.out.decode().splitlines()]
  assert rows == [[path.stem, "?", str(path)] for path in refused] + [
    ["web", "1", str(preferences.folder / "web.preferences")]]
  assert all(str(path) in outcome.error for path in refused)
  assert "move it away" in outcome.error and "chmod 600" in outcome.error


def test_only_files_are_overwritten(preferences, home):
  preferences.run("write", "key", "value")
  pipe = home.folder / "pipe"
  os.mkfifo(pipe)
  preferences.run("export", str(pipe), "--overwrite", code=74)
  assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_terminals_get_exports_with_escapes(preferences):
  preferences.run("write", "key", "\u202ered")
  assert "\u202e" in preferences.run("export").out.decode()
  code, text = ended(preferences.terminal("export", "--domain", "web"))
  assert code == 0 and "\u202e" not in text and "red" in text


@pytest.mark.parametrize("damaged", [b"damaged", b"<dict><key>a</key><data>?</data></dict>"])
def test_property_list_that_is_left_is_reported(preferences, damaged):
  preferences.folder.mkdir(parents=True, exist_ok=True)
  (preferences.folder / "web.plist").write_bytes(damaged)
  for command in [("write", "key", "value"), ("write", "key", "other"), ("delete", "key")]:
    assert "were not imported" in preferences.run(*command).error
  assert (preferences.folder / "web.plist").read_bytes() == damaged
