"""Every command and option on a page exists in `prefs`."""

from __future__ import annotations

import itertools
import json
import re
import subprocess

import pytest

from pages import blocks, spans
from prefs_testing import LIMIT

PROGRAMS = r"(?:/usr/local/bin/)?(?:prefs|mytool)"
NAMES = "keychain|read|write|delete|list|watch|import|export|sync"
LINE = re.compile(rf"(?<![\w/-]){PROGRAMS} ((?:{NAMES})(?![\w-])(?: [^|&;#)>\n]*)?)")


@pytest.fixture(scope="module")
def commands(program) -> dict:
  """The command `prefs`, as the definitions of the commands describe it."""
  described = subprocess.run(
    [program, "--experimental-dump-help"], capture_output=True, timeout=LIMIT, check=True)
  return json.loads(described.stdout)["command"]


def subcommands(command: dict) -> dict[str, dict]:
  return {
    name: other for other in command.get("subcommands", [])
    for name in [other["commandName"], *other.get("aliases", [])]}


def options(command: dict) -> set[str]:
  dashes = {"long": "--", "short": "-", "longWithSingleDash": "-"}
  return {
    dashes[name["kind"]] + name["name"]
    for argument in command.get("arguments", []) for name in argument.get("names", [])}


def problem(commands: dict, words: list[str]) -> str | None:
  """Returns what is wrong with the words after `prefs`."""
  command, found = commands, []
  while words and words[0] in subcommands(command):
    command = subcommands(command)[words[0]]
    found.append(words.pop(0))
  if subcommands(command) and words and not words[0].startswith("-"):
    return f"{' '.join(found)} has no command {words[0]}"
  known = options(command)
  # What follows belongs to another program, or is a name.
  for word in itertools.takewhile(lambda word: word != "--", words):
    name = word.partition("=")[0]
    if re.fullmatch(r"--?[a-z][\w-]*", name) and name not in known:
      return f"{' '.join(found)} has no option {name}"
  return None


def typed() -> list[tuple[str, str]]:
  """The page and the words of each command line in a block or between backquotes."""
  texts = [(block.page, block.text.replace("\\\n", " ")) for block in blocks("sh", "console", "ini")]
  texts = [(page, line) for page, text in texts for line in text.splitlines()
           if not re.match(r"[\w ]*:? *prefs: |next: ", line)]
  return [(page, match[1]) for page, text in texts + spans() for match in LINE.finditer(text)]


TYPED = typed()


def test_named_commands_and_options_exist(commands):
  wrong = []
  for page, line in TYPED:
    words = [word for word in line.replace("'", "").replace('"', "").split()
             if not word.endswith("…")]
    if found := problem(commands, words):
      wrong.append(f"{page}: {found}")
  assert not wrong


def test_wrong_commands_and_options_are_noticed(commands):
  """The check itself finds a known fault."""
  assert len(TYPED) > 60
  assert problem(commands, ["keychain", "slots", "put"]) == "keychain slots has no command put"
  words = ["keychain", "get", "x"]
  assert problem(commands, [*words, "--newlines"]) == "keychain get has no option --newlines"
  assert problem(commands, [*words, "-s", "y", "--newline=never"]) is None
  assert problem(commands, ["write", "--domian", "x"]) == "write has no option --domian"
