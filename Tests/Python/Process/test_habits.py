"""What people type who know other tools for secrets."""

from __future__ import annotations

import re
import subprocess

import pytest

from prefs_testing import LIMIT, hinted


def test_options_of_other_tools_have_a_hint(home):
  assert "sh -c" in hinted(home.run("run", "-c", "ls", code=64))
  assert not home.vault.exists()


def test_a_secret_in_a_wrong_place_is_not_repeated(home):
  home.set("alice", b"x")
  home.run("identity", "create", "identity")
  [identity] = re.findall("^pksec2-.*$", (home.folder / "identity").read_text(), re.MULTILINE)
  home.run("recovery", "create", "--code-file", "code")
  [code] = re.findall("(?:[0-9A-Z]{4}-){7}[0-9A-Z]{4}", (home.folder / "code").read_text())
  for words in (
      ["slots", "add", "--recipient", identity], ["identity", "pin", identity], ["identity", "show", identity],
      ["identity", "create", identity], ["get", "alice", "--identity", (home.folder / "identity").read_text()],
      ["get", "alice", "--recovery-code-file", (home.folder / "code").read_text()], ["get", "alice", "--identity", identity], ["slots", "remove", code],
      ["get", "alice", "--recovery-code-file", code], ["get", "alice", "--recovery-code-file", code.lower()],
      ["get", "alice", "--recovery-code-fd", code], ["unlock", "--check", code], ["unlock", "--for", code],
      ["slots", "add", f"--passphrase={code}"], ["set", "b", "--accessibility", code], ["get", "alice", f"--json={code}"]):
    refused = home.run(*words, code=64)
    assert all(secret.lower() not in refused.error.lower() for secret in (identity, code)), words
  for variable, secret in (("KEYCHAIN_IDENTITY_FILE", identity), ("KEYCHAIN_KEY_FILE", code)):
    refused = home.run("slots", "list", environment={variable: secret}, code=None)
    assert secret not in refused.error
  # Other values help to see what is wrong.
  assert "--expires" in home.run("set", "b", "--expires", "90x", input=b"", code=64).error


def test_a_command_of_two_groups(home):
  outcome = subprocess.run(
    [home.program, "run"], env=home.environment, capture_output=True, text=True, timeout=LIMIT)
  assert outcome.returncode == 64 and "prefs keychain run" in outcome.stderr


@pytest.mark.parametrize("command, text", [
  (["keychain", "run", "--env-file", "file", "--", "true"], b"A=b\n"),
  (["keychain", "import", "--format", "netrc", "--dry-run", "file"], b"machine a login b password c\n"),
  (["import", "file", "--domain", "web"], b'{"a": 1}')])
def test_a_byte_order_mark_is_named(home, command, text):
  home.file("file", b"\xef\xbb\xbf" + text)
  outcome = subprocess.run(
    [home.program, *command], env=home.environment, cwd=home.folder, capture_output=True, text=True, timeout=LIMIT)
  assert outcome.returncode == 65 and "byte order mark" in outcome.stderr
