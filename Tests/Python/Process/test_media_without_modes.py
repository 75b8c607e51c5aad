"""A medium whose files have no permissions of their own, such as a memory stick: others may read them."""

from __future__ import annotations

import os
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

from preference_testing import Preferences
from prefs_testing import hinted

UNFINISHED = ".unfinished-file"


@pytest.fixture(scope="module")
def image(tmp_path_factory) -> Path:
  """A file system that was just made, whose files all have the mode that it is mounted with."""
  path = tmp_path_factory.mktemp("image") / "stick"
  path.write_bytes(b"")
  with path.open("r+b") as file:
    file.truncate(2 << 20)
  subprocess.run(
    ["mkfs.ntfs", "--force", "--quick", "--quiet", str(path)], check=True, capture_output=True,
    env=os.environ | {"PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"})
  return path


@pytest.fixture
def stick(home, image, mounting):
  """Mounts it in the home."""

  @contextmanager
  def mounted(mask: str = "0"):
    copy = home.folder / "image"
    if not copy.exists():
      copy.write_bytes(image.read_bytes())
    folder = home.folder / "stick"
    folder.mkdir(exist_ok=True)
    subprocess.run(["ntfs-3g", "-o", f"umask={mask}", str(copy), str(folder)], check=True)
    try:
      yield folder
    finally:
      subprocess.run(["umount", str(folder)], check=True)

  home.set("alice", b"the secret")
  return mounted


def contents(folder: Path) -> dict[str, bytes]:
  return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_no_secret_is_written_for_everybody(home, stick):
  template = home.file("in", b"{{ keychain://default/alice }}")
  with stick() as folder:
    (folder / "old").write_bytes(b"old")
    for words in (
        ["get", "alice", "--output", "stick/new"],
        ["get", "alice", "--output", "stick/old", "--overwrite"],
        ["inject", template, "--output", "stick/new"],
        ["slots", "add", "--new-key-file", "stick/new", "--yes"],
        ["recovery", "create", "--code-file", "stick/new"]):
      refused = home.run(*words, code=79)
      assert "other users can read and write" in refused.error, refused
      assert "umask=077" in hinted(refused) and "--allow-others-read" in hinted(refused)
    preferences = Preferences(home)
    preferences.run("write", "key", "value")
    for name in ("stick/new.json", "stick/old"):
      refused = preferences.run("export", name, "--overwrite", code=79)
      assert "other users can read and write" in refused.error and "umask=077" in hinted(refused)
    refused = home.set("alice", b"x", "--vault", "stick/vault", code=79)
    assert "other users can read and write" in refused.error and "umask=077" in hinted(refused)
    assert contents(folder) == {"old": b"old"}
  with stick("022"):
    refused = home.run("identity", "create", "stick/new", code=79)
    assert "other users can read stick" in refused.error.replace(f"{home.folder}/", "")
  assert home.get("alice") == b"the secret"


def test_it_is_written_if_that_is_asked_for(home, stick):
  with stick() as folder:
    home.get("alice", "--output", "stick/a", "--allow-others-read")
    home.run("get", "alice", "--output", "stick/b", "--allow-group-read", code=79)
    home.get("alice", "--output", "stick/b", environment={"KEYCHAIN_ALLOW_READ": "others"})
    home.get("alice", "--output", "stick/a", "--overwrite", "--allow-others-read")
    assert contents(folder) == {"a": b"the secret", "b": b"the secret"}
    for options in ([], ["--replace"]):
      refused = home.run("backup", "stick/x.db", *options, code=79)
      assert "chmod" not in hinted(refused) and "--allow-others-read" in hinted(refused)
      home.run("backup", "stick/x.db", *options, "--allow-others-read")
    assert set(contents(folder)) == {"a", "b", "x.db"}
  with stick("022"):
    home.run("slots", "add", "--new-key-file", "stick/key", "--yes", "--allow-others-read")
    home.get("alice", "--key-file", "stick/key", "--allow-others-read")


def test_a_medium_that_is_the_users_alone_needs_no_question(home, stick):
  with stick("077"):
    home.get("alice", "--output", "stick/new")
    home.run("slots", "add", "--new-key-file", "stick/key", "--yes")
    home.get("alice", "--key-file", "stick/key")


def test_what_is_encrypted_may_be_there(home, stick):
  passphrase = home.file("passphrase", b"export\n")
  with stick("022") as folder:
    home.run("export", "stick/x.export", "--export-passphrase-file", passphrase)
    home.run("backup", "stick/x.db")
    home.run("backup", "stick/x.db", "--replace")
    assert set(contents(folder)) >= {"x.export", "x.db"}


@pytest.mark.parametrize("options", [[], ["--overwrite"]])
def test_leftover_of_a_kill_is_removed_by_the_next_call(home, stick, tracing, options):
  """Files without a name are not to be had here."""
  with stick("077") as folder:
    words = ("get", "alice", "--output", "stick/new", *options)
    home.run(*words, code=None, through=[
      "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync", "-e", "inject=fsync:signal=KILL"])
    assert contents(folder) == {"new" + UNFINISHED: b"the secret"}
    home.run(*words)
    assert contents(folder) == {"new": b"the secret"}
