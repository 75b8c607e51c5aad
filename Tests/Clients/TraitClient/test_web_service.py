"""The service whose settings have a file with references works as the page says."""

from __future__ import annotations

import json

import pytest

from configuration_testing import SERVICE, Program, prefs, write
from conftest import FIRST

REFERENCE = "keychain://com.example.webservice/database.password"


@pytest.fixture
def file(service) -> str:
  return with_file(service, REFERENCE)


def with_file(home, reference: str) -> str:
  content = {"host": "www.example.com", "port": 8081, "database": {"password": reference}}
  return home.file("webservice.json", json.dumps(content).encode())


def start(home, file: str, *arguments: str, **variables: str) -> Program:
  return Program(home, "WebService", *arguments, WEBSERVICE_FILE=file, **variables)


def test_the_first_place_that_has_a_key_answers(service, file):
  write(service, "log.level", "notice")
  with start(service, file) as program:
    program.reports(f"listening on port 8081, with a password of {len(FIRST)} characters")
    program.reports("host is www.example.com, log level is notice")
    assert FIRST not in program.text
  with start(service, file, "--log-level", "error", WEBSERVICE_HOST="::1") as program:
    program.reports("host is ::1, log level is error")
  assert prefs(service, "read", "--domain", "webservice", "started")


def test_changes_reach_the_running_program(service, file):
  with start(service, file) as program:
    program.reports("log level is info")
    write(service, "log.level", "debug")
    program.reports("log level is debug")
    prefs(service, "delete", "--domain", "webservice", "log.level")
    program.reports("log level is info", 2)


def test_without_a_file_it_says_where_to_write_the_reference(service):
  path = str(service.folder / "none.json")
  with start(service, path) as program:
    assert program.ends() == 1 and f"no password: write a reference to it into {path}" in program.text


@pytest.mark.parametrize("reference, message", [
  ("keychain://com.example.other/database.password", "com.example.other"),
  ("keychain://com.example.webservice/other", "other"),
  ("keychain://", "keychain://")])
def test_a_reference_that_is_not_resolved_ends_the_start(service, reference, message):
  with start(service, with_file(service, reference)) as program:
    assert program.ends() != 0
    assert message in program.text
    assert not any(text in program.text for text in ("listening", "no password", FIRST))


def test_a_locked_vault_ends_the_start(service, file):
  service.run("lock", "--all")
  del service.environment["CREDENTIALS_DIRECTORY"]
  with start(service, file) as program:
    assert program.ends() != 0 and "is locked" in program.text and "no password" not in program.text
