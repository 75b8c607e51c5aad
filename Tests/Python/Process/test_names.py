"""Names of credentials: bytes, groups, servers and attributes."""

from __future__ import annotations

import json
import subprocess

import pytest

from prefs_testing import LIMIT, hinted

COMPOSED, DECOMPOSED = "\u00e9", "e\u0301"


def test_names_compare_as_bytes(home):
  assert COMPOSED != DECOMPOSED
  home.set(COMPOSED, b"composed", "--service", "s")
  home.set(DECOMPOSED, b"decomposed", "--service", "s")
  assert home.get(COMPOSED, "--service", "s") == b"composed"
  assert home.get(DECOMPOSED, "--service", "s") == b"decomposed"
  home.set("a", b"1", "--service", COMPOSED, "--access-group", DECOMPOSED)
  home.run("get", "a", "--service", DECOMPOSED, "--access-group", DECOMPOSED, code=44)
  home.run("get", "a", "--service", COMPOSED, "--access-group", COMPOSED, code=44)
  assert home.run("list", "--service", COMPOSED, "--json").json == []


@pytest.mark.parametrize("name", [
  "a b", "'\"$`\\", "\n", "\t", "🇩🇪👩‍👩‍👧", "\u202egnirts", "a" * 4096,
  "../../etc/passwd", "%s%n", "'; DROP TABLE item; --"])
def test_any_text_is_a_name(home, name):
  home.set(name, b"x", "--service", name, "--access-group", name, "--label", name)
  options = ["--service", name, "--access-group", name]
  assert home.get(name, *options) == b"x"
  shown = home.run("show", "--json", *options, "--", name).json
  assert [shown[key] for key in ("account", "service", "accessGroup", "label")] == [name] * 4


LONGEST = 65536 - len("default" + "alice")


def test_names_and_texts_have_64_kib_together(home):
  home.set("alice", b"x", "--label", "l" * LONGEST)
  before = home.run("show", "alice", "--json").json
  long = "l" * (LONGEST + 1)
  for arguments in (
    ("set", "alice", "--label", long), ("update", "alice", "--label", long),
    ("update", "alice", "--comment", "c"), ("update", "alice", "--attribute", "a=b"),
    ("rename", "alice", "alicia"), ("set", "bob", "--comment", long + "ll"), ("set", long + "l" * 5)):
    refused = home.run(*arguments, input=b"new" if arguments[0] == "set" else None, code=79)
    assert "more than 65536 bytes together" in refused.error and "shorten them" in hinted(refused)
    assert len(refused.error) < 1000
  assert home.run("show", "alice", "--json").json == before and home.get("alice") == b"x"
  assert [item["account"] for item in home.run("list", "--json").json] == ["alice"]
  login = {"ServerURL": "registry", "Username": "u" * 65536, "Secret": "s"}
  failed = home.run("docker-credential", "store", input=json.dumps(login).encode(), code=1)
  assert b"more than 65536 bytes together" in failed.out
  home.run("verify")


def test_terminals_see_no_control_characters(home):
  name = "\x1b[31mred\x07\u202e"
  error = home.run("get", name, code=44).error
  assert "\x1b" not in error and "\x07" not in error and "\u202e" not in error
  home.set(name, b"x")
  assert b"\x1b" not in home.run("list").out and b"\x1b" not in home.run("show", name).out


@pytest.mark.parametrize("arguments", [
  [b"set", b"\xff"], [b"get", b"a", b"--service", b"caf\xe9"],
  [b"set", b"a", b"--insecure-value", b"\xc3\x28"]])
def test_arguments_that_are_not_text(home, arguments):
  refused = home.run(*arguments, code=64)
  assert "not valid UTF-8" in refused.error
  assert not home.vault.exists()


@pytest.mark.parametrize("name", ["-", "--", "-x", "--json", "--help"])
def test_names_that_begin_with_a_dash(home, name):
  home.set(name, b"x", f"--service={name}")
  assert home.get(name, f"--service={name}") == b"x"
  listed = home.run("list", f"--service={name}", f"--account={name}", "--json").json
  assert [item["account"] for item in listed] == [name]
  home.run("delete", f"--service={name}", "--", name)


def test_option_takes_name_with_leading_dash(home):
  home.set("alice", b"x", "--service", "--json", "--label", "-l", "--access-group", "-g")
  assert home.get("alice", "--service", "--json", "--access-group", "-g") == b"x"


@pytest.mark.parametrize("option", ["--service=", "--access-group=", "--server=", "--label="])
def test_an_empty_value_swallows_no_other_argument(home, option):
  home.set("alice", b"x")
  refused = home.run("set", option, "alice", "bob", code=64)
  assert "nothing after its equals sign" in refused.error
  home.set("--service=", b"y", "--service", "", "--label", "a=")
  assert home.get("--service=", "--service", "") == b"y"


def test_groups_are_apart(home):
  home.set("alice", b"unnamed")
  home.set("alice", b"work", "--access-group", "work")
  assert home.get("alice") == b"unnamed"
  assert home.get("alice", "--access-group", "work") == b"work"
  assert len(home.run("list", "--json").json) == 1
  assert len(home.run("list", "--all-groups", "--json").json) == 2
  home.run("delete", "alice")
  home.run("get", "alice", code=44)
  assert home.get("alice", "--access-group", "work") == b"work"


def test_attributes_of_names_that_only_look_equal(home):
  names = {"\u00e9": "one", "e\u0301": "two"}
  home.set("alice", b"x", *(f"--attribute={name}={value}" for name, value in names.items()))
  assert home.run("show", "alice", "--json").json["attributes"] == names


def test_the_default_service(home):
  home.set("alice", b"x")
  assert home.get("alice", "--service", "default") == b"x"
  home.run("get", "alice", "--service", "", code=44)


def test_internet_passwords(home):
  server = ["--server", "example.com"]
  home.set("alice", b"https", *server, "--protocol", "https", "--port", "443", "--path", "/a")
  assert home.get("alice", *server) == b"https"
  home.set("alice", b"ssh", *server, "--protocol", "ssh", "--port", "22")
  refused = home.run("get", "alice", *server, code=76)
  assert "protocol 'https'" in refused.error and "protocol 'ssh'" in refused.error
  assert home.get("alice", *server, "--port", "22") == b"ssh"
  assert home.get("alice", *server, "--protocol", "https") == b"https"
  # Exactly the names given come first.
  home.set("alice", b"bare", *server)
  assert home.get("alice", *server) == b"bare"
  home.run("get", "alice", code=44)
  home.run("update", "alice", *server, "--port", "22", "--label", "shell")
  assert home.run("show", "alice", *server, "--port", "22", "--json").json["label"] == "shell"
  home.run("delete", "alice", *server, "--path", "/a")
  assert sorted(item["protocol"] for item in home.run("list", *server, "--json").json) == [
    "", "ssh"]


@pytest.mark.parametrize("options", [
  ["--server", "h", "--service", "s"], ["--port", "22"], ["--server", "h", "--port", "65536"],
  ["--server", "h", "--port", "-1"]])
def test_names_that_do_not_go_together(home, options):
  home.set("alice", b"x", *options, code=64)
  assert not home.vault.exists()


def test_lookup_by_attribute(home):
  home.set("alice", b"a", "--attribute", "env=test", "--attribute", "team=red")
  home.set("bob", b"b", "--attribute", "env=test", "--service", "web")
  assert home.run("get", "--attribute", "team=red").out == b"a"
  refused = home.run("get", "--attribute", "env=test", code=76)
  assert "'alice'" in refused.error and "'bob'" in refused.error and refused.out == b""
  assert home.run("get", "--attribute", "env=test", "--service", "web").out == b"b"
  assert home.run("get", "alice", "--attribute", "env=test").out == b"a"
  assert "'env'" in home.run("get", "--attribute", "env=live", code=44).error
  home.run("get", "--attribute", "env", code=64)
  home.run("get", code=64)


def test_a_secret_is_in_no_list_of_processes(home):
  """Storing a secret with a shell pipe does not expose it."""
  home.set("alice", b"hunter2")
  process = home.start("set", "alice", stdin=subprocess.PIPE)
  try:
    with open(f"/proc/{process.pid}/cmdline", "rb") as arguments:
      assert b"hunter2" not in arguments.read()
    process.communicate(b"hunter2", timeout=LIMIT)
  finally:
    process.kill()
  assert process.returncode == 0
