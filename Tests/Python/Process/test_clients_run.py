"""Real clients get their passwords through `run`: SwiftPM, curl, psql and mysql."""

from __future__ import annotations

import json
import netrc
import shutil
import subprocess

import pytest

from client_servers import (
  HOST, MANIFEST, Answering, DatabaseServer, MySQLRequest, PostgreSQLRequest, WebServer, basic, registry_pages, running)
from etcd_certificates import Certificates, make_certificates
from git_server import Git, GitServer
from prefs_testing import LIMIT, Home
from swift_registry import resolving

SECRET = "p w#hunter2"
TOKEN = "tok-hunter2"

# As git's helper and `import --format netrc` store them.
INTERNET = ("--server", HOST, "--protocol", "https")

# Values that need care in a netrc file, and are written there.
CAREFUL = ("#1", "a #b", " ", "pässwörd", "machine", "default", "a#b", "'", "x" * 4000)


def run(home: Home, *words: str, **more):
  return home.run("run", *words, **more)


@pytest.fixture
def resolve(home):
  """Resolves a dependency with `swift package`, whose registry wants a header `Authorization`."""
  def resolve(server: WebServer, kind: str, *options: str, **more):
    return run(home, *options, "--", *resolving(home.folder, server, kind), **more)
  return resolve


def test_swift_resolves_a_package_of_a_registry_with_a_password(home, resolve):
  home.set("alice", SECRET.encode(), *INTERNET)
  with running(WebServer(basic("alice", SECRET), registry_pages())) as server:
    resolve(server, "basic", "--netrc", HOST)
    assert len(server.authorizations) == 4
    assert set(server.authorizations) == {server.authorization}
  # What was resolved is built without a password, and without the registry.
  swift, package, *paths, _, _, _ = resolving(home.folder, server, "basic")
  shown = subprocess.run(
    [swift, package, *paths, "--disable-automatic-resolution", "show-dependencies"],
    capture_output=True, text=True, timeout=LIMIT)
  assert shown.returncode == 0 and "example.tool" in shown.stdout.lower(), shown


def test_swift_resolves_a_package_of_a_registry_with_a_token(home, resolve):
  home.set("token", TOKEN.encode(), *INTERNET)
  home.set("alice", b"another", *INTERNET)
  with running(WebServer(f"Bearer {TOKEN}", registry_pages())) as server:
    resolve(server, "token", "--netrc", f"token@{HOST}")
    assert set(server.authorizations) == {server.authorization}


# SwiftPM's libcurl knows only the authorities of the system, so one is added for a command alone.
TRUSTING = (
  "unshare", "--mount", "sh", "-ec",
  'cat "$1" >> "$2"; mount --bind "$2" /etc/ssl/certs/ca-certificates.crt; shift 2; exec "$@"', "sh")


def trusted(home: Home) -> tuple[Certificates, list[str]]:
  """Makes certificates for this machine, and the words before a command that is to trust them."""
  certificates = make_certificates(home.folder, [HOST])
  bundle = home.folder / "bundle"
  shutil.copyfile("/etc/ssl/certs/ca-certificates.crt", bundle)
  return certificates, [*TRUSTING, str(certificates.authority), str(bundle)]


@pytest.mark.parametrize("account, kind, options", [
  ("token", "token", ()), ("alice", "basic", ("--username", "alice"))])
def test_swift_logs_in_without_writing_the_token(home, mounting, account, kind, options):
  certificates, through = trusted(home)
  with running(Answering(b"", certificates=certificates)) as server:
    port = server.server_address[1]
    home.set(account, TOKEN.encode(), *INTERNET, "--port", str(port))
    done = run(
      home, "--netrc", f"{HOST}:{port}", "--", "swift", "package-registry", "login",
      f"https://{server.host}", *options, "--netrc-file", "@netrc@", "--config-path", "settings",
      through=through)
    assert b"Login successful" in done.out
    assert server.given == [f"Bearer {TOKEN}" if kind == "token" else basic(account, TOKEN)]
  written = (home.folder / "settings" / "registries.json").read_text()
  assert json.loads(written)["authentication"] == {server.host: {"type": kind}}
  assert not any(
    TOKEN.encode() in path.read_bytes() for path in home.folder.rglob("*") if path.is_file())


def test_swift_sends_a_binary_target_basic_even_for_a_token(home, mounting):
  home.set("token", TOKEN.encode(), *INTERNET)
  package = home.folder / "app"
  (package / "Sources" / "App").mkdir(parents=True)
  (package / "Sources" / "App" / "App.swift").write_text("")
  certificates, through = trusted(home)
  with running(Answering(b"no archive", certificates=certificates)) as server:
    (package / "Package.swift").write_text(
      '// swift-tools-version: 5.9\nimport PackageDescription\nlet package = Package(name: "App", targets: ['
      f'.binaryTarget(name: "Tool", url: "https://{server.host}/tool.zip", checksum: "{"0" * 64}"), '
      '.target(name: "App", dependencies: ["Tool"])])\n')
    paths = [f"--{name}-path={package / name}" for name in ("cache", "config", "security", "scratch")]
    run(
      home, "--netrc", HOST, "--", "swift", "package", f"--package-path={package}", *paths,
      "--netrc-file", "@netrc@", "resolve", code=1, through=through)
    assert set(server.given) == {basic("token", TOKEN)}


def test_swift_reports_a_wrong_token(home, resolve):
  home.set("token", b"wrong", *INTERNET)
  with running(WebServer(f"Bearer {TOKEN}", registry_pages())) as server:
    failed = resolve(server, "token", "--netrc", HOST, code=1)
    assert "missing or invalid authentication credentials" in failed.error
    assert server.authorizations == ["Bearer wrong"]


def test_swift_is_not_started_without_the_password(home, resolve):
  with running(WebServer(f"Bearer {TOKEN}", registry_pages())) as server:
    absent = resolve(server, "token", "--netrc", HOST, code=44)
    assert f"server '{HOST}'" in absent.error
    home.set("token", TOKEN.encode(), *INTERNET, "--expires", "2001-01-01")
    assert "has expired" in resolve(server, "token", "--netrc", HOST, code=80).error
    home.set("alice", b"x", *INTERNET)
    several = resolve(server, "token", "--netrc", HOST, code=76)
    assert "'alice'" in several.error and f"ACCOUNT@{HOST}" in several.error
    home.set("alice", b'quote"', *INTERNET)
    refused = resolve(server, "token", "--netrc", f"alice@{HOST}", code=79)
    assert "has a quote" in refused.error and 'quote"' not in refused.error
    assert server.authorizations == []


def test_swift_takes_private_repositories_from_git_and_its_helper(home):
  served, package = home.folder / "served", home.folder / "app"
  served.mkdir()
  environment = home.environment | {"GIT_CONFIG_NOSYSTEM": "1"}
  identity = ("-c", "user.name=n", "-c", "user.email=e@example.com")
  with GitServer(served) as server:
    server.accounts = {None: {("alice", SECRET)}}
    (home.folder / "Tool" / "Sources" / "Tool").mkdir(parents=True)
    (home.folder / "Tool" / "Package.swift").write_bytes(MANIFEST)
    (home.folder / "Tool" / "Sources" / "Tool" / "Tool.swift").write_text("public let tool = 1\n")
    for words in (
        ("init", "-q", "-b", "main"), ("add", "."), (*identity, "commit", "-q", "-m", "first"),
        ("tag", "1.0.0"), ("clone", "-q", "--bare", ".", str(served / "Tool.git"))):
      subprocess.run(
        ["git", *words], cwd=home.folder / "Tool", env=environment, check=True, timeout=LIMIT)
    (package / "Sources" / "App").mkdir(parents=True)
    (package / "Sources" / "App" / "App.swift").write_text("")
    (package / "Package.swift").write_text(
      '// swift-tools-version: 5.9\nimport PackageDescription\nlet package = Package(name: "App", '
      f'dependencies: [.package(url: "{server.url("Tool.git")}", exact: "1.0.0")], targets: '
      '[.target(name: "App", dependencies: [.product(name: "Tool", package: "Tool")])])\n')
    command = [
      "swift", "package", f"--package-path={package}",
      *(f"--{name}-path={package / name}" for name in ("cache", "config", "security", "scratch")),
      "resolve"]
    git = Git(home)
    failed = subprocess.run(
      command, env=git.environment, capture_output=True, text=True, timeout=LIMIT)
    assert failed.returncode == 1 and server.given == []
    assert "could not read Username" in failed.stderr
    home.set("alice", SECRET.encode(), "--server", HOST, "--protocol", "http", "--port", str(server.port))
    resolved = subprocess.run(
      command, env=git.environment, capture_output=True, text=True, timeout=LIMIT)
    assert resolved.returncode == 0, resolved
    assert set(server.given) == {("alice", SECRET)}

def test_nothing_is_started_while_the_vault_is_locked(home):
  home.init("--no-device")
  home.set("token", TOKEN.encode(), *INTERNET, *home.passphrase())
  home.run("lock", "--all")
  assert "locked" in run(home, "--netrc", HOST, "--", "echo", "started", code=77).error


def test_nothing_is_started_without_a_keyring_or_with_a_damaged_item(home):
  command = ("--netrc", HOST, "--", "echo", "started")
  gone = run(home, "--store", "secret-service", *command, code=69)
  assert "no session bus" in gone.error and gone.out == b""
  home.set("token", TOKEN.encode(), *INTERNET)
  home.spoil_secrets()
  damaged = run(home, *command, code=65)
  assert "damaged" in damaged.error and damaged.out == b""


@pytest.mark.parametrize("secret", CAREFUL)
def test_curl_and_python_read_what_was_stored(home, secret):
  home.set("alice", secret.encode(), *INTERNET)
  with running(WebServer(basic("alice", secret))) as server:
    got = run(home, "--netrc", HOST, "--", "curl", "-sSf", "--netrc-file", "@netrc@", server.url)
    assert got.out == b"welcome\n"
  text = run(home, "--netrc", HOST, "--", "cat", "@netrc@").out
  assert netrc.netrc(home.file("text", text)).authenticators(HOST) == ("alice", "", secret)


@pytest.mark.parametrize("secret", ["#1", "a #b", "pässwörd"])
def test_swift_reads_what_was_stored(home, resolve, secret):
  home.set("alice", secret.encode(), *INTERNET)
  with running(WebServer(basic("alice", secret), registry_pages())) as server:
    resolve(server, "basic", "--netrc", HOST)


def test_curl_reads_a_header_from_its_input(home):
  home.set("api", f"Authorization: Bearer {TOKEN}\n".encode(), "--service", "s")
  with running(WebServer(f"Bearer {TOKEN}")) as server:
    got = run(
      home, "--file", "HEADERS=keychain://s/api", "--", "curl", "-sSf", "-H", "@@HEADERS@",
      server.url)
    assert got.out == b"welcome\n"


def test_psql_reads_its_password_file(home):
  with running(DatabaseServer(PostgreSQLRequest, "alice", SECRET)) as server:
    home.set("db", f"{HOST}:{server.port}:*:alice:{SECRET}\n".encode(), "--service", "s")
    command = ("psql", "-h", HOST, "-p", str(server.port), "-U", "alice", "-d", "db", "-w", "-Atc", "x")
    got = run(home, "--file", "PGPASSFILE=keychain://s/db", "--", *command)
    assert (got.out, got.error, server.accepted) == (b"welcome\n", "", 1)
    home.set("db", f"{HOST}:{server.port}:*:alice:wrong\n".encode(), "--service", "s")
    failed = run(home, "--file", "PGPASSFILE=keychain://s/db", "--", *command, code=2)
    assert "password authentication failed" in failed.error and server.accepted == 1


def test_psql_takes_a_password_from_its_environment(home):
  home.set("db", SECRET.encode(), "--service", "s")
  with running(DatabaseServer(PostgreSQLRequest, "alice", SECRET)) as server:
    got = run(
      home, "-e", "PGPASSWORD=keychain://s/db", "--", "psql", "-h", HOST, "-p", str(server.port),
      "-U", "alice", "-d", "db", "-w", "-Atc", "x")
    assert (got.out, server.accepted) == (b"welcome\n", 1)


def test_mysql_reads_its_options_file(home):
  with running(DatabaseServer(MySQLRequest, "alice", SECRET)) as server:
    command = (
      "mysql", "--defaults-extra-file=@OPTIONS@", "-h", HOST, "-P", str(server.port), "-u", "alice",
      "-e", "DO 1")
    home.set("db", f'[client]\npassword="{SECRET}"\n'.encode(), "--service", "s")
    run(home, "--file", "OPTIONS=keychain://s/db", "--", *command)
    assert server.accepted == 1
    home.set("db", b"[client]\npassword=wrong\n", "--service", "s")
    failed = run(home, "--file", "OPTIONS=keychain://s/db", "--", *command, code=1)
    assert "Access denied" in failed.error and server.accepted == 1
