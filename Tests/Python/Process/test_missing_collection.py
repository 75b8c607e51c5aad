"""A desktop keyring that has no collection, or cannot ask, or keeps what was removed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from desktop_session import desktop, lock_keyring
from prefs_testing import LIMIT, hinted

SERVICE = ("--service", "new")

# A display that questions may be shown on, as far as the commands know.
DISPLAY = {"DISPLAY": ":4711"}

REQUEST = b"protocol=https\nhost=git.example.com\n\n"


@pytest.fixture(params=["gnome-keyring-without-collection", "keepassxc-without-database"])
def empty(request, home):
  """A desktop whose keyring has no collection, as of a new account."""
  with desktop(home, request.param):
    home.environment |= DISPLAY
    yield home


def test_without_a_collection_there_is_no_keyring_to_read(empty):
  empty.run("get", "q", *SERVICE, code=44)
  empty.run("delete", "q", *SERVICE, code=44)
  empty.run("update", "q", *SERVICE, "--label", "l", code=44)
  assert empty.run("read", "keychain://new/q?optional").out == b""
  empty.run("run", "--env", "T=keychain://new/q?optional", "--", "true")
  assert empty.run("list", "--json").json == []
  # Nothing is said, so git asks.
  assert empty.run("git-credential", "get", input=REQUEST).out == b""
  found = empty.run("docker-credential", "get", input=b"registry.example.com", code=1)
  assert b"credentials not found" in found.out
  assert empty.run("docker-credential", "list").json == {}
  # One that was chosen by name is missing.
  empty.run("get", "q", *SERVICE, "--store", "secret-service", code=69)
  missing = empty.run("delete", "q", *SERVICE, "--store", "secret-service", code=69)
  assert "no default collection" in missing.error


def activatable_prompter(home, variables: dict[str, str]) -> None:
  """Lets the bus start the program that shows gnome-keyring's questions, which finds no display."""
  services = Path(variables["HOME"]).parent / "services"
  (services / "org.gnome.keyring.SystemPrompter.service").write_text(
    "[D-BUS Service]\nName=org.gnome.keyring.SystemPrompter\nExec=/usr/libexec/gcr-prompter\n")
  subprocess.run(
    ["dbus-send", "--print-reply", "--dest=org.freedesktop.DBus", "/",
     "org.freedesktop.DBus.ReloadConfig"], env=variables, check=True, stdout=subprocess.DEVNULL,
    timeout=LIMIT)


def test_dialog_that_cannot_open_was_not_dismissed(home):
  with desktop(home) as variables:
    home.set("first", b"1", *SERVICE)
    lock_keyring(variables)
    activatable_prompter(home, variables)
    home.environment |= DISPLAY
    refused = home.run("get", "first", *SERVICE, code=77)
    assert "its dialog cannot open: org.gnome.keyring.SystemPrompter does not start" in refused.error
    assert "DISPLAY" in hinted(refused)


def test_first_secret_asks_for_a_collection(home):
  with desktop(home, "gnome-keyring-without-collection") as variables:
    activatable_prompter(home, variables)
    # Nobody can answer, and nothing is stored elsewhere instead.
    refused = home.run("set", "q", *SERVICE, input=b"s", code=69, environment=DISPLAY)
    assert "no default collection, and its dialog cannot open" in refused.error
    assert not home.vault.exists()
    # Without a display, the vault is the store.
    home.set("q", b"s", *SERVICE)
    assert home.vault.exists() and home.get("q", *SERVICE) == b"s"


def test_keepassxc_may_keep_what_was_removed(home):
  with desktop(home, "keepassxc-with-recycle-bin") as variables:
    home.environment["DISPLAY"] = variables["DISPLAY"]
    for account in ("a", "b", "c"):
      home.set(account, b"s", *SERVICE)
    deleted = home.run("delete", "a", *SERVICE)
    assert "recycle bin" in deleted.error and "empty the recycle bin" in hinted(deleted)
    moved = home.run("migrate", "--from", "secret-service", "--to", "vault", "--remove-source")
    assert "2 removed from the source" in moved.error and "recycle bin" in moved.error
    assert "recycle bin" not in home.run("delete", "b", *SERVICE).error


def test_gnome_keyring_keeps_nothing(home):
  with desktop(home):
    home.set("a", b"s", *SERVICE)
    assert home.run("delete", "a", *SERVICE).error == ""
