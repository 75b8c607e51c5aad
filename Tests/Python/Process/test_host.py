"""The commands in programs that mount them: all texts use the host's name."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from desktop_session import desktop
from prefs_testing import LIMIT, PASSPHRASE, Home, Outcome, ended, helps, hinted

SERVICE = "com.example.mytool"


@pytest.fixture
def mytool(sample_tool, home) -> Home:
  """The home of the other fixtures, with `mytool keychain` instead of `prefs keychain`."""
  host = Home.__new__(Home)
  host.__dict__ |= home.__dict__ | {"program": sample_tool}
  return host


def run(home: Home, *arguments: str, program: str | Path | None = None, **options) -> Outcome:
  """Runs the program itself, and not its `keychain`."""
  done = subprocess.run(
    [program or home.program, *arguments], env=home.environment, cwd=home.folder, timeout=LIMIT,
    stdin=subprocess.DEVNULL, capture_output=True, **options)
  return Outcome(done.returncode, done.stdout, done.stderr.decode())


def test_its_own_commands_still_work(mytool):
  assert run(mytool, "whoami").out == b"nobody\n"
  mytool.set("api", b"12345")
  assert run(mytool, "whoami").out == b"5 characters\n"
  assert run(mytool, "fail").code == 3
  assert run(mytool, "fail").error == ""
  for arguments in (["--version"], ["keychain", "--version"]):
    assert run(mytool, *arguments).out == b"1.2.3\n"


def test_its_service_is_the_default(mytool, home):
  mytool.set("api", b"token")
  assert mytool.get("api") == b"token"
  assert home.get("api", "--service", SERVICE) == b"token"
  home.run("get", "api", code=44)
  home.set("api", b"other", "--service", "other")
  assert mytool.get("api") == b"token"
  assert mytool.run("list", "--json").json[0]["service"] == SERVICE


def test_it_shows_its_own_service_alone(mytool, home):
  mytool.set("api", b"token", "--expires", "2020-01-01", "--access-group", "team")
  mytool.set("api", b"token", "--attribute", "env=test")
  home.set("bob", b"x", "--service", "other", "--attribute", "env=test")
  home.set("bob", b"x", "--server", "example.org", "--expires", "2020-01-01")
  def listed(host, *options):
    return [(item.get("service"), item.get("server")) for item in host.run("list", "--json", *options).json]
  assert listed(mytool) == [(SERVICE, None)]
  assert listed(mytool, "--all-groups") == [(SERVICE, None)] * 2
  everything = [(SERVICE, None), (None, "example.org"), ("other", None)]
  assert listed(mytool, "--all-services") == everything == listed(home) == listed(home, "--all-services")
  assert listed(mytool, "--service", "other") == [("other", None)]
  assert listed(mytool, "--server", "example.org") == [(None, "example.org")]
  assert mytool.run("get", "--attribute", "env=test").out == b"token"
  mytool.run("get", "--attribute", "env=test", "--all-services", code=76)
  assert hinted(mytool.run("get", "bob", code=44)) == ""
  mytool.run("get", "bob", "--all-services", code=76)
  assert mytool.run("get", "bob", "--all-services", "--attribute", "env=test").out == b"x"
  assert mytool.run("get", "api", "--all-services").out == b"token"
  assert "of any service or server" in mytool.run("get", "eve", "--all-services", code=44).error
  assert "add --all-services" in mytool.run("list", "--other-programs", code=64).error
  assert "--service other" in hinted(home.run("get", "bob", code=44))
  for command in (["list"], ["get", "bob"], ["export", "x"]):
    refused = mytool.run(*command, "--service", "other", "--all-services", code=64)
    assert "exclude each other" in refused.error
  assert [host.run("doctor", "--json").json["expired"] for host in (mytool, home)] == [1, 2]
  assert b"mytool keychain list --all-groups --expiring-within 30d" in mytool.run("doctor").out


def test_it_completes_the_names_that_it_finds(mytool, home):
  mytool.set("api", b"token")
  home.set("bob", b"x", "--service", "other")
  mytool.environment = mytool.environment | {"SAP_SHELL": "fish", "SAP_SHELL_VERSION": "4.0.0"}
  def offered(*words):
    index = str(len(words) + 3)
    return run(
      mytool, "---completion", "keychain", "get", "--", "positional@0", index, "1", "mytool", "keychain",
      "get", *words, "b").out.split()
  assert offered() == [b"api"]
  assert offered("--all-services") == [b"api", b"bob"]
  assert offered("--service", "other") == [b"bob"]


def test_its_hints_reach_what_they_are_about(mytool, home):
  mytool.set("api", b"token", "--store", "vault")
  given = ("--export-passphrase-file", home.file("pass", b"an export's"))
  with desktop(home):
    home.set("bob", b"x", "--service", "other")
    move = "mytool keychain migrate --from secret-service --to vault --all-services'"
    assert move in hinted(mytool.run("backup", "backup"))
    assert move in hinted(mytool.run("export", "all", "--all-services", *given))
    assert move in hinted(mytool.run("export", "other", "-s", "other", *given, code=44))
    typo = ("migrate", "--from", "vault", "--to", "secret-service", "-s", "typo")
    assert "list --all-services'" in hinted(mytool.run(*typo, code=44))
    mytool.set("late", b"x", "--store", "secret-service")
    left = hinted(mytool.run("export", "own", *given))
    assert "migrate" in left and "--all-services" not in left


def test_it_exports_its_own_service_alone(mytool, home):
  mytool.set("api", b"token")
  home.set("bob", b"x", "--service", "other")
  given = ("--json", "--export-passphrase-file", home.file("pass", b"an export's"))
  counts = [host.run("export", name, *options, *given).json["items"] for host, name, *options in (
    (mytool, "a"), (mytool, "b", "--all-services"), (mytool, "c", "--service", "other"), (home, "d"))]
  assert counts == [1, 2, 1, 2]


def test_it_moves_its_own_service_alone(mytool, home):
  mytool.set("api", b"token")
  home.set("bob", b"x", "--service", "other")
  move = ("migrate", "--from", "vault", "--to", "secret-service", "--json")
  mytool.run(*move, "--service", "other", "--all-services", code=64)
  assert "--all-services" in mytool.run("migrate", "--help").out.decode()
  assert "--all-services" not in home.run("migrate", "--help").out.decode()
  with desktop(home):
    assert mytool.run(*move, "--dry-run").json["copied"] == 1
    assert mytool.run(*move, "--dry-run", "--all-services").json["copied"] == 2
    assert mytool.run(*move).json["completeServices"] == [{"service": SERVICE}]


def test_every_help_speaks_of_the_host(mytool):
  texts = dict((" ".join(path), text) for path, text in helps(mytool.program, mytool.environment))
  assert {"keychain get", "keychain slots add", "keychain doctor"} <= texts.keys()
  for path, text in texts.items():
    assert "prefs" not in text and "SampleTool" not in text, path
    assert f"USAGE: {' '.join(['mytool', *path.split()])}" in text, path
  assert f"'{SERVICE}' where one must be named" in " ".join(texts["keychain get"].split())
  assert "mytool keychain get alice" in texts["keychain get"]


@pytest.mark.parametrize("arguments", [["help", "keychain", "get"], ["keychain", "help", "get"]])
def test_help_is_found_both_ways(mytool, arguments):
  assert run(mytool, *arguments).out == run(mytool, "keychain", "get", "--help").out


@pytest.mark.parametrize(
  ("arguments", "error", "hint"),
  [
    (["get"], "name an account", "see 'mytool keychain get --help'"),
    (["gett", "x"], "there is no command 'gett'; did you mean 'get'?",
     "see 'mytool keychain --help'"),
    (["slots", "ad"], "there is no command 'ad'; did you mean 'add'?",
     "see 'mytool keychain slots --help'"),
    (["set", "a", "b"], "never taken from an argument", "see 'mytool keychain set --help'"),
  ])
def test_usage_errors_use_its_name(mytool, arguments, error, hint):
  outcome = mytool.run(*arguments, code=64)
  assert all(line.startswith("mytool: ") for line in outcome.error.splitlines())
  assert error in outcome.error
  assert hinted(outcome) == hint


def test_failures_and_hints_use_its_name(mytool):
  absent = mytool.run("get", "nope", code=44)
  assert absent.error == f"mytool: error: there is no credential 'nope' of service '{SERVICE}'\n"
  made = mytool.init()
  assert made.error.startswith("mytool: ")
  mytool.run("lock", "--all")
  locked = mytool.run("set", "api", input=b"x", code=77)
  assert "mytool keychain unlock" in hinted(locked)
  assert "prefs " not in locked.error
  mytool.run("get", "api", *mytool.passphrase(b"wrong"), code=78)
  assert b"mytool keychain unlock" in mytool.run("doctor").out


def test_questions_are_asked_under_its_name(mytool):
  mytool.init()
  mytool.set("api", b"token", *mytool.passphrase())
  terminal = mytool.terminal("get", "api")
  terminal.expect("mytool: passphrase of [^:]*: ")
  terminal.sendline("wrong")
  terminal.expect("try again\r\nmytool: passphrase of [^:]*: ")
  terminal.sendline(PASSPHRASE.decode())
  assert ended(terminal) == (0, "\r\ntoken\r\n")


@pytest.fixture
def plaintool(plain_sample_tool, home) -> Path:
  """A program that mounts the commands, and runs by the argument parser's own entry."""
  path = home.folder / "plaintool"
  path.symlink_to(plain_sample_tool)
  return path


def test_the_argument_parsers_entry_will_do(plaintool, home):
  assert run(home, "wait", program=plaintool).out == b"waited\n"
  home.set("api", b"token")
  assert run(home, "keychain", "get", "api", program=plaintool).out == b"token"
  absent = run(home, "keychain", "get", "nope", program=plaintool)
  assert absent.code == 44
  assert absent.error == "plaintool: error: there is no credential 'nope' of service 'default'\n"
  wrong = run(home, "keychain", "get", program=plaintool)
  assert wrong.code == 64 and "plaintool keychain get --help" in wrong.error
  for path, text in helps(str(plaintool), home.environment):
    assert "prefs" not in text, path


def test_the_argument_parsers_entry_notices_closed_streams(plaintool, home):
  home.set("api", b"token")
  command = f"exec {plaintool} keychain get api >&-"
  outcome = run(home, "-c", command, program="/bin/sh")
  assert outcome.code == 74, outcome


@pytest.mark.parametrize("words", [[], ["keychain"], ["keychain", "slots"]])
def test_a_missing_command_uses_its_name(mytool, words):
  missing = run(mytool, *words)
  assert (missing.code, missing.out) == (64, b"")
  assert missing.error == (
    f"mytool: error: name a command\nmytool: hint: see '{' '.join(['mytool', *words])} --help'\n")


@pytest.mark.parametrize("words", [["keychain"], ["keychain", "recovery"]])
def test_a_missing_command_below_the_argument_parsers_entry(plaintool, home, words):
  missing = run(home, *words, program=plaintool)
  assert (missing.code, missing.out) == (64, b"")
  assert f"see 'plaintool {' '.join(words)} --help'" in missing.error
