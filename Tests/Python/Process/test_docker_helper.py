"""The protocol of docker's credential helpers, with every store."""

from __future__ import annotations

import base64
import json
import os
import shlex
import shutil
import subprocess

import pytest

import pages
from desktop_session import desktop, secret_tool
from prefs_testing import LIMIT, ended

ABSENT = b"credentials not found in native keychain\n"


def call(home, operation: str, given: bytes | str = b"", *options: str, code: int = 0, **more):
  given = given.encode() if isinstance(given, str) else given
  return home.run("docker-credential", operation, *options, input=given, code=code, **more)


def login(server: str, username: str = "alice", secret: str = "hunter2") -> bytes:
  return json.dumps({"ServerURL": server, "Username": username, "Secret": secret}).encode() + b"\n"


def test_the_texts_that_clients_compare(home):
  absent = call(home, "get", "r", code=1)
  assert absent.out == ABSENT and absent.error == ""
  assert call(home, "get", " \n", code=1).out == b"no credentials server URL\n"
  assert call(home, "erase", "", code=1).out == b"no credentials server URL\n"
  assert call(home, "store", login(""), code=1).out == b"no credentials server URL\n"
  assert call(home, "store", login("r", ""), code=1).out == b"no credentials username\n"
  assert not home.vault.exists()


def test_a_request_that_does_not_end_is_given_up(home):
  process = home.start("docker-credential", "get", "--deadline", "300ms", stdin=subprocess.PIPE)
  out = process.stdout.read()
  process.stdin.close()
  assert process.wait(timeout=LIMIT) == 1
  assert out == b"the request on standard input did not end in time\n"
  process.stdout.close()
  process.stderr.close()


def test_the_version_needs_no_store_and_no_request(home):
  process = home.start("docker-credential", "version", stdin=subprocess.PIPE)
  assert process.stdout.read() == b"docker-credential-prefs (prephirences) 0.1.0\n"
  process.stdin.close()
  assert process.wait(timeout=LIMIT) == 0
  process.stdout.close()
  process.stderr.close()


@pytest.fixture
def closed(locked):
  """A locked vault with a login."""
  locked.run("unlock", *locked.passphrase())
  call(locked, "store", login("r"))
  locked.run("lock", "--all")
  return locked


def test_a_locked_vault_is_not_absence(closed):
  locked = closed
  for operation, given in (
      ("get", b"r"), ("list", b"unused"), ("erase", b"r"), ("store", login("r"))):
    failed = call(locked, operation, given, code=1)
    assert failed.out == f"the vault {locked.vault} is locked\n".encode()
    assert "prefs keychain unlock" in failed.error


def test_absence_is_certain_in_a_locked_vault(locked):
  assert call(locked, "get", "r", code=1).out == ABSENT
  call(locked, "erase", "r")
  # Entries have the server of an item, and none of its attributes.
  assert "locked" in call(locked, "list", code=1).error


def test_a_person_is_asked_on_a_terminal_alone(closed):
  locked = closed
  script = 'printf %s r | "$0" keychain docker-credential get'
  terminal = locked.terminal(through=["sh", "-c", script])
  terminal.expect("assphrase")
  terminal.sendline("correct horse battery staple")
  code, text = ended(terminal)
  assert code == 0 and '"Secret":"hunter2"' in text
  locked.run("lock", "--all")
  quiet = locked.terminal(
    through=["sh", "-c", script], environment={"KEYCHAIN_NO_PROMPT": "1"})
  code, text = ended(quiet)
  assert code == 1 and "assphrase:" not in text


# In the desktop keyring, next to docker's own helper.

@pytest.fixture
def other_helper() -> str:
  path = shutil.which("docker-credential-secretservice")
  assert path, "Scripts/test installs docker-credential-secretservice"
  return path


def other(helper: str, variables: dict, operation: str, given: bytes) -> bytes:
  outcome = subprocess.run(
    [helper, operation], input=given, capture_output=True, timeout=LIMIT,
    env={"PATH": os.environ["PATH"], **variables})
  assert outcome.returncode == 0, outcome
  return outcome.stdout


IN_KEYRING = ("--store", "secret-service")


def test_login_of_dockers_own_helper_is_read_and_erased(home, other_helper):
  with desktop(home) as variables:
    other(other_helper, variables, "store", login("r", "carol", "theirs"))
    assert call(home, "get", "r").json == {"ServerURL": "r", "Username": "carol", "Secret": "theirs"}
    assert call(home, "list", b"", *IN_KEYRING).json == {"r": "carol"}
    before = secret_tool(variables, "search", "--all", "docker_cli", "1")
    # The same again is no news; another one takes precedence.
    call(home, "store", login("r", "carol", "theirs"))
    assert secret_tool(variables, "search", "--all", "docker_cli", "1") == before
    call(home, "store", login("r", "alice", "ours"))
    assert call(home, "get", "r").json["Secret"] == "ours"
    assert secret_tool(variables, "search", "--all", "docker_cli", "1") == before
    assert call(home, "erase", "r").error == ""
    assert call(home, "get", "r", code=1).out == ABSENT
    assert b"r" not in other(other_helper, variables, "list", b"unused")


def test_a_keyring_that_is_gone_is_not_absence(home):
  with desktop(home):
    call(home, "store", login("r"), *IN_KEYRING)
    assert call(home, "get", "r").json["Secret"] == "hunter2"
  gone = call(home, "get", "r", code=1)
  assert gone.out != ABSENT and gone.out.count(b"\n") == 1
  assert call(home, "erase", "r", code=1).out == gone.out


def moved_by_the_page(home, registry: str, **logins: dict) -> subprocess.CompletedProcess:
  """Runs the commands of the page that move a login out of docker's own file."""
  command = next(
    block.text for block in pages.blocks("sh") if block.page == "Helpers.md" and "jq " in block.text)
  docker = home.folder / ".docker" / "config.json"
  docker.parent.mkdir(exist_ok=True)
  docker.write_text(json.dumps({"auths": logins}))
  command = command.replace("registry.example.com", registry).replace("prefs ", f"{shlex.quote(home.program)} ")
  return subprocess.run(
    ["sh", "-c", command], env=home.environment, capture_output=True, text=True, timeout=LIMIT)


def kept_in_file(login: str) -> dict[str, str]:
  return {"auth": base64.b64encode(login.encode()).decode()}


def test_the_page_moves_a_login_from_dockers_file(home):
  assert moved_by_the_page(home, "r", r=kept_in_file("al\xefce:a:b\nc")).returncode == 0
  assert call(home, "get", "r").json == {"ServerURL": "r", "Username": "al\xefce", "Secret": "a:b\nc"}


@pytest.mark.parametrize("entry", [None, {}, kept_in_file(""), kept_in_file("alice"), kept_in_file(":x")])
def test_the_page_stores_nothing_if_the_file_has_no_such_login(home, entry):
  call(home, "store", login("r"))
  refused = moved_by_the_page(home, "r", **({"other": kept_in_file("a:b")} if entry is None else {"r": entry}))
  assert refused.returncode != 0 and "error" in refused.stderr
  assert call(home, "get", "r").json["Secret"] == "hunter2"


@pytest.mark.parametrize("operation, wanted", [("get", "the name of a registry"), ("store", "a JSON object")])
def test_helper_on_a_terminal_says_what_it_awaits(home, operation, wanted):
  terminal = home.terminal("docker-credential", operation)
  terminal.expect(f"waiting for {wanted}, which a client sends; \\^D ends it")
  terminal.sendeof()
  assert ended(terminal)[0] == 1
