"""Replacing a passphrase, also one that is forgotten."""

from __future__ import annotations

import pytest

from prefs_testing import LITTLE_MEMORY, PASSPHRASE, Home, ended, hinted

TYPED = PASSPHRASE.decode()


def slots(home: Home) -> list[tuple[int, str, str]]:
  return [
    (slot["number"], slot["kind"], slot["grant"])
    for slot in home.run("slots", "list", "--json").json]


def change(home: Home, new: bytes, *options: str, **more):
  return home.run(
    "change-passphrase", "--new-passphrase-file", home.passphrase(new)[1], *options, through=LITTLE_MEMORY, **more)


def test_only_new_passphrase_opens(locked):
  before = locked.entries()
  old = locked.copy_vault("old.db")
  slots_before = locked.head().slots
  outcome = change(locked, b"new", *locked.passphrase())
  assert outcome.out == b"" and "changed the passphrase of slot 2" in outcome.error
  assert "copies of the vault made before still open with the old passphrase" in hinted(outcome)
  assert "'prefs keychain rekey --new-administration-key'" in hinted(outcome)
  assert slots(locked) == [(1, "device", "openTier"), (2, "passphrase", "administers")]
  assert locked.head().slots[0] == slots_before[0] and locked.head().slots[1] != slots_before[1]
  # No item was touched.
  assert locked.entries() == before
  locked.run("get", "whenUnlocked", *locked.passphrase(), code=78)
  assert locked.get("whenUnlocked", *locked.passphrase(b"new")) == b"whenUnlocked"
  assert locked.get("whenUnlocked", "--vault", str(old), *locked.passphrase()) == b"whenUnlocked"
  locked.run("verify", *locked.passphrase(b"new"))


def test_unlocked_vault_stays_unlocked(locked):
  locked.run("unlock", *locked.passphrase())
  # Cached keys do not change slots.
  refused = change(locked, b"new", code=77)
  assert "is unlocked, but this needs a secret" in refused.error
  change(locked, b"new", *locked.passphrase())
  assert locked.get("whenUnlocked") == b"whenUnlocked"
  locked.run("lock", "--all")


def test_key_file_replaces_forgotten_passphrase(locked):
  locked.run("slots", "add", "--new-key-file", "key", *locked.passphrase())
  change(locked, b"new", "--key-file", "key")
  assert locked.get("whenUnlocked", *locked.passphrase(b"new")) == b"whenUnlocked"
  assert [slot[1] for slot in slots(locked)] == ["device", "passphrase", "keyFile"]
  # With two passphrases somebody must say which one.
  locked.run(
    "slots", "add", "--new-passphrase-file", locked.passphrase(b"second")[1], "--key-file", "key",
    through=LITTLE_MEMORY)
  which = change(locked, b"third", "--key-file", "key", code=76)
  assert "slots 2, 4" in which.error and "--slot" in hinted(which)
  change(locked, b"third", "--key-file", "key", "--slot", "4")
  locked.run("get", "whenUnlocked", *locked.passphrase(b"second"), code=78)
  # A passphrase that opens means itself, unless another slot is named.
  change(locked, b"fourth", *locked.passphrase(b"third"))
  change(locked, b"fifth", *locked.passphrase(b"fourth"), "--slot", "2")
  for value, code in ((b"fourth", 0), (b"fifth", 0), (b"new", 78), (b"third", 78)):
    locked.run("get", "whenUnlocked", *locked.passphrase(value), code=code)
  locked.run("verify", *locked.passphrase(b"fifth"))


def test_on_a_terminal_the_old_one_comes_first(locked):
  locked.run("unlock", *locked.passphrase())
  terminal = locked.terminal("change-passphrase")
  terminal.expect_exact("passphrase of ")
  terminal.expect_exact("/vault: ")
  terminal.sendline("wrong")
  terminal.expect_exact("try again")
  terminal.expect_exact("/vault: ")
  terminal.sendline(TYPED)
  for prompt in ("new passphrase: ", "again: "):
    terminal.expect_exact(prompt)
    terminal.sendline("brand new")
  code, rest = ended(terminal)
  assert code == 0 and "brand new" not in rest and "changed the passphrase of slot 2" in rest
  locked.run("lock", "--all")
  assert locked.get("whenUnlocked", *locked.passphrase(b"brand new")) == b"whenUnlocked"


@pytest.mark.parametrize("answers", [["\x03"], [TYPED, "\x03"], [TYPED, "new", "\x03"]])
def test_a_person_who_cancels_changes_nothing(locked, answers):
  vault = locked.vault.read_bytes()
  terminal = locked.terminal("change-passphrase")
  for answer in answers:
    terminal.expect("(/vault|new passphrase|again): ")
    terminal.sendline(answer) if answer != "\x03" else terminal.sendintr()
  code, rest = ended(terminal)
  assert code == 130 and "cancelled; nothing was changed" in rest
  assert locked.vault.read_bytes() == vault


ODD = {
  b"\xef\xbb\xbfcorrect horse battery": "begins with a byte order mark",
  b"correct horse battery\n\n": "ends with a line break",
  "correct horse batte\u0301ry".encode(): "accents are characters of their own",
}


@pytest.mark.parametrize("odd", ODD)
def test_invisible_characters_in_a_passphrase_are_reported(home, odd):
  # One newline at the end of a file is none of the passphrase.
  made = home.run("init", "--new-passphrase-file", home.file("odd", odd), through=LITTLE_MEMORY)
  assert ODD[odd] in made.error
  home.run("unlock", "--passphrase-file", "odd")
  home.run("lock", "--all")
  other = home.copy_vault("other.db")
  home.run("unlock", *home.passphrase(), code=78)
  change(home, b"another passphrase", "--passphrase-file", "odd")
  refused = home.run("unlock", "--passphrase-file", "odd", code=78)
  assert ODD[odd] in hinted(refused) and "horse" not in refused.error
  home.run("lock", "--all", "--vault", str(other))


def test_line_break_of_a_variable_is_said(home):
  home.init()
  variable = {"KEYCHAIN_PASSPHRASE": PASSPHRASE.decode() + "\n"}
  refused = home.run("unlock", environment=variable, code=78)
  assert "ends with a line break, which is a part of it" in hinted(refused)


def test_short_passphrases_are_said(home):
  short = ("--new-passphrase-file", home.file("short", b"a"))
  cheap = {"through": LITTLE_MEMORY}
  assert "is short" in home.run("init", *short, **cheap).error
  assert "is short" in home.run("change-passphrase", *short, "--passphrase-file", "short", **cheap).error
  added = home.run("slots", "add", "--passphrase", *short, "--passphrase-file", "short", **cheap)
  assert "is short" in added.error
  # Not when it is used.
  assert "is short" not in home.run("unlock", "--passphrase-file", "short").error
  home.run("lock", "--all")


def test_invisible_characters_in_the_passphrase_of_an_export_are_reported(home):
  home.set("alice", b"x")
  odd = ("--export-passphrase-file", home.file("odd", b"correct horse battery\r\n\n"))
  plain = ("--export-passphrase-file", home.file("plain", b"correct horse battery"))
  assert "ends with a line break" in home.run("export", "e.pk", *odd).error
  assert "line break" not in home.run("export", "p.pk", *plain).error
  assert "ends with a line break" in hinted(home.run("import", "p.pk", *odd, code=78))
