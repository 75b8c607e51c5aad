"""Homes of services: missing, hidden, or in memory."""

from __future__ import annotations

import os
import pwd
import shutil

import pytest

from machine import STRANGER, require
from prefs_testing import hinted
from test_places import NOWHERE, as_stranger

# What systemd mounts in the place of a folder that a service shall not see is empty, and has no mode bits.
HIDING = 'mount -t tmpfs -o mode=0000,ro none "$0" && exec "$@"'
EMPTYING = 'mount -t tmpfs -o mode=0755 none "$0" && exec "$@"'


def over(folder, script: str) -> tuple[str, ...]:
  """The words that start a program with something mounted over a folder."""
  return "unshare", "--mount", "sh", "-c", script, str(folder)


@pytest.fixture
def own(home):
  """The home folder of an account, with a vault in it, and what its environment has."""
  folder = home.folder / "home" / "svc"
  folder.mkdir(parents=True)
  environment = NOWHERE | {"HOME": str(folder)}
  home.set("token", b"secret", environment=environment)
  return folder, environment


def state_folder(home, owner: int = 0) -> str:
  folder = home.folder / "service"
  folder.mkdir(mode=0o700)
  os.chown(folder, owner, owner)
  return str(folder)


COMMANDS = (["get", "token"], ["list"], ["set", "token", "--allow-empty"], ["delete", "token"], ["status"], ["doctor"],
            ["verify"], ["unlock"])


@pytest.mark.parametrize("hidden", ["home", "the folder above"])
def test_files_hidden_from_superuser_are_not_absent(home, own, mounting, hidden):
  folder, environment = own
  through = over(folder if hidden == "home" else folder.parent, HIDING)
  for command in COMMANDS:
    refused = home.run(*command, environment=environment, through=through, code=69)
    assert f"{folder} is closed to this process" in refused.error, command
    assert "StateDirectory=" in hinted(refused) and "XDG_STATE_HOME" in hinted(refused)
  assert home.get("token", environment=environment) == b"secret"


def test_a_hidden_home_of_another_user(home, own, superuser, mounting):
  folder, environment = own
  home.folder.chmod(0o755)
  home.program = shutil.copy(home.program, home.folder / "prefs")
  through = over(folder.parent, 'mount -t tmpfs -o mode=0000,ro none "$0" && '
                 f'exec setpriv --reuid {STRANGER} --regid {STRANGER} --clear-groups "$@"')
  for command in COMMANDS:
    refused = home.run(*command, environment=environment, through=through, code=69)
    assert f"{folder} is closed to this process" in refused.error, command


def test_the_home_of_another_user(home, own, superuser):
  """HOME=/root is left to a user by many an image and by `setpriv`."""
  folder, environment = own
  home.folder.chmod(0o755)
  folder.chmod(0o700)
  refused = home.run("get", "token", environment=environment, preexec_fn=as_stranger, code=69)
  assert f"{folder} is closed to this process" in refused.error
  environment = environment | {"STATE_DIRECTORY": state_folder(home, STRANGER)}
  home.set("token", b"x", environment=environment, preexec_fn=as_stranger)
  assert home.get("token", environment=environment, preexec_fn=as_stranger) == b"x"


def test_vault_in_hidden_folder_is_not_absent(home, own, mounting):
  folder, _ = own
  path = str(folder / ".local/share/keychain/vault")
  for command in (["get", "token"], ["set", "token", "--allow-empty"], ["verify"]):
    refused = home.run(*command, "--vault", path, through=over(folder, HIDING), code=69)
    assert f"the folder {folder} is closed" in refused.error, command
    assert "KEYCHAIN_VAULT" in hinted(refused)


def test_service_with_hidden_home_uses_state_folder(home, own, mounting):
  folder, environment = own
  state = state_folder(home)
  environment = environment | {"STATE_DIRECTORY": state}
  home.set("other", b"x", environment=environment, through=over(folder, HIDING))
  assert set(os.listdir(f"{state}/keychain")) >= {"vault", "device.key", "seen", "stores"}
  # With the home, that counts again.
  assert home.get("token", environment=environment) == b"secret"


@pytest.mark.parametrize("user", [0, STRANGER], ids=["root", "user"])
def test_missing_home_is_ignored_and_not_created(home, superuser, user):
  home.folder.chmod(0o755)
  options = {"preexec_fn": as_stranger} if user else {}
  missing = home.folder / "missing"
  environment = NOWHERE | {"HOME": str(missing)}
  for command in COMMANDS:
    refused = home.run(*command, environment=environment, code=69, **options)
    assert f"the home folder {missing} does not exist" in refused.error, command
    assert "KEYCHAIN_VAULT" in hinted(refused) and "StateDirectory=" in hinted(refused)
  state = state_folder(home, user)
  for command in COMMANDS:
    refused = home.run(
      *command, environment=environment | {"STATE_DIRECTORY": state + "/none"}, code=69, **options)
    assert f"nor does the folder {state}/none, which STATE_DIRECTORY names" in refused.error, command
  environment = environment | {"STATE_DIRECTORY": state}
  home.set("token", b"x", environment=environment, **options)
  assert home.get("token", environment=environment, **options) == b"x"
  home.run("identity", "create", environment=environment, **options)
  assert set(os.listdir(f"{state}/keychain")) >= {"vault", "device.key", "identity"}
  assert not missing.exists()


def test_home_of_missing_account(home, superuser):
  """Debian gives `/nonexistent` to system users; cron and systemd may leave HOME out."""
  nobody = pwd.getpwnam("nobody")
  require("an account without a home", "nobody has one" if os.path.exists(nobody.pw_dir) else None)
  home.folder.chmod(0o755)

  def become():
    os.setgroups([])
    os.setgid(nobody.pw_gid)
    os.setuid(nobody.pw_uid)

  refused = home.run("get", "token", environment=NOWHERE, preexec_fn=become, code=69)
  assert f"the home folder {nobody.pw_dir} does not exist" in refused.error
  environment = NOWHERE | {"STATE_DIRECTORY": state_folder(home, nobody.pw_uid)}
  home.set("token", b"x", environment=environment, preexec_fn=become)
  assert home.get("token", environment=environment, preexec_fn=become) == b"x"
  assert not os.path.exists(nobody.pw_dir)


def test_root_folder_is_not_a_users_home(home, superuser):
  """Container engines set HOME=/ for a user without an account."""
  environment = NOWHERE | {"HOME": "/"}
  refused = home.run("get", "token", environment=environment, preexec_fn=as_stranger, code=69)
  assert "no home folder is known" in refused.error


def test_unresponsive_home_has_no_fallback(home):
  """After a failure, the state folder of a service is not used instead."""
  loop = home.folder / "loop"
  loop.symlink_to(loop)
  environment = NOWHERE | {"HOME": str(loop), "STATE_DIRECTORY": state_folder(home, os.geteuid())}
  home.set("token", b"x", environment=environment, code=74)
  assert os.listdir(home.folder / "service") == []


def test_vault_in_memory_warns_once(home, own, mounting):
  folder, environment = own
  script = ('mount -t tmpfs -o mode=0755 none "$0" && printf x | "$@" set token && '
            'printf x | "$@" set other >&2 && "$@" doctor')
  told = home.run(through=over(folder, script), environment=environment)
  path = folder / ".local/share/keychain/vault"
  assert told.error.count("lies in memory") == 1
  assert f"the vault {path} lies in memory (tmpfs)" in told.error and "StateDirectory=" in told.error
  assert b"tmpfs, in memory" in told.out and b"for a vault that stays" in told.out


def test_device_key_in_memory_is_reported(home, own, mounting):
  folder, environment = own
  path = str(home.folder / "vault")
  environment = environment | {"KEYCHAIN_VAULT": path}
  told = home.set("token", b"x", environment=environment, through=over(folder, EMPTYING))
  key = folder / ".local/state/keychain/device.key"
  assert f"the device key {key} lies in memory (tmpfs)" in told.error and "XDG_STATE_HOME" in told.error
  os.unlink(path)
  state = {"XDG_STATE_HOME": str(folder / "state")}
  told = home.set("token", b"x", environment=environment | state, through=over(folder, EMPTYING))
  assert "in memory" not in told.error


@pytest.mark.parametrize("named", ["KEYCHAIN_VAULT", "--vault", "XDG_DATA_HOME"])
def test_chosen_place_in_memory_gives_no_warning(home, own, mounting, named):
  folder, environment = own
  path = str(folder / "keychain" / "vault")
  options = ["--vault", path] if named == "--vault" else []
  more = {"KEYCHAIN_VAULT": path} if named == "KEYCHAIN_VAULT" else {"XDG_DATA_HOME": str(folder)}
  more = {} if options else more
  told = home.run("init", *options, through=over(folder, EMPTYING),
                  environment=environment | more | {"XDG_STATE_HOME": str(folder / "state")})
  assert "in memory" not in told.error


def test_vault_on_disk_gives_no_memory_warning(home):
  assert "memory" not in home.set("token", b"x").error
  status = home.run("status", "--json").json
  assert status["inMemory"] is (status["fileSystem"] in ("tmpfs", "ramfs"))


def test_a_service_whose_credential_has_another_name(home):
  """The first write says what was missing, and how to mend it; `doctor` says it again."""
  folder = home.folder / "credentials"
  folder.mkdir(mode=0o700)
  (folder / "passphrase").write_bytes(b"correct horse\n")
  (folder / "passphrase").chmod(0o400)
  environment = {"CREDENTIALS_DIRECTORY": str(folder)}
  made = home.set("token", b"x", environment=environment)
  for text in (made.error, home.run("doctor", environment=environment).out.decode()):
    assert f"{folder} holds neither keychain.passphrase nor keychain.key" in text
  assert "device key" in made.error
  assert "slots add --new-passphrase-file FILE" in made.error and "--with-key-file FILE" in made.error
  home.run("slots", "add", "--new-passphrase-file", str(folder / "passphrase"))
  assert "strong" in home.run("doctor").out.decode()


def test_a_service_whose_credential_is_a_broken_link(home):
  """Without the intended key, no vault is created that only the device key opens."""
  folder = home.folder / "credentials"
  folder.mkdir(mode=0o700)
  (folder / "keychain.key").symlink_to("..data/keychain.key")
  environment = {"CREDENTIALS_DIRECTORY": str(folder)}
  refused = home.set("token", b"x", environment=environment, code=74)
  assert f"cannot read {folder}/keychain.key" in refused.error and not home.vault.exists()
  home.set("token", b"x")
  told = home.run("doctor", environment=environment, code=74).out.decode()
  assert f"{folder} holds neither" not in told and "keychain.key" in told


def test_a_script_that_forgot_its_passphrase(home):
  made = home.set("token", b"x")
  assert "if a passphrase or key file was meant to open it" in made.error
  assert "slots add --new-passphrase-file FILE" in made.error
  # Given later, it does nothing: `doctor` says so.
  given = {"KEYCHAIN_PASSPHRASE_FILE": home.passphrase()[1]}
  told = home.run("doctor", environment=given).out.decode()
  assert "KEYCHAIN_PASSPHRASE_FILE is not needed" in told and "weak" in told
  assert "is not needed" not in home.run("doctor").out.decode()
