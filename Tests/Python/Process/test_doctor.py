"""The report of `doctor`: the store, its protection, the files that must not be lost, and next steps."""

from __future__ import annotations

import errno
import os
import resource
import shutil

import pytest

from machine import STRANGER
from prefs_testing import hinted
from system_calls import LOCKING_CALLS, forbid


def test_doctor_before_there_is_a_vault(home):
  told = home.run("doctor").out.decode()
  assert "not made yet" in told and "prefs keychain init" in told
  assert not home.vault.exists()
  found = home.run("doctor", "--json").json
  assert found["store"] == "vault" and found["vault"]["exists"] is False


def test_doctor_of_a_server(home):
  home.set("alice", b"secret")
  told = home.run("doctor").out.decode()
  assert "weak: a device key opens everything" in told
  assert str(home.vault) in told and str(home.state / "device.key") in told
  assert "without device.key: " in told
  assert "everything is lost, as nothing else opens the vault" in told
  assert "slots add --passphrase" in told
  assert "secret" not in told.replace("secrets", "")
  found = home.run("doctor", "--json").json
  assert found["grade"] == "weak" and found["vault"]["items"] == 1 and found["mayAsk"] is False


def test_doctor_reports_netrc_files_that_others_can_read(home):
  path = home.file(".netrc", b"machine h login l password hunter2\n", mode=0o644)
  named = home.file("named", b"", mode=0o640)
  told = home.run("doctor", environment={"NETRC": named}).out.decode()
  assert f"other users can read {path}" in told and f"other users can read {named}" in told
  assert f"prefs keychain import --format netrc {path} --remove" in told and "hunter2" not in told
  found = home.run("doctor", "--json", environment={"NETRC": path}).json
  assert path in found["openNetrcFiles"] and found["openNetrcFiles"].count(path) == 1
  os.chmod(path, 0o600)
  assert path not in home.run("doctor").out.decode()


def test_doctor_of_a_usual_passphrase(home):
  home.init(through=())
  told = home.run("doctor").out.decode()
  assert "strong" in told and "256 MiB, 3 passes" in told


def test_doctor_of_a_vault_with_a_passphrase(locked):
  told = locked.run("doctor").out.decode()
  assert "fair" in told and "64 MiB, 2 passes" in told
  assert "3 (1 whenUnlocked, 1 afterFirstUnlock, 1 always)" in told
  assert "run 'prefs keychain unlock'" in told
  locked.run("unlock", *locked.passphrase())
  locked.set("bound", b"x", "--accessibility", "whenUnlockedThisDeviceOnly")
  assert "without device.key: " in locked.run("doctor").out.decode()
  assert "1 item bound to this device is lost" in locked.run("doctor").out.decode()


def test_doctor_when_the_device_key_is_gone(home):
  home.set("alice", b"secret")
  key = home.state / "device.key"
  key.rename(home.folder / "away")
  told = home.run("doctor", code=77)
  assert "nothing that is here opens" in told.error and str(key) in hinted(told)
  text = told.out.decode()
  assert "device (its device.key is missing)" in text
  assert "next: " in text and "bring back" in text
  assert "slots add" not in text and "keychain unlock'" not in text
  assert home.run("doctor", "--json", code=77).json["next"] == [hinted(told)]
  assert b"its device.key is missing" in home.run("slots", "list").out
  (home.folder / "away").rename(key)
  home.run("unlock")
  key.rename(home.folder / "away")
  cached = home.run("doctor").out.decode()
  assert "only the kernel's cache opens this vault now" in cached
  assert "keychain get'" in cached and "slots add" not in cached


def test_doctor_reports_losses_without_each_secret(home, make_home):
  home.init()
  told = home.run("doctor").out.decode()
  assert "without the passphrase: " in told
  assert "everything is lost but what needs no unlock" in told
  assert "slots add --new-key-file" in told and "without the key file" not in told
  two = make_home()
  two.init("--new-key-file", str(two.folder / "key"), "--no-device")
  told = two.run("doctor").out.decode()
  assert "without the key file: " in told and "as slot 1 opens everything too" in told
  assert "second way" not in told


@pytest.mark.parametrize("option, environment, chosen", [
  ([], {}, "as there is no session bus"), (["--store", "vault"], {}, "chosen by an option"),
  ([], {"KEYCHAIN_STORE": "vault"}, "KEYCHAIN_STORE"),
  ([], {"KEYCHAIN_VAULT": "/none/vault"}, "as a vault is named")])
def test_doctor_says_why_this_store(home, option, environment, chosen):
  assert chosen in home.run("doctor", *option, environment=environment).out.decode()


def test_doctor_names_the_sources_that_would_unlock(locked):
  environment = {"KEYCHAIN_PASSPHRASE_FILE": locked.passphrase()[1]}
  assert "KEYCHAIN_PASSPHRASE_FILE" in locked.run(
    "doctor", environment=environment).out.decode()
  assert locked.run("status", "--json", environment=environment).json["unlockSources"] == [
    "KEYCHAIN_PASSPHRASE_FILE"]
  # Looking has unlocked nothing.
  locked.run("get", "whenUnlocked", code=77)


def test_doctor_sees_memory_that_cannot_be_locked(home, superuser):
  home.folder.chmod(0o755)
  home.set("alice", b"x")

  def limit():
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0))

  def unprivileged():
    limit()
    # Root's capability to lock memory has no limit.
    os.setgid(STRANGER)
    os.setuid(STRANGER)

  for folder, _, names in os.walk(home.folder):
    for path in [folder, *(os.path.join(folder, name) for name in names)]:
      os.chown(path, STRANGER, STRANGER)
  home.program = shutil.copy(home.program, home.folder / "prefs")
  told = home.run("doctor", preexec_fn=unprivileged).out.decode()
  assert "memory cannot be locked (limit: 0 KiB)" in told and "ulimit -l" in told
  assert "seccomp" not in told
  found = home.run("doctor", "--json", preexec_fn=unprivileged).json
  assert found["memoryLocking"] == "limited" and found["memoryCanBeLocked"] is False
  assert home.get("alice", preexec_fn=unprivileged) == b"x"


@pytest.mark.parametrize("error", [errno.EPERM, errno.ENOSYS], ids=["EPERM", "ENOSYS"])
def test_doctor_distinguishes_denied_call_from_low_limit(home, error):
  home.set("alice", b"x")

  def deny():
    forbid(LOCKING_CALLS, error)

  told = home.run("doctor", preexec_fn=deny).out.decode()
  assert "memory cannot be locked: the call is denied" in told and "seccomp profile" in told
  assert "SystemCallFilter=@memlock" in told and "ulimit" not in told
  found = home.run("doctor", "--json", preexec_fn=deny).json
  assert found["memoryLocking"] == "denied" and found["memoryCanBeLocked"] is False
  assert home.run("doctor", "--json").json["memoryLocking"] == "available"
  assert home.get("alice", preexec_fn=deny) == b"x"


def test_doctor_of_a_damaged_vault(home):
  home.set("alice", b"x")
  home.vault.write_bytes(b"not a vault at all " * 400)
  refused = home.run("doctor", code=65)
  assert "problem" in refused.out.decode() and hinted(refused)
  assert home.run("doctor", "--json", code=65).json["problem"]


def test_doctor_of_a_key_file_of_words(home):
  words = home.file("words", b"correct horse battery staple correct\n")
  home.run("init", "--with-key-file", words)
  for options, source in (
      (("--key-file", words), "--key-file"), ((), "KEYCHAIN_KEY_FILE")):
    environment = {} if options else {"KEYCHAIN_KEY_FILE": words}
    told = home.run("doctor", *options, environment=environment).out.decode()
    assert f"{source} holds a few readable words" in told and "correct" not in told
    assert "fair" in told and "slots add --new-key-file FILE" in told
    found = home.run("doctor", "--json", *options, environment=environment).json
    assert found["weakKeyFiles"] == [source] and found["grade"] == "fair"
  assert home.run("doctor", "--json").json["weakKeyFiles"] == []


def test_a_vault_without_records_does_not_look_empty(home, make_home):
  """As after a restore: what services chose is recorded on the other machine."""
  home.set("alice", b"x")
  copied = make_home()
  path = copied.file("vault", home.vault.read_bytes())

  def told() -> str:
    return " ".join(copied.run("doctor", "--vault", path, code=None).out.decode().split())

  assert "items: not known while no key of the vault is here" in told()
  copied.state.mkdir(mode=0o700, exist_ok=True)
  shutil.copy(home.state / "device.key", copied.state / "device.key")
  assert "services: 1 item in the vault, no choice recorded" in told()
  assert "none recorded" in " ".join(make_home().run("doctor").out.decode().split())
