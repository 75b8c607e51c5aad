"""User namespaces, in which the machine's root and other users have no number and appear as nobody."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from machine import STRANGER, require
from prefs_testing import PASSPHRASE, hinted

OTHER = STRANGER + 1


@pytest.fixture
def stranger(home, superuser):
  """A home of an ordinary user, with a program that this user reaches."""
  home.folder.chmod(0o755)
  home.program = shutil.copy(home.program, home.folder / "prefs")
  for folder, names, files in os.walk(home.folder):
    for path in [folder, *(os.path.join(folder, name) for name in [*names, *files])]:
      os.chown(path, STRANGER, STRANGER)
  as_stranger(home, "lock", "--all", code=None)
  yield home
  as_stranger(home, "lock", "--all", code=None)


def as_stranger(home, *arguments: str, **options):
  """Runs a command as the user, in the namespace that the words of `through` make."""
  return home.run(*arguments, user=STRANGER, group=STRANGER, extra_groups=[], **options)


# As systemd makes one for a user service, and bubblewrap without options; and one without any number.
OWN_NUMBER = ["unshare", "--user", "--map-current-user"]
AS_ROOT = ["unshare", "--user", "--map-root-user"]
NO_NUMBER = ["unshare", "--user"]
ALL = pytest.mark.parametrize(
  "through", [OWN_NUMBER, AS_ROOT, NO_NUMBER], ids=["own number", "as root", "no number"])


def given_to(path, user: int, mode: int):
  path.mkdir(exist_ok=True)
  os.chown(path, user, user)
  path.chmod(mode)
  return path


@pytest.fixture(scope="module", autouse=True)
def namespaces():
  made = subprocess.run(["unshare", "--user", "true"], capture_output=True, text=True)
  if made.returncode != 0:
    require("user namespaces", made.stderr.strip())


@ALL
def test_the_vault_is_used_in_a_namespace(stranger, through):
  """The folders above it belong to root, who has no number there."""
  as_stranger(stranger, "set", "outside", input=b"x")
  assert as_stranger(stranger, "get", "outside", through=through).out == b"x"
  as_stranger(stranger, "set", "inside", input=b"y", through=through)
  assert as_stranger(stranger, "get", "inside").out == b"y"
  as_stranger(stranger, "verify", through=through)
  as_stranger(stranger, "doctor", through=through)


@ALL
def test_a_vault_is_made_in_a_namespace(stranger, through):
  as_stranger(stranger, "set", "alice", input=b"x", through=through)
  assert as_stranger(stranger, "get", "alice").out == b"x"
  assert stranger.vault.stat().st_uid == STRANGER and stranger.vault.stat().st_mode & 0o777 == 0o600


@ALL
def test_folder_of_possible_other_user_is_refused(stranger, through):
  """Its owner, who could replace the vault, looks like root."""
  other = given_to(stranger.folder / "other", OTHER, 0o755)
  mine = given_to(other / "mine", STRANGER, 0o700)
  path = str(mine / "vault")
  refused = as_stranger(stranger, "set", "alice", "--vault", path, input=b"x", through=through, code=79)
  assert f"the folder {other} belongs to a user outside of this user namespace" in refused.error
  assert f"KEYCHAIN_TRUSTED_FOLDERS={other}" in hinted(refused)
  assert not (mine / "vault").exists()
  trusting = {"environment": {"KEYCHAIN_TRUSTED_FOLDERS": str(other)}}
  as_stranger(stranger, "set", "alice", "--vault", path, input=b"x", through=through, **trusting)
  # Outside, it is seen whose it is.
  refused = as_stranger(stranger, "get", "alice", "--vault", path, code=79)
  assert "belongs to another user" in refused.error


@ALL
@pytest.mark.parametrize("mode", [0o777, 0o775])
def test_a_folder_that_others_can_write_is_refused(stranger, through, mode):
  place = given_to(stranger.folder / "open", STRANGER, mode)
  refused = as_stranger(
    stranger, "set", "alice", "--vault", str(place / "vault"), input=b"x", through=through, code=79)
  assert str(place) in refused.error


@ALL
def test_files_of_other_users_are_refused(stranger, through):
  """Other users' files are not trusted, although all may show the same number."""
  path = stranger.file("passphrase", PASSPHRASE, mode=0o644)
  os.chown(path, OTHER, OTHER)
  given = ["--passphrase-file", path, "--allow-others-read"]
  refused = as_stranger(stranger, "set", "alice", *given, input=b"x", through=through, code=79)
  assert path in refused.error and "outside of this user namespace" in refused.error
  assert "LoadCredential" in hinted(refused)
  os.chown(path, STRANGER, STRANGER)
  as_stranger(stranger, "set", "alice", *given, input=b"x", through=through)


@ALL
def test_a_link_of_another_user_is_refused(stranger, through):
  as_stranger(stranger, "set", "alice", input=b"x")
  place = given_to(stranger.folder / "open", STRANGER, 0o1777)
  link = place / "link.db"
  link.symlink_to(stranger.vault)
  os.lchown(link, OTHER, OTHER)
  refused = as_stranger(stranger, "get", "alice", "--vault", str(link), through=through, code=79)
  # Without numbers it cannot be seen whose such a folder is.
  assert "symbolic link" in refused.error or through is NO_NUMBER and str(place) in refused.error
  # Root made this one, in a folder that nobody else can write: its owner shows as any other does.
  closed = given_to(stranger.folder / "closed", STRANGER, 0o755)
  link = closed / "link.db"
  link.symlink_to(stranger.vault)
  assert as_stranger(stranger, "get", "alice", "--vault", str(link), through=through).out == b"x"


@ALL
def test_a_vault_of_another_user_is_refused(stranger, through):
  as_stranger(stranger, "set", "alice", input=b"x")
  os.chown(stranger.vault, OTHER, OTHER)
  for mode in (0o600, 0o644):
    stranger.vault.chmod(mode)
    refused = as_stranger(stranger, "get", "alice", through=through, code=79)
    assert str(stranger.vault) in refused.error
