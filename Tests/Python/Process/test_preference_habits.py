"""What people and scripts do with the commands for preferences out of habit or by mistake."""

from __future__ import annotations

import json
import os
import stat
import unicodedata

import pytest

from preference_testing import Preferences
from prefs_testing import ended, hinted

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


def test_keys_that_look_alike_are_moved(two_spellings):
  exported = two_spellings.run("export", "--json").out
  imported = two_spellings.run("import", "-", domain="other", input=exported)
  assert "2 new" in imported.error
  assert two_spellings.run("export", "--json", domain="other").out == exported
  # A dictionary of a property list would lose one of them.
  outcome = two_spellings.run("export", "--plist", code=64)
  assert outcome.out == b"" and "JSON" in outcome.error
  nested = json.dumps({"a": {COMPOSED: 1, DECOMPOSED: 2}}).encode()
  two_spellings.run("import", "-", domain="other", input=nested, code=65)


def test_keys_that_look_alike_are_deleted(two_spellings):
  two_spellings.run("delete", "--all", "--yes")
  assert two_spellings.run("list").out == b""


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


@pytest.mark.parametrize("contents", [b" ", b"\n", b"\t\r\n"])
def test_blank_file_replaces_nothing(preferences, contents):
  preferences.run("write", "key", "value")
  for options in [[], ["--plist"], ["--json"]]:
    preferences.run("import", "-", "--replace", *options, input=contents, code=65)
  assert preferences.read("key") == b"value\n"


def test_what_defaults_prints_is_refused(preferences):
  """It does not say which values are numbers, so an int would become text."""
  preferences.run("write", "a b", "1", "--type", "int")
  text = b'{\n    "a b" = 2;\n    list =     (\n        x,\n        "y z"\n    );\n}\n'
  for options in [], ["--plist"]:
    refused = preferences.run("import", "-", *options, input=text, code=65)
    assert "defaults export" in hinted(refused)
  preferences.run("import", "-", input=b'{ "a" : 1, }', code=65)
  assert json.loads(preferences.read()) == {"a b": 1}
  preferences.run("write", "date", "-date", "2027-01-31 12:00:00 +0100")
  assert preferences.read("date") == b"2027-01-31T11:00:00Z\n"


def test_dates_of_all_years_are_written_and_read(preferences):
  for written, read in [
      ("0001-01-01T00:30:00+01:00", "0000-12-31T23:30:00Z"),
      ("-0043-03-15T12:00:00.125Z", "-0043-03-15T12:00:00.125Z"),
      ("+12345-01-01 00:00Z", "+12345-01-01T00:00:00Z"),
      ("1e+300 s after 2001-01-01T00:00:00Z", "1e+300 s after 2001-01-01T00:00:00Z")]:
    preferences.run("write", "date", "--type", "date", "--", written)
    assert preferences.read("date").decode() == read + "\n"


def test_an_export_names_what_it_rounds(preferences):
  preferences.run("write", "date", "--type", "date", "2027-01-31T12:00:00.25Z")
  rounded = preferences.run("export")
  assert "rounded down to seconds: 'date'; --exact" in rounded.error
  assert b"Prephirences" not in rounded.out
  exact = preferences.run("export", "--exact")
  assert exact.error == ""
  preferences.run("import", "-", domain="other", input=exact.out)
  assert preferences.run("read", "date", domain="other").out == b"2027-01-31T12:00:00.25Z\n"


def test_only_files_are_overwritten(preferences, home):
  preferences.run("write", "key", "value")
  pipe = home.folder / "pipe"
  os.mkfifo(pipe)
  preferences.run("export", str(pipe), "--overwrite", code=74)
  assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_unfulfilled_expectation_creates_nothing(preferences):
  preferences.run("write", "key", "value", "--expect", "other", code=75)
  assert preferences.files() == []


@pytest.mark.parametrize("arguments", [
  ["read", "web", "key"], ["read", "web"], ["write", "web", "key", "-int", "3"],
  ["delete", "web", "key"], ["export", "web"], ["import", "web"], ["watch", "web"]])
def test_domain_of_defaults_is_recognised(preferences, arguments):
  preferences.run("write", "key", "value")
  outcome = preferences.run(*arguments, domain=None, code=64)
  assert "did you mean '--domain web'?" in outcome.error


@pytest.mark.parametrize("form, empty", [("array", b"[]\n"), ("dict", b"{}\n")])
def test_empty_collections_have_a_hint(preferences, form, empty):
  outcome = preferences.run("write", "key", f"-{form}", code=64)
  assert f"--type {form}" in outcome.error
  preferences.run("write", "key", "--type", form)
  assert preferences.read("key") == empty


@pytest.mark.parametrize("word, name", [("domains", "list"), ("find", "list"), ("read-type", "read")])
def test_commands_of_defaults_are_guessed(preferences, word, name):
  assert f"did you mean '{name}'?" in preferences.run(word, domain=None, code=64).error


@pytest.mark.parametrize("options", [
  ["-g"], ["-globalDomain"], ["NSGlobalDomain"], ["Apple Global Domain"], ["-d", "-g"], ["-app", "Safari"]])
@pytest.mark.parametrize("command", ["read", "write", "delete", "export"])
def test_other_domains_of_defaults_have_a_hint(preferences, command, options):
  outcome = preferences.run(command, *options, "key", *(["value"] if command == "write" else []), domain=None, code=64)
  assert "--domain" in outcome.error or "global domain" in outcome.error
  assert "'prefs list'" in outcome.error and preferences.files() == []


@pytest.mark.parametrize("arguments", [
  ["-currentHost", "read", "web", "key"], ["read", "-currentHost", "web", "key"],
  ["write", "--domain", "web", "-currentHost", "key", "value"]])
def test_hosts_of_defaults_have_a_hint(preferences, arguments):
  assert "leave -currentHost out" in hinted(preferences.run(*arguments, domain=None, code=64))


@pytest.mark.parametrize("arguments, hint", [
  (["read-type", "web", "key"], "prefs list KEY"), (["rename", "web", "a", "b"], "write the new key"),
  (["delete-all"], "prefs delete --all"), (["domains"], "'prefs list' shows"),
  (["find", "word"], "prefs list '*WORD*'"), (["-g", "read"], "'prefs list' shows")])
def test_commands_of_defaults_have_a_hint(preferences, arguments, hint):
  assert hint in hinted(preferences.run(*arguments, domain=None, code=64))


@pytest.mark.parametrize("option, needed", [
  ("-array", "elements"), ("-array-add", "elements"), ("-dict", "keys and values"), ("-dict-add", "keys and values")])
def test_elements_are_needed(preferences, option, needed):
  outcome = preferences.run("write", "key", option, code=64)
  assert f"{option} needs {needed} after it" in outcome.error


@pytest.mark.parametrize("value", [["a"], ["-int", "5"], ["-array", "a"]])
def test_a_new_domain_is_recognised(preferences, value):
  outcome = preferences.run("write", "com.example.new", "key", *value, domain=None, code=64)
  assert "did you mean '--domain com.example.new'?" in outcome.error
  assert "did you mean" not in preferences.run("write", "key", *value, domain=None, code=64).error


def test_words_of_defaults_are_values(preferences):
  preferences.run("write", "-g", "-string", "-g", code=64)
  preferences.run("write", "text", "-string", "-g")
  preferences.run("write", "list", "-array", "-currentHost", "-app")
  assert json.loads(preferences.read()) == {"text": "-g", "list": ["-currentHost", "-app"]}


def test_empty_values_have_a_hint_of_the_option(preferences):
  assert hinted(preferences.run("read", "--default=", "key", code=64)).endswith(": --default ''")
  assert preferences.read("key", "--default", "") == b"\n"
  assert hinted(preferences.run("read", "-d=", domain=None, code=64)).endswith(": -d ''")
  assert "p4ss" not in preferences.run("read", "--p4ss=", code=64).error
  assert "the name of the domain is empty" in preferences.run("read", domain="", code=64).error


@pytest.mark.parametrize("arguments, meant", [
  (["read", "key", "--domian", "web"], "--domain"), (["write", "key", "value", "--typ", "int"], "--type"),
  (["write", "key", "value", "--exepct", "x"], "--expect"), (["delete", "--al"], "--all"),
  (["write", "--jsn"], "--json")])
def test_options_with_typos_are_guessed(preferences, arguments, meant):
  domain = None if "--domian" in arguments else "web"
  outcome = preferences.run(*arguments, domain=domain, code=64)
  assert f"did you mean '{meant}'?" in outcome.error


def test_terminals_get_exports_with_escapes(preferences):
  preferences.run("write", "key", "\u202ered")
  assert "\u202e" in preferences.run("export").out.decode()
  code, text = ended(preferences.terminal("export", "--domain", "web"))
  assert code == 0 and "\u202e" not in text and "red" in text


def test_terminals_get_lines_and_tabs(preferences):
  preferences.run("write", "text", "one\r\n\ttwo\x1b")
  for command in [("read", "text"), ("export",)]:
    code, text = ended(preferences.terminal(*command, "--domain", "web"))
    assert code == 0 and "\\t" not in text and "\t" in text and "\x1b" not in text
  _, text = ended(preferences.terminal("read", "text", "--domain", "web"))
  assert [line.rstrip() for line in text.splitlines() if line] == ["one\\u{d}", "\ttwo\\u{1b}"]


@pytest.mark.parametrize("damaged", [b"damaged", b"<dict><key>a</key><data>?</data></dict>"])
def test_property_list_that_is_left_is_reported(preferences, damaged):
  preferences.folder.mkdir(parents=True, exist_ok=True)
  (preferences.folder / "web.plist").write_bytes(damaged)
  for command in [("write", "key", "value"), ("write", "key", "other"), ("delete", "key")]:
    assert "were not imported" in preferences.run(*command).error
  assert (preferences.folder / "web.plist").read_bytes() == damaged


@pytest.mark.parametrize("options", [
  ["--domain", "other"], ["-d", "other"], ["--if-absent"], ["-q"], ["--expect=x"]])
def test_options_do_not_become_elements(preferences, options):
  for form in ["-array", "-dict", "-array-add"]:
    outcome = preferences.run("write", "key", form, "a", "b", *options, code=64)
    assert "before" in outcome.error
  preferences.run("write", "list", "-array", "-5", "-string", "--quiet", "-int", "-7")
  assert json.loads(preferences.read("list")) == ["-5", "--quiet", -7]


def test_elements_are_not_read_from_input(preferences):
  for form in ["array", "dict"]:
    outcome = preferences.run("write", "key", "-", "--type", form, input=b'["a"]', code=64)
    assert "--json" in outcome.error
  preferences.run("write", "key", "-", "--json", input=b'["a"]')
  assert json.loads(preferences.read("key")) == ["a"]
