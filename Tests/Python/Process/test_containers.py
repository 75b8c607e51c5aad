"""Volumes and secrets as Kubernetes and Docker give them to a container's user, who is not root."""

from __future__ import annotations

import os
import resource
import shutil
from contextlib import ExitStack
from pathlib import Path

import pytest

from machine import STRANGER, control_group
from prefs_testing import PASSPHRASE, hinted

# The group of a volume, `fsGroup`, which only the container's user is in; and one of others.
VOLUME_GROUP = STRANGER + 2
OTHER = STRANGER + 1

KEY = bytes(range(100, 132))


class Container:
  """Runs commands as the user of a container, whose vault and state lie on a volume."""

  def __init__(self, home) -> None:
    self.home = home
    home.folder.chmod(0o755)
    home.program = shutil.copy(home.program, home.folder / "prefs")
    self.volume = home.folder / "volume"
    self.volume.mkdir()
    self.own_volume(0, VOLUME_GROUP, 0o2775)
    home.environment = {
      "PATH": os.environ["PATH"], "SWIFT_BACKTRACE": "enable=no",
      "KEYCHAIN_VAULT": str(self.volume / "vault"),
      "XDG_STATE_HOME": str(self.volume / "state")}
    home.vault = self.volume / "vault"

  def folder_of_its_own(self) -> Path:
    """Has the vault in a folder of the volume, which is made."""
    self.home.vault = self.volume / "keychain/vault"
    self.home.vault.parent.mkdir(mode=0o700)
    self.home.environment["KEYCHAIN_VAULT"] = str(self.home.vault)
    return self.home.vault.parent

  def own_volume(self, user: int, group: int, mode: int) -> None:
    os.chown(self.volume, user, group)
    self.volume.chmod(mode)

  def run(self, *arguments: str, **options):
    return self.home.run(
      *arguments, user=STRANGER, group=STRANGER, extra_groups=[VOLUME_GROUP], **options)

  def trusting(self, *more: str) -> dict[str, str]:
    return {"KEYCHAIN_TRUSTED_FOLDERS": ":".join([str(self.volume), *more])}

  def secret(self, name: str, contents: bytes, mode: int, group: int = VOLUME_GROUP) -> str:
    """A file and folder that belong to root."""
    folder = self.home.folder / "secrets"
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    path = folder / name
    path.write_bytes(contents)
    os.chown(path, 0, group)
    path.chmod(mode)
    return str(path)


@pytest.fixture
def container(home, superuser):
  made = Container(home)
  yield made
  made.run("lock", "--all", code=None, environment=made.trusting())


# Of a persistent volume with `fsGroup`, of an `emptyDir` with and without, of an image for any user.
VOLUMES = pytest.mark.parametrize("group, mode", [
  (VOLUME_GROUP, 0o2775), (VOLUME_GROUP, 0o2777), (0, 0o777), (0, 0o775), (STRANGER, 0o770)])


@VOLUMES
def test_a_volume_is_used_when_it_is_trusted(container, group, mode):
  container.own_volume(0, group, mode)
  if group == 0 and mode == 0o775:
    (container.volume / "state").mkdir(mode=0o700)
    for path in (container.volume / "state", container.folder_of_its_own()):
      os.chown(path, STRANGER, STRANGER)
  refused = container.run("set", "alice", input=b"x", code=79)
  assert f"other users can write to the folder {container.volume}" in refused.error
  # What the hint says, works as it stands there.
  name, value = hinted(refused).split("volume: ")[1].split("=")
  trusting = {"environment": {name: value.strip().strip("'")}}
  container.run("set", "alice", input=b"x", **trusting)
  assert container.run("get", "alice", **trusting).out == b"x"
  container.run("backup", str(container.home.vault.parent / "copy.db"), "--replace", **trusting)
  container.run("verify", **trusting)


def test_files_that_the_volumes_group_was_given(container):
  """Kubernetes does so at each start of a pod, unless `fsGroupChangePolicy` is `OnRootMismatch`."""
  trusting = {"environment": container.trusting()}
  container.run("set", "alice", input=b"x", **trusting)
  for folder, names, files in os.walk(container.volume):
    for path in [Path(folder), *(Path(folder, name) for name in [*names, *files])]:
      os.chown(path, -1, VOLUME_GROUP)
      path.chmod(path.stat().st_mode | (0o2770 if path.is_dir() else 0o660))
  assert container.run("get", "alice", **trusting).out == b"x"
  container.run("set", "alice", input=b"y", **trusting)
  refused = container.run("get", "alice", code=79)
  assert "write" in refused.error
  # Those of another group are others.
  os.chown(container.home.vault, -1, OTHER)
  refused = container.run("get", "alice", code=79, **trusting)
  assert str(container.home.vault) in refused.error
  os.chown(container.home.vault, -1, VOLUME_GROUP)
  container.home.vault.chmod(0o664)
  container.run("get", "alice", code=79, **trusting)


@pytest.mark.parametrize("owner", [OTHER, STRANGER])
def test_trust_goes_no_further_than_the_folder(container, owner):
  """A subfolder that others own or can write is refused."""
  trusting = {"environment": container.trusting()}
  place = container.folder_of_its_own()
  os.chown(place, owner, OTHER)
  place.chmod(0o775)
  refused = container.run("set", "alice", input=b"x", code=79, **trusting)
  assert str(place) in refused.error
  # The hint keeps what is trusted already.
  assert f"KEYCHAIN_TRUSTED_FOLDERS={container.volume}:{place}" in hinted(refused)
  relative = {"environment": {"KEYCHAIN_TRUSTED_FOLDERS": "volume::nowhere:/nowhere"}}
  assert str(container.volume) in container.run("get", "alice", code=79, **relative).error


@pytest.mark.parametrize("kind", ["passphrase", "key"])
@pytest.mark.parametrize("mode, option, variable", [
  (0o440, "--allow-group-read", "group"), (0o444, "--allow-others-read", "others"),
  (0o644, "--allow-others-read", "others")])
def test_secrets_that_others_can_read(container, kind, mode, option, variable):
  container.own_volume(STRANGER, STRANGER, 0o700)
  path = container.secret(kind, KEY, mode)
  given = f"--{'key-file' if kind == 'key' else 'passphrase-file'}"
  refused = container.run("set", "alice", given, path, input=b"x", code=79)
  assert f"other users can read {path}" in refused.error
  assert option in hinted(refused) and f"KEYCHAIN_ALLOW_READ={variable}" in hinted(refused)
  # To close root's file would not help.
  assert "chmod" not in hinted(refused)
  container.run("set", "alice", given, path, option, input=b"x")
  named = {"KEYCHAIN_KEY_FILE" if kind == "key" else "KEYCHAIN_PASSPHRASE_FILE": path}
  container.run("get", "alice", code=79, environment=named)
  allowed = named | {"KEYCHAIN_ALLOW_READ": variable}
  assert container.run("get", "alice", environment=allowed).out == b"x"
  # Less was allowed than the file gives.
  if variable == "others":
    container.run("get", "alice", given, path, "--allow-group-read", code=79)


@pytest.mark.parametrize("mode", [0o460, 0o446, 0o664, 0o666])
def test_a_secret_that_others_can_change_is_refused(container, mode):
  path = container.secret("passphrase", PASSPHRASE, mode)
  refused = container.run(
    "set", "alice", "--passphrase-file", path, "--allow-others-read", input=b"x", code=79,
    environment=container.trusting())
  assert path in refused.error and "--allow" not in hinted(refused)


def test_a_new_passphrase_that_others_can_read(container):
  container.own_volume(STRANGER, STRANGER, 0o700)
  path = container.secret("passphrase", PASSPHRASE, 0o440)
  refused = container.run("init", "--new-passphrase-file", path, code=79)
  assert "--allow-group-read" in hinted(refused)
  container.run("init", "--new-passphrase-file", path, environment={"KEYCHAIN_ALLOW_READ": "group"})


def test_a_variable_that_allows_nothing_known(container):
  path = container.secret("passphrase", PASSPHRASE, 0o440)
  refused = container.run(
    "set", "alice", "--passphrase-file", path, input=b"x", code=64,
    environment=container.trusting() | {"KEYCHAIN_ALLOW_READ": "yes"})
  assert "KEYCHAIN_ALLOW_READ" in refused.error and "'group'" in refused.error


def projected(container, mode: int = 0o440) -> Path:
  """A folder of secrets as Kubernetes mounts it: links to a link to a folder with the files."""
  folder = container.home.folder / "credentials"
  data = folder / "..2026_11_22_08_30_00.1"
  data.mkdir(parents=True)
  (data / "keychain.key").write_bytes(KEY)
  os.chown(data / "keychain.key", 0, VOLUME_GROUP)
  (data / "keychain.key").chmod(mode)
  for path, bits in ((data, 0o2755), (folder, 0o3777)):
    os.chown(path, 0, VOLUME_GROUP)
    path.chmod(bits)
  (folder / "..data").symlink_to(data.name)
  (folder / "keychain.key").symlink_to("..data/keychain.key")
  return folder


def test_links_within_the_folder_of_credentials(container):
  container.own_volume(STRANGER, STRANGER, 0o700)
  folder = projected(container)
  given = {"environment": {"CREDENTIALS_DIRECTORY": str(folder)}}
  container.run("set", "alice", input=b"x", **given)
  assert container.run("get", "alice", **given).out == b"x"
  assert "key file" in container.run("doctor", **given).out.decode()
  container.run("lock")
  container.run("get", "alice", code=77)
  # Kubernetes renews a secret by turning the link.
  newer = folder / "..2026_11_23"
  shutil.copytree(folder / os.readlink(folder / "..data"), newer)
  os.chown(newer / "keychain.key", 0, VOLUME_GROUP)
  (folder / "..data").unlink()
  (folder / "..data").symlink_to(newer.name)
  assert container.run("get", "alice", **given).out == b"x"


def test_links_out_of_the_folder_of_credentials(container):
  """A file elsewhere is not a system credential: it must be private or is refused."""
  container.own_volume(STRANGER, STRANGER, 0o700)
  folder = projected(container)
  outside = container.secret("key", KEY, 0o440)
  (folder / "keychain.key").unlink()
  (folder / "keychain.key").symlink_to(outside)
  refused = container.run(
    "set", "alice", input=b"x", code=79, environment={"CREDENTIALS_DIRECTORY": str(folder)})
  assert outside in refused.error


def test_world_readable_credentials(container):
  container.own_volume(STRANGER, STRANGER, 0o700)
  given = {"CREDENTIALS_DIRECTORY": str(projected(container, 0o644))}
  refused = container.run("set", "alice", input=b"x", code=79, environment=given)
  assert "KEYCHAIN_ALLOW_READ=others" in hinted(refused)
  container.run("set", "alice", input=b"x", environment=given | {"KEYCHAIN_ALLOW_READ": "others"})


def test_a_key_needs_little_memory(container, control_groups):
  """A key file is not hashed as a passphrase is."""
  container.own_volume(STRANGER, STRANGER, 0o700)
  given = {"environment": {"CREDENTIALS_DIRECTORY": str(projected(container))}}
  with ExitStack() as groups:
    group = groups.enter_context(control_group(40 << 20))
    join = {"preexec_fn": lambda: join_as_stranger(group)}
    container.home.run("set", "alice", input=b"x", **join, **given)
    assert container.home.run("get", "alice", **join, **given).out == b"x"
    container.home.run("list", **join, **given)


def join_as_stranger(group: Path) -> None:
  (group / "cgroup.procs").write_text(str(os.getpid()))
  resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
  os.setgroups([VOLUME_GROUP])
  os.setgid(STRANGER)
  os.setuid(STRANGER)
