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


@pytest.mark.parametrize(("columns", "longest"), [(60, 60), (300, 100)])
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
  terminal = home.terminal("set", "a\x1b[2J")
  for question in ("", "the same "):
    terminal.expect_exact(f"{question}secret for a\\u{{1b}}[2J (service default)")
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


def test_quiet_shows_the_subject_of_a_question(home):
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


@pytest.mark.parametrize(("words", "error"), [
  (["backup", "-", "--replace"], "--replace needs a file"),
  (["set", "--group", "X", "name"], "did you mean '--access-group'?"),
])
def test_wrong_use_is_named(home, words, error):
  outcome = home.run(*words, code=64)
  assert error in outcome.error
  assert not (home.folder / "-").exists()


def test_unconfirmed_changes_end_the_same_way(home):
  home.init("--new-key-file", str(home.folder / "key"))
  unlock = home.passphrase()
  number = next(str(slot["number"]) for slot in home.run("slots", "list", "--json").json
                if slot["kind"] == "key-file" or slot["kind"] == "keyFile")
  codes = [home.run(*words, *unlock, code=64).code for words in (
    ["rekey"], ["slots", "remove", number], ["slots", "remove", number, "--keep-keys"])]
  assert codes == [64, 64, 64]
  assert len(home.run("slots", "list", "--json").json) == 3
