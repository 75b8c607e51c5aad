"""Credentials move between the vault and a real desktop keyring."""

from __future__ import annotations

import base64
import json
import random
import signal
import subprocess
import time

import pexpect
import pytest

import sample_export
from desktop_session import desktop, keyring_items, secret_tool
from export_content import Content, ExportedItem
from prefs_testing import PATIENCE, PATIENT, Home, hinted, wait_for_end
from sample_vault import CREATED, generic, internet
from test_export_format import items_of_vault, take
from thoroughness import PARTS, tried
from vault_reader import Secrets, Vault

TO_KEYRING = ("migrate", "--from", "vault", "--to", "secret-service", *PATIENT)
TO_VAULT = ("migrate", "--from", "secret-service", "--to", "vault", *PATIENT)
DATA_URL = b"data:application/octet-stream;base64,"


@pytest.fixture
def keyring(home):
  """The variables of a desktop with gnome-keyring, in which the home's commands run."""
  with desktop(home) as variables:
    yield variables


def sample_items(count: int) -> tuple[ExportedItem, ...]:
  """Credentials of several services, with secrets and names of every shape."""
  items = []
  for number in range(count):
    group = "team" if number % 7 == 0 else ""
    secret = random.Random(number).randbytes(number % 50) if number % 3 else b"x\0y\n" * (number % 9)
    # The keyring's file is written anew for each change, so most are small.
    details = {} if number % 10 else {
      "label": f"label {number}\n", "comment": "" if number % 20 else "x" * 1000,
      "content_type": "text/plain", "expires": CREATED - number,
      "attributes": (("number", str(number)), ("caf\u00e9", "\u00e9"))}
    metadata = generic(f"service {number % 20}", f"account {number}", group, **details)
    items.append(ExportedItem((0, 2, 4)[number % 3], metadata, secret))
  parts = ("example.com", "https", 443, "/a", "me", "realm", "basic")
  items.append(ExportedItem(0, internet(parts), b"internet"))
  items.append(ExportedItem(0, generic("long", "secret"), bytes(range(256)) * 40))
  return tuple(items)


def fill(home: Home, count: int) -> list[tuple]:
  content = Content(CREATED, 0, sample_items(count))
  take(home, sample_export.make_export(content.encoded()))
  items = items_of_vault(home)
  assert len(items) == count + 2
  return items


def of_vault(home: Home) -> dict[tuple, bytes]:
  """The secrets in the vault by what names them."""
  vault = Vault(home.vault, Secrets(device=(home.state / "device.key").read_bytes()))
  assert vault.problems == []
  return {(item.metadata.identity.group, *map(str, item.metadata.identity.parts)): item.secret
          for item in vault.items}


def of_keyring(variables: dict[str, str]) -> dict[tuple, bytes]:
  """The secrets in the keyring by what names them; each name is there once."""
  items = keyring_items(variables)
  found = {}
  for record, secret in items:
    if secret.startswith(DATA_URL):
      secret = base64.b64decode(secret[len(DATA_URL):])
    found[record["group"], *(record.get("generic") or record["internet"])] = secret
  assert len(found) == len(items), "something is there twice"
  return found


def kill_at(home: Home, done: int, *arguments: str) -> None:
  """Kills a migration after it has reported this many items, unless it has ended."""
  terminal = home.terminal(*arguments)
  try:
    while terminal.expect([rb"(\d+) of \d+ items", pexpect.EOF], timeout=PATIENCE) == 0:
      if int(terminal.match[1]) >= done:
        time.sleep(random.uniform(0, 0.05))
        break
  finally:
    # One that has ended may be gone already.
    terminal.kill(signal.SIGKILL)
    wait_for_end(terminal)


def put(home: Home, account: str, secret: bytes, *options: str) -> None:
  """Stores a secret in the vault even on a desktop."""
  home.set(account, secret, *options, "--store", "vault")


def move(home: Home, *arguments: str) -> dict:
  """Runs a migration, for as long as it takes."""
  with home.start(*arguments, "--remove-source", "--json") as process:
    try:
      out, error = process.communicate(timeout=3 * PATIENCE)
    finally:
      process.kill()
  assert process.returncode == 0, error.decode()
  return json.loads(out)


# Both ways with a hundred credentials or a thousand, killed while it copies and while it removes: nothing is lost,
# nothing is there twice, and everything comes back byte for byte.
@pytest.mark.longest
def test_many_there_and_back_with_kills(home, keyring):
  items = fill(home, tried(1000))
  everything = of_vault(home)
  all_of_them = len(everything)
  hits = 0

  def check_all():
    # The killed command may have left a journal, which the second reader does not roll back.
    home.run("verify")
    vault, stored = of_vault(home), of_keyring(keyring)
    assert {**vault, **stored} == everything
    assert all(stored[name] == secret for name, secret in vault.items() if name in stored)
    return len(vault), len(stored)

  for way, ends in ((TO_KEYRING, (0, all_of_them)), (TO_VAULT, (all_of_them, 0))):
    for part in (0.2, 0.6, 1.3):
      kill_at(home, int(part * all_of_them), *way, "--remove-source")
      counts = check_all()
      # Nothing was removed before everything was there.
      assert max(counts) == all_of_them
      hits += 0 < min(counts) < all_of_them
    report = move(home, *way)
    assert check_all() == ends
    assert report["staying"] == [] and report["incompleteServices"] == []
  assert items_of_vault(home) == items
  home.run("verify")
  # A test that is kept waiting kills too late, of a hundred perhaps each time.
  assert hits > 1 or PARTS > 1


@pytest.mark.parametrize("provider", ["keepassxc", "gnome-keyring-without-password"])
def test_there_and_back_with_other_providers(home, provider):
  with desktop(home, provider) as variables:
    # KeePassXC's answer to a removal is a question, even where it asks nobody.
    home.environment["DISPLAY"] = variables.get("DISPLAY")
    items = fill(home, 40)
    assert move(home, *TO_KEYRING)["removed"] == 42
    assert items_of_vault(home) == []
    assert move(home, *TO_VAULT)["removed"] == 42
    assert items_of_vault(home) == items
    assert home.run(*TO_VAULT, "--json").json["copied"] == 0


def test_remaining_items_are_reported_by_name(home, keyring):
  put(home, "bound", b"1", "--service", "a", "--accessibility", "whenUnlockedThisDeviceOnly")
  put(home, "free", b"2", "--service", "a")
  put(home, "other", b"3", "--service", "b")
  dry = home.run(*TO_KEYRING, "--dry-run", "--remove-source", code=79)
  assert "would copy 2 items" in dry.error and keyring_items(keyring) == []
  moved = home.run(*TO_KEYRING, "--remove-source", code=79)
  assert "'bound' of service 'a' is whenUnlockedThisDeviceOnly" in moved.error
  assert "service 'a' keeps its store" in moved.error
  assert "1 item of services that keep their store is in both now" in moved.error
  assert "copied 2 items to the desktop keyring; 1 removed from the source; 1 stayed" in moved.error
  assert of_keyring(keyring) == {("", "a", "free"): b"2", ("", "b", "other"): b"3"}
  assert set(of_vault(home)) == {("", "a", "bound"), ("", "a", "free")}
  report = home.run(*TO_KEYRING, "--json", code=79).json
  assert report["unchanged"] == 1 and report["copied"] == 0 and report["inBoth"] == 1
  assert report["staying"][0]["code"] == "refused"
  assert report["staying"][0]["credential"]["account"] == "bound"
  assert report["incompleteServices"] == [{"service": "a"}]


def test_service_of_other_collection_stays_there(home, keyring):
  home.set("alice", b"1", "--service", "s", "--collection", "Login")
  home.set("stray", b"2", "--service", "s", "--store", "secret-service")
  home.set("bob", b"3", "--service", "t")
  for options in ("--dry-run",), ("--remove-source",):
    refused = home.run(*TO_VAULT, *options, code=79)
    assert "the collection 'Login'" in refused.error and "--collection" in hinted(refused)
  assert of_vault(home) == {("", "t", "bob"): b"3"}
  assert home.get("alice", "--service", "s") == b"1"
  home.run(*TO_VAULT, "--collection", "Login", "--remove-source")
  assert home.get("alice", "--service", "s") == b"1" and keyring_items(keyring) == []


def test_conflicts_stay_without_overwrite(home, keyring):
  put(home, "alice", b"old", "--service", "a")
  home.run(*TO_KEYRING)
  home.run("update", "alice", "--service", "a", "--label", "new", "--store", "vault")
  refused = home.run(*TO_KEYRING, "--remove-source", code=75)
  assert "the target has a different 'alice' of service 'a'" in refused.error
  assert "--overwrite" in hinted(refused)
  assert len(of_vault(home)) == 1
  home.run(*TO_KEYRING, "--remove-source", "--overwrite")
  assert of_vault(home) == {} and keyring_items(keyring)[0][0]["label"] == "new"


def test_items_of_other_programs_are_theirs(home, keyring):
  secret_tool(keyring, "store", "--label", "theirs", "service", "mail", "username", "bob",
              input=b"their secret")
  put(home, "alice", b"ours", "--service", "mail")
  home.run(*TO_KEYRING, "--remove-source")
  back = home.run(*TO_VAULT, "--remove-source")
  assert "1 item of other programs is left to them" in back.error
  assert of_vault(home) == {("", "mail", "alice"): b"ours"}
  copied = home.run(*TO_VAULT, "--service", "mail", "--remove-source")
  assert "copied 1 item" in copied.error and "removed" not in copied.error
  assert of_vault(home)[("", "mail", "bob")] == b"their secret"
  lookup = ("lookup", "service", "mail", "username", "bob")
  assert secret_tool(keyring, *lookup) == b"their secret"
  home.run(*TO_VAULT, "--other-programs", "--remove-source")
  assert secret_tool(keyring, *lookup) == b""


def test_long_items_are_named_and_nothing_moves(home, keyring):
  put(home, "alice", b"ours", "--service", "mail")
  home.run(*TO_KEYRING)
  secret_tool(keyring, "store", "--label", "l" * 66_000, "service", "mail", "username", "bob",
              input=b"their secret")
  before = of_vault(home)
  for options in (["--dry-run"], ["--remove-source"]):
    refused = home.run(*TO_VAULT, "--service", "mail", *options, code=79)
    assert "1 credential has more than 65536 bytes" in refused.error
    assert "nothing was changed: 'bob' of service 'mail'" in refused.error
    assert "their secret" not in refused.error
  assert of_vault(home) == before
  # What is not selected is not looked at.
  assert "there already" in home.run(*TO_VAULT).error


def test_large_secrets_move(home, keyring):
  large = random.Random(0).randbytes(16 << 20)
  put(home, "large", large)
  home.run(*TO_KEYRING, "--remove-source")
  home.run(*TO_VAULT, "--remove-source")
  assert of_vault(home) == {("", "default", "large"): large}


def test_a_locked_store_is_reported_before_changes(locked):
  with desktop(locked) as variables:
    locked.run("lock", "--all")
    refused = locked.run(*TO_KEYRING, "--no-prompt", code=77)
    assert "unlock" in hinted(refused) and keyring_items(variables) == []
    locked.run("unlock", *locked.passphrase())
    lock = ["dbus-send", "--print-reply", "--dest=org.freedesktop.secrets",
            "/org/freedesktop/secrets", "org.freedesktop.Secret.Service.Lock",
            "array:objpath:/org/freedesktop/secrets/collection/login"]
    subprocess.run(lock, env=variables, check=True, stdout=subprocess.DEVNULL)
    locked.run(*TO_KEYRING, "--no-prompt", code=77)
    locked.run(*TO_VAULT, "--no-prompt", code=77)


def test_a_missing_store_is_reported(home):
  put(home, "alice", b"1")
  for way in (TO_KEYRING, TO_VAULT):
    home.run(*way, code=69)
    home.run(*way, "--dry-run", code=69)
  assert home.get("alice", "--store", "vault") == b"1"


def test_a_damaged_vault_gives_nothing(home, keyring):
  put(home, "alice", b"1")
  put(home, "bob", b"2")
  home.spoil_secrets(1)
  home.run(*TO_KEYRING, "--remove-source", code=65)
  assert keyring_items(keyring) == []


def test_two_at_once(home, keyring):
  put(home, "alice", b"1")
  home.run(*TO_KEYRING)
  lock = ["flock", str(home.state / "migration.lock")]
  busy = home.run(*TO_KEYRING, "--deadline", "300ms", through=[*lock], code=75)
  assert "another process" in busy.error


@pytest.mark.parametrize("arguments", [
  ("--from", "vault"), ("--from", "vault", "--to", "vault"), ("--from", "vault", "--to", "attic"),
  ("--from", "vault", "--to", "secret-service", "--service", "a", "--server", "b"),
])
def test_what_makes_no_sense(home, arguments):
  home.run("migrate", *arguments, code=64)


def test_commands_follow_a_service(home, keyring):
  put(home, "alice", b"1", "--service", "a")
  home.run(*TO_KEYRING, "--remove-source")
  assert home.get("alice", "--service", "a") == b"1"
  home.set("alice", b"2", "--service", "a")
  assert of_keyring(keyring) == {("", "a", "alice"): b"2"} and of_vault(home) == {}
  # Without the desktop it is not there, and nothing else takes its place.
  away = {"DBUS_SESSION_BUS_ADDRESS": None}
  home.run("get", "alice", "--service", "a", environment=away, code=69)
  home.run(*TO_VAULT, "--remove-source")
  assert home.get("alice", "--service", "a", environment=away) == b"2"
  assert keyring_items(keyring) == []


# While a service moves to and fro, another program keeps writing: what it wrote last is what it reads.
def test_concurrent_writes_are_read_again(home, keyring):
  for number in range(30):
    put(home, f"account {number}", b"1", "--service", "a")
  put(home, "counter", b"0", "--service", "a")
  count = 0

  def move_and_write(way: tuple[str, ...]) -> tuple[int, str]:
    nonlocal count
    with home.start(*way, "--remove-source") as moving:
      while True:
        ended = moving.poll() is not None
        count += 1
        home.set("counter", str(count).encode(), "--service", "a", *PATIENT)
        assert home.get("counter", "--service", "a", *PATIENT) == str(count).encode()
        if ended:
          return moving.returncode, moving.stderr.read().decode()

  for way in (TO_KEYRING, TO_VAULT, TO_KEYRING, TO_VAULT):
    code, told = move_and_write(way)
    assert code == 0, told
    assert len(home.run("list", "--service", "a", "--json").json) == 31


def test_nothing_is_removed_that_no_record_would_find(home, keyring):
  home.init()
  unlock = home.passphrase()
  home.set("alice", b"1", "--store", "vault", *unlock)
  home.forget_keys()
  (home.state / "device.key").unlink()
  refused = home.run(*TO_KEYRING, "--remove-source", *unlock, code=79)
  assert "device.key" in refused.error and "slots add --device" in hinted(refused)
  assert home.get("alice", "--store", "vault", *unlock) == b"1"


def test_a_named_vault_is_no_service_s_own(home, keyring):
  named = ("--vault", str(home.folder / "named.db"))
  put(home, "alice", b"usual", "--service", "a")
  home.set("alice", b"named", "--service", "a", *named)
  home.run(*TO_KEYRING, "--remove-source", *named)
  # The service has the vault at the usual place, and keeps it.
  assert home.get("alice", "--service", "a") == b"usual"
  assert home.get("alice", "--service", "a", "--store", "secret-service") == b"named"
  home.run(*TO_VAULT, "--remove-source", *named)
  assert home.get("alice", "--service", "a", *named) == b"named"
  assert home.get("alice", "--service", "a") == b"usual"
