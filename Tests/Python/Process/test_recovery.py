"""Recovery codes: shown once, confirmed, and used when everything else is lost."""

from __future__ import annotations

import os
import re
import shutil
import time

import pytest

from prefs_testing import PASSPHRASE, ended, hinted

CODE = re.compile(rb"\b(?:[0-9A-HJKMNP-TV-Z]{4}-){7}[0-9A-HJKMNP-TV-Z]{4}\b")


def kinds(home) -> list[tuple[str, str]]:
  return [(slot["kind"], slot["grant"]) for slot in home.run("slots", "list", "--json").json]


def make_code(home, *options: str, name: str = "code") -> str:
  """Makes a recovery code, and returns the file that holds it."""
  home.run("recovery", "create", "--code-file", name, *options)
  return str(home.folder / name)


def asked_back(home, *options: str):
  """Starts creating a code on a terminal, and returns the terminal and the code."""
  terminal = home.terminal("recovery", "create", *options)
  terminal.expect(CODE)
  return terminal, terminal.match[0]


def test_a_code_is_shown_once_and_asked_back(home):
  home.set("alice", b"secret")
  terminal, code = asked_back(home)
  before = terminal.before.decode()
  assert "on paper" in before and before.index("\x1b[?1049h") < before.index("recovery code")
  terminal.expect_exact("as you wrote it down: ")
  terminal.sendline(code.decode().lower().replace("-", " "))
  status, rest = ended(terminal)
  assert status == 0 and "added slot 2: recovery code" in rest
  # The screen that showed it is cleared and left.
  assert rest.index("\x1b[2J") < rest.index("\x1b[?1049l") < rest.index("added slot 2")
  assert not CODE.search(rest.encode())
  assert home.get("alice", "--recovery-code-file", home.file("typed", code)) == b"secret"
  assert kinds(home) == [("device", "administers"), ("recoveryCode", "administers")]
  home.run("verify")


def test_passphrase_is_asked_before_showing_code(home):
  home.init()
  terminal = home.terminal("recovery", "create")
  terminal.expect_exact("/vault: ")
  assert not CODE.search(terminal.before)
  terminal.sendline(PASSPHRASE)
  terminal.expect(CODE)
  terminal.sendline(terminal.match[0])
  status, rest = ended(terminal)
  assert status == 0 and "added slot 3: recovery code" in rest


def test_a_slip_is_asked_about_again(home):
  home.set("alice", b"secret")
  terminal, code = asked_back(home)
  for answer in (b"", code[:-1] + (b"1" if code.endswith(b"0") else b"0"), code):
    terminal.expect_exact("as you wrote it down: ")
    assert answer == b"" or "compare it with the paper" in terminal.before.decode()
    terminal.sendline(answer)
  assert ended(terminal)[0] == 0 and len(kinds(home)) == 2


def test_unconfirmed_code_is_discarded(home):
  home.set("alice", b"secret")
  terminal, code = asked_back(home)
  for _ in range(3):
    terminal.expect_exact("as you wrote it down: ")
    terminal.sendline("0000-0000-0000-0000-0000-0000-0133-QREN")
  status, rest = ended(terminal)
  assert status == 130 and "nothing was changed" in rest
  assert kinds(home) == [("device", "administers")]
  home.run("get", "alice", "--recovery-code-file", home.file("typed", code), code=78)


def test_interrupt_restores_screen_and_makes_no_code(home):
  home.set("alice", b"secret")
  terminal, _ = asked_back(home)
  terminal.expect_exact("as you wrote it down: ")
  terminal.sendintr()
  status, rest = ended(terminal)
  assert status == 130 and "\x1b[?1049l" in rest
  assert kinds(home) == [("device", "administers")]


def test_a_dumb_terminal_gets_no_escapes(home):
  home.set("alice", b"secret")
  terminal = home.terminal("recovery", "create", environment={"TERM": "dumb"})
  terminal.expect(CODE)
  terminal.sendline(terminal.match[0])
  assert "\x1b" not in terminal.before.decode() and ended(terminal)[0] == 0


@pytest.mark.parametrize("option", [None, "--no-prompt"])
def test_without_a_terminal_there_is_no_code(home, option):
  home.set("alice", b"secret")
  refused = home.run("recovery", "create", *filter(None, [option]), code=79)
  assert "--code-file FILE" in hinted(refused) and len(kinds(home)) == 1


def test_a_code_in_a_file(home):
  home.set("alice", b"secret")
  path = make_code(home)
  assert os.stat(path).st_mode & 0o777 == 0o600
  with open(path, "rb") as file:
    contents = file.read()
  assert CODE.fullmatch(contents.removesuffix(b"\n")) and contents.endswith(b"\n")
  refused = home.run("recovery", "create", "--code-file", "code", code=75)
  assert "exists already" in refused.error and len(kinds(home)) == 2
  told = home.run("recovery", "create", "--code-file", "second")
  assert "2 recovery codes" in told.error and "(slot 2)" in told.error
  home.run("recovery", "create", "--code-file", "no/such/folder", code=74)
  assert len(kinds(home)) == 3


def test_a_refused_code_leaves_no_file(home):
  home.init()
  home.run("recovery", "create", "--code-file", "code", *home.passphrase(b"wrong"), code=78)
  assert not (home.folder / "code").exists()


def test_the_device_key_is_lost(home):
  """The use that codes are for, from the loss until all is as before."""
  home.set("alice", b"secret")
  path = make_code(home)
  (home.state / "device.key").unlink()
  locked = home.run("get", "alice", code=77)
  assert "--recovery-code-file" in hinted(locked) and "device.key" in hinted(locked)
  assert home.get("alice", "--recovery-code-file", path) == b"secret"
  home.run("unlock", "--recovery-code-file", path)
  assert home.get("alice") == b"secret"
  next_steps = " ".join(home.run("doctor", "--json").json["next"])
  assert "slots add --device" in next_steps
  home.run("lock", "--all")
  home.run("slots", "add", "--device", "--recovery-code-file", path)
  assert "slots add --device" not in " ".join(home.run("doctor", "--json").json["next"])
  home.run("slots", "remove", "1", "--yes")
  assert kinds(home) == [("recoveryCode", "administers"), ("device", "administers")]
  assert home.get("alice") == b"secret"
  home.run("verify")


def test_a_wrong_passphrase_names_the_code(locked):
  assert hinted(locked.run("get", "whenUnlocked", *locked.passphrase(b"no"), code=78)) == ""
  locked.run("recovery", "create", "--code-file", "code", *locked.passphrase())
  refused = locked.run("get", "whenUnlocked", *locked.passphrase(b"no"), code=78)
  assert "--recovery-code-file" in hinted(refused) and "passphrase, with" not in hinted(refused)


def test_codes_that_do_not_open(home):
  home.set("alice", b"secret")
  path = make_code(home)
  with open(path, encoding="ascii") as file:
    code = file.read().strip()
  wrong = home.file("wrong", b"000G-40R4-0M30-E209-185G-R38E-1ZWM-EYWH\n")
  refused = home.run("get", "alice", "--recovery-code-file", wrong, code=78)
  assert "does not open the vault" in refused.error
  slip = code.replace(code[6], "7" if code[6] != "7" else "8", 1)
  refused = home.run("get", "alice", "--recovery-code-file",
                     home.file("slip", slip.encode()), code=78)
  assert "mistyped" in refused.error and code not in refused.error
  home.run("get", "alice", "--recovery-code-file", home.file("open", code.encode(), 0o644), code=79)
  home.run("get", "alice", "--recovery-code-file", "none", code=74)
  # An explicit source decides alone, though the device key would open the vault.
  home.run("get", "alice", "--recovery-code-file", home.file("empty", b""), code=78)


def test_a_code_from_a_descriptor(home):
  home.set("alice", b"secret")
  with open(make_code(home), "rb") as file:
    assert home.get("alice", "--recovery-code-fd", "0", stdin=file) == b"secret"
  home.run("get", "alice", "--recovery-code-fd", "7", code=64)
  home.run("get", "alice", "--recovery-code-fd", "-1", code=64)
  home.run("get", "alice", "--recovery-code-fd", "3", "--identity", "x", code=64)
  home.run("set", "alice", "--recovery-code-fd", "0", code=64, input=b"x")


def test_code_is_asked_for_if_nothing_else_opens(home):
  home.set("alice", b"secret")
  with open(make_code(home), "rb") as file:
    code = file.read().strip()
  (home.state / "device.key").unlink()
  terminal = home.terminal("get", "alice")
  for answer in (b"mistyped", code):
    terminal.expect_exact("recovery code of ")
    terminal.expect_exact("/vault: ")
    terminal.sendline(answer)
  status, rest = ended(terminal)
  assert status == 0 and "secret" in rest and code.decode() not in rest


def test_a_backup_opens_by_the_code(home, make_home):
  home.set("alice", b"secret")
  home.set("bound", b"stays", "--accessibility", "whenUnlockedThisDeviceOnly")
  told = home.run("backup", "alone.db")
  assert "recovery create" in hinted(told) and "1 item of it is bound" in told.error
  path = make_code(home)
  assert hinted(home.run("backup", "copy.db")) == ""
  elsewhere = make_home()
  elsewhere.vault.parent.mkdir(mode=0o700)
  shutil.copy(home.folder / "copy.db", elsewhere.vault)
  assert elsewhere.get("alice", "--recovery-code-file", path) == b"secret"
  elsewhere.run("get", "bound", "--recovery-code-file", path, code=79)


def test_first_use_and_doctor_name_the_code(home):
  home.set("alice", b"secret")
  told = home.run("doctor").out.decode()
  assert "everything is lost, as nothing else opens the vault" in told
  assert "run 'prefs keychain recovery create'" in told
  make_code(home)
  told = home.run("doctor").out.decode()
  assert "run 'prefs keychain recovery create'" not in told
  assert "nothing is lost, as slot 2, recovery code, opens everything" in told
  key = (home.state / "device.key").rename(home.folder / "away")
  told = home.run("doctor").out.decode()
  assert "without the recovery code: everything is lost, unless the device key of slot 1" in (
    " ".join(told.split()))
  key.rename(home.state / "device.key")


def test_init_names_the_code(home):
  assert "recovery create" in hinted(home.run("init"))


def test_doctor_explains_adding_passphrase_next_to_code(home):
  """Its hints are followed word by word."""
  home.set("alice", b"secret")
  code = make_code(home)
  steps = home.run("doctor", "--json").json["next"]
  assert [step for step in steps if "for protection" in step] == [
    "for protection of the disk too, run 'prefs keychain slots add --passphrase'"]
  home.run("slots", "add", "--new-passphrase-file", home.passphrase()[1], "--yes")
  home.run("lock", "--all")
  assert home.get("alice", "--recovery-code-file", code) == b"secret"


def test_a_code_and_the_first_passphrase(home):
  home.set("alice", b"secret")
  path = make_code(home)
  new = home.passphrase()[1]
  refused = home.run("slots", "add", "--new-passphrase-file", new, code=64)
  assert "slot 2, recovery code" in refused.error and "--yes" in hinted(refused)
  home.run("slots", "remove", "2", "--yes")
  home.run("slots", "add", "--new-passphrase-file", new)
  home.run("get", "alice", "--recovery-code-file", path, code=78)
  second = make_code(home, "--passphrase-file", new, name="second")
  assert home.get("alice", "--recovery-code-file", second) == b"secret"
  home.run("slots", "remove", "3", "--yes", "--recovery-code-file", second)
  assert kinds(home) == [("device", "administers"), ("recoveryCode", "administers")]


def test_shown_code_blocks_no_other_process(home):
  """The vault is not locked for writing while the code is written down."""
  home.set("alice", b"secret")
  terminal, code = asked_back(home, "--deadline", "1s")
  home.set("bob", b"x", "--deadline", "20s")
  time.sleep(1.2)
  terminal.sendline(code)
  assert ended(terminal)[0] == 0 and len(kinds(home)) == 2
