"""A tracer sees where real clients put a secret: in no argument, and in no file on a disk."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from client_servers import (
  HOST, DatabaseServer, MySQLRequest, PostgreSQLRequest, WebServer, basic, registry_pages, running)
from client_tracing import Trace, files_with, traced
from git_server import Git, GitServer
from machine import podman, require
from prefs_testing import Home
from swift_registry import resolving

SECRET = "hunter2-3f9c1d"
INTERNET = ("--server", HOST, "--protocol", "https")


@pytest.fixture
def trace(home, tracing, tmp_path) -> Trace:
  """Not in the home, which must not contain the secrets that strace records."""
  return Trace(tmp_path, "openat")


def stored(home: Home, account: str, *options: str, secret: str = SECRET) -> None:
  home.set(account, secret.encode(), *options)


def nothing_leaks(home: Home, trace: Trace, *secrets: str) -> None:
  assert trace.leaks(*(secrets or [SECRET])) == set()
  assert files_with(home.folder, *(secrets or [SECRET])) == set()


def run(home: Home, trace: Trace, *words: str):
  return home.run("run", *words, through=trace.words)


def opened_vaults(trace: Trace) -> int:
  return sum(
    name == "openat" and '/vault"' in rest and "= -1" not in rest for name, rest in trace.calls)


@pytest.mark.parametrize(("command", "place"), [
  (["sh", "-c", f"true {SECRET}"], "argument"),
  (["env", f"NAME={SECRET}", "true"], "argument"),
  (["sh", "-c", "NAME=hunter2-; export NAME; NAME=${NAME}3f9c1d true; env true"], None),
  (["sh", "-c", "NAME=hunter2-; export NAME; NAME=${NAME}3f9c1d env true"], "variable NAME"),
  (["sh", "-c", "printf hunter2-%s 3f9c1d > f"], "file"),
  (["sh", "-c", "printf alice:hunter2-%s 3f9c1d | base64 > f"], "file"),
  (["sh", "-c", "printf hunter2-%s 3f9c1d > /dev/null"], None),
])
def test_leaks_are_found(home, trace, command, place):
  traced(trace, *command, cwd=home.folder, env=home.environment)
  found = {leak.removesuffix(f" {home.folder}/f") for leak in trace.leaks(SECRET)}
  assert (place in found) if place else found == set(), found
  assert len(files_with(home.folder, SECRET)) == (place == "file")


def test_netrc_of_curl_is_only_in_memory(home, trace):
  stored(home, "alice", *INTERNET)
  with running(WebServer(basic("alice", SECRET))) as server:
    got = run(
      home, trace, "--netrc", HOST, "--", "curl", "-sSf", "--netrc-file", "@netrc@", server.url)
  assert got.out == b"welcome\n"
  nothing_leaks(home, trace)
  assert opened_vaults(trace) == 1


def test_netrc_of_swift_is_only_in_memory(home, trace):
  stored(home, "token", *INTERNET)
  with running(WebServer(f"Bearer {SECRET}", registry_pages())) as server:
    run(home, trace, "--netrc", HOST, "--", *resolving(home.folder, server, "token"))
    assert set(server.authorizations) == {server.authorization}
  nothing_leaks(home, trace)


def test_password_files_of_databases_are_only_in_memory(home, trace):
  with running(DatabaseServer(PostgreSQLRequest, "alice", SECRET)) as server:
    stored(home, "pg", "--service", "s", secret=f"{HOST}:{server.port}:*:alice:{SECRET}\n")
    run(
      home, trace, "--file", "PGPASSFILE=keychain://s/pg", "--", "psql", "-h", HOST, "-p",
      str(server.port), "-U", "alice", "-d", "db", "-w", "-Atc", "x")
    assert server.accepted == 1
  nothing_leaks(home, trace)
  with running(DatabaseServer(MySQLRequest, "alice", SECRET)) as server:
    stored(home, "my", "--service", "s", secret=f"[client]\npassword={SECRET}\n")
    run(
      home, trace, "--file", "OPTIONS=keychain://s/my", "--", "mysql",
      "--defaults-extra-file=@OPTIONS@", "-h", HOST, "-P", str(server.port), "-u", "alice", "-e",
      "DO 1")
    assert server.accepted == 1
  nothing_leaks(home, trace)


def test_variable_has_the_secret_where_it_was_asked_for_and_nowhere_else(home, trace):
  stored(home, "api", "--service", "s")
  run(home, trace, "-e", "TOKEN=keychain://s/api", "--", "sh", "-c", "true & env -u TOKEN true")
  assert trace.leaks(SECRET) == {"variable TOKEN"}
  assert files_with(home.folder, SECRET) == set()
  bearers = [rest for name, rest in trace.calls if name == "execve" and SECRET in rest]
  assert [rest.split('"')[1].rsplit("/")[-1] for rest in bearers if "= 0" in rest] == ["sh", "env"]


def test_child_gets_no_descriptors_but_its_files(home):
  stored(home, "alice", *INTERNET)
  stored(home, "api", "--service", "s")
  got = home.run(
    "run", "--netrc", HOST, "--file", "KEY=keychain://s/api", "--", "sh", "-c",
    'for file in /proc/self/fd/*; do readlink "$file"; done; echo @netrc@ @KEY@')
  *links, paths = got.out.decode().splitlines()
  files = [link for link in links if "memfd:" in link]
  assert len(files) == len(set(paths.split())) == 2, links
  assert len(links) <= 3 + 2 + 1, "the streams, the files, and the folder that the shell lists"


def test_git_and_its_helper_pass_the_secret_by_pipes(home, trace):
  served = home.folder / "served"
  served.mkdir()
  with GitServer(served) as server:
    server.accounts = {None: {("alice", SECRET)}}
    server.add("a.git")
    stored(home, "alice", "--server", HOST, "--protocol", "http", "--port", str(server.port))
    git = Git(home)
    traced(
      trace, "git", "clone", "-q", server.url("a.git"), "copy", cwd=home.folder,
      env=git.environment)
    assert set(server.given) == {("alice", SECRET)}
  nothing_leaks(home, trace)


@pytest.fixture
def registry():
  """A registry of images that lets alice in."""
  server = WebServer(basic("alice", SECRET), {"/v2/": ("application/json", b"{}")})
  server.challenge = 'Basic realm="test"'
  with running(server):
    yield server


@pytest.fixture
def images(home, registry) -> dict[str, str]:
  """The variables with which docker and its relatives find `prefs`."""
  (home.folder / "bin").mkdir()
  os.symlink(home.program, home.folder / "bin" / "docker-credential-prefs")
  helpers = {"credHelpers": {f"{HOST}:{registry.port}": "prefs"}}
  (home.folder / "docker").mkdir()
  (home.folder / "docker" / "config.json").write_text(json.dumps(helpers))
  return home.environment | {
    "PATH": f"{home.folder}/bin:{home.environment['PATH']}",
    "DOCKER_CONFIG": str(home.folder / "docker"),
    "REGISTRY_AUTH_FILE": str(home.folder / "docker" / "config.json")}


@pytest.mark.parametrize("client", ["docker", "podman", "skopeo"])
def test_docker_and_its_relatives_pass_the_secret_by_pipes(home, trace, registry, images, client):
  if client == "docker":
    require(client, None if shutil.which(client) else "it is not installed")
  if client == "podman":
    require(client, podman())
  host = f"{HOST}:{registry.port}"
  plain = [] if client == "docker" else ["--tls-verify=false"]

  def call(*words: str, **options) -> None:
    traced(trace, client, *words, host, cwd=home.folder, env=images, **options)
    nothing_leaks(home, trace)

  call("login", *plain, "-u", "alice", "--password-stdin", input=SECRET.encode())
  assert [item["account"] for item in home.run("list", "--json").json] == ["alice"]
  assert registry.authorization in registry.authorizations
  # With a login that is stored, docker asks the engine, which is not here.
  call("login", *plain, code=1 if client == "docker" else 0)
  call("logout")
  assert home.run("list", "--json").json == []
