"""A program that mounts the commands of preferences alone."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest


@pytest.fixture
def run(preference_tool, tmp_path):
  def run(*arguments):
    return subprocess.run(
      [preference_tool, *arguments], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL,
      env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)})
  return run


def test_keychain_is_not_linked(preference_tool, program):
  libraries = subprocess.run(["ldd", preference_tool], capture_output=True, text=True, check=True).stdout
  assert "libsodium" not in libraries and "libsecret" not in libraries
  # A stripped program has no symbols, but the descriptions of its types name their modules.
  contents = Path(preference_tool).read_bytes()
  assert b"\0PrephirencesCommandLine\0" in contents
  assert b"\0KeychainCredentials\0" not in contents and b"libsecret" not in contents
  assert b"\0KeychainCredentials\0" in Path(program).read_bytes()


def test_domain_and_names_are_those_of_the_host(run, tmp_path):
  assert run("preferences", "write", "port", "8080", "--type", "int").returncode == 0
  read = run("preferences", "read", "port")
  assert (read.returncode, read.stdout, read.stderr) == (0, "8080\n", "")
  missing = run("preferences", "read", "absent")
  assert (missing.returncode, missing.stdout) == (44, "")
  assert missing.stderr.startswith("settingstool: error: ")
  help = run("preferences", "read", "--help").stdout
  assert "settingstool preferences read" in help and "prefs " not in help


def test_group_alone_is_wrong_use(run):
  for words in ([], ["preferences"]):
    outcome = run(*words)
    assert (outcome.returncode, outcome.stdout) == (64, "")


def test_pages_are_made(run, tmp_path):
  pages = tmp_path / "pages"
  assert run("--generate-man-pages", str(pages)).returncode == 0
  page = (pages / "settingstool-preferences-read.1").read_text()
  assert "EXIT STATUS" in page and "KEYCHAIN" not in page
