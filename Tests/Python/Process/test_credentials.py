"""Storing, reading, changing, listing and deleting credentials."""

from __future__ import annotations

import base64
import json
import os
import re
import stat
import unicodedata
from datetime import datetime, timedelta, timezone

import pytest

from prefs_testing import hinted

ACCESSIBILITIES = [
  "whenUnlocked", "whenUnlockedThisDeviceOnly", "afterFirstUnlock",
  "afterFirstUnlockThisDeviceOnly", "always", "alwaysThisDeviceOnly"]


def test_first_set_creates_and_reports_vault_once(home):
  first = home.set("alice", b"secret")
  assert "created the vault" in first.error and "device key" in first.error
  assert home.set("alice", b"other").error == ""
  assert stat.S_IMODE(home.vault.stat().st_mode) == 0o600
  assert stat.S_IMODE(home.vault.parent.stat().st_mode) == 0o700
  assert stat.S_IMODE((home.state / "device.key").stat().st_mode) == 0o600


def test_set_says_nothing_on_standard_output(home):
  assert home.set("alice", b"secret").out == b""


@pytest.mark.parametrize("secret", [
  b"", b"x", b"\n", b"a\nb\n\n", b"\0", b"\0\xff\0" * 100, bytes(range(256)), b"\r\n",
  "ключ🔑".encode()])
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


def test_output_into_a_missing_folder(home):
  home.set("alice", b"secret")
  failed = home.run("get", "alice", "--output", "nowhere/out", code=74)
  assert "nowhere/out" in failed.error and "no such file or directory" in failed.error
  again = home.run("get", "alice", "--output", "nowhere/out", "--overwrite", code=74)
  assert "'nowhere/out' cannot be written" in again.error


def test_piped_newline_is_kept_with_hint(home):
  assert "--trim-newline" in hinted(home.set("alice", b"secret\n"))
  assert home.get("alice") == b"secret\n"


def test_trim_newline_drops_one(home):
  home.set("first", b"x")
  assert hinted(home.set("alice", b"secret\n\n", "--trim-newline")) == ""
  assert home.get("alice") == b"secret\n"
  home.set("alice", b"secret", "--trim-newline")
  assert home.get("alice") == b"secret"


def test_an_empty_secret_needs_an_option(home):
  # An unset variable or a command that failed must not look like a secret, whether or not there is one.
  for secret, options in ((b"", []), (b"\n", ["--trim-newline"]), (b"", ["--create-only"])):
    refused = home.set("new", secret, *options, code=64)
    assert "nothing was changed" in refused.error and "--allow-empty" in hinted(refused)
  assert not home.vault.exists()
  assert "is empty" in hinted(home.set("new", b"", "--allow-empty"))
  assert home.get("new") == b""
  home.set("alice", b"secret")
  for secret, options in ((b"", []), (b"\n", ["--trim-newline"])):
    refused = home.set("alice", secret, *options, code=64)
    assert "nothing was changed" in refused.error and "--allow-empty" in hinted(refused)
    assert "the secret is empty" not in hinted(refused)
  home.run("set", "alice", "--insecure-value", "", code=64)
  home.set("alice", b"", "--create-only", "--allow-empty", code=75)
  assert home.get("alice") == b"secret"
  assert "is empty" in hinted(home.set("alice", b"", "--allow-empty"))
  assert home.get("alice") == b""


def test_hints_about_secret_appear_on_storing(home):
  assert hinted(home.set("alice", b"secret\n", "--expected-version", "7", code=44)).count(
    "newline") == 0
  assert hinted(home.set("alice", b"", "--allow-empty", "--accessibility",
                         "whenPasscodeSetThisDeviceOnly", code=79)).count("empty") == 0


def test_insecure_value_is_taken_with_a_warning(home):
  outcome = home.run("set", "alice", "--insecure-value", "-secret")
  assert "other processes" in outcome.error
  assert home.get("alice") == b"-secret"


def test_second_argument_is_not_the_secret(home):
  refused = home.run("set", "alice", "hunter2", code=64)
  assert "hunter2" not in refused.error and "standard input" in refused.error


def test_closed_standard_input_is_no_empty_secret(home):
  refused = home.run("set", "alice", code=74, preexec_fn=lambda: os.close(0))
  assert "standard input cannot be read" in refused.error
  home.run("get", "alice", code=44)


def test_absent_is_44_and_names_the_item(home):
  assert "'alice' of service 'web'" in home.run("get", "alice", "--service", "web", code=44).error
  assert not home.vault.exists()
  home.set("bob", b"x")
  for command in ("get", "show", "delete"):
    assert "'alice' of service 'web'" in home.run(
      command, "alice", "--service", "web", code=44).error
  home.run("update", "alice", "--label", "x", code=44)


def test_set_updates_in_place(home):
  home.set("alice", b"1", "--label", "L", "--comment", "C", "--attribute", "env=test",
           "--accessibility", "always", "--expires", "90d", "--content-type", "text/plain")
  before = home.run("show", "alice", "--json").json
  home.set("alice", b"2")
  after = home.run("show", "alice", "--json").json
  kept = ["label", "comment", "attributes", "accessibility", "created"]
  assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
  assert after["version"] != before["version"] and after["version"].isdigit()
  # These describe the secret, which is another one now.
  assert "expires" not in after and "contentType" not in after


def test_update_leaves_the_secret(home):
  home.set("alice", b"secret", "--label", "L", "--attribute", "a=1", "--attribute", "b=2")
  home.run("update", "alice", "--label", "", "--comment", "C", "--attribute", "b=3",
           "--attribute", "c=4=4", "--remove-attribute", "a", "--accessibility", "always",
           "--expires", "2099-01-31T00:00:00Z")
  shown = home.run("show", "alice", "--json").json
  assert "label" not in shown
  assert shown["comment"] == "C" and shown["attributes"] == {"b": "3", "c": "4=4"}
  assert shown["accessibility"] == "always" and shown["expires"] == "2099-01-31T00:00:00Z"
  assert home.get("alice") == b"secret"


def test_update_to_past_expiry_is_reported(home):
  home.set("alice", b"x")
  assert "that is in the past" in hinted(
    home.run("update", "alice", "--expires", "2020-01-02"))
  assert home.run("update", "alice", "--expires", "1d").error == ""


def test_an_empty_account_is_not_stored(home):
  assert "the account is empty" in home.set("", b"x", code=64).error
  assert not home.vault.exists()
  home.run("set", "", "--server", "example.org", input=b"x")


def test_update_of_nothing_is_a_mistake(home):
  assert "name what to change" in home.run("update", "alice", code=64).error


def test_create_only(home):
  home.set("alice", b"1", "--create-only")
  assert "'alice'" in home.set("alice", b"2", "--create-only", code=75).error
  assert home.get("alice") == b"1"


def test_expected_version(home):
  home.set("alice", b"1")
  version = int(home.run("show", "alice", "--json").json["version"])
  for command in ("update", "delete"):
    options = ["--label", "x"] if command == "update" else []
    refused = home.run(
      command, "alice", *options, "--expected-version", str(version + 1), code=75)
    assert "'alice'" in refused.error and str(version) in refused.error
  home.set("alice", b"2", "--expected-version", str(version + 7), code=75)
  assert home.get("alice") == b"1"
  home.set("alice", b"2", "--expected-version", str(version))
  home.set("alice", b"3", "--expected-version", str(version), code=75)
  assert home.get("alice") == b"2"


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


def test_a_removed_expiry_is_reported(home):
  home.set("alice", b"1", "--expires", "2099-01-31T00:00:00Z")
  told = home.set("alice", b"2")
  assert "the expiry 2099-01-31T00:00:00Z went with the old secret" in told.error
  assert "--keep-expiry" in hinted(told) and "--expires" in hinted(told)
  assert home.set("alice", b"3").error == ""
  for said in ("never", "2098-01-31T00:00:00Z"):
    home.set("alice", b"4", "--expires", "2099-01-31T00:00:00Z")
    assert home.set("alice", b"5", "--expires", said).error == ""
  # One that has passed is of no use to a new secret.
  home.set("alice", b"6", "--expires", "2020-01-02T00:00:00Z")
  told = home.set("alice", b"7")
  assert "2020-01-02" in told.error and "--keep-expiry" not in hinted(told)


def test_an_expiry_is_kept_on_request(home):
  assert home.set("new", b"1", "--keep-expiry").code == 0
  home.set("alice", b"1", "--expires", "2099-01-31T00:00:00Z", "--content-type", "text/plain")
  assert home.set("alice", b"2", "--keep-expiry").error == ""
  shown = home.run("show", "alice", "--json").json
  assert shown["expires"] == "2099-01-31T00:00:00Z" and "contentType" not in shown
  assert home.get("alice") == b"2"
  refused = home.set("alice", b"3", "--keep-expiry", "--expires", "1d", code=64)
  assert "--keep-expiry and --expires exclude each other" in refused.error
  home.set("alice", b"4", "--expires", "2020-01-02")
  assert "has passed" in hinted(home.set("alice", b"5", "--keep-expiry"))


@pytest.mark.parametrize("zone, text, expires", [
  ("UTC", "2099-01-31", "2099-01-31T00:00:00Z"),
  ("Asia/Tokyo", "2099-01-31", "2099-01-30T15:00:00Z"),
  ("America/New_York", "2027-01-31T12:00", "2027-01-31T17:00:00Z"),
  ("America/New_York", "2027-07-31 12:00", "2027-07-31T16:00:00Z"),
  ("America/New_York", "2027-07-31T12:00Z", "2027-07-31T12:00:00Z"),
  (":Asia/Tokyo", "2099-01-31", "2099-01-30T15:00:00Z"),
  ("CET-1CEST,M3.5.0,M10.5.0/3", "2027-07-01", "2027-06-30T22:00:00Z"),
  # A clock that is put forward leaves 02:30 out, and one that is put back shows it twice.
  ("CET-1CEST,M3.5.0,M10.5.0/3", "2027-03-28T02:30", "2027-03-28T01:30:00Z"),
  ("CET-1CEST,M3.5.0,M10.5.0/3", "2027-10-31T02:30", "2027-10-31T00:30:00Z")])
def test_a_time_without_a_zone_is_local(home, zone, text, expires):
  home.set("alice", b"x", "--expires", text, environment={"TZ": zone})
  assert home.run("show", "alice", "--json").json["expires"] == expires


@pytest.mark.parametrize("text, days", [("90d", 90), ("12h", 0.5), ("1w", 7), ("1y", 365)])
def test_expires_takes_durations(home, text, days):
  home.set("alice", b"x", "--expires", text)
  expires = datetime.fromisoformat(home.run("show", "alice", "--json").json["expires"])
  left = expires - datetime.now(timezone.utc)
  assert abs(left - timedelta(days=days)) < timedelta(minutes=1)


@pytest.mark.parametrize("text", ["2027-02-30", "soon", "90", "-1d", "2027-13-01T00:00:00Z"])
def test_expires_refuses_what_is_no_time(home, text):
  assert "2027-01-31" in home.set("alice", b"x", "--expires=" + text, code=64).error


@pytest.mark.parametrize("accessibility", ACCESSIBILITIES)
def test_accessibilities(home, accessibility):
  home.set("alice", b"secret", "--accessibility", accessibility)
  assert home.run("show", "alice", "--json").json["accessibility"] == accessibility
  assert home.get("alice") == b"secret"


def test_passcode_items_need_a_passphrase(home):
  refused = home.set("alice", b"x", "--accessibility", "whenPasscodeSetThisDeviceOnly", code=79)
  assert "passphrase" in refused.error and "slots add" in hinted(refused)


def test_unknown_accessibility_names_the_known_ones(home):
  assert "whenUnlockedThisDeviceOnly" in home.set(
    "alice", b"x", "--accessibility", "sometimes", code=64).error


def test_show_in_text(home):
  home.set("alice", b"hunter2", "--label", "two\nlines", "--attribute", "env=test")
  shown = home.run("show", "alice").out.decode()
  assert re.search(r"^account: +alice$", shown, re.M) and re.search(r"^version: +\d+$", shown, re.M)
  assert "two\\nlines" in shown and "env=test" in shown and "hunter2" not in shown


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


@pytest.mark.parametrize("server", ["host:8443", "https://host", "[::1]:8443", "HTTPS://host/a"])
def test_a_host_with_a_port_is_no_host(home, server):
  refused = home.set("a", b"x", "--server", server, "--protocol", "https", code=64)
  assert "--port" in refused.error
  # Registries are named with their ports.
  home.set("a", b"x", "--server", server)
  # What there is already can be read, does not look like a port, and can be renamed.
  home.run("rename", "a", "a", "--server", server, "--to-server", server, "--to-protocol", "https")
  assert home.get("a", "--server", server, "--protocol", "https") == b"x"
  assert b"%3A" in home.run("list").out and server.encode() not in home.run("list").out


@pytest.mark.parametrize("server", ["host", "::1", "[::1]", "fe80::1:2"])
def test_a_host_may_be_an_address(home, server):
  home.set("a", b"x", "--server", server, "--protocol", "https", "--port", "8443")
  assert f"https://{server}:8443".encode() in home.run("list").out


def test_capitals_in_a_host_are_reported(home):
  stored = home.set("a", b"x", "--server", "Git.Example.com", "--protocol", "https")
  assert "small letters" in hinted(stored)
  assert hinted(home.set("a", b"x", "--server", "Registry")) == ""
  assert hinted(home.set("a", b"x", "--server", "host", "--protocol", "https")) == ""


def test_list_of_no_vault(home):
  assert home.run("list").out == b"" and json.loads(home.run("list", "--json").out) == []
  assert not home.vault.exists()


def test_delete(home):
  home.set("alice", b"x")
  home.run("delete", "alice")
  home.run("get", "alice", code=44)
  home.run("delete", "alice", code=44)
  home.run("delete", "alice", "--if-exists")


@pytest.mark.parametrize("secret, hint", [
  (b"token\n", "--trim-newline"), (b"-----BEGIN KEY-----\nAAAA\n-----END KEY-----\n", None),
  (b"\xef\xbb\xbftoken", "byte order mark")])
def test_hints_about_a_secret_fit_it(home, secret, hint):
  """Without the newline at its end, a key of SSH is not read."""
  home.set("first", b"x")
  error = home.set("alice", secret).error
  assert hint in error if hint else error == ""
  assert home.get("alice") == secret


def test_how_soon_a_secret_expires(home):
  assert "in 1m;" in hinted(home.set("alice", b"x", "--expires", "1m"))
  assert "expires in" not in home.set("alice", b"x", "--expires", "30d").error


def test_a_name_in_another_form_is_meant(home):
  home.set(unicodedata.normalize("NFC", "café"), b"x")
  absent = home.run("get", unicodedata.normalize("NFD", "café"), code=44)
  assert "did you mean" in hinted(absent) and "looks the same" in hinted(absent)


def test_the_first_notice_is_two_short_lines(home):
  told = home.set("alice", b"x").error.replace(str(home.vault), "")
  assert len(told.splitlines()) == 2 and all(len(line) < 250 for line in told.splitlines())
