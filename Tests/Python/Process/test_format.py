"""Vaults of `prefs` read by the second reader of the format, and the reverse."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
from datetime import datetime, timezone
from pathlib import Path

import pytest

from prefs_testing import FIXTURES, LOCKED_ITEMS
from vault_identity import IdentityFile
from vault_reader import Secrets, Vault

# The vaults that are checked in, of each writer.
NAMES = ["format3-python", "format3-swift"]
IDENTITY = {
  0: (("service", "--service"),),
  1: (("server", "--server"), ("protocol", "--protocol"), ("port", "--port"), ("path", "--path"),
      ("security-domain", "--security-domain"),
      ("authentication-type", "--authentication-type")),
}


def of_python(vault: Vault) -> dict[tuple[str, ...], bytes]:
  """The secrets of a vault that the second reader opened, by group and names."""
  return {(item.metadata.identity.group, *map(str, item.metadata.identity.parts)): item.secret
          for item in vault.items if item.status == "open"}


@pytest.fixture
def varied(locked):
  """The locked vault with a key file, a group, an internet password and odd names."""
  unlock = locked.passphrase()
  locked.run("slots", "add", "--new-key-file", "key", *unlock)
  locked.run("unlock", *unlock)
  locked.set("gérard🔑", b"\0\xff" * 500, "--access-group", "wörk", "--label", "L", "--comment",
             "C", "--attribute", "env=test", "--attribute", "team=", "--content-type",
             "application/octet-stream", "--expires", "2099-01-31")
  locked.set("alice", b"internet", "--server", "example.com", "--protocol", "https", "--port",
             "443", "--path", "/a", "--security-domain", "realm", "--authentication-type", "basic")
  locked.set("bound", b"bound", "--accessibility", "whenPasscodeSetThisDeviceOnly")
  locked.set("empty", b"", "--allow-empty", "--accessibility", "alwaysThisDeviceOnly")
  locked.set("gone", b"gone")
  locked.run("delete", "gone")
  return locked


EXPECTED = {
  **{("", "default", name): name.encode() for name in LOCKED_ITEMS},
  ("wörk", "default", "gérard🔑"): b"\0\xff" * 500,
  ("", "example.com", "https", "443", "/a", "alice", "realm", "basic"): b"internet",
  ("", "default", "bound"): b"bound",
  ("", "default", "empty"): b"",
}


@pytest.mark.parametrize("way", ["passphrase", "key file"])
def test_python_reads_what_prefs_wrote(varied, way):
  device = (varied.state / "device.key").read_bytes()
  passphrase = Path(varied.passphrase()[1]).read_bytes().rstrip(b"\n")
  secrets = {
    "passphrase": Secrets(passphrase=passphrase, device=device),
    "key file": Secrets(key_file=(varied.folder / "key").read_bytes(), device=device)}[way]
  vault = Vault(varied.vault, secrets)
  assert vault.problems == []
  assert of_python(vault) == EXPECTED
  named = next(item.metadata for item in vault.items if item.secret == b"\0\xff" * 500)
  assert (named.label, named.comment, named.content_type) == (
    "L", "C", "application/octet-stream")
  assert dict(named.ordered_attributes()) == {"env": "test", "team": ""}
  assert named.expires == 4073500800_000000


def test_python_reads_what_the_device_opens(varied):
  vault = Vault(varied.vault, Secrets(device=(varied.state / "device.key").read_bytes()))
  assert vault.problems == [] and vault.root is None
  assert set(of_python(vault).values()) == {b"always", b""}


def options(item: dict) -> list[str]:
  named = [(option, str(item[name])) for name, option in IDENTITY[item["kind"]] if item[name] != 0]
  return [word for pair in [("--access-group", item["access-group"]), *named] for word in pair]


def microseconds_to_text(value: int) -> str:
  return datetime.fromtimestamp(value // 1_000_000, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def check_items(home, expected: list[dict], unlock: list[str]) -> None:
  """Reads every item of a checked-in vault by its names."""
  # The keys are kept for a while, so that the passphrase is hashed once. An identity costs nothing.
  each = unlock if "--identity" in unlock else []
  if not each:
    home.run("unlock", *unlock)
  for item in expected:
    if item["status"] != "open":
      continue
    names = [*each, *options(item), "--", item["account"]]
    if "\0" in "".join(names):
      # No argument can name it.
      continue
    found = home.run("get", "--allow-expired", "--json", *names).json
    secret = found["secret"]
    assert base64.b64decode(item["secret"]) == (
      base64.b64decode(secret) if found["encoding"] == "base64" else secret.encode())
    assert found["accessibility"] == item["accessibility"]
    assert found["version"] == str(item["version"])
    assert found["created"] == microseconds_to_text(item["created"])
    for name, key in (("label", "label"), ("comment", "comment"), ("contentType", "content-type")):
      assert found.get(name) == item[key]
    assert found["attributes"] == dict(item["attributes"])


def placed(home, name: str):
  """A checked-in vault with its device key and its files, as a user has them."""
  # The kernel keeps one set of keys for each vault and user, so the tests of a vault take turns.
  home.turn = (FIXTURES / f"{name}.vault").open("rb")
  fcntl.flock(home.turn, fcntl.LOCK_EX)
  home.vault.parent.mkdir(mode=0o700)
  home.state.mkdir(mode=0o700)
  for source, target in ((f"{name}.vault", home.vault), ("test-device.key", home.state / "device.key"),
                         ("test-passphrase", home.folder / "passphrase"),
                         ("test-key-file", home.folder / "key")):
    shutil.copyfile(FIXTURES / source, target)
    os.chmod(target, 0o600)
  return home, json.loads((FIXTURES / f"{name}.expected.json").read_text())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("unlock", [["--passphrase-file", "passphrase"], ["--key-file", "key"]],
                         ids=["passphrase", "key file"])
def test_a_checked_in_vault_opens_for_ever(home, name, unlock):
  home, expected = placed(home, name)
  before = home.vault.read_bytes()
  check_items(home, expected["items"], unlock)
  home.run("verify")
  listed = home.run("list", "--all-groups", "--json")
  elsewhere = [item for item in expected["items"] if item["status"] == "other device"]
  assert len(listed.json) == len(expected["items"]) - len(elsewhere)
  assert ("bound to another device" in listed.error) == bool(elsewhere)
  assert home.vault.read_bytes() == before
  home.run("lock", "--all")


@pytest.mark.parametrize("name", NAMES)
def test_a_checked_in_vault_can_be_changed(home, name):
  home, expected = placed(home, name)
  home.run("unlock", "--key-file", "key")
  home.set("new", b"new")
  home.run("verify")
  vault = Vault(home.vault, Secrets(key_file=(home.folder / "key").read_bytes(),
                                    device=(home.state / "device.key").read_bytes()))
  assert vault.problems == []
  assert of_python(vault)["", "default", "new"] == b"new"
  assert len(vault.items) == len(expected["items"]) + 1
  home.run("lock", "--all")


def test_an_item_of_another_device(home):
  """On another device the vault opens, and nothing that is bound to the first."""
  home, expected = placed(home, "format3-python")
  (home.state / "device.key").write_bytes(bytes(32))
  home.run("unlock", "--key-file", "key")
  bound = [item for item in expected["items"] if item["status"] == "open"
           and item["accessibility"].endswith("ThisDeviceOnly")]
  assert bound
  for item in bound:
    refused = home.run("get", *options(item), "--", item["account"], code=79)
    assert "bound to another device" in refused.error
  home.run("lock", "--all")


@pytest.mark.parametrize("identity, writes", [
  ("test-identity", True), ("test-writing-identity", True), ("test-reading-identity", False)])
def test_a_checked_in_shared_vault(home, identity, writes):
  """Each member reads everything; what one of those who may write adds, Python reads."""
  home, expected = placed(home, "format3-python-shared")
  unlock = ("--identity", home.file("identity", (FIXTURES / identity).read_bytes()))
  check_items(home, expected["items"], list(unlock))
  home.run("verify", *unlock)
  home.set("new", b"new", *unlock, code=0 if writes else None)
  seed = IdentityFile.decoded((FIXTURES / identity).read_bytes()).seed
  vault = Vault(home.vault, Secrets(identity=seed))
  assert vault.problems == []
  assert of_python(vault).get(("", "default", "new")) == (b"new" if writes else None)


def test_the_swift_vault_and_the_second_reader():
  expected = json.loads((FIXTURES / "format3-swift.expected.json").read_text())
  vault = Vault(FIXTURES / "format3-swift.vault", Secrets(
    passphrase=(FIXTURES / "test-passphrase").read_bytes().rstrip(b"\n"),
    device=(FIXTURES / "test-device.key").read_bytes()))
  assert vault.problems == []
  assert sorted(of_python(vault).values()) == sorted(
    base64.b64decode(item["secret"]) for item in expected["items"])
