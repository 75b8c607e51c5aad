"""Real clients log in to, use and log out of a registry by the helper: docker, podman and skopeo."""

from __future__ import annotations

import json
import shutil
import subprocess
import time

import pytest

import machine
from prefs_testing import LIMIT, Home
from registry_server import Registry

LOCKED = "the vault {vault} is locked"
DAMAGED = "'alice' of server '{registry}' is damaged or was changed outside the vault"


@pytest.fixture
def registry():
  with Registry() as registry:
    yield registry


class Client:
  """A client with a configuration of its own that names the helper."""

  def __init__(self, name: str, home: Home, registry: Registry) -> None:
    self.name, self.home, self.registry = name, home, registry
    self.options = [] if name == "docker" else ["--tls-verify=false"]
    folder = home.folder / "bin"
    folder.mkdir()
    home.environment["PATH"] = f"{folder}:{home.environment['PATH']}"
    home.run("helpers", "install", "--folder", str(folder))
    self.configuration = home.folder / ".docker" / "config.json"
    self.configuration.parent.mkdir()
    self.configuration.write_text('{"credsStore": "prefs"}')
    containers = home.folder / ".config" / "containers"
    containers.mkdir(parents=True)
    (containers / "registries.conf").write_text('credential-helpers = ["prefs"]\n')
    (containers / "policy.json").write_text('{"default": [{"type": "insecureAcceptAnything"}]}')

  def run(self, *words: str, given: str | None = None) -> subprocess.CompletedProcess:
    return subprocess.run(
      [self.name, *words], env=self.home.environment, input=given, capture_output=True, text=True,
      cwd=self.home.folder, timeout=LIMIT, start_new_session=True)

  def login(self, password: str = "hunter2", user: str = "alice") -> subprocess.CompletedProcess:
    return self.run(
      "login", *self.options, "-u", user, "--password-stdin", self.registry.name, given=password)

  def logout(self) -> subprocess.CompletedProcess:
    return self.run("logout", self.registry.name)

  def helper(self, operation: str, given: str = "", code: int = 0) -> bytes:
    return self.home.run("docker-credential", operation, input=given.encode(), code=code).out

  def stored(self) -> dict[str, str]:
    return json.loads(self.helper("list"))

  def get_login(self) -> subprocess.CompletedProcess:
    return self.run("login", "--get-login", self.registry.name)

  def has_secret_in_files(self, secret: str = "hunter2") -> bool:
    """Whether the secret, or its base64, is in a file of the home."""
    forms = [secret.encode(), b"YWxpY2U6aHVudGVyMg"]
    return any(
      form in path.read_bytes() for path in self.home.folder.rglob("*")
      if path.is_file() and not path.is_symlink() for form in forms)


@pytest.fixture(params=["docker", "podman", "skopeo"])
def client(request, home, registry) -> Client:
  missing = None if shutil.which(request.param) else "it is not installed"
  if request.param == "docker":
    machine.require("docker", missing)
  assert missing is None, f"{request.param}: {missing}"
  if request.param == "podman":
    machine.require("podman", machine.podman())
  return Client(request.param, home, registry)


@pytest.fixture(params=["podman", "skopeo"])
def container_client(request, home, registry) -> Client:
  if request.param == "podman":
    machine.require("podman", machine.podman())
  return Client(request.param, home, registry)


def test_a_login_is_kept_and_removed(client):
  outcome = client.login()
  assert outcome.returncode == 0 and "Login Succeeded" in outcome.stdout, outcome
  assert client.stored() == {client.registry.name: "alice"}
  assert not client.has_secret_in_files()
  outcome = client.logout()
  assert outcome.returncode == 0, outcome
  assert client.stored() == {}


def test_logging_out_without_a_login_succeeds(client):
  """What these clients then say is on the page: that a login was removed."""
  outcome = client.logout()
  assert outcome.returncode == 0, outcome
  assert "prefs:" not in outcome.stderr
  if client.name != "docker":
    assert f"Removed login credentials for {client.registry.name}" in outcome.stdout


def test_a_login_of_a_namespace_is_refused_by_the_client(container_client):
  client = container_client
  refused = client.run(
    "login", *client.options, "-u", "alice", "--password-stdin", f"{client.registry.name}/team",
    given="hunter2")
  assert refused.returncode != 0
  assert "namespaced key is not supported for credential helper prefs" in refused.stderr
  assert client.stored() == {} and not client.has_secret_in_files()


def test_a_login_is_used(container_client):
  assert container_client.login().returncode == 0
  assert container_client.get_login().stdout.strip() == "alice"
  outcome = container_client.run("login", *container_client.options, container_client.registry.name)
  assert outcome.returncode == 0, outcome


def test_skopeo_inspects_an_image_with_the_password(home, registry):
  client = Client("skopeo", home, registry)
  # As an administrator prepares it, without any login.
  home.set("alice", b"hunter2", "--server", registry.name, "--attribute", "client=docker")
  outcome = client.run("inspect", "--tls-verify=false", f"docker://{registry.name}/app:1")
  assert outcome.returncode == 0, outcome
  assert registry.authorizations and set(registry.authorizations) == {registry.expected}


def test_docker_finds_what_is_stored(home, registry):
  machine.require("docker", None if shutil.which("docker") else "it is not installed")
  client = Client("docker", home, registry)
  client.login()
  # It then asks the engine, which is not here.
  assert "Username: alice" in client.run("login", registry.name).stderr


def test_a_wrong_password_is_not_kept(client):
  assert client.login("wrong").returncode != 0
  assert client.stored() == {}


def test_a_new_password_replaces_the_old_one(client):
  client.login()
  client.registry.password = "hunter3"
  assert client.login("hunter3").returncode == 0
  assert b'"Secret":"hunter3"' in client.helper("get", client.registry.name)


def test_another_user_replaces_the_first(client):
  client.login()
  client.registry.username = "bob"
  assert client.login(user="bob").returncode == 0
  assert client.stored() == {client.registry.name: "bob"}


def test_the_same_login_again_writes_nothing(client):
  client.login()
  before = client.home.run("list", "--all-groups", "--json").json
  time.sleep(0.01)
  assert client.login().returncode == 0
  assert client.home.run("list", "--all-groups", "--json").json == before


def break_store(client: Client, way: str) -> str:
  """Makes a stored login unusable; returns what is then said."""
  home = client.home
  if way == "locked":
    home.init("--no-device")
    home.run("unlock", *home.passphrase())
  home.set("alice", b"hunter2", "--server", client.registry.name, "--attribute", "client=docker")
  if way == "locked":
    home.run("lock", "--all")
  else:
    home.spoil_secrets()
  text = LOCKED if way == "locked" else DAMAGED
  return text.format(vault=home.vault, registry=client.registry.name)


@pytest.mark.parametrize("way", ["locked", "damaged"])
def test_a_login_that_cannot_be_read_is_reported(client, way):
  said = break_store(client, way)
  outcome = client.login()
  assert outcome.returncode != 0
  assert f"out: `{said}`" in outcome.stderr.replace("\\n", "\n"), outcome
  if client.name != "docker":
    assert f"out: `{said}`" in client.get_login().stderr
    assert f"out: `{said}`" in client.run(
      "login", *client.options, client.registry.name).stderr


def test_logging_out_while_locked_ends(client):
  said = break_store(client, "locked")
  outcome = client.logout()
  # docker hides the failure of its helper, but not the helper's own words.
  assert (outcome.returncode == 0) == (client.name == "docker")
  assert f"prefs: error: {said}" in outcome.stderr


def test_logging_out_removes_a_damaged_login(client):
  break_store(client, "damaged")
  outcome = client.logout()
  assert outcome.returncode == 0 and "prefs:" not in outcome.stderr, outcome
  assert client.stored() == {}


def test_an_absent_login_is_silent(client):
  outcome = client.run("login", *client.options, client.registry.name)
  assert outcome.returncode != 0
  assert "prefs:" not in outcome.stderr and "credentials not found" not in outcome.stderr


def test_an_expired_login_is_absent_and_can_be_renewed(client):
  home, name = client.home, client.registry.name
  home.set(
    "alice", b"old", "--server", name, "--attribute", "client=docker", "--expires", "1s")
  time.sleep(1.1)
  outcome = client.run("login", *client.options, name)
  assert outcome.returncode != 0 and "has expired" in outcome.stderr, outcome
  assert client.stored() == {}
  assert client.login().returncode == 0
  assert client.stored() == {name: "alice"}


def test_a_credential_helper_of_one_registry_is_used(home, registry):
  machine.require("docker", None if shutil.which("docker") else "it is not installed")
  client = Client("docker", home, registry)
  client.configuration.write_text(json.dumps({"credHelpers": {registry.name: "prefs"}}))
  assert client.login().returncode == 0
  assert client.stored() == {registry.name: "alice"}
  assert client.logout().returncode == 0
  assert client.stored() == {}


def test_credential_helpers_of_an_auth_file_are_used(container_client):
  client = container_client
  (client.home.folder / ".config" / "containers" / "registries.conf").unlink()
  file = client.home.file("auth.json", json.dumps(
    {"credHelpers": {client.registry.name: "prefs"}}).encode())
  client.home.environment["REGISTRY_AUTH_FILE"] = file
  assert client.login().returncode == 0
  assert client.stored() == {client.registry.name: "alice"}
  assert client.get_login().stdout.strip() == "alice"
  assert client.logout().returncode == 0
  assert client.stored() == {}
