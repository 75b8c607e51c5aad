"""What git expects of every helper, through `git credential`; what it does not know is typed as ASKED."""

from __future__ import annotations

import subprocess

import pytest

from git_server import Git
from prefs_testing import LIMIT

EXAMPLE = ("protocol=https", "host=example.com")


@pytest.fixture
def credential(home):
  """Runs `git credential`, and returns the pairs that it prints."""
  git = Git(home)
  asked = home.folder / "asked.sh"
  asked.write_text("#!/bin/sh\necho ASKED\n")
  asked.chmod(0o700)

  def run(operation: str, *lines: str, settings=()) -> dict[str, str]:
    done = subprocess.run(
      ["git", "credential", operation], input="".join(f"{line}\n" for line in lines), text=True,
      env=git.configured(*settings, GIT_ASKPASS=str(asked)), capture_output=True, check=True,
      cwd=home.folder, timeout=LIMIT)
    assert done.stderr == "" or "created the vault" in done.stderr
    return dict(line.split("=", 1) for line in done.stdout.splitlines())

  return run


def user(name: str, password: str) -> tuple[str, str]:
  return f"username={name}", f"password={password}"


def given(answer: dict[str, str]) -> tuple[str, str]:
  return answer["username"], answer["password"]


def test_stored_is_given_for_the_same_protocol_host_and_user(credential):
  assert given(credential("fill", *EXAMPLE)) == ("ASKED", "ASKED")
  assert credential("approve", *EXAMPLE, *user("me", "pw")) == {}
  assert given(credential("fill", *EXAMPLE)) == ("me", "pw")
  assert given(credential("fill", "protocol=http", "host=example.com")) == ("ASKED", "ASKED")
  assert given(credential("fill", "protocol=https", "host=other.tld")) == ("ASKED", "ASKED")
  assert given(credential("fill", *EXAMPLE, "username=other")) == ("other", "ASKED")


def test_path_must_be_equal(credential):
  paths = ["credential.useHttpPath=true"]
  credential("approve", *EXAMPLE, "path=foo.git", *user("me", "pw"), settings=paths)
  assert given(credential("fill", *EXAMPLE, "path=bar.git", settings=paths)) == ("ASKED", "ASKED")
  assert given(credential("fill", *EXAMPLE, "path=foo.git", settings=paths)) == ("me", "pw")


def test_the_last_stored_counts(credential):
  for password in "first", "second":
    credential("approve", *EXAMPLE, *user("me", password))
  assert given(credential("fill", *EXAMPLE)) == ("me", "second")
  credential("reject", *EXAMPLE, *user("me", "first"))
  assert given(credential("fill", *EXAMPLE)) == ("me", "second"), "another password stays"
  credential("reject", *EXAMPLE, *user("me", "second"))
  assert given(credential("fill", *EXAMPLE)) == ("ASKED", "ASKED"), "no older one is left"


def test_host_and_user_can_be_forgotten(credential):
  for name in "one", "two":
    credential("approve", *EXAMPLE, *user(name, f"pw-{name}"))
  for name in "one", "two":
    assert given(credential("fill", *EXAMPLE, f"username={name}")) == (name, f"pw-{name}")
  credential("reject", *EXAMPLE, "username=one")
  assert given(credential("fill", *EXAMPLE, "username=one")) == ("one", "ASKED")
  assert given(credential("fill", *EXAMPLE, "username=two")) == ("two", "pw-two")
  credential("reject", *EXAMPLE)
  assert given(credential("fill", *EXAMPLE)) == ("ASKED", "ASKED")


def test_empty_name_and_password_are_kept(credential):
  credential("approve", *EXAMPLE, *user("", ""))
  assert given(credential("fill", *EXAMPLE)) == ("", "")


def test_long_and_odd_values_come_back(credential):
  for name, password in (
      ("n" * 5000, "p" * 20000), ("ü", "p=ä=ö"), (" a ", " b "), ("a=b", "\t\\\"'$x")):
    credential("approve", *EXAMPLE, *user(name, password))
    assert given(credential("fill", *EXAMPLE, f"username={name}")) == (name, password)
