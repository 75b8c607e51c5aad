"""Items of other programs without a credential's names, such as Chrome's and NetworkManager's."""

from __future__ import annotations

import subprocess

import pexpect
import pytest

from desktop_session import desktop, secret_tool
from prefs_testing import LIMIT, hinted


@pytest.fixture
def keyring(home):
  """The variables of a desktop with such items, and one that has names, in which the home's commands run."""
  with desktop(home) as variables:
    for label, secret, *pairs in (
        ("Item One", b"111", "number", "1", "string", "one", "even", "false"),
        ("Item Two", b"222", "number", "2", "string", "two", "even", "true"),
        ("Item Four", b"\xff4", "number", "4", "string", "four", "even", "true"),
        ("Mail", b"mailed", "user", "bob", "server", "mail.example.org", "even", "odd")):
      secret_tool(variables, "store", "--label", label, *pairs, input=secret)
    yield variables


IN_KEYRING = ("--store", "secret-service")


def test_attributes_find_any_item(home, keyring):
  assert home.run("get", "--attribute", "string=two").out == b"222"
  assert home.run("get", "--attribute", "string=two", *IN_KEYRING, "--newline=always").out == b"222\n"
  assert home.run("get", "--attribute", "even=true", "--attribute", "number=2").out == b"222"
  shown = home.run("get", "--attribute", "string=two", "--json").json
  assert shown["label"] == "Item Two" and shown["secret"] == "222" and "account" not in shown
  assert shown["attributes"].items() >= {"number": "2", "string": "two", "even": "true"}.items()
  assert shown["modified"][:2] == "20" and shown["kind"] == "otherProgram"
  encoded = home.run("get", "--attribute", "string=four", "--json").json
  assert (encoded["encoding"], encoded["secret"]) == ("base64", "/zQ=")
  home.run("get", "--attribute", "string=two", "--output", "out")
  assert (home.folder / "out").read_bytes() == b"222"
  # What is a name there and no attribute here finds as well.
  assert home.run("get", "--attribute", "user=bob").out == b"mailed"
  assert home.run("get", "--attribute", "even=odd").out == b"mailed"
  assert not (home.state / "stores").exists(), "reading chooses nothing"


def test_missing_and_ambiguous_items_fail(home, keyring):
  home.run("get", "--attribute", "string=three", code=44)
  home.run("get", "--attribute", "string=two", "--service", "s", code=44)
  home.run("get", "two", "--attribute", "string=two", code=44)
  several = home.run("get", "--attribute", "even=true", code=76)
  assert "2 items match" in several.error
  assert "'Item Two'" in several.error and "'Item Four'" in several.error
  home.set("alice", b"ours", "--service", "s", "--attribute", "string=one")
  several = home.run("get", "--attribute", "string=one", code=76)
  assert "'alice' of service 's'" in several.error and "'Item One'" in several.error
  assert home.run("get", "alice", "--attribute", "string=one").out == b"ours"


def test_a_list_counts_and_shows_them(home, keyring):
  told = home.run("list")
  assert "3 items of other programs are not listed; --other-programs shows them" in told.error
  assert told.out.count(b"\n") == 1 and b"mail.example.org" in told.out
  assert [item.get("label") for item in home.run("list", "--json").json] == ["Mail"]
  every = home.run("list", "--other-programs")
  assert every.error == "" and every.out.count(b"\n") == 4
  fields = [line.split(b"\t") for line in every.out.splitlines()]
  two = next(line for line in fields if line[6] == b"Item Two")
  assert two[:4] == [b""] * 4 and b"string=two" in two[7:]
  assert {item["label"] for item in home.run("list", "--other-programs", "--json").json} == {
    "Mail", "Item One", "Item Two", "Item Four"}
  assert {item["store"] for item in home.run("list", "--other-programs", "--json").json} == {
    "secret-service"}
  # Who asks by attributes asks for them.
  found = home.run("list", "--attribute", "even=true", "--json")
  assert {item["label"] for item in found.json} == {"Item Two", "Item Four"} and found.error == ""
  assert b"Item Two" in home.run("list", "--attribute", "string=two").out
  # Where names are asked for, they can't be meant.
  assert "not listed" not in home.run("list", "--service", "s").error
  assert home.run("list", "--service", "s", "--other-programs").out == b""
  terminal = home.terminal("list", "--other-programs")
  terminal.expect(pexpect.EOF)
  shown = terminal.before.decode()
  assert "ITEM OF ANOTHER PROGRAM" in shown and "string=two" in shown and "mail.example.org" in shown


def test_they_are_read_only(home, keyring):
  for command in ("delete", "Item Two"), ("rename", "Item Two", "x"), ("update", "Item Two", "--label", "x"):
    home.run(*command, *IN_KEYRING, code=44)
  assert secret_tool(keyring, "lookup", "string", "two") == b"222"


def lock(variables):
  subprocess.run(
    ["dbus-send", "--print-reply", "--dest=org.freedesktop.secrets", "/org/freedesktop/secrets",
     "org.freedesktop.Secret.Service.Lock",
     "array:objpath:/org/freedesktop/secrets/collection/login"],
    env=variables, check=True, stdout=subprocess.DEVNULL, timeout=LIMIT)


def test_locked_ones_are_not_absent(home, keyring):
  lock(keyring)
  locked = home.run("get", "--attribute", "string=two", *IN_KEYRING, code=77)
  assert locked.out == b"" and "locked" in locked.error
  listed = home.run("list", *IN_KEYRING, "--other-programs", code=None)
  assert listed.out == b"" and "4 items are locked" in listed.error


def test_vault_in_use_does_not_hide_them_silently(home, keyring):
  home.set("v", b"1", "--store", "vault")
  assert "--store secret-service" in hinted(home.run("get", "--attribute", "string=two", code=44))
  assert "--store secret-service" in hinted(home.run("list", "--other-programs"))
  assert home.run("list").error == ""
  assert hinted(home.run("get", "--attribute", "string=two", "--service", "s", code=44)) == ""
  away = {"DBUS_SESSION_BUS_ADDRESS": None}
  assert hinted(home.run("get", "--attribute", "string=two", code=44, environment=away)) == ""
  home.set("alice", b"1", "--service", "s")
  assert home.run("get", "--attribute", "string=two").out == b"222"
  lock(keyring)
  assert "the desktop keyring" in hinted(home.run("get", "--attribute", "string=two", code=77))


def store_theirs(variables, secret: bytes, *pairs: str, label: str = "Theirs") -> None:
  secret_tool(variables, "store", "--label", label, *pairs, input=secret)


THEIRS = ("service", "s", "username", "bob")
BOB = ("bob", "--service", "s")


def test_an_item_of_another_program_is_deleted_only_on_request(home, keyring):
  store_theirs(keyring, b"theirs", *THEIRS)
  for options in (), ("--if-exists",), ("--store", "secret-service"):
    refused = home.run("delete", *BOB, *options, code=79)
    assert "another program's item" in refused.error and "'Theirs'" in refused.error
    assert "--other-programs" in hinted(refused)
  assert secret_tool(keyring, "lookup", *THEIRS) == b"theirs"
  home.set("bob", b"ours", "--service", "s")
  home.run("delete", *BOB, "--if-exists")
  # The second one finds the other program's.
  home.run("delete", *BOB, "--if-exists", code=79)
  assert home.get(*BOB) == b"theirs"
  home.run("delete", *BOB, "--expected-version", "1", "--other-programs", code=75)
  home.run("delete", *BOB, "--other-programs")
  home.run("get", *BOB, code=44)
  home.run("delete", *BOB, "--if-exists")
  assert secret_tool(keyring, "lookup", *THEIRS) == b""


def test_items_of_others_whose_attributes_have_other_names_are_two(home, keyring):
  store_theirs(keyring, b"one", "service", "s", "username", "bob", label="One")
  assert home.get(*BOB) == b"one"
  store_theirs(keyring, b"two", "service", "s", "account", "bob", label="Two")
  for command in ("get", *BOB), ("show", *BOB), ("delete", *BOB, "--other-programs"):
    refused = home.run(*command, code=76)
    assert "'One'" in refused.error and "'Two'" in refused.error
  told = home.set("bob", b"ours", "--service", "s").error
  assert "another program has an item of the same name" in told
  assert home.get(*BOB) == b"ours"


def test_set_and_list_tell_items_of_the_same_name_apart(home, keyring):
  store_theirs(keyring, b"theirs", *THEIRS)
  told = home.set("bob", b"ours", "--service", "s").error
  assert "another program has an item of the same name in the desktop keyring" in told
  assert home.set("bob", b"ours", "--service", "s").error == "", "it is said once"
  # The new one takes over the label, so that alone would not do.
  marks = [item.get("otherProgram") for item in home.run("list", "--service", "s", "--json").json]
  assert sorted(marks, key=bool) == [None, True]
  lines = [line.split("\t") for line in home.run("list", "--service", "s").out.decode().splitlines()]
  assert sorted(line[8:] for line in lines) == [[], ["other"]]
  terminal = home.terminal("list", "--service", "s")
  terminal.expect(pexpect.EOF)
  shown = terminal.before.decode().splitlines()
  assert "PROGRAM" in shown[0] and sum(line.rstrip().endswith("other") for line in shown) == 1
