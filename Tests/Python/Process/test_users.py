"""Root and other users, with and without the kernel's keyring."""

from __future__ import annotations

import errno
import os
import shutil

import pytest

from machine import STRANGER
from prefs_testing import LOCKED_ITEMS, hinted
from system_calls import forbid_keys


def become_stranger() -> None:
  os.setgroups([])
  os.setgid(STRANGER)
  os.setuid(STRANGER)


class User:
  """Runs the commands of a home as a user, in some environment."""

  def __init__(self, home, is_root: bool) -> None:
    self.home = home
    self.is_root = is_root
    self.own()

  def own(self) -> None:
    """Gives everything in the home to the user."""
    owner = 0 if self.is_root else STRANGER
    for folder, _, names in os.walk(self.home.folder):
      for path in [folder, *(os.path.join(folder, name) for name in names)]:
        os.chown(path, owner, owner)

  def run(self, *arguments, forbidden: int | None = None, **options):
    def prepare():
      if not self.is_root:
        become_stranger()
      if forbidden is not None:
        forbid_keys(forbidden)
    return self.home.run(*arguments, preexec_fn=prepare, **options)


@pytest.fixture
def reachable(locked, superuser):
  """The locked vault, with a program that other users reach too."""
  return within_reach(locked)


def within_reach(home):
  home.folder.chmod(0o755)
  home.program = shutil.copy(home.program, home.folder / "prefs")
  return home


@pytest.fixture(params=["root", "user"])
def user(request, reachable):
  user = User(reachable, request.param == "root")
  yield user
  user.run("lock", "--all")


NEW_SESSION = ["keyctl", "session", "-"]


@pytest.mark.parametrize("through", [[], NEW_SESSION], ids=["inherited", "new session"])
def test_with_a_keyring(user, through):
  path = user.home.passphrase()[1]
  user.own()
  user.run("unlock", "--passphrase-file", path, through=through)
  for name in LOCKED_ITEMS:
    assert user.run("get", name, through=through).out == name.encode()
  # What one session unlocked is unlocked for every other of the user.
  assert user.run("get", "whenUnlocked").out == b"whenUnlocked"
  assert user.run("status", "--json", through=through).json["cacheAvailable"] is True
  user.run("set", "new", input=b"new", through=through)
  user.run("lock", through=through)
  user.run("get", "whenUnlocked", through=through, code=77)
  user.run("get", "whenUnlocked", code=77)
  assert user.run("get", "afterFirstUnlock", through=through).out == b"afterFirstUnlock"


@pytest.mark.parametrize("error", [errno.EPERM, errno.ENOSYS], ids=["EPERM", "ENOSYS"])
def test_without_a_keyring(user, error):
  path = user.home.passphrase()[1]
  user.own()
  refused = user.run("unlock", "--passphrase-file", path, forbidden=error, code=79)
  assert "cannot be kept unlocked here" in refused.error
  assert "KEYCHAIN_PASSPHRASE_FILE" in hinted(refused) and "KEYCHAIN_KEY_FILE" in hinted(refused)
  assert "containers deny it" in hinted(refused)
  locked = user.run("get", "whenUnlocked", forbidden=error, code=77)
  listed = user.run("list", forbidden=error)
  # What would have no effect is not proposed.
  for told in (locked, listed):
    assert "KEYCHAIN_PASSPHRASE_FILE" in hinted(told) and "keychain unlock" not in told.error
  given = {"KEYCHAIN_PASSPHRASE_FILE": path}
  outcome = user.run("get", "whenUnlocked", forbidden=error, environment=given)
  # That it is hashed again each time is said at `unlock` and by `doctor`, not in every job's mail.
  assert (outcome.out, outcome.error) == (b"whenUnlocked", "")
  written = user.run("set", "new", input=b"new", forbidden=error, environment=given)
  assert "keyring" not in written.error
  found = user.run("get", "new", "--passphrase-file", path, forbidden=error)
  assert (found.out, found.error) == (b"new", "")
  user.run("lock", "--all", forbidden=error)
  assert user.run("status", "--json", forbidden=error).json["cacheAvailable"] is False
  told = user.run("doctor", forbidden=error).out.decode()
  assert f"keyring cannot be used ({os.strerror(error)})" in told
  assert "by KEYCHAIN_KEY_FILE" in told and "keychain unlock'" not in told


@pytest.mark.parametrize("error", [errno.EPERM, errno.ENOSYS], ids=["EPERM", "ENOSYS"])
def test_a_vault_of_the_device_needs_no_keyring(home, superuser, error):
  user = User(within_reach(home), is_root=False)
  user.run("set", "alice", input=b"x", forbidden=error)
  found = user.run("get", "alice", forbidden=error)
  assert (found.out, found.error) == (b"x", "")
  # It is unlocked for the commands that follow: nothing failed.
  assert user.run("unlock", forbidden=error).error == ""


def test_process_that_dropped_root_cannot_read_its_keys(reachable):
  reachable.run("unlock", *reachable.passphrase())
  assert reachable.get("whenUnlocked") == b"whenUnlocked"
  # The same vault is the other user's now: only the keys in root's keyring are missing.
  user = User(reachable, is_root=False)
  user.run("get", "whenUnlocked", code=77)
  user.run("get", "afterFirstUnlock", code=77)
  # The user id alone was given up; groups and session keyring are still root's.
  reachable.run("get", "whenUnlocked", preexec_fn=lambda: os.setuid(STRANGER), code=77)


def test_users_do_not_share_unlocked_vaults(reachable):
  path = reachable.passphrase()[1]
  user, root = User(reachable, is_root=False), User(reachable, is_root=True)
  user.own()
  user.run("unlock", "--passphrase-file", path)
  try:
    assert user.run("get", "whenUnlocked").out == b"whenUnlocked"
    root.own()
    root.run("get", "whenUnlocked", code=77)
  finally:
    user.own()
    user.run("lock", "--all")
