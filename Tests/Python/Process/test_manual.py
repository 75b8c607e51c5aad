"""The manual pages, made by the program from the definitions of its commands."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from prefs_testing import LIMIT, helps


def made(program: str, folder: Path, **environment: str) -> dict[str, str]:
  """The pages of a program, by their names."""
  done = subprocess.run(
    [program, "--generate-man-pages", str(folder)], env={"PATH": "/usr/bin:/bin"} | environment,
    capture_output=True, timeout=LIMIT)
  assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
  return {path.name: path.read_text(encoding="ascii") for path in folder.iterdir()}


@pytest.fixture(params=["prefs", "mytool"])
def pages(request, tmp_path, program, sample_tool) -> tuple[str, Path, dict[str, str]]:
  chosen = program if request.param == "prefs" else sample_tool
  return request.param, tmp_path / "man", made(chosen, tmp_path / "man")


def rendered(path: Path, *command: str) -> str:
  done = subprocess.run(
    [*command, str(path)], capture_output=True, text=True, timeout=LIMIT,
    env={"PATH": "/usr/bin:/bin", "MANWIDTH": "200", "LC_ALL": "C.UTF-8", "MANPAGER": "cat",
         "MAN_KEEP_FORMATTING": "", "GROFF_NO_SGR": "1"})
  assert done.returncode == 0 and done.stderr == "", done
  return done.stdout


def test_every_command_has_a_page(pages, program, sample_tool):
  name, _, texts = pages
  chosen = program if name == "prefs" else sample_tool
  commands = ["-".join([name, *path]) for path, _ in helps(chosen, {"PATH": "/usr/bin:/bin"})]
  assert set(texts) == {f"{command}.1" for command in commands}
  assert {f"{name}-keychain-get.1", f"{name}-keychain-slots-add.1"} <= set(texts)


def test_pages_are_faultless(pages):
  _, folder, texts = pages
  lint = subprocess.run(
    ["mandoc", "-Tlint", "-Wwarning", *(str(folder / name) for name in texts)],
    capture_output=True, text=True, timeout=LIMIT)
  assert (lint.returncode, lint.stdout, lint.stderr) == (0, "", "")
  for name in texts:
    rendered(folder / name, "man", "--warnings", "-l")


def test_the_first_line_and_the_examples_are_whole(pages):
  name, folder, texts = pages
  for page in texts:
    title = page.removesuffix(".1").upper() + "(1)"
    done = subprocess.run(
      ["man", "-l", str(folder / page)], capture_output=True, text=True, timeout=LIMIT,
      env={"PATH": "/usr/bin:/bin", "MANWIDTH": "80", "LC_ALL": "C.UTF-8", "MANPAGER": "cat"})
    words = done.stdout.splitlines()[0].split()
    assert words[0] == words[-1] == title and words[1:-1] in ([], ["User", "Commands"])
  get = rendered(folder / f"{name}-keychain-get.1", "man", "-l")
  assert get.index("EXAMPLES") < get.index("get alice --service") < get.index("curl --fail -H @-")


def test_pages_say_what_help_says(pages, program, sample_tool):
  name, folder, _ = pages
  chosen = program if name == "prefs" else sample_tool
  for path, help_text in helps(chosen, {"PATH": "/usr/bin:/bin"}):
    page = rendered(folder / f"{'-'.join([name, *path])}.1", "man", "-l")
    assert " ".join([name, *path]) in page
    for word in help_text.split():
      if word.startswith("--") and len(word) > 2 and word.strip(".,;:)").lstrip("-").isalpha():
        assert word.strip(".,;:)") in page, (path, word)


def test_pages_speak_of_the_host(pages):
  name, folder, texts = pages
  for page, text in texts.items():
    assert name == "prefs" or "prefs" not in text, page
  keychain = rendered(folder / f"{name}-keychain.1", "man", "-l")
  assert f"{name} keychain get alice --service example.com" in keychain
  for heading in ("ENVIRONMENT", "FILES", "EXIT STATUS", "SEE ALSO"):
    assert heading in keychain
  get = rendered(folder / f"{name}-keychain-get.1", "man", "-l")
  lines = [line.split(maxsplit=1) for line in get.split("EXIT STATUS")[1].splitlines() if line]
  codes = dict(line for line in lines if line[0].isdigit() and len(line) == 2)
  assert codes["44"] == "not found" and codes["77"] == "locked" and len(codes) == 17


def test_pages_are_the_same_everywhere(program, tmp_path):
  one = made(program, tmp_path / "one", HOME="/one", TZ="Asia/Tokyo", KEYCHAIN_VAULT="/one/v.db")
  assert made(program, tmp_path / "two", HOME="/two", LANG="C", COLUMNS="60") == one


def test_uncreatable_folder_is_an_error(program, tmp_path):
  def code(*arguments: str) -> int:
    return subprocess.run(
      [program, "--generate-man-pages", *arguments], capture_output=True, timeout=LIMIT).returncode
  assert code(str(tmp_path / "no" / "such")) == 74
  assert code() == 64
