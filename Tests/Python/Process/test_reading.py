"""Reading commands with missing, locked, expiring and renamed items."""

from __future__ import annotations

import os
import time

import pytest

from prefs_testing import ended, hinted

READING = (["get", "alice"], ["get", "--attribute", "a=b"], ["show", "alice"], ["update", "alice", "--label", "x"],
           ["rename", "alice", "bob"], ["delete", "alice"])


def accounts(home, *options: str) -> list[str]:
  return [item["account"] for item in home.run("list", "--json", *options).json]


@pytest.mark.parametrize("by_option", [True, False])
def test_a_mistyped_vault_is_named(home, by_option):
  def named(path):
    path = str(home.folder / path)
    name, options = ("--vault", ["--vault", path]) if by_option else ("KEYCHAIN_VAULT", [])
    return path, name, options, {} if by_option else {"KEYCHAIN_VAULT": path}

  path, name, options, environment = named("typo.db")
  for command in READING:
    missed = home.run(*command, *options, environment=environment, code=44)
    subject = "with these values of 'a'" if "--attribute" in command else "'alice' of service 'default'"
    assert f"there is no credential {subject}: the vault '{path}' does not exist" in missed.error
    assert hinted(missed) == f"check the path that {name} gives"
  for json, out in ([], b""), (["--json"], b"[\n\n]\n"):
    listed = home.run("list", *json, *options, environment=environment)
    assert listed.out == out and f"the vault '{path}' does not exist" in listed.error
    assert hinted(listed) == f"check the path that {name} gives"
  assert path in home.run("delete", "alice", "--if-exists", *options, environment=environment).error

  path, name, options, environment = named("nowhere/vault")
  for command in (*READING, ["list"], ["list", "--json"], ["delete", "alice", "--if-exists"]):
    missed = home.run(*command, *options, environment=environment, code=69)
    assert missed.out == b"" and "does not exist, nor does its folder" in missed.error
    assert path in missed.error and name in hinted(missed)
  refused = home.set("alice", b"x", *options, environment=environment, code=69)
  assert "does not exist, nor does its folder" in refused.error and path in refused.error
  assert "check the path" in hinted(refused) and not os.path.exists(os.path.dirname(path))
  assert "check the path" in hinted(home.run("status", *options, environment=environment))
  assert "check the path" in hinted(home.run("doctor", *options, environment=environment))
  for command in (["verify"], ["backup", "copy"], ["export", "copy"]):
    assert path in home.run(*command, *options, environment=environment, code=69).error


def test_the_usual_vault_is_no_mistake(home):
  assert home.run("list").error == ""
  assert home.run("get", "alice", code=44).error == (
    "prefs: error: there is no credential 'alice' of service 'default'\n")
  home.run("list", "--store", "vault")


def test_existing_named_vault_is_not_mentioned(home):
  environment = {"KEYCHAIN_VAULT": str(home.folder / "own.db")}
  home.set("bob", b"x", environment=environment)
  home.run("delete", "bob", environment=environment)
  assert home.run("list", environment=environment).error == ""
  assert "own.db" not in home.run("get", "alice", environment=environment, code=44).error


def test_a_list_of_locked_items_is_not_empty(locked):
  for options in (["--account", "whenUnlocked"], ["--account", "whenUnlocked", "--json"],
                  ["no such *"], ["--account", "nobody"], ["--expired"]):
    listed = locked.run("list", *options, code=77)
    assert listed.out in (b"", b"[\n\n]\n")
    assert "nothing can be listed: " in listed.error and "locked" in listed.error
    assert hinted(listed) == "run 'prefs keychain unlock' to see them"
  assert accounts(locked, "--account", "always") == ["always"]
  # Entries have the service of an item, and none of its other names.
  assert accounts(locked, "--service", "other") == []
  opened = ("--account", "whenUnlocked", *locked.passphrase())
  assert accounts(locked, *opened) == ["whenUnlocked"]


def test_the_same_account_elsewhere_is_hinted_at(home):
  home.set("bob", b"secret-of-bob", "--service", "it's web")
  for command in (["get", "bob"], ["show", "bob"], ["delete", "bob"], ["rename", "bob", "x"],
                  ["update", "bob", "--label", "x"]):
    missed = home.run(*command, code=44)
    assert hinted(missed) == "bob exists with --service 'it'\\''s web'"
    assert missed.error.count("\n") == 2 and "secret-of-bob" not in missed.error
  home.set("bob", b"x", "--server", "example.org", "--protocol", "https", "--port", "443")
  home.set("bob", b"x", "--access-group", "team")
  hint = hinted(home.run("get", "bob", code=44))
  for options in ("--server example.org --protocol https --port 443", "--service 'it'\\''s web'",
                  "--service default --access-group team"):
    assert f"with {options}" in hint
  home.set("bob", b"x", "--service", "fourth")
  assert hinted(home.run("get", "bob", code=44)) == (
    "bob exists in several other places: 'prefs keychain list --account bob --all-groups'")
  assert home.run("delete", "bob", "--if-exists").error == ""
  assert hinted(home.run("get", "bobby", code=44)) == ""


def test_hints_name_nothing_that_is_locked(locked):
  for account, hint in ("always", "always exists with --service default"), ("whenUnlocked", ""):
    begun = time.monotonic()
    missed = locked.run("get", account, "--service", "other", code=44)
    assert hinted(missed) == hint
    assert time.monotonic() - begun < 5
  assert locked.run("status", "--json").json["state"] == "locked"


def test_an_account_that_is_mistyped_is_named(home):
  home.set("github", b"secret-of-github")
  home.set("Prod", b"x", "--service", "web")
  for typed in "githbu", "GitHub", " github", "githu", "gitbub", "githubxy":
    missed = home.run("get", typed, code=44)
    assert hinted(missed) == "did you mean github?" and missed.error.count("\n") == 2
    assert "secret-of" not in missed.error
  assert hinted(home.run("delete", "gihtub", code=44)) == "did you mean github?"
  assert hinted(home.run("get", "prod", "-s", "web", code=44)) == "did you mean Prod?"
  for typed, *options in ("gitlab-ci",), ("g",), ("github", "-g", "team", "-s", "nope"), ("prod",):
    assert "did you mean" not in home.run("get", typed, *options, code=44).error


def test_no_name_is_found_by_unlocking(locked):
  assert hinted(locked.run("get", "alwasy", code=44)) == "did you mean always?"
  assert hinted(locked.run("get", "whenUnlockde", code=44)) == ""
  assert locked.run("status", "--json").json["state"] == "locked"


def test_an_empty_list_is_said_to_a_person(home):
  home.set("github", b"1", "--service", "ci")
  for options, said in {
    ("--expiring-within", "30d"): "no credential expires within 30d",
    ("--expired",): "no credential has expired",
    ("-s", "cii"): "there is no credential of the service 'cii'",
    ("-s", "ci", "--expired"): "no credential of the service 'ci' has expired",
    ("-a", "x", "--server", "h"): "there is no credential of the account 'x' and the server 'h'",
    ("git?",): "there is no credential that matches",
    ("git?", "--expired"): "no credential that matches and has expired",
  }.items():
    assert home.run("list", *options).error == ""
    code, text = ended(home.terminal("list", *options))
    assert code == 0 and text.replace("\r\n", "\n") == f"prefs: {said}\n"
  assert ended(home.terminal("list", "--json", "--expired"))[1].split() == ["[", "]"]
  assert "no credential" not in ended(home.terminal("list"))[1]


def expiring(home) -> None:
  home.set("soon", b"x", "--service", "a", "--expires", "20d")
  home.set("later", b"x", "--service", "b", "--expires", "60d")
  home.set("never", b"x", "--service", "c")
  home.set("gone", b"x", "--service", "d", "--expires", "2020-01-01")
  home.set("long gone", b"x", "--service", "e", "--expires", "2010-01-01")


def test_what_expires_is_listed_by_date(home):
  expiring(home)
  assert accounts(home, "--expired") == ["long gone", "gone"]
  assert accounts(home, "--expiring-within", "30d") == ["long gone", "gone", "soon"]
  assert accounts(home, "--expiring-within", "1y") == ["long gone", "gone", "soon", "later"]
  assert accounts(home, "--expired", "--service", "a") == []
  for options in (["--expired", "--expiring-within", "1d"], ["--expiring-within", "30"],
                  ["--expiring-within", "soon"]):
    home.run("list", *options, code=64)


def test_doctor_counts_what_expires(home):
  home.set("never", b"x")
  nothing = home.run("doctor", "--json").json
  assert [nothing[name] for name in ("expired", "expiringWithin30Days", "expiryUnknown")] == [0, 0, 0]
  assert b"expiry" not in home.run("doctor").out
  expiring(home)
  found = home.run("doctor", "--json").json
  assert [found[name] for name in ("expired", "expiringWithin30Days", "expiryUnknown")] == [2, 1, 0]
  text = home.run("doctor").out.decode()
  assert "2 expired, 1 within 30 days\n" in text
  assert "run 'prefs keychain list --expiring-within 30d'" in text
  own = home.run("doctor", "--service", "a").out.decode()
  assert "0 expired, 1 within 30 days\n" in own and "list --service a --expiring-within 30d" in own


def test_doctor_unlocks_nothing_to_count(locked):
  locked.run("update", "always", "--expires", "2020-01-01")
  locked.run("lock", "--all")
  found = locked.run("doctor", "--json").json
  assert [found[name] for name in ("expired", "expiringWithin30Days", "expiryUnknown")] == [1, 0, 2]
  assert "1 expired, 0 within 30 days; 2 items are locked" in locked.run("doctor").out.decode()
  assert locked.run("status", "--json").json["state"] == "locked"


def test_a_pattern_selects_by_name(home):
  for account, service in ("git-hub", "web"), ("git-lab", "web"), ("deploy", "git.example"):
    home.set(account, b"x", "--service", service)
  home.set("x", b"x", "--service", "web", "--label", "Git key")
  home.set("y", b"x", "--server", "git.example")
  assert accounts(home, "git-???") == ["git-hub", "git-lab"]
  assert sorted(accounts(home, "git*")) == ["deploy", "git-hub", "git-lab", "y"]
  assert sorted(accounts(home, "[Gg]it[ -]*")) == ["git-hub", "git-lab", "x"]
  assert accounts(home, "git") == [] and accounts(home, "deploy") == ["deploy"]
  assert accounts(home, "git*", "--service", "git.example") == []
  assert accounts(home, "--", "-*") == []
  assert sorted(accounts(home, "*")) == sorted(accounts(home))


def test_list_of_one_store_omits_store_column(home):
  home.set("alice", b"x")
  assert "STORE" not in ended(home.terminal("list"))[1]
  assert home.run("list", "--json").json[0]["store"] == "vault"
