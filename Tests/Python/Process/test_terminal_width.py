"""Output on narrow terminals and in pipes."""

from __future__ import annotations

import re

import pytest

from prefs_testing import ended

NARROW = {"dimensions": (24, 60)}


def shown(home, *arguments: str, **options) -> tuple[int | None, list[str]]:
  code, text = ended(home.terminal(*arguments, **(NARROW | options)))
  plain = re.sub(r"\x1b\[\d*m", "", text)
  return code, plain.replace("\r", "").splitlines()


def test_errors_and_hints_break_between_words(home):
  piped = home.run("get", "alice", "--server", "example.org", "--service", "s", code=64)
  assert len(piped.error.splitlines()) == 2
  code, lines = shown(home, "get", "alice", "--server", "example.org", "--service", "s")
  assert code == 64 and all(len(line) <= 60 for line in lines), lines
  assert len(lines) > 2 and lines[1].startswith("  ")
  assert " ".join(" ".join(lines).split()) == " ".join(piped.error.split())


def test_command_in_hint_stays_on_one_line(home):
  home.init()
  home.set("x", b"1", *home.passphrase())
  home.run("lock", "--all")
  for width in range(40, 80, 5):
    code, lines = shown(home, "get", "x", "--no-prompt", dimensions=(24, width))
    assert code == 77 and any("'prefs keychain unlock'" in line for line in lines), lines


def test_table_is_cut_on_terminal_but_not_piped(home):
  home.set("alice", b"1", "--service", "s" * 40, "--label", "l" * 50, "--expires", "90d")
  code, lines = shown(home, "list")
  assert code == 0 and len(lines) == 2 and all(len(line) <= 60 for line in lines), lines
  assert "…" in lines[1] and lines[0].startswith("SERVICE")
  assert "GROUP" not in lines[0]
  fields = home.run("list").out.decode().rstrip("\n").split("\t")
  assert fields[0] == "s" * 40 and fields[-2:] == ["l" * 50, "vault"]


def test_a_description_is_wrapped_below_its_values(home):
  home.set("alice", b"1", "--comment", "many words " * 20)
  code, lines = shown(home, "show", "alice")
  assert code == 0 and all(len(line) <= 60 for line in lines)
  assert any(re.match(r" {10,}many words", line) for line in lines)
  assert f" {'many words ' * 20}\n" in home.run("show", "alice").out.decode()


@pytest.mark.parametrize(("columns", "longest"), [(60, 60), (80, 80), (300, 100)])
def test_help_fits_terminal_and_stays_readable(home, columns, longest):
  code, lines = shown(home, "set", "--help", dimensions=(24, columns))
  assert code == 0 and max(map(len, lines)) <= longest
  assert max(map(len, lines)) > longest - 20
  piped = home.run("set", "--help").out.decode().splitlines()
  assert max(map(len, piped)) <= 80
  assert "OPTIONS:" in lines and lines.index("OPTIONS:") < lines.index("WHICH STORE:")


def test_questions_break_between_words(home):
  home.init("--no-device", "--new-key-file", "key")
  narrow = {"dimensions": (24, 41)}
  terminal = home.terminal("slots", "remove", "2", *home.passphrase(), **narrow)
  terminal.expect_exact("[y/N] ")
  lines = terminal.before.decode().replace("\r", "").splitlines()
  assert len(lines) > 1 and all(len(line) <= 41 for line in lines), lines
  terminal.sendline("no")
  assert ended(terminal)[0] == 130
  terminal = home.terminal("recovery", "create", *home.passphrase(), **narrow)
  terminal.expect_exact("type it in once")
  shown = terminal.before.decode().replace("\r", "").replace("\n", " ")
  assert "not shown again." in re.sub(" +", " ", shown), shown
  terminal.sendcontrol("c")
  assert ended(terminal)[0] == 130


def test_path_in_question_keeps_its_colon(home):
  home.init("--no-device")
  home.set("a", b"1", *home.passphrase())
  home.run("lock", "--all")
  question = f"prefs: passphrase of {home.vault}:"
  for columns in (len(question) - 1, len(question), len(question) + 3):
    terminal = home.terminal("get", "a", dimensions=(24, columns))
    terminal.expect_exact(f"prefs: passphrase of\r\n  {home.vault}: ")
    terminal.sendcontrol("c")
    assert ended(terminal)[0] == 130


def test_questions_name_the_account_both_times(home):
  names = {
    ("ci", "--service", "x y"): "ci (service x y)",
    ("ci", "-g", "team"): "ci (service default, access group team)",
    ("ci", "--server", "example.org"): "ci (server example.org)",
    ("", "--server", "example.org"): "server example.org",
    ("a\x1b[2J",): "a\\u{1b}[2J (service default)",
  }
  for arguments, name in names.items():
    terminal = home.terminal("set", *arguments)
    terminal.expect_exact(f"secret for {name}: ")
    terminal.sendline("1")
    terminal.expect_exact(f"the same secret for {name} again: ")
    terminal.sendline("1")
    assert ended(terminal)[0] == 0


def test_quiet_says_nothing_but_errors(home):
  assert home.set("a", b"1\n", "-q").error == ""
  missing = home.run("get", "nope", "-q", code=44)
  assert "no credential 'nope'" in missing.error and "hint" not in missing.error
  locked = home.run("slots", "add", "--new-passphrase-file", home.passphrase()[1], "--quiet")
  assert locked.error == ""
  refused = home.run("slots", "remove", "9", "--yes", "-q", code=44)
  assert "error" in refused.error and "hint" not in refused.error
  assert home.run("slots", "remove", "9", "--yes", code=44).error.count("hint") == 1


def test_quiet_shows_what_a_question_is_about(home):
  home.init()
  home.run("unlock", *home.passphrase())
  home.set("bound", b"1", "--accessibility", "whenPasscodeSetThisDeviceOnly")
  number = next(str(slot["number"]) for slot in home.run("slots", "list", "--json").json
                if slot["kind"] == "passphrase")
  terminal = home.terminal("slots", "remove", number, "--delete-items", "-q", *home.passphrase())
  terminal.expect_exact("will be deleted:")
  terminal.expect_exact("[y/N] ")
  terminal.sendline("n")
  assert ended(terminal)[0] == 130


def test_short_options_are_the_long_ones(home):
  home.set("deploy", b"1", "-s", "ci", "-g", "team")
  assert home.get("deploy", "--service", "ci", "--access-group", "team") == b"1"
  for options in (["-s", "ci"], ["-a", "deploy"], ["-s", "ci", "-a", "deploy"]):
    assert len(home.run("list", "-g", "team", *options, "--json").json) == 1
  assert home.run("list", "-a", "other", "--json").json == []
  home.run("doctor", "-s", "ci")
  assert b"USAGE" in home.run("get", "-h").out
  wrong = home.run("set", "deploy", "-s=", input=b"1", code=64)
  assert "nothing after its equals sign" in wrong.error


@pytest.mark.parametrize(("words", "error"), [
  (["backup", "-", "--replace"], "--replace needs a file"), (["set", "--group", "X", "name"], "unknown option '--group'"),
  (["set", "--group", "X", "name"], "did you mean '--access-group'?"),
  (["set", "a", "secret"], "never taken from an argument"),
  (["help", "nosuch"], "no command 'nosuch'"), (["add"], "'prefs keychain slots add'"),
  (["add"], "did you mean 'set' or 'prefs"), (["remove", "github"], "did you mean 'delete'?"),
  (["set", "x", "-e", "3d"], "unknown option '-e'"), (["set", "x", "secret", "-s", "ci"], "never taken from an argument"),
  (["unlock", "--timeout", "30"], "30s for seconds, or 30m for minutes"),
  (["get", "x", "--deadline", "5"], "5s for seconds"),
])
def test_wrong_use_is_called_what_it_is(home, words, error):
  outcome = home.run(*words, code=64)
  assert error in outcome.error
  assert not (home.folder / "-").exists()


def test_what_needs_a_yes_ends_the_same_way(home):
  home.init("--new-key-file", str(home.folder / "key"))
  unlock = home.passphrase()
  number = next(str(slot["number"]) for slot in home.run("slots", "list", "--json").json
                if slot["kind"] == "key-file" or slot["kind"] == "keyFile")
  codes = [home.run(*words, *unlock, code=64).code for words in (
    ["rekey"], ["slots", "remove", number], ["slots", "remove", number, "--keep-keys"])]
  assert codes == [64, 64, 64]
  assert len(home.run("slots", "list", "--json").json) == 3
