"""The server of the page takes its settings and its password as the page says, also while it runs."""

from __future__ import annotations

import pytest

from configuration_testing import SERVICE, SOON, WebProgram, write
from conftest import FIRST

SECOND = "second-password-84"
HINT = "prefs keychain set database.password --service com.example.webservice --store vault"


def set_password(home, password: str) -> None:
  home.set("database.password", password.encode(), *SERVICE)


def is_silent(server: WebProgram) -> bool:
  return not any(password in server.text for password in (FIRST, SECOND))


def test_without_a_password_it_says_what_to_do(home):
  with WebProgram(home) as server:
    assert server.ends() == 1
    assert HINT in server.text and "listening" not in server.text


def test_it_serves_and_ends_gracefully(service):
  with WebProgram(service) as server:
    assert (server.get("/"), server.get("/health")) == ("Hello", "logins: 1")
    assert server.terminated() == 0
    assert is_silent(server) and "error" not in server.text


def test_it_ends_gracefully_as_soon_as_it_serves(home):
  for _ in range(5):
    with WebProgram(home, DATABASE_PASSWORD=SECOND) as server:
      server.reports("Server started and listening on ")
      assert server.terminated() == 0, server.text


def test_a_new_password_is_taken_while_it_runs(service):
  with WebProgram(service) as server:
    assert server.get("/health") == "logins: 1"
    set_password(service, SECOND)
    server.answers("/health", "logins: 2")
    # The same password again is no change.
    set_password(service, SECOND)
    set_password(service, FIRST)
    server.answers("/health", "logins: 3")
    assert server.terminated() == 0
    assert is_silent(server) and "stays in use" not in server.text


def test_a_setting_is_taken_while_it_runs(service):
  with WebProgram(service) as server:
    assert server.get("/") == "Hello"
    write(service, "greeting", "Welcome")
    server.answers("/", "Welcome")
    write(service, "greeting", "Servus")
    server.answers("/", "Servus")


def test_the_first_place_that_has_a_key_answers(service):
  write(service, "greeting", "preference")
  with WebProgram(service) as server:
    assert server.get("/") == "preference"
  with WebProgram(service, GREETING="variable") as server:
    assert server.get("/") == "variable"
  with WebProgram(service, "--greeting", "argument", GREETING="variable") as server:
    assert server.get("/") == "argument"


def test_a_setting_of_the_wrong_type_is_reported(service):
  with WebProgram(service, "--http-port", "many") as server:
    assert server.ends() == 1
    assert "http.port" in server.text or "http-port" in server.text
    assert "listening" not in server.text


@pytest.fixture
def locked(service):
  """A vault whose key is not given to the service."""
  service.run("lock", "--all")
  del service.environment["CREDENTIALS_DIRECTORY"]
  return service


def test_a_locked_vault_is_not_a_missing_password(locked):
  with WebProgram(locked) as server:
    assert server.ends() == 1
    assert f"the vault {locked.vault} is locked" in server.text
    assert "no password" not in server.text and "listening" not in server.text


def test_a_deletion_leaves_the_old_password(service):
  with WebProgram(service) as server:
    assert server.get("/health") == "logins: 1"
    service.run("delete", "database.password", *SERVICE)
    assert "no password" in server.reports("The old password stays in use: ")
    set_password(service, SECOND)
    server.answers("/health", "logins: 2")
    assert server.terminated() == 0 and is_silent(server)


def test_an_expiry_leaves_the_old_password(service):
  with WebProgram(service) as server:
    assert server.get("/health") == "logins: 1"
    service.set("database.password", SECOND.encode(), *SERVICE, "--expires", "2020-01-01")
    assert "has expired" in server.reports("The old password stays in use: ")
    assert (server.get("/health"), server.get("/")) == ("logins: 1", "Hello")
    set_password(service, SECOND)
    server.answers("/health", "logins: 2")
    assert server.terminated() == 0 and is_silent(server)


def test_a_vault_that_is_damaged_and_restored(service):
  with WebProgram(service) as server:
    assert server.get("/health") == "logins: 1"
    whole = service.vault.read_bytes()
    service.vault.write_bytes(b"no vault")
    assert "is not a vault" in server.reports("The old password stays in use: ")
    assert (server.get("/health"), server.get("/")) == ("logins: 1", "Hello")
    service.vault.write_bytes(whole)
    set_password(service, SECOND)
    server.answers("/health", "logins: 2")
    assert server.terminated() == 0 and is_silent(server)


def test_an_expired_password_is_not_a_missing_one(service):
  service.set("database.password", SECOND.encode(), *SERVICE, "--expires", "2020-01-01")
  with WebProgram(service) as server:
    assert server.ends() == 1 and is_silent(server)
    assert "has expired" in server.text and "no password" not in server.text


def test_a_locked_vault_ends_the_start_also_if_it_is_not_needed(locked):
  with WebProgram(locked, DATABASE_PASSWORD=SECOND) as server:
    assert server.ends() == 1 and "is locked" in server.text and is_silent(server)


def test_without_a_vault_a_variable_can_have_the_password(home):
  with WebProgram(home, DATABASE_PASSWORD=SECOND) as server:
    assert server.get("/health") == "logins: 1"
    assert server.terminated() == 0 and is_silent(server)


def test_as_a_service_of_systemd(home):
  """With the variables of the page's unit, and no home: all files lie in the folder of the state."""
  (state := home.folder / "state" / "webservice").mkdir(mode=0o700)
  keep = ("PATH", "SWIFT_BACKTRACE", "CREDENTIALS_DIRECTORY")
  home.environment = {name: home.environment[name] for name in keep} | {
    "HOME": "/nonexistent", "STATE_DIRECTORY": str(state)}
  home.vault = state / "keychain" / "vault"
  set_password(home, FIRST)
  with WebProgram(home) as server:
    assert server.get("/health") == "logins: 1"
    set_password(home, SECOND)
    write(home, "greeting", "Welcome")
    server.answers("/health", "logins: 2")
    server.answers("/", "Welcome")
    assert server.terminated() == 0 and is_silent(server)
  assert home.vault.exists() and (state / "webservice.preferences").exists()
