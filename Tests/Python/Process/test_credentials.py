"""Storing, reading, changing, listing and deleting credentials."""

from __future__ import annotations

import base64
import json
import os
import stat

import pytest

from prefs_testing import hinted

def test_first_set_creates_and_reports_vault_once(home):
  first = home.set("alice", b"secret")
  assert "created the vault" in first.error and "device key" in first.error
  assert home.set("alice", b"other").error == ""
  assert stat.S_IMODE(home.vault.stat().st_mode) == 0o600
  assert stat.S_IMODE(home.vault.parent.stat().st_mode) == 0o700
  assert stat.S_IMODE((home.state / "device.key").stat().st_mode) == 0o600


@pytest.mark.parametrize("secret", [b"\0\xff\0" * 100, "ключ🔑\n".encode()])
def test_every_byte_comes_back(home, secret):
  home.set("alice", secret, "--allow-empty")
  assert home.get("alice") == secret
  assert home.get("alice", "--newline", "always") == secret + b"\n"
  assert home.get("alice", "--newline", "never") == secret
  answer = home.run("get", "alice", "--json").json
  if answer["encoding"] == "utf-8":
    assert answer["secret"].encode() == secret
  else:
    assert answer["encoding"] == "base64" and base64.b64decode(answer["secret"]) == secret
    with pytest.raises(UnicodeDecodeError):
      secret.decode()


def test_the_longest_secret_and_one_byte_more(home):
  longest = os.urandom(16 << 20)
  home.set("alice", longest)
  assert home.get("alice") == longest
  refused = home.set("alice", longest + b"x", code=79)
  assert "longer than 16777216 bytes" in refused.error
  assert home.get("alice") == longest


def test_output_writes_a_file_for_the_user_alone(home):
  home.set("alice", b"a\0b\n")
  path = home.folder / "out"
  path.write_text("old")
  path.chmod(0o644)
  assert home.get("alice", "--output", str(path), "--overwrite") == b""
  assert path.read_bytes() == b"a\0b\n"
  assert stat.S_IMODE(path.stat().st_mode) == 0o600
  assert sorted(entry.name for entry in home.folder.iterdir() if entry.is_file()) == ["out"]


def test_output_follows_no_link(home):
  home.set("alice", b"secret")
  (home.folder / "target").write_text("old")
  (home.folder / "link").symlink_to("target")
  refused = home.run("get", "alice", "--output", str(home.folder / "link"), code=79)
  assert "not a regular file" in refused.error
  assert (home.folder / "target").read_text() == "old"


def test_closed_standard_input_is_not_an_empty_secret(home):
  refused = home.run("set", "alice", code=74, preexec_fn=lambda: os.close(0))
  assert "standard input cannot be read" in refused.error
  home.run("get", "alice", code=44)


def test_expired_prints_nothing(home):
  assert "that is in the past" in hinted(home.set("alice", b"old", "--expires", "2020-01-02"))
  for options in ([], ["--json"], ["--output", "out"]):
    refused = home.run("get", "alice", *options, code=80)
    assert refused.out == b"" and "'alice'" in refused.error and "2020-01-02" in refused.error
  assert not (home.folder / "out").exists()
  assert "--allow-expired" in hinted(refused)
  assert home.get("alice", "--allow-expired") == b"old"
  assert home.run("show", "alice", "--json").json["expired"] is True
  assert home.run("list").out.count(b"2020-01-02") == 1


@pytest.mark.parametrize("zone, text, expires", [
  ("America/New_York", "2027-07-31 12:00", "2027-07-31T16:00:00Z"),
  (":Asia/Tokyo", "2099-01-31", "2099-01-30T15:00:00Z"),
  # A clock that is put forward leaves 02:30 out.
  ("CET-1CEST,M3.5.0,M10.5.0/3", "2027-03-28T02:30", "2027-03-28T01:30:00Z")])
def test_a_time_without_a_zone_is_local(home, zone, text, expires):
  home.set("alice", b"x", "--expires", text, environment={"TZ": zone})
  assert home.run("show", "alice", "--json").json["expires"] == expires


def test_passcode_items_need_a_passphrase(home):
  refused = home.set("alice", b"x", "--accessibility", "whenPasscodeSetThisDeviceOnly", code=79)
  assert "passphrase" in refused.error and "slots add" in hinted(refused)


def test_list_in_a_pipe_and_as_json(home):
  home.set("alice", b"hunter2", "--service", "web", "--label", "tab\there\\")
  home.set("bob", b"hunter2", "--service", "mail", "--attribute", "env=test")
  lines = home.run("list").out.decode().splitlines()
  assert sorted(line.split("\t")[:2] for line in lines) == [["mail", "bob"], ["web", "alice"]]
  assert any(line.endswith("\ttab\\there\\\\\tvault") for line in lines)
  assert all(len(line.split("\t")) == 8 for line in lines)
  listed = home.run("list", "--json")
  assert {item["account"] for item in listed.json} == {"alice", "bob"}
  assert b"hunter2" not in listed.out and not any("secret" in item for item in listed.json)
  assert [item["account"] for item in home.run("list", "--service", "web", "--json").json] == [
    "alice"]
  assert [item["account"] for item in home.run(
    "list", "--attribute", "env=test", "--json").json] == ["bob"]
  assert home.run("list", "--attribute", "env=other", "--json").json == []


def test_list_of_no_vault(home):
  assert home.run("list").out == b"" and json.loads(home.run("list", "--json").out) == []
  assert not home.vault.exists()


def test_the_first_notice_is_two_short_lines(home):
  told = home.set("alice", b"x").error.replace(str(home.vault), "")
  assert len(told.splitlines()) == 2 and all(len(line) < 250 for line in told.splitlines())
