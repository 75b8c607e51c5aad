"""Files and folders that others can read, change or plant."""

from __future__ import annotations

import os
import pwd
import struct
import subprocess

import pytest

from container_testing import Machine
from machine import STRANGER
from prefs_testing import PASSPHRASE, hinted
from test_places import as_stranger


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o644, 0o666, 0o610])
def test_a_vault_open_to_others(home, mode):
  home.set("alice", b"x")
  home.vault.chmod(mode)
  for command in (["get", "alice"], ["list"], ["status"], ["verify"]):
    refused = home.run(*command, code=79)
    assert str(home.vault) in refused.error and "chmod 600" in hinted(refused)
  refused = home.set("alice", b"y", code=79)
  home.vault.chmod(0o600)
  assert home.get("alice") == b"x"


@pytest.mark.parametrize("mode", [0o640, 0o602])
def test_a_device_key_open_to_others(home, mode):
  home.set("alice", b"x")
  key = home.state / "device.key"
  key.chmod(mode)
  refused = home.run("get", "alice", code=79)
  assert f"chmod 600 {key}" in hinted(refused)


@pytest.mark.parametrize("option", ["--passphrase-file", "--key-file"])
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_secret_files_open_to_others(locked, option, mode):
  path = locked.file("secret", PASSPHRASE * 2, mode=mode)
  refused = locked.run("get", "whenUnlocked", option, path, code=79)
  assert path in refused.error and f"chmod 600 {path}" in hinted(refused)


@pytest.mark.parametrize("variable", ["KEYCHAIN_PASSPHRASE_FILE", "KEYCHAIN_KEY_FILE"])
def test_secret_files_of_the_environment_open_to_others(locked, variable):
  path = locked.file("secret", PASSPHRASE * 2, mode=0o644)
  refused = locked.run("get", "whenUnlocked", environment={variable: path}, code=79)
  assert f"chmod 600 {path}" in hinted(refused)


def test_a_file_that_its_own_mode_closes_is_named(home, superuser):
  """Its folders are open, so a look at them would find nothing."""
  home.set("alice", b"x")
  key, given = home.state / "device.key", home.folder / "given"
  given.write_bytes(PASSPHRASE)
  for path in (home.folder, *home.folder.rglob("*")):
    os.chown(path, STRANGER, STRANGER)
  given.chmod(0)
  refused = home.run("get", "alice", "--passphrase-file", str(given), preexec_fn=as_stranger, code=74)
  assert hinted(refused) == f"check the permissions of {given}"
  key.chmod(0)
  assert hinted(home.run("get", "alice", preexec_fn=as_stranger, code=74)) == (
    f"check the permissions of {key}")
  key.parent.chmod(0)
  assert hinted(home.run("get", "alice", preexec_fn=as_stranger, code=74)) == (
    "check the permissions of its folders")


def test_files_of_another_owner(locked, superuser):
  path = locked.file("secret", PASSPHRASE)
  os.chown(path, STRANGER, STRANGER)
  refused = locked.run("get", "whenUnlocked", "--passphrase-file", path, code=79)
  # What root made its own, the owner could not read any more.
  assert "belongs to another user" in refused.error and "chown" not in refused.error
  os.chown(locked.vault, STRANGER, STRANGER)
  refused = locked.run("get", "always", code=79)
  assert "belongs to another user" in refused.error and str(locked.vault) in refused.error


def test_root_is_referred_to_vault_owner(locked, superuser):
  """As where the vault of a service is looked at with its path; each refusal says the same."""
  # Below a folder that others cannot enter, no other folder is checked.
  for folder in [*locked.vault.parents][:len(locked.vault.relative_to(locked.folder).parts)]:
    folder.chmod(0o755)
  # Not 65534: in a user namespace, that may be a user without a number.
  for uid, command in (
      (1, f"runuser -u {pwd.getpwuid(1).pw_name} -- COMMAND"),
      (STRANGER, f"setpriv --reuid {STRANGER} --regid {STRANGER} --clear-groups COMMAND")):
    os.chown(locked.vault, uid, uid)
    of_file = locked.run("get", "always", code=79)
    os.chown(locked.vault.parent, uid, uid)
    of_folder = locked.run("get", "always", code=79)
    os.chown(locked.vault.parent, 0, 0)
    assert "the folder" in of_folder.error and "the folder" not in of_file.error
    for refused in (of_file, of_folder):
      assert f"run the command as its owner: {command}" in hinted(refused)
      assert "chown" not in refused.error and "KEYCHAIN_TRUSTED_FOLDERS" not in refused.error


@pytest.mark.parametrize("mode", [0o757, 0o777])
def test_a_folder_that_others_can_write(home, mode):
  home.set("alice", b"x")
  home.folder.chmod(mode)
  refused = home.run("get", "alice", code=79)
  assert str(home.folder) in refused.error and "chmod" in hinted(refused)


# A list of users (`setfacl -m u:1:rwx`): its version, then the kind, the rights and the number of each entry.
ACCESS_LIST = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in (
  (0x01, 7, 0xFFFFFFFF), (0x02, 7, 1), (0x04, 7, 0xFFFFFFFF), (0x10, 7, 0xFFFFFFFF), (0x20, 5, 0xFFFFFFFF)))


def test_a_folder_of_a_group_of_the_user_alone(home, program, superuser, mounting):
  """With `umask 002`, what a user makes can be written by the group that the system made for the user."""
  home.folder.chmod(0o755)
  machine = Machine.make(home.folder / "root", {"prefs": program})
  with (machine.root / "etc/passwd").open("a") as file:
    file.write(f"alice:x:{STRANGER}:{STRANGER}::/home/alice:/bin/sh\n")
  groups = machine.root / "etc/group"
  given, alone = groups.read_text(), f"alice:x:{STRANGER}:\n"
  folder = machine.root / "home/alice"
  folder.mkdir()
  os.chown(folder, STRANGER, STRANGER)

  def using(code: int = 0):
    script = ("umask 002; mkdir -p ~/.local/share ~/.local/state; printf x | prefs keychain set a && "
              "prefs keychain get a")
    return machine.run("sh", "-c", script, user=STRANGER, variables={"HOME": "/home/alice"}, code=code)

  groups.write_text(given + alone)
  assert using().out == b"x" and machine.mode("/home/alice/.local") == (STRANGER, 0o775)
  groups.write_text(given + alone.replace("\n", "bob\n"))
  assert "other users can write to the folder /home/alice/.local" in using(79).error
  groups.write_text(given)
  using(79)
  groups.write_text(given + alone)
  (machine.root / ".dockerenv").touch()
  using(79)
  (machine.root / ".dockerenv").unlink()
  using()
  os.setxattr(folder / ".local", "system.posix_acl_access", ACCESS_LIST)
  using(79)


def test_sticky_folder_counts_as_private(home):
  home.folder.chmod(0o1777)
  home.set("alice", b"x")
  assert home.get("alice") == b"x"


def test_a_link_planted_by_another_user(home, superuser):
  home.set("alice", b"x")
  home.folder.chmod(0o1777)
  link = home.folder / "link.db"
  link.symlink_to(home.vault)
  # One's own link is followed.
  assert home.get("alice", "--vault", str(link)) == b"x"
  os.lchown(link, STRANGER, STRANGER)
  for command in (["get", "alice"], ["status"]):
    refused = home.run(*command, "--vault", str(link), code=79)
    assert "symbolic link made by another user" in refused.error
  home.set("alice", b"y", "--vault", str(link), code=79)
  assert home.get("alice") == b"x"


def test_a_planted_link_to_nowhere_makes_nothing(home, superuser):
  home.folder.chmod(0o1777)
  link = home.folder / "planted.db"
  link.symlink_to(home.folder / "elsewhere.db")
  os.lchown(link, STRANGER, STRANGER)
  home.set("alice", b"x", "--vault", str(link), code=79)
  assert not (home.folder / "elsewhere.db").exists()


def test_vault_of_other_owner_in_shared_folder(home, superuser):
  home.folder.chmod(0o1777)
  planted = home.file("planted.db", b"")
  os.chown(planted, STRANGER, STRANGER)
  # Where others can make files, they could plant a journal too, so the folder is refused first.
  refused = home.set("alice", b"x", "--vault", planted, code=79)
  assert "other users can make files in" in refused.error
  assert os.path.getsize(planted) == 0


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_vault_that_is_not_a_file(home, make):
  path = str(home.folder / "thing")
  make(path)
  refused = home.run("get", "alice", "--vault", path, code=79)
  assert "not a regular file" in refused.error


def test_a_vault_that_nobody_may_write(home):
  """That is no read-only medium; the superuser without this capability is as anybody."""
  home.set("alice", b"x")
  home.vault.chmod(0o400)
  through = ["setpriv", "--bounding-set", "-dac_override"] if os.geteuid() == 0 else []
  refused = home.set("bob", b"y", through=through, code=79)
  assert "permissions let nobody write it" in refused.error and f"chmod 600 {home.vault}" in hinted(refused)
  assert home.get("alice", through=through) == b"x"


@pytest.mark.parametrize("name", ["quo'te", "two\nlines `x` 'and' \\ more"])
def test_commands_in_hints_can_be_typed(home, name):
  folder = home.folder / name
  folder.mkdir(mode=0o700)
  (folder / "below").mkdir(mode=0o700)
  vault = str(folder / "below" / "v.db")
  home.set("alice", b"x", "--vault", vault)
  home.folder.chmod(0o711)
  folder.chmod(0o777)
  refused = home.run("get", "alice", "--vault", vault, code=79)
  command = hinted(refused).partition("chmod go-w ")[2].partition("; or, if")[0]
  subprocess.run(["bash", "-c", "chmod go-w " + command], check=True)
  assert home.get("alice", "--vault", vault) == b"x"
