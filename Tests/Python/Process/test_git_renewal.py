"""Tokens that are renewed while git uses them, and credentials of git's own helpers."""

from __future__ import annotations

import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from desktop_session import desktop, secret_tool
from git_server import Git, GitServer
from prefs_testing import PATIENCE, PATIENT
from thoroughness import tried

FETCHES = 20


@pytest.fixture
def server(home):
  folder = home.folder / "served"
  folder.mkdir()
  with GitServer(folder) as server:
    server.add("a.git")
    yield server


def renew(home, server, token: str) -> None:
  home.set(
    "alice", token.encode(), "--server", "127.0.0.1", "--protocol", "http", "--port",
    str(server.port), *PATIENT)


def stored(home, server) -> bytes:
  return home.get(
    "alice", "--server", "127.0.0.1", "--protocol", "http", "--port", str(server.port), *PATIENT)


def fetch(git, server) -> int:
  return subprocess.run(
    ["git", "ls-remote", server.url("a.git")], cwd=git.home.folder, env=git.configured(),
    stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE).returncode


def test_renewed_tokens_are_not_erased_by_fetches_with_old_ones(home, server):
  git = Git(home, *PATIENT)
  with ThreadPoolExecutor(FETCHES) as pool:
    for round in range(max(1, tried(10))):
      old, new = f"token-{round}", f"token-{round}-renewed"
      server.accounts = {None: {("alice", old)}}
      renew(home, server, old)
      server.given.clear()
      server.free.clear()
      fetches = [pool.submit(fetch, git, server) for _ in range(FETCHES)]
      deadline = time.monotonic() + PATIENCE
      while server.given.count(("alice", old)) < FETCHES:
        assert time.monotonic() < deadline, "not all have the old token"
        time.sleep(0.01)
      # The server revokes the old one while all have it; each then lets it be erased.
      renew(home, server, new)
      server.accounts = {None: {("alice", new)}}
      server.free.set()
      for number in range(3):
        renew(home, server, f"{new}-{number}")
      renew(home, server, new)
      assert {done.result() for done in fetches} <= {0, 128}
      assert any(done.result() == 128 for done in fetches), "no old token was rejected"
      assert stored(home, server) == new.encode()
      assert fetch(git, server) == 0


def test_parallel_stores_of_the_same_leave_one(home):
  request = b"protocol=https\nhost=h\nusername=a\npassword=b\n"
  with ThreadPoolExecutor(8) as pool:
    for done in [pool.submit(home.run, "git-credential", "store", *PATIENT, input=request)
                 for _ in range(8)]:
      done.result()
  assert [item["account"] for item in home.run("list", "--json").json] == ["a"]


# What git's helper for libsecret stores, besides the schema.
def libsecret_item(server) -> tuple[str, ...]:
  return (
    "xdg:schema", "org.git.Password", "user", "alice", "object", "", "protocol", "http", "port",
    str(server.port), "server", "127.0.0.1")


def test_items_of_the_libsecret_helper_are_read_and_not_changed(home, server):
  with desktop(home) as variables:
    item = libsecret_item(server)
    secret_tool(
      variables, "store", "--label", "Git: http://127.0.0.1/", *item,
      input=b"secret\npassword_expiry_utc=9999999999\noauth_refresh_token=R")
    before = secret_tool(variables, "lookup", *item)
    git = Git(home)
    git.run("ls-remote", server.url("a.git"))
    assert set(server.given) == {("alice", "secret")}
    answer = home.run(
      "git-credential", "get", input=f"protocol=http\nhost={server.host}\n".encode()).out
    assert answer.decode().splitlines() == [
      "username=alice", "password=secret", "password_expiry_utc=9999999999",
      "oauth_refresh_token=R"]
    assert secret_tool(variables, "lookup", *item) == before
    assert len(home.run("list", "--json").json) == 1, "nothing was stored next to it"


@pytest.mark.parametrize("schema, label", [
  ("org.git.Password", "any"),
  # Before git 2.42.
  ("org.gnome.keyring.NetworkPassword", "Git: http://127.0.0.1:PORT/")])
def test_a_rejected_item_of_the_libsecret_helper_is_erased(home, server, schema, label):
  """Else git gets it in each call, and never asks."""
  with desktop(home) as variables:
    item = ("xdg:schema", schema, *libsecret_item(server)[2:])
    label = label.replace("PORT", str(server.port))
    secret_tool(variables, "store", "--label", label, *item, input=b"stale")
    home.run(
      "git-credential", "erase",
      input=f"protocol=http\nhost={server.host}\nusername=alice\npassword=other\n".encode())
    assert secret_tool(variables, "lookup", *item) == b"stale"
    assert "Authentication failed" in Git(home).run("ls-remote", server.url("a.git"), code=128)
    assert secret_tool(variables, "lookup", *item) == b""
    assert "could not read Username" in Git(home).run("ls-remote", server.url("a.git"), code=128)


def test_ours_and_that_of_the_libsecret_helper_are_erased_at_once(home, server):
  with desktop(home) as variables:
    request = f"protocol=http\nhost={server.host}\nusername=alice\npassword=stale\n".encode()
    home.run("git-credential", "store", input=request, environment={"KEYCHAIN_STORE": "secret-service"})
    secret_tool(variables, "store", "--label", "Git", *libsecret_item(server), input=b"stale")
    Git(home).run("ls-remote", server.url("a.git"), code=128)
    assert home.run("list", "--json").json == []


@pytest.mark.parametrize("schema, label, more", [
  ("org.git.Password", "Git", ("application", "browser")),
  ("org.gnome.keyring.NetworkPassword", "alice@127.0.0.1", ()),
  ("org.gnome.keyring.NetworkPassword", "Git: http://127.0.0.1/", ())])
def test_a_rejected_item_of_an_unknown_program_stays_and_is_named(home, server, schema, label, more):
  with desktop(home) as variables:
    item = ("xdg:schema", schema, *libsecret_item(server)[2:], *more)
    secret_tool(variables, "store", "--label", label, *item, input=b"stale")
    refused = Git(home).run("ls-remote", server.url("a.git"), code=128)
    assert "another program stored it" in refused
    command = f"delete --server 127.0.0.1 --protocol http --port {server.port} --other-programs alice'"
    assert f"hint: to remove it, run 'prefs keychain {command}" in refused
    assert secret_tool(variables, "lookup", *item) == b"stale"
    Git(home, "--others").run("ls-remote", server.url("a.git"), code=128)
    assert secret_tool(variables, "lookup", *item) == b""


def test_a_new_password_is_stored_next_to_the_item_of_another_program(home, server):
  with desktop(home) as variables:
    item = libsecret_item(server)
    secret_tool(variables, "store", "--label", "Git", *item, input=b"old")
    home.run(
      "git-credential", "store",
      input=f"protocol=http\nhost={server.host}\nusername=alice\npassword=secret\n".encode())
    Git(home).run("ls-remote", server.url("a.git"))
    assert set(server.given) == {("alice", "secret")}
    assert secret_tool(variables, "lookup", *item) == b"old"


def put_other(variables, secret: str, *names: str) -> None:
  """Stores an item as git's helper for libsecret does; empty names are left out there."""
  secret_tool(
    variables, "store", "--label", "Git", "xdg:schema", "org.git.Password", "user", "alice", "protocol",
    "https", "server", "h", *names, input=secret.encode())


def exchanged(home, operation: str, *lines: str) -> list[str]:
  request = "".join(f"{line}\n" for line in ("protocol=https", *lines))
  return home.run("git-credential", operation, input=request.encode()).out.decode().splitlines()


def test_items_of_another_program_are_distinguished_by_port_and_path(home):
  with desktop(home) as variables:
    put_other(variables, "usual")
    put_other(variables, "other port", "port", "8443")
    put_other(variables, "path", "object", "a.git")
    assert exchanged(home, "get", "host=h") == ["username=alice", "password=usual"]
    assert exchanged(home, "get", "host=h:8443") == ["username=alice", "password=other port"]
    assert exchanged(home, "get", "host=h", "path=a.git") == ["username=alice", "password=path"]
    home.run(
      "git-credential", "erase", "--others",
      input=b"protocol=https\nhost=h:8443\nusername=alice\npassword=other port\n")
    assert exchanged(home, "get", "host=h:8443") == []
    assert exchanged(home, "get", "host=h") == ["username=alice", "password=usual"]


@pytest.mark.parametrize("names", [("host=h:8443",), ("host=h", "path=a.git")])
def test_item_of_another_program_does_not_prevent_storing(home, names):
  with desktop(home) as variables:
    put_other(variables, "theirs")
    begun = time.monotonic()
    exchanged(home, "store", *names, "username=alice", "password=ours")
    assert time.monotonic() - begun < 8, "it did not wait for anything"
    assert exchanged(home, "get", *names) == ["username=alice", "password=ours"]
    assert exchanged(home, "get", "host=h")[-1] == "password=theirs"


def test_docker_login_and_git_item_of_one_host_are_distinguished(home):
  with desktop(home) as variables:
    put_other(variables, "for git")
    secret_tool(
      variables, "store", "--label", "Registry", "xdg:schema", "io.docker.Credentials", "docker_cli", "1",
      "label", "Docker Credentials", "server", "h", "username", "alice", input=b"for docker")
    assert exchanged(home, "get", "host=h") == ["username=alice", "password=for git"]
    assert home.run("docker-credential", "get", input=b"h").json["Secret"] == "for docker"
    home.run("docker-credential", "erase", input=b"h")
    assert home.run("docker-credential", "get", input=b"h", code=1).out.startswith(b"credentials not found")
    assert exchanged(home, "get", "host=h") == ["username=alice", "password=for git"]


def test_item_with_an_invalid_port_is_for_no_server(home):
  with desktop(home) as variables:
    put_other(variables, "odd", "port", "abc")
    assert exchanged(home, "get", "host=h") == []
    put_other(variables, "empty", "port", "", "object", "")
    assert exchanged(home, "get", "host=h") == ["username=alice", "password=empty"]
