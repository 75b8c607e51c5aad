"""Adding a first passphrase or key file to a vault with a recovery code or other devices."""

from __future__ import annotations

import shutil

import pytest

from prefs_testing import PASSPHRASE, ended

TYPED = PASSPHRASE.decode()


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


STAYS = "will open the vault: slot 2, recovery code"
QUESTION = "give the vault new keys? [y/N] "


def test_remaining_slots_are_confirmed_before_the_passphrase(coded):
  """Anyone who had the device key could have added a slot."""
  terminal = coded.terminal("slots", "add", "--passphrase")
  terminal.expect_exact(STAYS)
  terminal.expect_exact(QUESTION)
  assert "passphrase: " not in terminal.before.decode()
  terminal.sendline("y")
  for prompt in ("new passphrase: ", "again: "):
    terminal.expect_exact(prompt)
    terminal.sendline(TYPED)
  status, rest = ended(terminal)
  assert status == 0 and "added slot 3: passphrase" in rest
  assert kinds(coded) == [
    ("device", "openTier"), ("recoveryCode", "administers"), ("passphrase", "administers")]
  assert opens(coded, "--recovery-code-file", "code") and opens(coded, *coded.passphrase())
  coded.run("verify", *coded.passphrase())


def test_a_second_passphrase_asks_nothing(coded):
  coded.run("slots", "add", "--new-passphrase-file", coded.passphrase()[1], "--yes")
  coded.run("slots", "add", "--new-key-file", "key", *coded.passphrase())
  assert opens(coded, "--key-file", "key")


def test_another_device_opens_less_from_then_on(coded):
  key = coded.state / "device.key"
  first = key.with_name("first.key")
  shutil.move(key, first)
  coded.run("slots", "add", "--device", "--recovery-code-file", "code")
  refused = coded.run("slots", "add", "--new-passphrase-file", coded.passphrase()[1], code=64)
  assert "slot 1, device (another one), which opens what needs no unlock" in refused.error
  coded.run("slots", "add", "--new-passphrase-file", coded.passphrase()[1], "--yes")
  assert kinds(coded) == [
    ("device", "openTier"), ("recoveryCode", "administers"), ("device", "openTier"),
    ("passphrase", "administers")]
  assert opens(coded, *coded.passphrase())


def test_another_devices_items_are_not_lost_unasked(coded):
  key = coded.state / "device.key"
  coded.set("bound", b"x", "--accessibility", "whenUnlockedThisDeviceOnly")
  shutil.move(key, key.with_name("first.key"))
  coded.run("slots", "add", "--device", "--recovery-code-file", "code")
  add = ("slots", "add", "--new-passphrase-file", coded.passphrase()[1])
  assert "will be deleted: 1 item bound to other devices" in coded.run(*add, code=64).error
  coded.run(*add, "--yes")
  coded.run("get", "bound", *coded.passphrase(), code=44)


def test_first_steps_are_named_in_order(home):
  home.set("alice", b"secret")
  steps = [line for line in home.run("doctor").out.decode().splitlines() if line[:5] == "next:"]
  assert "slots add --passphrase" in steps[0] and "for a code on paper" in steps[1]


def test_typed_code_replaces_forgotten_passphrase(home):
  home.init()
  home.set("alice", b"secret", *home.passphrase())
  home.run("recovery", "create", "--code-file", "code", *home.passphrase())
  terminal = home.terminal("change-passphrase")
  for _ in range(3):
    terminal.expect_exact("/vault: ")
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
