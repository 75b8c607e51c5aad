"""The store of a credential, on desktops and elsewhere, and missing stores."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import time
from contextlib import contextmanager

import pytest

from desktop_session import desktop, keyring_items, lock_keyring, secret_tool
from prefs_testing import LIMIT, PATIENT, ended, hinted

BUS = "DBUS_SESSION_BUS_ADDRESS"
NOBODY = 65534


@pytest.fixture
def keyring(home):
  """The variables of a desktop with gnome-keyring, in which the home's commands run."""
  with desktop(home) as variables:
    yield variables


def is_in_vault(home, account: str, *options: str) -> bool:
  return home.run("get", account, "--store", "vault", *options, code=None).code == 0


def test_on_a_desktop_it_is_the_keyring(home, keyring):
  told = home.set("alice", b"secret", "--service", "s").error
  assert "the desktop keyring" in told and "every program of the session" in told
  assert home.set("alice", b"secret", "--service", "s").error == ""
  assert home.get("alice", "--service", "s") == b"secret"
  assert secret_tool(keyring, "lookup", "service", "s", "account", "alice") == b"secret"
  assert not home.vault.exists()
  home.run("update", "alice", "--service", "s", "--label", "l")
  home.run("rename", "alice", "bob", "--service", "s")
  assert home.run("show", "bob", "--service", "s", "--json").json["label"] == "l"
  assert [item["account"] for item in home.run("list", "--json").json] == ["bob"]
  home.run("delete", "bob", "--service", "s")
  assert keyring_items(keyring) == []


def test_another_programs_credential_is_found(home, keyring):
  secret_tool(keyring, "store", "--label", "x", "service", "s", "account", "a", input=b"theirs")
  assert home.get("a", "--service", "s") == b"theirs"
  assert b"s\ta\t" in home.run("list").out
  assert not (home.state / "stores").exists(), "reading chooses nothing"


def test_cron_job_does_not_fall_back_to_vault(home, keyring):
  home.set("alice", b"secret", "--service", "s")
  away = {"environment": {BUS: None}}
  for command in (["get", "alice"], ["show", "alice"], ["delete", "alice"], ["list"],
                  ["update", "alice", "--label", "l"], ["rename", "alice", "bob"]):
    refused = home.run(*command, "--service", "s", code=69, **away)
    assert "the service 's' are in the desktop keyring" in refused.error
    assert "--store vault" in hinted(refused) and "migrate" in hinted(refused)
  home.set("alice", b"other", "--service", "s", code=69, **away)
  assert not home.vault.exists()
  # Another service gets the vault there, and keeps it.
  assert "created the vault" in home.set("alice", b"cron", "--service", "t", **away).error
  assert home.get("alice", "--service", "t") == b"cron"
  assert home.get("alice", "--service", "s") == b"secret"


def test_a_list_says_what_it_could_not_see(home, keyring):
  home.set("alice", b"1", "--service", "s")
  home.set("alice", b"2", "--service", "t", "--store", "vault")
  assert [item["service"] for item in home.run("list", "--json").json] == ["s", "t"]
  assert [item["store"] for item in home.run("list", "--json").json] == ["secret-service", "vault"]
  assert [line.split("\t")[7] for line in home.run("list").out.decode().splitlines()] == [
    "secret-service", "vault"]
  shown = ended(home.terminal("list"))[1].splitlines()
  assert [line.split()[-1] for line in shown] == ["STORE", "secret-service", "vault"]
  assert "STORE" not in ended(home.terminal("list", "--service", "s"))[1]
  partial = home.run("list", "--json", environment={BUS: None}, code=69)
  assert [item["service"] for item in partial.json] == ["t"]
  home.run("get", "--attribute", "a=b", environment={BUS: None}, code=69)
  home.run("get", "--attribute", "a=b", code=44)


def test_contents_of_a_vault_stay_there(home):
  """A vault from before there was a choice has no records."""
  home.vault.parent.mkdir(mode=0o700)
  home.set("old", b"1", "--service", "s", environment={"KEYCHAIN_VAULT": str(home.vault)})
  assert not (home.state / "stores").exists()
  with desktop(home) as variables:
    assert home.get("old", "--service", "s") == b"1"
    assert home.set("new", b"2", "--service", "s").error == ""
    assert home.get("new", "--service", "s", "--store", "vault") == b"2"
    assert "desktop keyring" in home.set("new", b"3", "--service", "t").error
    assert len(keyring_items(variables)) == 1


def test_another_choice_is_followed_and_reported(home, keyring):
  home.set("alice", b"1", "--service", "s")
  for options, variables in (["--store", "vault"], {}), ([], {"KEYCHAIN_STORE": "vault"}):
    told = home.set("alice", b"2", "--service", "s", *options, environment=variables).error
    assert "while the service 's' has its credentials in the desktop keyring" in told
  assert home.get("alice", "--service", "s", "--store", "vault") == b"2"
  assert home.get("alice", "--service", "s") == b"1"
  assert home.run("get", "alice", "--service", "s", "--store", "vault").error == ""
  for command in "get", "show", "delete":
    missed = home.run(command, "bob", "--service", "s", "--store", "vault", code=44)
    assert "its credentials in the desktop keyring" in hinted(missed)
  assert hinted(home.run("get", "bob", "--service", "s", code=44)) == ""
  named = str(home.folder / "own.db")
  home.set("alice", b"3", "--service", "s", "--vault", named)
  assert home.get("alice", "--service", "s", environment={"KEYCHAIN_VAULT": named}) == b"3"
  automatic = {"KEYCHAIN_STORE": "vault"}
  assert home.get("alice", "--service", "s", "--store", "auto", environment=automatic) == b"1"


def test_options_that_contradict_each_other(home):
  for options in (["--store", "paper"], ["--store", "vault", "--collection", "c"],
                  ["--collection", "c", "--session-only"], ["--store", "auto", "--session-only"],
                  ["--vault", "v", "--store", "secret-service"], ["--vault", "v", "--session-only"]):
    home.run("get", "alice", *options, code=64)
  home.run("get", "alice", environment={"KEYCHAIN_STORE": "paper"}, code=64)
  # What only a vault has offers no other store.
  home.run("status", "--store", "vault", code=64)
  told = home.run("status", environment={"KEYCHAIN_STORE": "secret-service"}).error
  assert "this is about the vault" in told


def test_doctor_counts_what_expires_in_both_stores(home, keyring):
  home.set("alice", b"1", "--service", "s", "--expires", "2020-01-01")
  home.set("bob", b"2", "--service", "t", "--expires", "10d", "--store", "vault")
  # What another store of the service holds is not what programs find.
  home.set("alice", b"3", "--service", "s", "--expires", "2020-01-01", "--store", "vault")

  def counted():
    found = home.run("doctor", "--json").json
    return found["expired"], found["expiringWithin30Days"]

  assert counted() == (1, 1)
  lock_keyring(keyring)
  assert counted() == (0, 1)


def test_a_hint_waits_for_no_keyring(home, keyring):
  home.set("bob", b"1", "--service", "s")
  home.set("bob", b"2", "--service", "t", "--store", "vault")
  hint = hinted(home.run("get", "bob", "--service", "u", code=44))
  assert hint == "bob exists with --service s, and with --service t"
  assert hinted(home.run("get", "bob", "--service", "u", "--store", "vault", code=44)) == (
    "bob exists with --service t")
  home.run("get", "bob", "--service", "t")
  os.kill(int(keyring["DESKTOP_PROVIDER_PID"]), signal.SIGSTOP)
  begun = time.monotonic()
  missed = home.run("get", "bob", "--service", "t", "--access-group", "g", code=44)
  assert hinted(missed) == "bob exists with --service t" and time.monotonic() - begun < 4


def test_collections(home, keyring):
  home.set("alice", b"1", "--service", "s")
  home.set("alice", b"2", "--service", "s", "--session-only")
  assert home.get("alice", "--service", "s") == b"1"
  assert home.get("alice", "--service", "s", "--session-only") == b"2"
  # Nothing is recorded that ends with the session.
  home.set("alice", b"3", "--service", "t", "--session-only")
  home.run("get", "alice", "--service", "t", code=44)
  missing = home.run("get", "alice", "--collection", "no such", code=69)
  assert "no collection 'no such'" in missing.error
  home.set("alice", b"4", "--service", "u", "--collection", "Login")
  assert home.get("alice", "--service", "u") == b"4"
  assert "collection: label Login\n" in "".join(
    path.read_text() for path in (home.state / "stores").iterdir())
  # A label that is empty, as by a variable that is, could be that of the session's collection.
  home.set("alice", b"5", "--service", "v", "--collection", "", code=64)
  session = "/org/freedesktop/secrets/collection/session"
  home.set("alice", b"6", "--service", "v", "--collection", session)
  home.run("get", "alice", "--service", "v", code=44)
  assert home.get("alice", "--service", "v", "--session-only") == b"6"


def test_records_without_their_device_key(home, keyring):
  home.set("alice", b"1", "--service", "s")
  (home.state / "device.key").rename(home.folder / "away")
  for command in ("get", "alice", "--service", "s"), ("list",):
    refused = home.run(*command, code=65)
    assert "put device.key back" in hinted(refused) and "remove" not in hinted(refused)
  (home.folder / "away").rename(home.state / "device.key")
  assert home.get("alice", "--service", "s") == b"1"


def test_a_name_that_others_use_twice(home, keyring):
  for program in ("one", "two"):
    secret_tool(keyring, "store", "--label", program, "service", "s", "account", "a",
                "application", program, input=program.encode())
  refused = home.run("get", "a", "--service", "s", code=76)
  assert "'one'" in refused.error and "store the credential here" in hinted(refused)
  home.set("a", b"ours", "--service", "s", "--create-only", code=76)
  home.set("a", b"ours", "--service", "s")
  assert home.get("a", "--service", "s") == b"ours"
  for program in ("one", "two"):
    assert secret_tool(keyring, "lookup", "application", program) == program.encode()


def test_accessibilities(home, keyring):
  home.set("alice", b"1", "--service", "s", "--accessibility", "always")
  assert home.run("show", "alice", "--service", "s", "--json").json["accessibility"] == "always"
  refused = home.set(
    "bob", b"1", "--service", "t", "--accessibility", "whenPasscodeSetThisDeviceOnly", code=79)
  assert "cannot promise" in refused.error
  assert len(list((home.state / "stores").iterdir())) == 1


def test_damaged_record_is_not_absent(home):
  home.set("alice", b"secret")
  record = next((home.state / "stores").iterdir())
  record.write_text(record.read_text().replace("vault", "vauld"))
  for command in (["get", "alice"], ["doctor", "--service", "default"], ["list"]):
    refused = home.run(*command, code=65)
    assert str(record) in refused.error
  for command in ("get", "alice"), ("list",):
    assert "--store" in hinted(home.run(*command, code=65))
  assert any("remove the file" in step for step in home.run("doctor", "--json").json["next"])
  assert home.get("alice", "--store", "vault") == b"secret"
  record.unlink()
  assert home.get("alice") == b"secret"


def test_processes_that_choose_at_once_agree(home, keyring):
  """Half of them must use the vault, the others find a keyring."""
  home.set("first", b"x", "--store", "vault")
  for number in range(3):
    service = ["--service", f"s{number}"]
    running = [
      home.start("set", f"a{index}", *service, *PATIENT,
                 *(["--store", "vault"] if index % 2 else []),
                 stdin=subprocess.PIPE) for index in range(6)]
    for process in running:
      process.communicate(b"x", timeout=LIMIT)
      assert process.returncode == 0
    own = home.run("doctor", "--json", *service, code=None).json
    assert own["chosenBy"] == "record"
    found = home.run("list", "--json", *service).json
    # Those without an option all followed the winner.
    assert {"a0", "a2", "a4"} <= {item["account"] for item in found}


@contextmanager
def listener(path: str, *user: str, closes: bool = False):
  """A socket that accepts connections, and sends nothing or closes them at once."""
  program = (
    "import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(9); "
    "print(flush=True)\n")
  program += "while True: s.accept()[0].close()" if closes else "sys.stdin.read()"
  with subprocess.Popen([*user, "/usr/bin/python3", "-c", program, path], stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE) as process:
    process.stdout.readline()
    try:
      yield f"unix:path={path}"
    finally:
      process.stdin.close()
      if closes:
        process.kill()


@contextmanager
def bus(home, kind: str):
  """An address of that kind."""
  path = str(home.folder / kind)
  if kind == "none":
    yield None
  elif kind == "dead":
    yield f"unix:path={path}"
  elif kind == "fifo":
    os.mkfifo(path)
    yield f"unix:path={path}"
  elif kind == "file":
    yield f"unix:path={home.file(kind, b'text')}"
  elif kind == "tcp":
    with socket.create_server(("127.0.0.1", 0)) as server:
      yield f"tcp:host=127.0.0.1,port={server.getsockname()[1]}"
  elif kind in ("silent", "closing"):
    with listener(path, closes=kind == "closing") as address:
      yield address
  elif kind == "other user":
    home.folder.chmod(0o711)
    folder = home.folder / "theirs"
    folder.mkdir()
    os.chown(folder, NOBODY, NOBODY)
    with listener(str(folder / "bus"), "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}",
                  "--clear-groups") as address:
      yield address
  else:
    with desktop(home, "none") as variables:
      yield variables[BUS]


# GLib gives up a call after as many seconds if nobody says when.
USUAL = 25


@pytest.mark.parametrize("kind, code, reason", [
  ("none", 69, None), ("dead", 69, "no session bus listens"), ("fifo", 69, "no session bus"),
  ("file", 69, "no session bus"), ("tcp", 69, None), ("silent", 75, "does not answer"),
  ("closing", 75, "does not take the connection now"),
  ("other user", 69, "user"), ("no provider", 69, "no program on the session bus")])
def test_unusable_desktops_end_with_their_code(home, superuser, kind, code, reason):
  """Each has its exit code, within the deadline; new services get the vault unless it is silent, others don't."""
  with desktop(home):
    home.set("alice", b"kept", "--service", "s")
  with bus(home, kind) as address:
    # Only who never answers is to be found out by the time; what is there may be slow.
    deadline = ("--deadline", "1s") if code == 75 else PATIENT
    away = {"environment": {BUS: address}}
    start = time.monotonic()
    home.run("get", "alice", "--service", "s", *deadline, code=code, **away)
    home.set("alice", b"x", "--service", "s", *deadline, code=code, **away)
    home.run("get", "bob", "--store", "secret-service", *deadline, code=code, **away)
    # Or it does not take the connection.
    is_silent = code == 75
    told = home.set("bob", b"new", "--service", "t", *deadline, code=code if is_silent else 0, **away).error
    # A second each at most; the rest is a busy machine's.
    assert time.monotonic() - start < 4 * USUAL
    if is_silent:
      # Its keyring may have what is asked for, so nothing takes its place.
      assert reason in told and not home.vault.exists()
      return
    assert "created the vault" in told
    assert (reason is None) == ("cannot be used now" not in told)
    assert reason is None or reason in told
    found = home.run("doctor", "--json", *deadline, code=None, **away).json
    assert found["store"] == "vault" and found["services"] == {"secret-service": 1, "vault": 1}
    assert home.run("doctor", "--service", "s", *deadline, code=code, **away).out
  assert home.get("bob", "--service", "t") == b"new"
  assert not is_in_vault(home, "alice", "--service", "s")


def test_a_provider_that_stops_or_ends(home, keyring):
  home.set("alice", b"kept", "--service", "s")
  provider = int(keyring["DESKTOP_PROVIDER_PID"])
  os.kill(provider, signal.SIGSTOP)
  start = time.monotonic()
  deadline = ("--deadline", "1s")
  refused = home.run("get", "alice", "--service", "s", *deadline, code=75)
  assert "does not answer" in refused.error
  home.set("alice", b"lost?", "--service", "s", *deadline, code=75)
  assert "does not answer" in home.set("alice", b"new", "--service", "t", *deadline, code=75).error
  home.set("alice", b"new", "--service", "t", "--store", "vault")
  assert time.monotonic() - start < 3 * USUAL
  os.kill(provider, signal.SIGCONT)
  # What was sent before the deadline may be done after it, but nothing else may be there.
  assert home.get("alice", "--service", "s") in (b"kept", b"lost?")
  os.kill(provider, signal.SIGKILL)
  home.run("get", "alice", "--service", "s", code=69)
  assert home.get("alice", "--service", "t") == b"new"


def test_a_provider_that_stops_during_a_call(home, keyring):
  """The command first waits for its secret, and then finds the provider stopped."""
  home.set("alice", b"kept", "--service", "s")
  for number, deadline, code in ((signal.SIGSTOP, ("--deadline", "1s"), 75),
                                 (signal.SIGKILL, PATIENT, 69)):
    with home.start("set", "alice", "--service", "s", *deadline,
                    stdin=subprocess.PIPE) as process:
      time.sleep(0.3)
      os.kill(int(keyring["DESKTOP_PROVIDER_PID"]), number)
      process.communicate(b"new", timeout=LIMIT)
      assert process.returncode == code


def test_a_locked_keyring(home, keyring):
  home.set("alice", b"secret", "--service", "s")
  lock_keyring(keyring)
  # Who waited for somebody to unlock it would not end before `run` gives up.
  refused = home.run("get", "alice", "--service", "s", *PATIENT, code=77)
  assert "the desktop keyring is locked" in refused.error and "unlock it" in hinted(refused)
  home.set("alice", b"other", "--service", "s", *PATIENT, code=77)
  home.run("get", "--attribute", "a=b", "--service", "s", *PATIENT, code=77)
  listed = home.run("list", *PATIENT, code=77)
  assert listed.out == b"" and "1 item is locked" in listed.error
  assert "unlock the desktop keyring" in hinted(listed)
  # A dialog would help nobody there.
  for options, elsewhere in (([], {"DISPLAY": ":987", "SSH_TTY": "/dev/pts/0"}),
                             (["--no-prompt"], {"DISPLAY": ":987"})):
    home.run("get", "alice", "--service", "s", *options, *PATIENT, environment=elsewhere, code=77)
  told = home.set("alice", b"new", "--service", "t", *PATIENT).error
  assert "the desktop keyring is locked" in told and "created the vault" in told
  assert not is_in_vault(home, "alice", "--service", "s")
  found = home.run("doctor", "--service", "s", "--json").json
  assert found["store"] == "secret-service" and found["desktopKeyring"]["locked"] is True


def test_a_keyring_that_opens_without_a_question(home):
  with desktop(home, "gnome-keyring-without-password") as variables:
    home.set("alice", b"two\nlines", "--service", "s")
    assert home.get("alice", "--service", "s") == b"two\nlines"
    assert not home.vault.exists() and len(keyring_items(variables)) == 1


def test_without_libsecret(home, keyring):
  """As where it is not installed: the loader finds a file of that name that is no library."""
  folder = home.folder / "lib"
  folder.mkdir()
  (folder / "libsecret-1.so.0").write_bytes(b"")
  away = {"environment": {"LD_LIBRARY_PATH": str(folder)}}
  told = home.set("alice", b"x", "--service", "s", **away).error
  assert "created the vault" in told and "libsecret" in told
  assert home.get("alice", "--service", "s", **away) == b"x"
  refused = home.run("get", "alice", "--store", "secret-service", code=69, **away)
  assert "libsecret" in refused.error and "libsecret-1-0" in hinted(refused)
  assert "libsecret" in home.run("doctor", **away).out.decode()


def test_a_vaults_service_looks_at_no_desktop(home, keyring, tracing):
  home.set("alice", b"x", "--service", "s", "--store", "vault")
  log = home.folder / "calls"
  assert home.get("alice", "--service", "s", through=[
    "strace", "-f", "-o", str(log), "-e", "trace=open,openat,connect"]) == b"x"
  calls = log.read_text()
  assert '/vault"' in calls and "/stores/" in calls
  assert "libsecret" not in calls and "connect(" not in calls


class Lookups:
  """How often a `set` consults the record of its service, and begins to read or write the vault."""

  def __init__(self, home, *options: str, **settings) -> None:
    log = home.folder / "calls"
    home.set("alice", b"x", *options, **settings, through=[
      "strace", "-f", "-qq", "-o", str(log), "-e", "trace=%file,%desc"])
    calls = log.read_text()
    found = re.findall(r"(\w+)\(.*/stores/[0-9a-f]{32}\"", calls)
    self.of_record = ["stat" if "stat" in name else name for name in found]
    self.of_vault = len(re.findall(r"openat\(.*/vault\"", calls))


@pytest.mark.parametrize(("options", "variables"), [
  ((), {}), (("--store", "vault"), {}), ((), {"KEYCHAIN_STORE": "vault"})],
  ids=["automatic", "argument", "environment"])
def test_set_looks_each_thing_up_once(home, tracing, options, variables):
  """The record is opened once, and made if it is missing; the vault once to read, and once to write."""
  home.set("bob", b"x", "--service", "other")
  first = Lookups(home, "--service", "s", *options, environment=variables)
  assert first.of_record == ["openat", "stat", "linkat"]
  assert first.of_vault == 2
  again = Lookups(home, "--service", "s", *options, environment=variables)
  assert again.of_record == ["openat"]
  assert again.of_vault == 2


def test_set_without_record_opens_the_vault_as_often(home, tracing):
  home.set("alice", b"x", "--service", "s")
  shutil.rmtree(home.state / "stores")
  lookups = Lookups(home, "--service", "s")
  assert lookups.of_record == ["openat"]
  assert lookups.of_vault == 2


def test_doctor_on_a_desktop(home, keyring):
  home.set("alice", b"x", "--service", "s", "--store", "vault")
  found = home.run("doctor", "--json").json
  assert (found["store"], found["chosenBy"]) == ("secret-service", "keyringAvailable")
  assert found["services"] == {"vault": 1}
  assert found["sessionBus"] == {
    "address": keyring[BUS], "process": int(keyring["DESKTOP_BUS_PID"])}
  provider = found["desktopKeyring"]
  assert provider["process"] == int(keyring["DESKTOP_PROVIDER_PID"])
  assert provider["program"].endswith("/gnome-keyring-daemon") and provider["locked"] is False
  assert provider["defaultCollection"].endswith("/login") and "problem" not in provider
  told = home.run("doctor").out.decode()
  assert "gnome-keyring-daemon (process " in told and "login, unlocked" in told
  found = home.run("doctor", "--json", "--service", "s").json
  assert (found["store"], found["chosenBy"]) == ("vault", "record")
  assert home.run("doctor", "--json", "--server", "s").json["store"] == "secret-service"
