"""Items in the desktop keyring, which are not in the vault file, and how to move them there."""

from __future__ import annotations

import subprocess
import time

import pytest

from desktop_session import desktop, lock_keyring, secret_tool
from prefs_testing import LIMIT, hinted

BUS = "DBUS_SESSION_BUS_ADDRESS"
COUNTED = "kept in the desktop keyring, and not in this file"


@pytest.fixture
def keyring(home):
  """The variables of a desktop with gnome-keyring, in which the home's commands run."""
  with desktop(home) as variables:
    yield variables


def made(home, command: str, name: str, **options):
  """Makes a backup or an export."""
  more = ("--export-passphrase-file", home.file("pass", b"a passphrase\n")) if command == "export" else ()
  return home.run(command, name, *more, **options)


@pytest.mark.parametrize("command", ["export", "backup"])
def test_items_left_out_of_a_file_are_counted(home, keyring, command):
  home.set("v", b"1", "--service", "v", "--store", "vault")
  secret_tool(keyring, "store", "--label", "x", "service", "theirs", "account", "a", input=b"theirs")
  assert COUNTED not in made(home, command, "none").error
  home.set("a", b"1", "--service", "s")
  told = made(home, command, "one")
  assert f"1 credential of 1 service is {COUNTED}" in told.error and "migrate" in hinted(told)
  home.set("b", b"1", "--service", "s", "--access-group", "g")
  home.set("c", b"1", "--server", "example.org")
  assert f"3 credentials of 2 services are {COUNTED}" in made(home, command, "three").error
  lock_keyring(keyring)
  told = made(home, command, "locked")
  assert "what 2 services have in the desktop keyring is not in this file" in told.error
  assert "locked" in told.error and "migrate" in hinted(told)


@pytest.mark.parametrize("command", ["export", "backup"])
def test_uncountable_items_are_reported_at_once(home, keyring, command):
  home.set("v", b"1", "--service", "v", "--store", "vault")
  assert "keyring" not in made(home, command, "nothing", environment={BUS: None}).error
  home.set("a", b"1", "--service", "s")
  start = time.monotonic()
  told = made(home, command, "away", environment={BUS: None})
  assert "what 1 service has in the desktop keyring" in told.error
  dead = {BUS: f"unix:path={home.folder}/nowhere"}
  assert "what 1 service has" in made(home, command, "dead", environment=dead).error
  assert time.monotonic() - start < LIMIT / 4


def test_unknown_service_is_not_success(home, keyring):
  home.set("a", b"1", "--service", "s", "--store", "vault")
  away = ("migrate", "--from", "vault", "--to", "secret-service")
  back = ("migrate", "--from", "secret-service", "--to", "vault")
  for words in away, back:
    for options in ("--service", "typo"), ("--server", "typo"), ("--service", "s", "--group", "typo"):
      for more in (), ("--dry-run",):
        missing = home.run(*words, *options, *more, code=44)
        assert options[1] in missing.error and "list" in hinted(missing)
  assert "copied 1 item" in home.run(*away, "--service", "s", "--remove-source").error
  for more in (), ("--dry-run",), ("--remove-source",):
    moved = home.run(*away, "--service", "s", *more)
    assert "everything of the service 's' is in the desktop keyring already" in moved.error
  # Nothing at all to move is no mistake.
  assert "copied 0 items" in home.run(*away).error
