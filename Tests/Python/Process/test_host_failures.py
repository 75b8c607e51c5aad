"""Failures of a program's own commands, run through the entry point of this package."""

from __future__ import annotations

import subprocess

import pytest

from prefs_testing import LIMIT

SERVICE = "com.example.mytool"
SEE = "mytool: hint: see 'mytool fail --help'\n"


def fail(sample_tool, home, *words: str) -> tuple[int, str, bytes]:
  done = subprocess.run(
    [sample_tool, "fail", *words], env=home.environment, cwd=home.folder, timeout=LIMIT,
    stdin=subprocess.DEVNULL, capture_output=True)
  return done.returncode, done.stderr.decode(), done.stdout


@pytest.mark.parametrize(("way", "code", "message"), [
  ("plain", 1, "NotSignedIn()"),
  ("worded", 1, "GitHub refused the token."),
  ("cancelled", 130, "cancelled"),
])
def test_an_error_has_its_own_words(sample_tool, home, way, code, message):
  assert fail(sample_tool, home, way) == (code, f"mytool: error: {message}\n", b"")


def test_parser_errors_are_lowercased_unlike_the_hosts(sample_tool, home):
  code, error, _ = fail(sample_tool, home, "use")
  assert code == 64 and error.startswith("mytool: error: GitHub is down.\nmytool: hint: see 'mytool")
  assert fail(sample_tool, home, "--refuse") == (64, f"mytool: error: GitHub is down. Wait.\n{SEE}", b"")
  code, error, _ = fail(sample_tool, home, "--unknown")
  assert (code, error) == (64, f"mytool: error: unknown option '--unknown'\n{SEE}")


def test_unsaved_value_exits_with_its_cause(sample_tool, home):
  code, error, out = fail(sample_tool, home, "unsaved")
  assert code == 77 and out == b"" and "4242" not in error
  assert error == (
    f"mytool: error: 'api' of service '{SERVICE}' was renewed, and the new value could not be stored: "
    "the store is locked\nmytool: hint: run 'mytool keychain unlock'\n")


def test_value_of_other_type_is_bad_data(sample_tool, home):
  code, error, out = fail(sample_tool, home, "undecodable")
  assert code == 65 and out == b"" and "SECRET" not in error
  assert f"the value of 'api' of service '{SERVICE}' cannot be read as the type Int" in error
