"""Adding a first passphrase or key file to a vault with a recovery code or other devices."""

from __future__ import annotations

import shutil

import pytest

from prefs_testing import PASSPHRASE, ended, hinted

TYPED = PASSPHRASE.decode()
WRONG = "0000-0000-0000-0000-0000-0000-0133-QREN"


@pytest.fixture
def coded(home):
  """A vault that the device key and a recovery code open; the code is in the file `code`."""
  home.set("alice", b"secret")
  home.run("recovery", "create", "--code-file", "code")
  return home


def code(home) -> str:
  return (home.folder / "code").read_text().strip()


def kinds(home) -> list[tuple[str, str]]:
  return [(slot["kind"], slot["grant"]) for slot in home.run("slots", "list", "--json").json]


def opens(home, *source: str) -> bool:
  return home.run("get", "alice", *source, code=None).out == b"secret"


def test_the_code_is_asked_for_before_the_passphrase(coded):
  terminal = coded.terminal("slots", "add", "--passphrase")
  terminal.expect_exact("recovery code of slot 2, to keep it: ")
  assert "passphrase" not in terminal.before.decode()
  terminal.sendline(code(coded).lower())
  for prompt in ("new passphrase: ", "again: "):
    terminal.expect_exact(prompt)
    terminal.sendline(TYPED)
  status, rest = ended(terminal)
  assert status == 0 and "added slot 3: passphrase" in rest
  assert kinds(coded) == [("device", "openTier"), ("recoveryCode", "root"), ("passphrase", "root")]
  assert opens(coded, "--recovery-code-file", "code") and opens(coded, *coded.passphrase())
  coded.run("verify", *coded.passphrase())


@pytest.mark.parametrize("option", ["--new-key-file", "--with-key-file"])
def test_key_file_keeps_typed_code(coded, option):
  if option == "--with-key-file":
    coded.file("key", bytes(range(32)))
  terminal = coded.terminal("slots", "add", option, "key")
  terminal.expect_exact("recovery code of slot 2, to keep it: ")
  terminal.sendline(code(coded))
  assert ended(terminal)[0] == 0
  assert opens(coded, "--recovery-code-file", "code") and opens(coded, "--key-file", "key")


def test_a_slip_is_asked_about_again(coded):
  terminal = coded.terminal("slots", "add", "--new-passphrase-file", coded.passphrase()[1])
  for answer in ("no code", WRONG, code(coded)):
    terminal.expect_exact("recovery code of slot 2, to keep it: ")
    terminal.sendline(answer)
  assert ended(terminal)[0] == 0 and opens(coded, "--recovery-code-file", "code")


def test_without_the_code_nothing_more_is_asked(coded):
  terminal = coded.terminal("slots", "add", "--passphrase")
  terminal.expect_exact("to keep it: ")
  terminal.sendline("")
  status, rest = ended(terminal)
  assert status == 79 and "passphrase: " not in rest
  assert rest.index("--recovery-code-file FILE") < rest.index("slots remove 2")
  terminal = coded.terminal("slots", "add", "--new-key-file", "key")
  for _ in range(3):
    terminal.expect_exact("to keep it: ")
    terminal.sendline(WRONG)
  assert ended(terminal)[0] == 78
  assert not (coded.folder / "key").exists() and opens(coded) and len(kinds(coded)) == 2


def test_without_a_terminal_keeping_is_named_first(coded):
  refused = coded.run(
    "slots", "add", "--new-passphrase-file", coded.passphrase()[1], code=79)
  hint = hinted(refused)
  assert "2 (recovery code)" in refused.error
  assert hint.index("--recovery-code-file FILE") < hint.index("slots remove 2")


def test_another_device_is_named_before_any_question(coded):
  key = coded.state / "device.key"
  first = key.with_name("first.key")
  shutil.move(key, first)
  coded.run("slots", "add", "--device", "--recovery-code-file", "code")
  code_, shown = ended(coded.terminal("slots", "add", "--passphrase"))
  assert code_ == 79 and "slot 1 (device)" in shown and "slots remove 1" in shown
  assert "to keep it" not in shown and "new passphrase" not in shown
  steps = coded.run("doctor", "--json").json["next"]
  assert [step for step in steps if "for protection" in step] == [
    "for protection of the disk too, run 'prefs keychain slots remove 1', "
    "'prefs keychain slots add --passphrase', which asks for the recovery code"]


def test_two_codes_are_both_asked_for(coded):
  coded.run("recovery", "create", "--code-file", "second")
  terminal = coded.terminal("slots", "add", "--new-passphrase-file", coded.passphrase()[1])
  for number, name in ((2, "code"), (3, "second")):
    terminal.expect_exact(f"recovery code of slot {number}, to keep it: ")
    terminal.sendline((coded.folder / name).read_text().strip())
  assert ended(terminal)[0] == 0
  assert opens(coded, "--recovery-code-file", "code")
  assert opens(coded, "--recovery-code-file", "second")


def test_the_passphrase_is_named_before_the_code(home):
  made = home.set("alice", b"secret")
  steps = [line for line in home.run("doctor").out.decode().splitlines() if line[:5] == "next:"]
  assert made.error.index("slots add --passphrase") < made.error.index("recovery create")
  assert "slots add --passphrase" in steps[0] and "after that, for a code on paper" in steps[1]
  home.run("slots", "add", "--new-passphrase-file", home.passphrase()[1])
  assert "after that" not in home.run("doctor").out.decode()


def test_typed_code_replaces_forgotten_passphrase(home):
  home.init()
  home.set("alice", b"secret", *home.passphrase())
  home.run("recovery", "create", "--code-file", "code", *home.passphrase())
  terminal = home.terminal("change-passphrase")
  for _ in range(3):
    terminal.expect_exact("vault.db: ")
    terminal.sendline("forgotten")
  status, rest = ended(terminal)
  assert status == 78
  assert "or type the recovery code where the passphrase is asked for" in rest
  terminal = home.terminal("change-passphrase")
  terminal.expect_exact("passphrase or recovery code of ")
  terminal.sendline(code(home))
  for prompt in ("new passphrase: ", "again: "):
    terminal.expect_exact(prompt)
    terminal.sendline("another one")
  assert ended(terminal)[0] == 0 and opens(home, *home.passphrase(b"another one"))
  assert "type the recovery code" in " ".join(
    home.run("change-passphrase", "--help").out.decode().split())
