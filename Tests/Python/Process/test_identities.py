"""Identities: one vault for several people and services, and pins that detect another vault."""

from __future__ import annotations

import os
import shutil

from prefs_testing import PASSPHRASE, hinted
from vault_codes import Recipient


def kinds(home) -> list[tuple[str, str]]:
  return [(slot["kind"], slot["grant"]) for slot in home.run("slots", "list", "--json").json]


def make_identity(home, name: str = "identity") -> tuple[str, str]:
  """Makes an identity, and returns its file and its recipient."""
  path = str(home.folder / name)
  return path, home.run("identity", "create", path).out.decode().strip()


def fingerprint(recipient: str) -> str:
  """By the second implementation."""
  return Recipient.decoded(recipient).fingerprint().hex()


def check(home) -> str:
  return home.run("status", "--json").json["check"]


def copied(home, other) -> None:
  """Brings a vault to another home, without the device key."""
  other.vault.parent.mkdir(mode=0o700, exist_ok=True)
  shutil.copy(home.vault, other.vault)


def test_the_usual_place_of_an_identity(home):
  made = home.run("identity", "create")
  path = home.folder / "config" / "keychain" / "identity"
  assert made.out.startswith(b"pkpub2-") and made.out.endswith(b"\n") and len(made.out) == 120
  assert str(path) in made.error and "pinned to no vault" in made.error
  assert "slots add --recipient pkpub2-" in hinted(made)
  assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700
  contents = path.read_bytes()
  assert b"pksec2-" in contents and made.out.strip() in contents
  refused = home.run("identity", "create", code=75)
  assert "exists already" in refused.error and path.read_bytes() == contents
  assert [file.name for file in path.parent.iterdir()] == ["identity"]


def test_identity_in_default_place_needs_no_name(home):
  home.run("identity", "create")
  path = home.folder / "config" / "keychain" / "identity"
  assert home.run("identity", "show", "--json").json == home.run(
    "identity", "show", str(path), "--json").json
  check = "00112233445566778899aabbccddeeff"
  home.run("identity", "pin", "--check", check)
  assert check in home.run("identity", "show").out.decode()


def test_an_identity_is_shown_without_its_secret(home):
  home.set("alice", b"secret")
  path, recipient = make_identity(home)
  shown = home.run("identity", "show", path)
  assert recipient in shown.out.decode() and check(home) in shown.out.decode()
  assert b"pksec2" not in shown.out
  assert home.run("identity", "show", path, "--json").json == {
    "file": path, "recipient": recipient, "fingerprint": fingerprint(recipient),
    "vaults": [check(home)]}
  assert fingerprint(recipient) in shown.out.decode()


def test_identity_made_next_to_vault_is_pinned(home, make_home):
  home.set("alice", b"secret")
  made = home.run("identity", "create", "identity")
  assert f"pinned to the vault with the check {check(home)}" in made.error
  # A vault that nobody has seen here may be anybody's.
  stranger = make_home()
  copied(home, stranger)
  assert "pinned to no vault" in stranger.run("identity", "create", "identity").error


def test_two_people_share_a_vault_in_two_homes(home, make_home):
  home.set("alice", b"secret")
  people = [make_home(), make_home()]
  identities = [make_identity(person) for person in people]
  for _, recipient in identities:
    told = home.run("slots", "add", "--recipient", recipient.upper())
    assert fingerprint(recipient) in told.error and f"--check {check(home)}" in hinted(told)
  assert kinds(home) == [("device", "administers"), ("recipient", "administers"), ("recipient", "administers")]
  for person, (path, _) in zip(people, identities):
    copied(home, person)
    person.run("identity", "pin", path, "--check", check(home).upper())
    assert person.get("alice", "--identity", path) == b"secret"
    assert person.get("alice", environment={"KEYCHAIN_IDENTITY_FILE": path}) == b"secret"
    person.run("lock", "--all")
    person.run("get", "alice", code=77)
  people[0].set("bob", b"more", "--identity", identities[0][0])
  people[0].run("slots", "remove", "3", "--yes", "--identity", identities[0][0])
  copied(people[0], people[1])
  # The pin is of the administration key, which the removal changed.
  refused = people[1].run("get", "bob", "--identity", identities[1][0], code=65)
  assert check(people[0]) in hinted(refused)
  people[1].run("identity", "pin", identities[1][0], "--check", check(people[0]))
  refused = people[1].run("get", "bob", "--identity", identities[1][0], code=78)
  assert "no slot for the identity" in refused.error


def test_a_recipient_is_listed_and_added_once(home):
  home.set("alice", b"secret")
  _, recipient = make_identity(home)
  home.run("slots", "add", "--recipient", recipient)
  refused = home.run("slots", "add", "--recipient", recipient, code=75)
  assert "slot 2 is this recipient's already" in refused.error
  listed = home.run("slots", "list", "--json").json[1]
  assert (listed["recipient"], listed["fingerprint"]) == (recipient, fingerprint(recipient))
  assert home.run("slots", "list").out.splitlines()[1].split(b"\t")[1:] == [
    b"recipient", b"everything", b"", fingerprint(recipient).encode()]
  mistyped = recipient[:-1] + ("0" if recipient[-1] != "0" else "1")
  refused = home.run("slots", "add", "--recipient", mistyped, code=64)
  assert "mistyped" in refused.error
  home.run("slots", "add", "--recipient", recipient, "--device", code=64)


def test_a_vault_made_with_an_identity(home, make_home):
  path, recipient = make_identity(home)
  made = home.run("init", "--identity", path)
  assert "recipient" in made.error and "recovery create" not in hinted(made)
  assert kinds(home) == [("device", "openTier"), ("recipient", "administers")]
  home.set("alice", b"secret", "--identity", path)
  home.run("get", "alice", code=77)
  alone = make_home()
  alone.run("init", "--identity", path, "--no-device")
  assert kinds(alone) == [("recipient", "administers")] and not (alone.state / "device.key").exists()
  both = make_home()
  both.init("--identity", path)
  assert kinds(both) == [("device", "openTier"), ("passphrase", "administers"), ("recipient", "administers")]
  both.set("alice", b"x", *both.passphrase())
  assert both.get("alice", "--identity", path) == b"x"
  by_variable = make_home()
  by_variable.set("alice", b"x", environment={"KEYCHAIN_IDENTITY_FILE": path})
  assert kinds(by_variable) == [("device", "openTier"), ("recipient", "administers")]
  # Pinned elsewhere by now, the identity would not open what it makes.
  home.run("identity", "pin", path)
  pinned = make_home()
  refused = pinned.set("alice", b"x", environment={"KEYCHAIN_IDENTITY_FILE": path}, code=79)
  assert "pinned" in refused.error and not pinned.vault.exists()
  assert "pinned" in pinned.run("init", "--identity", path, code=79).error


def test_pinned_identity_refuses_forged_vault(home, make_home):
  home.set("alice", b"secret")
  path, recipient = make_identity(home)
  home.run("slots", "add", "--recipient", recipient)
  forger = make_home()
  forger.set("alice", b"forged")
  forger.run("slots", "add", "--recipient", recipient)
  # Pins count where nothing was seen.
  shutil.rmtree(forger.state / "seen")
  refused = forger.run("get", "alice", "--identity", path, code=65)
  assert "another vault" in refused.error and check(forger) in refused.error
  assert f"prefs keychain identity pin FILE --check {check(forger)}" in hinted(refused)
  forger.run("unlock", "--identity", path, code=65)
  forger.run("slots", "add", "--device", "--identity", path, code=65)


def test_an_unpinned_identity_reports_its_first_vault(home, make_home):
  service = make_home()
  path, recipient = make_identity(service)
  home.set("alice", b"secret")
  home.run("slots", "add", "--recipient", recipient)
  copied(home, service)
  first = service.run("get", "alice", "--identity", path)
  assert check(home) in first.error and "first time" in first.error
  assert service.run("get", "alice", "--identity", path).error == ""
  # What was seen is the pin from then on.
  forger = make_home()
  forger.set("alice", b"forged")
  forger.run("slots", "add", "--recipient", recipient)
  copied(forger, service)
  service.run("get", "alice", "--identity", path, code=65)
  service.run("identity", "pin", path, code=65)


def test_pins_are_added_and_replaced(home, make_home):
  home.set("alice", b"x")
  other = make_home()
  other.set("alice", b"x")
  path, recipient = make_identity(home)
  with open(path, "ab") as file:
    file.write(b"# mine\n")
  told = other.run("identity", "pin", path)
  assert check(home) in told.error and check(other) in told.error
  told = other.run("identity", "pin", path, "--replace")
  assert check(home) not in told.error
  with open(path, encoding="utf-8") as file:
    contents = file.read()
  assert contents.endswith(f"# mine\nvault: {check(other)}\n") and contents.count("vault:") == 1
  assert home.run("identity", "show", path, "--json").json["recipient"] == recipient
  home.run("identity", "pin", path, "--check", "abc", code=64)
  assert make_home().run("identity", "pin", path, code=69)


def test_a_first_passphrase_changes_the_check(home, make_home):
  home.set("alice", b"secret")
  path, recipient = make_identity(home)
  home.run("slots", "add", "--recipient", recipient)
  before = check(home)
  told = home.run(
    "slots", "add", "--new-passphrase-file", home.passphrase()[1], "--yes")
  assert fingerprint(recipient) in told.error
  assert "identity pin" in told.error and check(home) != before
  assert kinds(home) == [("device", "openTier"), ("recipient", "administers"), ("passphrase", "administers")]
  # Here the new administration key was seen; elsewhere the identity needs the new check.
  other = make_home()
  copied(home, other)
  other.run("get", "alice", "--identity", path, code=65)
  other.run("identity", "pin", path, "--check", check(home))
  assert other.get("alice", "--identity", path) == b"secret"
  assert home.get("alice", "--identity", path) == b"secret"
  assert home.get("alice", *home.passphrase()) == b"secret"
  home.run("verify")


def test_files_that_are_not_identities(home):
  home.set("alice", b"x")
  for name, contents, code in (
      ("text", PASSPHRASE, 79), ("empty", b"", 78), ("bytes", b"\xff\x00", 78)):
    path = home.file(name, contents)
    for arguments in (["get", "alice", "--identity", path], ["identity", "show", path],
                      ["identity", "pin", path]):
      refused = home.run(*arguments, code=code)
      assert "identity" in refused.error and PASSPHRASE.decode() not in refused.error
  path, _ = make_identity(home)
  os.chmod(path, 0o640)
  home.run("identity", "show", path, code=79)
  home.run("identity", "show", "none", code=74)
  home.run("get", "alice", environment={"KEYCHAIN_IDENTITY_FILE": path}, code=0)


def test_a_service_without_terminal_and_home(make_home):
  """As cron or systemd starts it: nothing is asked, and the variable is enough."""
  home = make_home()
  path, recipient = make_identity(home)
  home.run("init", "--identity", path)
  home.set("alice", b"secret", "--identity", path)
  bare = {name: None for name in home.environment if name != "PATH"}
  bare |= {"KEYCHAIN_VAULT": str(home.vault), "STATE_DIRECTORY": str(home.folder / "state"),
           "XDG_STATE_HOME": str(home.folder / "state"), "KEYCHAIN_IDENTITY_FILE": path}
  assert home.get("alice", environment=bare) == b"secret"
  home.forget_keys()
  home.run("get", "alice", environment=bare | {"KEYCHAIN_IDENTITY_FILE": None}, code=77)


def test_creating_identity_uses_no_temporary_file(home, tracing):
  """Otherwise a private key would stay next to its file unnoticed."""
  traced = home.folder / "traced"
  home.run("identity", "create", "mine", through=[
    "strace", "-f", "-qq", "-e", "trace=openat,open,link,linkat,rename", "-o", str(traced)])
  # It does look for what a killed command has left.
  made = [
    line for line in traced.read_text().splitlines()
    if str(home.folder / "mine.") in line and "ENOENT" not in line]
  assert not made


def test_two_pins_at_once(home):
  home.run("identity", "create", "id")
  checks = [f"{number:032x}" for number in range(1, 9)]
  started = [home.start("identity", "pin", "id", "--check", check) for check in checks]
  assert [process.wait(60) for process in started] == [0] * len(checks)
  for process in started:
    process.stdout.close()
    process.stderr.close()
  assert sorted(home.run("identity", "show", "id", "--json").json["vaults"]) == checks
