"""Shared vaults: members with names and rights of their own."""

from __future__ import annotations

import re
import shutil

import pytest

from prefs_testing import Home, ended, hinted


class Team:
  """Alice's home with a shared vault, and the homes of its members."""

  def __init__(self, home: Home, make_home) -> None:
    self.home, self.make_home = home, make_home
    home.run("identity", "create", "identity")
    self.made = home.run(
      "init", "--shared", "--identity", "identity", "--name", "alice", "--code-file", "code")

  def run(self, *arguments: str, **options):
    return self.home.run(*arguments, "--identity", "identity", **options)

  def add(self, name: str, *options: str) -> Home:
    """Adds a member; their home gets the vault."""
    member = self.make_home()
    recipient = member.run("identity", "create", "identity").out.decode().strip()
    self.run("slots", "add", "--recipient", recipient, "--name", name, *options)
    member.vault.parent.mkdir(mode=0o700)
    self.give(member)
    member.run("identity", "pin", "identity", "--check", check(self.home))
    return member

  def give(self, member: Home) -> None:
    shutil.copy(self.home.vault, member.vault)

  def take(self, member: Home) -> None:
    shutil.copy(member.vault, self.home.vault)


@pytest.fixture
def team(home, make_home) -> Team:
  return Team(home, make_home)


def check(home: Home) -> str:
  return home.run("status", "--json").json["check"]


def members(team: Team) -> list[tuple[int, str | None, str]]:
  return [(slot["number"], slot.get("name"), slot["grant"])
          for slot in team.run("slots", "list", "--json").json]


def get(home: Home, account: str, **options) -> bytes:
  return home.get(account, "--identity", "identity", **options)


def put(home: Home, account: str, secret: bytes, **options):
  return home.set(account, secret, "--identity", "identity", **options)


def test_a_shared_vault_is_made(team):
  assert "created the vault" in team.made.error and "opened by recipient 'alice', recovery code" in team.made.error
  assert "wrote the recovery code to code" in hinted(team.made)
  assert "slots add --recipient" in hinted(team.made)
  assert members(team) == [(1, "alice", "administers"), (2, None, "administers")]
  status = team.run("status", "--json").json
  assert (status["kind"], status["epoch"]) == ("shared", 1)
  # Also while it is locked, when only its slots show it.
  team.home.run("lock", "--all")
  assert "kind" not in team.home.run("status", "--json").json
  shown = team.home.run("status").out.decode()
  assert "shared: every change is signed by who made it, by its slots" in shown
  assert "everything" not in team.home.run("slots", "list").out.decode()
  assert not (team.home.state / "device.key").exists()
  put(team.home, "api", b"secret")
  assert get(team.home, "api") == b"secret"
  assert team.home.get("api", "--recovery-code-file", "code") == b"secret"
  team.run("verify")


def test_the_code_is_shown_once_and_asked_for(home):
  home.run("identity", "create", "identity")
  command = ("init", "--shared", "--identity", "identity")
  refused = home.run(*command, code=79)
  assert "--code-file" in hinted(refused) and not home.vault.exists()
  terminal = home.terminal(*command)
  terminal.expect_exact("type it in once")
  code = next(line.strip() for line in terminal.before.decode().splitlines()
              if line.strip().count("-") == 7)
  terminal.sendline("wrong")
  terminal.expect_exact("type it in once")
  assert not home.vault.exists()
  terminal.sendline(code)
  status, rest = ended(terminal)
  assert status == 0 and "created the vault" in rest
  home.file("code", code.encode())
  home.run("get", "nobody", "--recovery-code-file", "code", code=44)


@pytest.mark.parametrize("options", [
  ["--shared"], ["--shared", "--identity", "identity", "--passphrase"],
  ["--shared", "--identity", "identity", "--new-key-file", "key"], ["--code-file", "code"],
  ["--name", "alice"]])
def test_options_that_make_no_sense(home, options):
  home.run("identity", "create", "identity")
  home.run("init", *options, code=64)
  assert not home.vault.exists() and not (home.folder / "code").exists()


def test_a_failed_init_leaves_no_code(team):
  refused = team.home.run(
    "init", "--shared", "--identity", "identity", "--code-file", "second", code=75)
  assert "there is a vault" in refused.error and not (team.home.folder / "second").exists()


def test_each_member_does_what_they_may(team):
  put(team.home, "api", b"secret")
  bob, carol = team.add("bob"), team.add("carol", "--may", "read")
  dave = team.add("dave", "--may", "administer")
  assert members(team)[2:] == [
    (3, "bob", "readsAndWrites"), (4, "carol", "reads"), (5, "dave", "administers")]
  for home in (bob, carol, dave):
    team.give(home)
    assert get(home, "api") == b"secret"
  refused = put(carol, "api", b"other", code=79)
  assert "reads" in refused.error and get(carol, "api") == b"secret"
  carol.run("delete", "api", "--identity", "identity", code=79)
  put(bob, "api", b"other")
  recipient = carol.run("identity", "show", "identity", "--json").json["recipient"]
  for home in (bob, carol):
    home.run("slots", "add", "--recipient", recipient, "--identity", "identity", code=79)
    home.run("slots", "remove", "1", "--yes", "--identity", "identity", code=79)
    home.run("rekey", "--yes", "--identity", "identity", code=79)
    home.run("verify", "--identity", "identity")
  team.take(bob)
  assert get(team.home, "api") == b"other"
  shutil.copy(team.home.vault, dave.vault)
  dave.run("slots", "remove", "4", "--yes", "--identity", "identity")
  team.take(dave)
  assert [name for _, name, _ in members(team)] == ["alice", None, "bob", "dave"]


def test_members_are_listed_by_name_and_fingerprint(team):
  bob = team.add("bob", "--may", "read")
  fingerprint = bob.run("identity", "show", "identity", "--json").json["fingerprint"]
  lines = [line.split("\t") for line in team.run("slots", "list").out.decode().splitlines()]
  assert lines[2] == ["3", "recipient", "read", "bob", fingerprint]
  refused = team.run("slots", "remove", "3", code=64)
  assert f"will be removed: slot 3, recipient 'bob' (fingerprint {fingerprint})" in refused.error
  assert "will open the vault: slot 1, recipient 'alice'" in refused.error


def test_a_removed_member_reads_nothing_new(team):
  put(team.home, "api", b"old")
  bob, carol = team.add("bob"), team.add("carol")
  before = check(team.home)
  team.run("slots", "remove", "3", "--yes")
  put(team.home, "api", b"new")
  assert check(team.home) == before
  for home, code in ((bob, 78), (carol, 0)):
    team.give(home)
    assert get(home, "api", code=code) == (b"" if code else b"new")


def test_opener_of_the_vault_is_not_removed(team):
  team.add("dave", "--may", "administer")
  refused = team.run("slots", "remove", "1", "--yes", code=79)
  assert "slot 1" in refused.error and "slots list" in hinted(refused)


@pytest.mark.parametrize("by_code", [False, True])
def test_members_follow_when_an_administrator_leaves(team, by_code):
  put(team.home, "api", b"old")
  bob, dave = team.add("bob"), team.add("dave", "--may", "administer")
  for home in (bob, dave):
    team.give(home)
    get(home, "api")
  before = check(team.home)
  source = ("--recovery-code-file", "code") if by_code else ("--identity", "identity")
  team.home.run("slots", "remove", "4", "--yes", *source)
  assert check(team.home) != before
  team.give(bob)
  if not by_code:
    refused = bob.run("get", "api", "--identity", "identity", code=65)
    assert f"accept-restored --check {check(team.home)}" in hinted(refused)
    vault = bob.vault.read_bytes()
    other = bob.run("accept-restored", "--check", before, "--identity", "identity", code=65)
    assert check(team.home) in other.error and before in other.error
    bob.run("accept-restored", "--check", check(team.home), "--identity", "identity")
    assert bob.vault.read_bytes() == vault
  assert get(bob, "api") == b"old"


@pytest.mark.parametrize("add", [
  ["--new-passphrase-file", "new"], ["--new-key-file", "key"], ["--device"]])
def test_only_members_open_a_shared_vault(team, add):
  team.home.file("new", b"new\n")
  refused = team.run("slots", "add", *add, code=79)
  assert "shared vault" in refused.error and "slots add --recipient" in hinted(refused)
  assert len(members(team)) == 2 and not (team.home.folder / "key").exists()


def test_a_shared_vault_binds_nothing_to_a_device(team):
  refused = team.home.set("api", b"x", "--accessibility", "whenUnlockedThisDeviceOnly",
                          "--identity", "identity", code=79)
  assert "members share this vault" in refused.error and hinted(refused)


def test_a_shared_vault_has_one_code(team):
  refused = team.run("recovery", "create", "--code-file", "second", code=79)
  assert "slots remove 2" in hinted(refused) and not (team.home.folder / "second").exists()


def test_rights_are_for_shared_vaults(home, make_home):
  home.set("alice", b"secret")
  recipient = make_home().run("identity", "create", "identity").out.decode().strip()
  refused = home.run("slots", "add", "--recipient", recipient, "--may", "read", code=79)
  assert "not shared" in refused.error and hinted(refused)
  home.run("slots", "add", "--device", "--may", "read", code=64)
  home.run("slots", "add", "--recipient", recipient, "--may", "everything", code=64)


def test_two_members_compare_the_witness(team):
  bob = team.add("bob")
  put(bob, "api", b"x")

  def witness(home: Home) -> str:
    return home.run("status", "--json", "--identity", "identity").json["witness"]

  assert witness(bob) != witness(team.home)
  team.take(bob)
  assert witness(bob) == witness(team.home)
  text = bob.run("status", "--identity", "identity").out.decode()
  assert re.fullmatch(r"[0-9A-HJKMNP-TV-Z]{32}", witness(bob)) and witness(bob) in text


def test_names_are_shown_safely(team):
  recipient = team.make_home().run("identity", "create", "identity").out.decode().strip()
  told = team.run("slots", "add", "--recipient", recipient, "--name", "a\x1b[2J")
  assert "a\\u{1b}[2J" in told.error and "\x1b" not in told.error
  assert b"\x1b" not in team.run("slots", "list").out
  team.run("slots", "add", "--recipient", recipient, "--name", "x" * 257, code=64)
