"""The vault's location: without a home, for services, on removable volumes."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess

import pytest

from machine import STRANGER
from prefs_testing import LIMIT, PASSPHRASE, hinted

NOWHERE = {name: None for name in ("HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME",
                                   "XDG_RUNTIME_DIR")}


def as_stranger() -> None:
  os.setgroups([])
  os.setgid(STRANGER)
  os.setuid(STRANGER)


def test_cron_job_finds_home_of_account(home):
  """`status` alone: the account's real home is no place for tests."""
  path = home.run("status", "--json", environment=NOWHERE | {"PATH": "/usr/bin:/bin"}).json["path"]
  assert path == f"{pwd.getpwuid(os.getuid()).pw_dir}/.local/share/keychain/vault"


def test_former_name_of_the_default_vault(home):
  """A vault of that name is neither used nor lost, and the hint is a line that moves it."""
  folder = home.folder / "it's data" / "keychain"
  folder.mkdir(parents=True, mode=0o700)
  home.environment["XDG_DATA_HOME"] = str(folder.parent)
  former, vault = folder / "vault.db", folder / "vault"
  home.set("alice", b"x", "--vault", str(former))
  for words in (["get", "alice"], ["set", "alice", "--allow-empty"], ["list"], ["init", "--start-anew"],
                ["rekey", "--yes"], ["backup", "copy"], ["lock", "--all"], ["status"]):
    refused = home.run(*words, code=69)
    assert f"the vault is at {former}, its usual path before" in refused.error
  assert "mv -n -- " in home.run("doctor", code=69).error and os.listdir(folder) == ["vault.db"]
  line = hinted(refused).partition("move it: ")[2].strip()
  subprocess.run(["sh", "-c", line], check=True)
  assert home.get("alice") == b"x" and os.listdir(folder) == ["vault"]
  home.set("alice", b"y")
  shutil.copy(vault, former)
  for words in (["get", "alice"], ["set", "alice", "--allow-empty"], ["init", "--start-anew"], ["status"]):
    refused = home.run(*words, code=69)
    assert f"{vault}, the usual path" in refused.error and f"{former}, its usual path before" in refused.error
    assert "move the one that is not the vault to another folder" in hinted(refused)
  assert home.get("alice", "--vault", str(vault)) == home.get("alice", "--vault", str(former)) == b"y"
  former.unlink()
  assert home.get("alice") == b"y"
  vault.unlink()
  refused = home.set("alice", b"z", code=69)
  assert "was seen here before" in refused.error and not os.listdir(folder)


def test_nowhere_at_all(home, superuser):
  for command in (["status"], ["get", "alice"], ["set", "alice", "--allow-empty"], ["doctor"]):
    refused = home.run(*command, environment=NOWHERE, preexec_fn=as_stranger, code=69)
    assert "no home folder is known" in refused.error
    assert "KEYCHAIN_VAULT" in hinted(refused) and "XDG_STATE_HOME" in hinted(refused)


def service(home) -> dict:
  """What systemd gives a service with StateDirectory= and LoadCredential=, run as a user."""
  credentials = home.folder / "credentials"
  credentials.mkdir()
  secret = credentials / "keychain.passphrase"
  secret.write_bytes(PASSPHRASE + b"\n")
  os.chown(secret, 0, STRANGER)
  secret.chmod(0o440)
  os.chown(credentials, 0, STRANGER)
  credentials.chmod(0o550)
  state = home.folder / "service"
  state.mkdir(mode=0o700)
  os.chown(state, STRANGER, STRANGER)
  home.folder.chmod(0o755)
  return {
    "environment": NOWHERE | {"STATE_DIRECTORY": str(state),
                              "CREDENTIALS_DIRECTORY": str(credentials)},
    "preexec_fn": as_stranger}


def test_a_service(home, superuser):
  unit = service(home)
  try:
    made = home.set("token", b"secret", **unit)
    assert "passphrase, key file or identity opens it" in made.error
    vault = home.folder / "service" / "keychain" / "vault"
    assert vault.stat().st_uid == STRANGER
    home.run("lock", "--all", **unit)
    assert home.get("token", **unit) == b"secret"
    status = home.run("status", "--json", **unit).json
    assert status["unlockSources"] and status["readable"] == "unlockedNow"
    # Without the credential, and after a lock, nothing opens it.
    home.run("lock", "--all", **unit)
    without = unit | {"environment": unit["environment"] | {"CREDENTIALS_DIRECTORY": None}}
    home.run("get", "token", **without, code=77)
  finally:
    home.run("lock", "--all", **unit)


def test_service_credential_counts_only_in_its_folder(home, superuser):
  unit = service(home)
  path = str(home.folder / "credentials" / "keychain.passphrase")
  environment = unit["environment"] | {
    "CREDENTIALS_DIRECTORY": None, "KEYCHAIN_PASSPHRASE_FILE": path}
  refused = home.set(
    "token", b"x", environment=environment, preexec_fn=as_stranger, code=79)
  assert "--allow-group-read" in hinted(refused)


def test_a_list_of_state_folders(home, superuser):
  unit = service(home)
  first = unit["environment"]["STATE_DIRECTORY"]
  environment = unit["environment"] | {"STATE_DIRECTORY": f"{first}:/nowhere"}
  path = home.run("status", "--json", environment=environment, preexec_fn=as_stranger).json["path"]
  assert path == f"{first}/keychain/vault"


# The loader stops at a file of the right name that is no library.
@pytest.mark.parametrize("library", [
  "libsodium.so.23", "libsqlite3.so.0", "libsecret-1.so.0", "libc.so.6"])
def test_libraries_next_to_the_command_are_ignored(home, program, library):
  command = shutil.copy(program, home.folder / "prefs")
  (home.folder / library).write_bytes(b"no library")
  started = subprocess.run([command, "keychain", "doctor"], env=home.environment, cwd=home.folder,
                           capture_output=True, timeout=LIMIT)
  assert started.returncode == 0, started.stderr.decode()


@pytest.mark.parametrize("variable", [
  "KEYCHAIN_VAULT", "KEYCHAIN_KEY_FILE", "KEYCHAIN_PASSPHRASE_FILE", "KEYCHAIN_IDENTITY_FILE",
  "KEYCHAIN_STORE", "CREDENTIALS_DIRECTORY", "HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"])
def test_variables_of_other_bytes_are_refused(home, variable):
  """As if they were not set, the secret would go elsewhere."""
  named = os.fsencode(home.folder) + b"/caf\xe9"
  os.mkdir(named, 0o700)
  usual = {"XDG_DATA_HOME": None, "XDG_STATE_HOME": None} if variable == "HOME" else {}
  given = {"environment": {**usual, variable: named}, "code": 64}
  for refused in (home.set("alice", b"x", **given), home.run("get", "alice", **given)):
    assert variable in refused.error and "UTF-8" in refused.error
  assert not home.vault.exists() and os.listdir(named) == []


@pytest.mark.parametrize("command", [
  ["set", "alice", "--vault", "v.db"], ["set", "alice", "--key-file", "k"], ["set", "alice", "--passphrase-file", "k"]])
def test_folders_of_other_bytes_are_refused(home, command):
  """Of a path with a repaired name, every file would be missing."""
  home.init()
  home.file("k", b"x")
  folder = os.fsencode(home.folder) + b"/caf\xe9"
  os.mkdir(folder, 0o700)
  refused = home.run(*command, input=b"x", through=["env", "-C", folder], code=64)
  assert "current folder" in refused.error and os.listdir(folder) == []
  os.symlink(folder, home.folder / "link")
  refused = home.set("alice", b"x", "--vault", str(home.folder / "link" / "v.db"), code=64)
  assert f"{home.folder}/link" in refused.error and os.listdir(folder) == []
