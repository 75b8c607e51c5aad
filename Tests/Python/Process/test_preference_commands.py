"""Preferences that are read and written by commands."""

from __future__ import annotations

import json
import os
import plistlib
import subprocess

import pytest

from preference_testing import Preferences
from prefs_testing import LIMIT, ended, hinted


@pytest.fixture
def preferences(home) -> Preferences:
  return Preferences(home)


@pytest.mark.parametrize(("kind", "text", "printed"), [
  ("string", "a b", b"a b\n"), ("int", "9223372036854775807", b"9223372036854775807\n"),
  ("int", "18446744073709551615", b"18446744073709551615\n"), ("bool", "YES", b"true\n"),
  ("float", "0.1", b"0.1\n"), ("double", "1", b"1.0\n"), ("data", "DEADbeef", b"deadbeef\n"),
  ("date", "2027-01-31T12:00:00.25+01:00", b"2027-01-31T11:00:00.25Z\n"),
  ("url", "https://example.com/a?b", b"https://example.com/a?b\n"),
  ("decimal", "12345678901234567890.5", b"12345678901234567890.5\n"),
  ("uuid", "e621e1f8-c36c-495a-93fc-0c247a3e6e5f", b"E621E1F8-C36C-495A-93FC-0C247A3E6E5F\n")])
def test_values_keep_their_type(preferences, kind, text, printed):
  preferences.run("write", "key", text, "--type", kind)
  assert preferences.read("key", "--type", kind) == printed
  (listed,) = preferences.run("list", "--json").json
  assert (listed["key"], listed["type"]) == ("key", kind)


def test_text_is_text_whatever_it_looks_like(preferences):
  preferences.run("write", "key", "8080")
  assert preferences.run("list", "--json").json[0]["type"] == "string"
  preferences.run("write", "key", "8080", "--type", "int")
  outcome = preferences.run("write", "key", "9090", code=79)
  assert "--type int" in hinted(outcome) and "9090" not in outcome.error
  assert preferences.read("key") == b"8080\n"


def test_spellings_of_defaults(preferences):
  preferences.run("write", "offset", "-int", "-5")
  preferences.run("write", "list", "-array", "a", "-int", "1", "b")
  preferences.run("write", "list", "-array-add", "c")
  preferences.run("write", "pairs", "-dict", "a", "1", "b", "-float", "0.5")
  preferences.run("write", "pairs", "-dict-add", "c", "-bool", "yes")
  assert json.loads(preferences.read("--json")) == {
    "offset": -5, "list": ["a", 1, "b", "c"], "pairs": {"a": "1", "b": 0.5, "c": True}}


def test_standard_input(preferences):
  preferences.run("write", "text", "-", input=b"two\nlines\n")
  assert preferences.read("text", "--raw") == b"two\nlines"
  preferences.run("write", "text", "-", "--raw", input=b"line\n")
  assert preferences.read("text", "--raw") == b"line\n"
  preferences.run("write", "bytes", "-", "--raw", "--type", "data", input=bytes(range(256)))
  assert preferences.read("bytes", "--raw") == bytes(range(256))
  preferences.run("write", "text", "-", input=b"\xff", code=65)


def test_reading_creates_nothing(preferences):
  outcome = preferences.run("read", "key", code=44)
  assert outcome.out == b"" and "'web'" in outcome.error
  preferences.run("list", code=44)
  preferences.run("list", domain=None)
  preferences.run("export", code=44)
  preferences.run("delete", "key", "--if-exists")
  assert preferences.read("port", "--default", "80", "--type", "int") == b"80\n"
  assert preferences.files() == []


def test_missing_names_are_guessed(preferences):
  preferences.run("write", "port", "1")
  assert hinted(preferences.run("read", "prot", code=44)) == "did you mean 'port'?"
  assert hinted(preferences.run("read", "port", domain="wbe", code=44)) == "did you mean 'web'?"


def test_check_and_set(preferences):
  preferences.run("write", "key", "1", "--type", "int", "--if-absent")
  preferences.run("write", "key", "2", "--type", "int", "--if-absent", code=75)
  preferences.run("write", "key", "2", "--type", "int", "--expect", "5", code=75)
  preferences.run("write", "key", "2", "--type", "int", "--expect", "1")
  preferences.run("write", "other", "2", "--expect", "1", code=75)
  assert json.loads(preferences.read("--json")) == {"key": 2}


def test_one_of_many_wins(preferences):
  preferences.run("write", "key", "none")
  several = [
    preferences.start("write", "key", f"winner {number}", "--expect", "none")
    for number in range(6)]
  codes = []
  for process in several:
    process.communicate(timeout=LIMIT)
    codes.append(process.returncode)
  assert sorted(codes) == [0, 75, 75, 75, 75, 75]


@pytest.mark.parametrize("arguments", [
  ["read", "key"], ["write", "a", "b"], ["delete", "key"], ["watch"], ["export"], ["import", "-"]])
def test_a_domain_is_needed(preferences, arguments):
  outcome = preferences.run(*arguments, domain=None, code=64)
  assert "prefs list" in outcome.error


@pytest.mark.parametrize("domain", ["a/b", "/etc/passwd", "..", ".a", "", "NSGlobalDomain"])
def test_names_of_domains(preferences, domain):
  preferences.run("write", "key", "value", domain=domain, code=64)
  assert preferences.files() == []


@pytest.mark.parametrize("arguments", [
  ["write", "key"], ["write", "key", "a", "b"], ["write", "key", "secret", "--type", "int"],
  ["write", "key", "{secret", "--json"], ["write", "key", "null", "--json"], ["delete"],
  ["write", "key", "--type", "int", "-5"], ["write", "key", "x", "--type", "number"],
  ["delete", "key", "--all"], ["read", "--raw"], ["write", "key", "secret", "--raw"],
  ["watch", "--until", "x"], ["read", "com.example", "key"]])
def test_wrong_usage(preferences, arguments):
  outcome = preferences.run(*arguments, code=64)
  assert outcome.out == b"" and "secret" not in outcome.error


def test_deletion_is_all_or_nothing(preferences):
  for key in "abc":
    preferences.run("write", key, "1")
  preferences.run("delete", "a", "missing", code=44)
  assert set(json.loads(preferences.read())) == {"a", "b", "c"}
  preferences.run("delete", "a", "missing", "--if-exists")
  preferences.run("delete", "--all", code=64)
  assert set(json.loads(preferences.read())) == {"b", "c"}
  preferences.run("delete", "--all", "--yes")
  assert json.loads(preferences.read()) == {}


def test_deleting_all_asks_on_a_terminal(preferences):
  preferences.run("write", "key", "1")
  for answer, code in [("n", 130), ("", 130), ("y", 0)]:
    terminal = preferences.terminal("delete", "--all", "--domain", "web")
    terminal.expect_exact("delete all 1 preference of 'web'? [y/N] ")
    terminal.sendline(answer)
    assert ended(terminal)[0] == code
  assert json.loads(preferences.read()) == {}


def test_exports_are_imported_with_their_types(preferences, home):
  preferences.run("write", "float", "-float", "0.1")
  preferences.run("write", "date", "-date", "2027-01-31T12:00:00.123Z")
  preferences.run("write", "tag", "--json", '{"$dict": {"$date": "no date"}}')
  preferences.run("write", "data", "-data", "00ff")
  for name in ["all.json", "all.plist"]:
    path = str(home.folder / name)
    preferences.run("export", path, "--exact")
    assert os.stat(path).st_mode & 0o777 == 0o600
    preferences.run("export", path, code=75)
    preferences.run("export", path, "--overwrite", "--exact")
    preferences.run("import", path, domain=name)
  listed = preferences.run("list", "--json").json
  assert preferences.run("list", "--json", domain="all.json").json == listed
  kept = {item["key"]: item["value"] for item in listed if item["key"] != "float"}
  others = preferences.run("list", "--json", domain="all.plist").json
  assert {item["key"]: item["value"] for item in others if item["key"] != "float"} == kept


def test_an_export_does_not_replace_the_name_of_standard_output(preferences):
  preferences.run("write", "port", "8080")
  link = os.readlink("/dev/stdout")
  told = preferences.run("export", "/dev/stdout", "--overwrite")
  assert plistlib.loads(told.out) == {"port": "8080"} and os.readlink("/dev/stdout") == link


def test_property_lists_of_other_programs(preferences):
  values = {"a": 1, "b": [True, 1.5], "c": {"d": b"\x00\x01"}}
  for form in [plistlib.FMT_XML, plistlib.FMT_BINARY]:
    preferences.run("import", "-", "--replace", input=plistlib.dumps(values, fmt=form))
    assert plistlib.loads(preferences.run("export").out) == values


@pytest.mark.parametrize("command", [["read", "bytes", "--raw"], ["export"]])
def test_a_slow_reader_of_a_non_blocking_pipe_gets_all(preferences, command):
  value = os.urandom(1 << 19)
  preferences.run("write", "bytes", "-", "--raw", "--type", "data", input=value)
  reader, writer = os.pipe()
  os.set_blocking(writer, False)
  with preferences.start(*command, stdout=writer) as process:
    os.close(writer)
    out = b""
    # The writer is faster than these reads, so it finds the pipe full.
    while part := os.read(reader, 1024):
      out += part
    os.close(reader)
    assert process.wait(LIMIT) == 0, process.stderr.read()
  assert (plistlib.loads(out)["bytes"] if command == ["export"] else out) == value


def test_other_programs_read_exports(preferences):
  kept = {"line": "a\r\nb\rc\n", "key\r\n": ["\r", {"a\r": "\n"}]}
  archived = {"control": "a\x01b", "zero": ["\0"], "none": {"a": "\ufffe"}, "last": "\uffff"}
  preferences.run("import", "-", input=json.dumps(kept | archived).encode())
  exported = preferences.run("export", "--plist").out
  values = plistlib.loads(exported)
  assert {key: values[key] for key in kept} == kept
  assert type(values["control"]) is type(values["zero"][0]) is type(values["none"]["a"]) is bytes
  assert plistlib.loads(preferences.read("line", "--plist")) == kept["line"]
  assert type(plistlib.loads(preferences.read("last", "--plist"))) is bytes
  preferences.run("import", "-", domain="other", input=exported)
  assert json.loads(preferences.read(domain="other")) == kept | archived


@pytest.mark.parametrize("values", [{"a\x01": 1}, {"\uffff": 1}, {"a": [{"b\x01": 1}]}])
def test_keys_that_xml_lacks_are_reported(preferences, values):
  preferences.run("import", "-", input=json.dumps(values).encode())
  for command in ["export", "read"]:
    outcome = preferences.run(command, "--plist", code=64)
    assert outcome.out == b"" and "JSON" in outcome.error
    assert "'a'" in outcome.error or r"\u" in outcome.error
    assert json.loads(preferences.run(command, "--json").out) == values


def test_imports_merge_or_replace(preferences):
  preferences.run("write", "old", "1")
  outcome = preferences.run("import", "-", input=b'{"new": 1, "none": null, "list": [null, 2]}')
  assert "left out null: 'list[0]', 'none'" in outcome.error or "'none', 'list[0]'" in outcome.error
  assert json.loads(preferences.read()) == {"old": "1", "new": 1, "list": [2]}
  preferences.run("import", "-", "--replace", "--dry-run", input=b'{"new": 2}')
  assert json.loads(preferences.read()) == {"old": "1", "new": 1, "list": [2]}
  preferences.run("import", "-", "--replace", input=b'{"new": 2}')
  assert json.loads(preferences.read()) == {"new": 2}
  for malformed in [b"", b"{", b"[1]", b'{"a": 1, "a": 2}', b"<plist>", b"\xff"]:
    preferences.run("import", "-", "--replace", input=malformed, code=65)
  # Arrays with two references to the next one, of which each would become two: without end.
  arrays = b"".join(bytes([0xa2, 0, count, 0, count]) for count in range(3, 60))
  offsets = [8, 13, *range(15, 15 + 5 * 57, 5), 15 + 5 * 57]
  shared = b"bplist00" + bytes([0xd1, 0, 1, 0, 2, 0x51, 0x61]) + arrays + b"Qx"
  shared += b"".join(offset.to_bytes(2) for offset in offsets)
  shared += bytes([0] * 6 + [2, 2]) + b"".join(
    number.to_bytes(8) for number in [len(offsets), 0, 15 + 5 * 57 + 2])
  outcome = preferences.run("import", "-", "--replace", input=shared, code=65)
  assert "repeats its parts too often" in outcome.error
  outcome = preferences.run(
    "import", "-", input=b"<dict>\n<key>a</key><data>?</data></dict>", code=65)
  assert "line 2: the text of <data> is not base64" in outcome.error
  preferences.run("import", "missing.json", code=44)
  assert json.loads(preferences.read()) == {"new": 2}


def test_terminals_get_escapes(preferences):
  preferences.run("write", "key", "\x1b[31mred")
  assert preferences.read("key") == b"\x1b[31mred\n"
  for command in [("read", "key"), ("list",), ("read", "--json")]:
    terminal = preferences.terminal(*command, "--domain", "web")
    code, text = ended(terminal)
    assert code == 0 and "\x1b" not in text and "red" in text


def test_closed_and_full_output(preferences):
  preferences.run("write", "key", "1")
  for command in [["read", "key"], ["list"], ["export"], ["read", "key", "--raw"]]:
    preferences.run(*command, code=74, preexec_fn=lambda: os.close(1))
    with open("/dev/full", "wb") as full:
      preferences.run(*command, code=74, stdout=full)


@pytest.mark.parametrize("variable", ["XDG_CONFIG_HOME", "HOME"])
def test_variables_of_other_bytes_are_refused(preferences, home, variable):
  """As if they were not set, the value would go elsewhere."""
  folder = os.fsencode(home.folder) + b"/caf\xe9"
  os.mkdir(folder, 0o700)
  home.environment = {**home.environment, variable: folder}
  if variable == "HOME":
    del home.environment["XDG_CONFIG_HOME"]
  for arguments in (["write", "key", "value"], ["read", "key"]):
    refused = preferences.run(*arguments, code=64)
    assert variable in refused.error and "UTF-8" in refused.error
  assert os.listdir(folder) == [] and preferences.files() == []
