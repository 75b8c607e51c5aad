"""The terminal sessions of the pages happen, and their commands can be typed."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pexpect
import pytest

from desktop_session import desktop, keyring_items
from pages import Block, blocks
from prefs_testing import LIMIT

SECRET = "tok-42"
CODE = re.compile(r"\b(?:[0-9A-HJKMNP-TV-Z]{4}-){7}[0-9A-HJKMNP-TV-Z]{4}\b")

# An answer: the recovery code that is on the screen.
SHOWN_CODE = "the code that is shown"

# What differs from machine to machine and from day to day.
VARYING = [
  (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "2026-01-01T00:00:00Z"),
  (re.compile(r"\b[0-9a-f]{32}\b"), "0" * 32),
  (re.compile(r"(?m)^(witness: +)[0-9A-HJKMNP-TV-Z]{32}$"), r"\1" + "0" * 32),
  (re.compile(r"(?m)^(file system|cache|memory|core dumps): .*$"), r"\1: …"),
]


def comparable(text: str) -> str:
  for pattern, replacement in VARYING:
    text = pattern.sub(replacement, text)
  return "\n".join(line.rstrip() for line in text.strip().splitlines())


@pytest.fixture
def bare_home(home):
  """A home folder without any variable but the usual ones."""
  for name in ("data", "state", "runtime", "config"):
    (home.folder / name).rmdir()
  home.vault = home.folder / ".local/share/keychain/vault"
  commands = home.folder / "bin"
  commands.mkdir()
  (commands / "prefs").symlink_to(Path(home.program).resolve())
  home.environment = {
    "HOME": str(home.folder), "PATH": f"{commands}:/usr/bin:/bin", "TERM": "dumb"}
  return home


def type_in(home, command: str, answers: dict[str, str] | None = None) -> str:
  """Types a command on a terminal, and the answers to its questions: the secret, unless others are given.

  A question that ends with a code to write down is answered with the code.
  """
  terminal = pexpect.spawn(
    "/bin/sh", ["-c", command], env=home.environment, cwd=home.folder, timeout=LIMIT,
    dimensions=(50, 500))
  answers = answers or {r"(secret for [^:\n]*|again): $": SECRET}
  shown = ""
  while (number := terminal.expect([*answers, pexpect.EOF])) < len(answers):
    shown += terminal.before.decode() + terminal.after.decode()
    answer = list(answers.values())[number]
    terminal.sendline(CODE.findall(shown)[-1] if answer == SHOWN_CODE else answer)
  shown += terminal.before.decode()
  terminal.close()
  assert terminal.exitstatus == 0, shown
  return f"$ {command}\n{shown}".replace("\r", "").replace(str(home.folder), "/home/alice")


SESSIONS = blocks("console")
SHELL = [
  block for block in blocks("sh") if block.page == "README.md" and "keychain set" in block.text]


@pytest.mark.parametrize("session", SESSIONS, ids=str)
def test_a_session_happens(session: Block, bare_home):
  commands = re.findall(r"(?m)^\$ (.*)$", session.text)
  assert commands
  happened = "".join(type_in(bare_home, command) for command in commands)
  assert comparable(session.text) == comparable(happened)


@pytest.mark.parametrize("block", SHELL, ids=str)
def test_first_commands_store_and_read(block: Block, bare_home):
  bare_home.environment["TOKEN"] = "tok-43"
  shown = {line: type_in(bare_home, line) for line in block.text.splitlines()}
  assert all(shlex.split(line, comments=True) for line in shown)
  read = [answer for line, answer in shown.items() if "keychain get github" in line]
  assert read == [f"$ prefs keychain get github\n{SECRET}\n"]


def test_pages_have_sessions_and_commands():
  """The check itself finds a known fault."""
  assert any("doctor" in session.text for session in SESSIONS)
  assert len(SHELL) == 1


# MARK: Pages with a task


def lines(page: str) -> list[str]:
  """The commands in the blocks of a page, in their order."""
  text = "".join(block.text for block in blocks("sh") if block.page == f"{page}.md")
  return [line for line in text.replace("&&\n ", "&&").splitlines() if line.strip()]


@pytest.fixture
def stick(bare_home) -> str:
  """What stands for the folder of a medium in the pages."""
  folder = bare_home.folder / "stick"
  folder.mkdir(mode=0o700)
  return str(folder)


def test_vault_is_restored_on_new_machine(bare_home, stick):
  create, backup, install, add = [
    line.replace("/media/stick", stick) for line in lines("Recovery")]
  type_in(bare_home, "prefs keychain set github")
  shown = type_in(bare_home, create, {r"as you wrote it down: $": SHOWN_CODE})
  code = CODE.findall(shown)[0]
  type_in(bare_home, backup)
  type_in(bare_home, "prefs keychain set later")
  type_in(bare_home, backup)
  bare_home.forget_keys()
  # The disk is gone, with the vault and all that this machine knew about it.
  shutil.rmtree(bare_home.folder / ".local")
  type_in(bare_home, install)
  type_in(bare_home, add, {r"(code|passphrase)[^\n]*: $": code})
  for name in ("github", "later"):
    assert type_in(bare_home, f"prefs keychain get {name}").endswith(f"\n{SECRET}\n")


@pytest.mark.parametrize("had_vault", [False, True])
def test_second_server_opens_vault_of_first(bare_home, stick, had_vault):
  """The steps of the page on recovery; the second server is a second home folder."""
  _, backup, install, _ = [
    line.replace("/media/stick", stick) for line in lines("Recovery")]
  folder = bare_home.folder / "second"
  folder.mkdir(mode=0o700)
  identity = folder / ".config/keychain/identity"

  def second(command: str) -> str:
    return type_in(bare_home, f"export HOME={folder}; {command}")

  type_in(bare_home, "prefs keychain set github")
  if had_vault:
    second("prefs keychain set other")
  recipient = re.search(r"pkpub2-\w+", second("prefs keychain identity create"))[0]
  added = type_in(bare_home, f"prefs keychain slots add --recipient {recipient}")
  type_in(bare_home, backup)
  (pin,) = re.findall(r"'(prefs keychain identity pin FILE --check [0-9a-f]{32})'", added)
  second(pin.replace("FILE", str(identity)))
  second(install)
  with_identity = f"export KEYCHAIN_IDENTITY_FILE={identity}; prefs keychain"
  if had_vault:
    second(f"{with_identity} accept-restored --yes")
  assert second(f"{with_identity} get github").endswith(f"\n{SECRET}\n")
  second(f"{with_identity} lock --all")


def test_export_is_imported_elsewhere(bare_home, stick):
  child, token, reference, export, attempt, take = [
    line.replace("/media/stick", stick) for line in lines("Keychain")[:6]]
  type_in(bare_home, "prefs keychain set github")
  shown = child.replace("gh release list", "printenv GITHUB_TOKEN")
  assert type_in(bare_home, shown).endswith(f"\n{SECRET}\n")
  type_in(bare_home, "prefs keychain set deploy --service ci")
  assert type_in(bare_home, reference).endswith("\ndeploy\n")
  passphrase = {r"passphrase[^\n]*: $": "correct horse battery staple"}
  received = type_in(bare_home, token.replace("curl --fail -H @- https://example.com/", "cat"))
  assert received.endswith(f"\nAuthorization: Bearer {SECRET}")
  type_in(bare_home, export, passphrase)
  bare_home.forget_keys()
  shutil.rmtree(bare_home.folder / ".local")
  type_in(bare_home, attempt, passphrase)
  assert not bare_home.vault.exists()
  type_in(bare_home, take, passphrase)
  assert type_in(bare_home, "prefs keychain get github").endswith(f"\n{SECRET}\n")


def test_services_move_to_the_keyring(bare_home):
  attempt, move = lines("Stores")[4:6]
  with desktop(bare_home) as variables:
    type_in(bare_home, "prefs keychain set github --store vault")
    type_in(bare_home, attempt)
    assert keyring_items(variables) == []
    type_in(bare_home, move)
    assert len(keyring_items(variables)) == 1
    type_in(bare_home, "prefs keychain verify")
    assert re.search(r"items: +0\n", type_in(bare_home, "prefs keychain status"))
    assert type_in(bare_home, "prefs keychain get github").endswith(f"\n{SECRET}\n")


def test_store_is_chosen_for_each_command(bare_home):
  vault, keyring, collection, always = lines("Stores")[:4]
  with desktop(bare_home) as variables:
    type_in(bare_home, vault)
    assert keyring_items(variables) == []
    assert "vault" in type_in(bare_home, keyring)
    assert len(keyring_items(variables)) == 1
    # The label of the collection that this desktop has.
    type_in(bare_home, collection.replace("Work", "Login"))
    assert len(keyring_items(variables)) == 1
    type_in(bare_home, f"{always}\nprefs keychain set other")
    assert len(keyring_items(variables)) == 1
