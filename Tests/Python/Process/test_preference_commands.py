"""Preferences that are read and written by commands."""

from __future__ import annotations

import json
import os
import plistlib

import pytest

from preference_testing import Preferences
from prefs_testing import LIMIT, ended, hinted


@pytest.fixture
def preferences(home) -> Preferences:
  return Preferences(home)


def test_reading_creates_nothing(preferences):
  outcome = preferences.run("read", "key", code=44)
  assert outcome.out == b"" and "'web'" in outcome.error
  preferences.run("list", code=44)
  preferences.run("list", domain=None)
  preferences.run("export", code=44)
  preferences.run("delete", "key", "--if-exists")
  assert preferences.read("port", "--default", "80", "--type", "int") == b"80\n"
  assert preferences.files() == []


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


@pytest.mark.parametrize("domain", ["..", ".a"])
def test_names_of_domains(preferences, domain):
  preferences.run("write", "key", "value", domain=domain, code=64)
  assert preferences.files() == []


def test_wrong_usage(preferences):
  outcome = preferences.run("write", "key", "{secret", "--json", code=64)
  assert outcome.out == b"" and "secret" not in outcome.error
  preferences.run("write", "port", "1")
  assert "did you mean '--domain web'?" in preferences.run("read", "web", "port", domain=None, code=64).error
  assert hinted(preferences.run("read", "prot", code=44)) == "did you mean 'port'?"


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
