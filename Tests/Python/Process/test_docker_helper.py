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


def test_a_login_goes_in_and_out(home):
  secret = "a\"b\\c\nd\té😀/"
  stored = call(home, "store", login("r:5000", "<token>", secret))
  assert stored.out == b""
  assert call(home, "get", "r:5000\n").json == {
    "ServerURL": "r:5000", "Username": "<token>", "Secret": secret}
  assert call(home, "list", "unused").json == {"r:5000": "<token>"}
  assert call(home, "erase", "https://r:5000").out == b""
  assert call(home, "get", "r:5000", code=1).out == ABSENT


def test_what_is_absent_is_erased_four_times(home):
  for server in ("r", "r", "http://r", "https://r"):
    assert call(home, "erase", server).out == b""


def test_the_hub_has_its_name(home):
  hub = "https://index.docker.io/v1/"
  call(home, "store", login(hub))
  assert call(home, "get", hub).json["Username"] == "alice"
  assert call(home, "get", "index.docker.io", code=1).out == ABSENT
  assert call(home, "list").json == {hub: "alice"}


def test_a_password_of_git_is_no_login(home):
  home.set("alice", b"git", "--server", "r", "--protocol", "https")
  home.set("alice", b"own", "--server", "r")
  assert call(home, "get", "r", code=1).out == ABSENT
  assert call(home, "get", "https://r", code=1).out == ABSENT
  assert call(home, "list").json == {}
  call(home, "erase", "r")
  assert len(home.run("list", "--json").json) == 2
  refused = call(home, "store", login("r"), code=1)
  assert b"is no login of a registry" in refused.out
  assert home.get("alice", "--server", "r", "--protocol", "") == b"own"


def test_a_secret_is_never_shown_in_an_error(home):
  for given in (b'{"Secret":"hunter2"', b'{"Secret":"hunter2\n"}', b'{"Secret":["hunter2"]}'):
    failed = call(home, "store", given, code=1)
    assert b"hunter2" not in failed.out and "hunter2" not in failed.error
    assert failed.out.startswith(b"what was sent is not the JSON that is expected")


@pytest.mark.parametrize("server", [
  "a\nb", "a\rb", "a\0b", "\x1b[2Jx", "x" * 5000, "a\tb", b"\xff\xfe",
])
def test_hostile_names_are_refused(home, server):
  for operation in ("get", "erase"):
    failed = call(home, operation, b"x" + server + b"x" if isinstance(server, bytes) else server, code=1)
    assert failed.out.startswith(b"the name of the registry")
    assert b"\x1b" not in failed.out and "\x1b" not in failed.error
  if isinstance(server, str):
    call(home, "store", login(server), code=1)
  assert call(home, "list").json == {}


@pytest.mark.parametrize("server", ["*", "%", "r*", "../x", "r' OR '1", "r?", "[r]"])
def test_a_pattern_is_only_a_name(home, server):
  call(home, "store", login("r"))
  assert call(home, "get", server, code=1).out == ABSENT


def test_a_request_that_is_too_long_is_refused(home):
  failed = call(home, "store", b" " * (2 << 20), code=1)
  assert failed.out == b"the request on standard input is longer than 1 MiB\n"


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


def test_an_unknown_operation_is_an_error_of_usage(home):
  assert call(home, "login", code=64).out == b""


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


def test_what_is_surely_absent_is_so_in_a_locked_vault_too(locked):
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


def test_a_group_has_its_own_logins(home):
  call(home, "store", login("r"), "--access-group", "team")
  assert call(home, "get", "r", code=1).out == ABSENT
  assert call(home, "get", "r", "-g", "team").json["Secret"] == "hunter2"


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


def test_what_dockers_own_helper_stored_is_read_and_erased(home, other_helper):
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


@pytest.mark.parametrize("more, is_login", [
  ((), True), (("--protocol", "https"), False), (("--port", "5000"), False),
])
def test_a_password_that_clients_do_not_get_is_reported(home, more, is_login):
  outcome = home.run(
    "set", "robot", "--server", "r", *more, "--attribute", "client=docker", input=b"p")
  assert ("clients of docker do not get it" in outcome.error) != is_login


def test_a_login_for_https_is_neither_given_nor_erased_for_http(home):
  call(home, "store", login("r.com"))
  for server in ("http://r.com", "http://r.com/", "HTTP://r.com"):
    assert call(home, "get", server, code=1).out == ABSENT
    call(home, "erase", server)
  assert call(home, "get", "https://r.com/").json["Secret"] == "hunter2"


@pytest.mark.parametrize("operation, wanted", [("get", "the name of a registry"), ("store", "a JSON object")])
def test_a_helper_on_a_terminal_says_what_it_waits_for(home, operation, wanted):
  terminal = home.terminal("docker-credential", operation)
  terminal.expect(f"waiting for {wanted}, which a client sends; \\^D ends it")
  terminal.sendeof()
  assert ended(terminal)[0] == 1


def test_a_variable_leaves_notices_and_hints_out(home):
  """A client passes no options on."""
  failing = {"KEYCHAIN_STORE": "secret-service", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent"}
  assert "prefs: hint: " in call(home, "get", "r", code=1, environment=failing).error
  quiet = call(home, "get", "r", code=1, environment=failing | {"KEYCHAIN_QUIET": "1"})
  assert "prefs: error: " in quiet.error and "hint" not in quiet.error
  assert "hint" in call(home, "get", "r", code=1, environment=failing | {"KEYCHAIN_QUIET": ""}).error
