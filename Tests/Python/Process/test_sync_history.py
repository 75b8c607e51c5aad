"""Who changed what in a shared suite, and taking it back."""

from __future__ import annotations

import base64
import calendar
import itertools
import json
import re
import time

import pytest

from etcd_cluster import EtcdCluster
from prefs_testing import ended, hinted
from shared_machine import Machine

numbers = itertools.count()


@pytest.fixture
def make_machine(make_home, cluster):
  address = cluster.store_url(f"history{next(numbers)}")
  return lambda name, *options: named(Machine(make_home(), address), name, *options)


def named(machine: Machine, name: str, *options: str) -> Machine:
  machine.add("--machine", name, *options)
  return machine


def prefix(machine: Machine) -> bytes:
  return machine.address.rpartition("/")[2].encode() + b"/web/"


def write(machine: Machine, key: str, value: int) -> None:
  machine.run("write", key, str(value), "--type", "int")
  machine.now()


def log(machine: Machine, *arguments: str, **options) -> dict:
  return machine.sync("log", "web", "--json", *arguments, **options).json


def lines(machine: Machine, *arguments: str) -> list[list[str]]:
  told = machine.sync("log", "web", *arguments).out.decode()
  return [line.split("\t") for line in told.splitlines()]


def machines(machine: Machine) -> dict[str, dict]:
  return {found["machine"]: found for found in machine.sync("machines", "--json").json}


def last_revision(machine: Machine) -> str:
  return str(log(machine)["transactions"][-1]["revision"])


# MARK: log


def test_log_says_who_when_and_what(make_machine):
  one, other = make_machine("one"), make_machine("other")
  begin = time.time()
  write(one, "interval", 30)
  other.now()
  write(other, "interval", 60)
  one.run("delete", "interval")
  # Not known yet: the other's change has not come.
  one.now()
  one.run("delete", "interval")
  assert lines(one)[-1][2:5] == ["one", "unsent", "interval"]
  one.now()
  assert [line[2:] for line in lines(other, "interval")] == [
    ["one", "+", "interval", "int", "30"], ["other", "-", "interval", "int", "30"],
    ["other", "+", "interval", "int", "60"], ["one", "-", "interval", "int", "60"]]
  first, second, third = log(other)["transactions"]
  assert first["changes"] == [
    {"key": "interval", "new": {"type": "int", "value": 30}, "old": None}]
  assert first["revision"] < second["revision"] < third["revision"]
  assert third["writer"] == first["writer"] != second["writer"]
  when = time.strptime(second["time"], "%Y-%m-%dT%H:%M:%SZ")
  assert begin - 2 <= calendar.timegm(when) <= time.time() + 2
  assert [t["revision"] for t in log(other, "--last", "2")["transactions"]] == [
    second["revision"], third["revision"]]
  assert log(other, "nothing")["transactions"] == []
  # Given up changes stay visible, with their values.
  (lost,) = log(one)["lost"]
  assert lost["key"] == "interval"
  # By the name of the machine that made it.
  assert [line[2] for line in lines(one, "interval") if line[3] == "lost"] == ["one"]
  assert lost["winner"] == second["writer"]
  one.sync("log", "web", "--last", "-1", code=64)
  terminal = other.terminal("sync", "log", "web", "interval")
  code, shown = ended(terminal)
  assert code == 0 and "MACHINE" in shown and re.search(r"other +\+ +interval +int +60", shown)


def test_the_log_of_a_key_has_what_was_given_up(make_machine):
  """Also if other keys were given up after it."""
  one, other = make_machine("one"), make_machine("other")
  one.now()
  for machine, value in (other, 1), (one, 2):
    for key in "a", "b":
      machine.run("write", key, str(value), "--type", "int")
    machine.now()
  for key in "a", "b":
    (lost,) = log(one, key, "--last", "1")["lost"]
    assert lost["key"] == key and lost["value"] == {"type": "int", "value": 2}


def test_writers_without_a_copy_and_other_tools(make_machine, make_home, cluster):
  one = make_machine("one")
  write(one, "a", 1)
  other = Machine(make_home(), one.address)
  other.run("write", "a", "2", "--type", "string", "--store", one.address)
  host = log(one)["transactions"][-1]["machine"]
  assert host == machines(one)[host]["machine"] and not machines(one)[host]["hasCopy"]
  row = cluster.any.get(prefix(one) + b"k/a")
  cluster.any.put(prefix(one) + b"k/a", b"\x01\x03")
  cluster.any.put(prefix(one) + b"k/b", row)
  cluster.any.put(prefix(one) + b"other", b"not a row")
  cluster.any.delete(prefix(one) + b"k/", prefix=True)
  assert [line[2:] for line in lines(one)] == [
    ["one", "+", "a", "int", "1"], [host, "-", "a", "int", "1"], [host, "+", "a", "string", "2"],
    ["another tool", "-", "a", "string", "2"], ["another tool", "+", "a", "damaged", ""],
    ["another tool", "+", "b", "string", "2"],
    ["another tool", "-", "a", "damaged", ""], ["another tool", "-", "b", "string", "2"]]
  assert [line[2:] for line in lines(one, "b")] == [
    ["another tool", "+", "b", "string", "2"], ["another tool", "-", "b", "string", "2"]]
  # What was deleted comes back.
  one.sync("revert", "web", last_revision(one), "--yes", code=65)
  one.sync("revert", "web", lines(one, "b")[0][0], "--yes", code=75)


def test_compaction(make_machine, cluster):
  one = make_machine("one")
  for value in range(4):
    write(one, "a", value)
  revisions = [t["revision"] for t in log(one)["transactions"]]
  cluster.compact(revisions[2])
  told = log(one)
  assert told["end"] == f"etcd has compacted what came before revision {revisions[2]}"
  assert [line[3:] for line in lines(one)] == [
    ["-", "a", "unknown", ""], ["+", "a", "int", "2"], ["-", "a", "int", "2"],
    ["+", "a", "int", "3"]]
  one.sync("revert", "web", str(revisions[0]), "--yes", code=44)
  refused = one.sync("revert", "web", str(revisions[2]), "--yes", code=44)
  assert "compacted what was there before" in refused.error
  unknown = one.sync("revert", "web", str(revisions[3] + 1000), "--yes", code=44)
  assert "'prefs sync log web'" in hinted(unknown)
  # Also in a pipe, nobody takes the oldest line for the first change.
  assert "etcd has compacted" in one.sync("log", "web").error


def test_without_etcd_the_log_is_that_of_the_copy(make_home):
  with EtcdCluster() as cluster:
    one = named(Machine(make_home(), cluster.store_url("fleet")), "one")
    other = named(Machine(make_home(), one.address), "other")
    write(one, "a", 1)
    other.now()
    cluster.nodes[0].stop()
    told = other.sync("log", "web", "--json")
    assert "this log has the changes that came to this machine" in told.error and told.json["source"] == "copy"
    (change,) = told.json["transactions"]
    assert change["changes"][0]["new"] == {"type": "int", "value": 1}
    assert change["revision"] is None
    other.sync("machines", code=69)
    other.sync("revert", "web", "5", "--yes", code=69)


# MARK: machines


def test_machines(make_machine, cluster):
  one, other = make_machine("one"), make_machine("büro 2")
  write(one, "b", 1)
  other.now()
  found = machines(one)
  assert set(found) == {"one", "büro 2"} and found["one"]["isThis"]
  assert not found["büro 2"]["isThis"] and found["one"]["release"].count(".") == 2
  # What is said again within a short time is left out.
  row = prefix(one) + b"who/" + found["one"]["writer"].encode()
  before = cluster.any.get(row)
  one.now()
  assert cluster.any.get(row) == before
  # Another name is said at once, and what it was called then stays.
  write(one, "a", 1)
  one.add("--machine", "renamed")
  one.now()
  write(one, "a", 2)
  assert set(machines(other)) == {"renamed", "büro 2"}
  assert [t["machine"] for t in log(one, "a")["transactions"]] == ["one", "renamed"]
  # What is unsent here is known here.
  one.run("write", "a", "3", "--type", "int")
  assert machines(one)["renamed"]["unsentKeys"] == 1
  one.sync("machines", "web", "--forget", "nobody", code=44)
  one.sync("machines", "--forget", "büro 2", code=64)
  assert "forgot" in one.sync("machines", "web", "--forget", "büro 2").error
  assert set(machines(one)) == {"renamed"}
  # Rows of other tools and newer releases.
  cluster.any.put(prefix(one) + b"who/" + b"a" * 32, b'\x01{"name":"x"}')
  cluster.any.put(prefix(one) + b"who/nobody", b"\x02")
  other.now()
  assert set(machines(one)) == {"renamed", "büro 2"}
  fields = one.sync("machines").out.decode().splitlines()
  assert any(line.split("\t")[1::5] == ["renamed", "this"] for line in fields)


def test_machines_of_one_name(make_machine):
  one, other = make_machine("same"), make_machine("same")
  write(one, "a", 1)
  other.now()
  write(other, "a", 2)
  tags = [t["writer"][:8] for t in log(one)["transactions"]]
  assert [line[2] for line in lines(one)] == [
    f"same ({tags[0]})", f"same ({tags[1]})", f"same ({tags[1]})"]
  refused = one.sync("machines", "web", "--forget", "same", code=76)
  assert all(tag in hinted(refused) for tag in tags)
  one.sync("machines", "web", "--forget", tags[1])
  (left,) = one.sync("machines", "--json").json
  assert left["writer"].startswith(tags[0])


def test_forgetting_a_machine_without_a_copy(make_machine, make_home):
  """It says its name with each change."""
  one, direct = make_machine("one"), Machine(make_home(), "")
  write(one, "a", 1)
  for value in ("1", "2"):
    direct.run("write", "b", value, "--store", one.address)
  (name,) = set(machines(one)) - {"one"}
  one.sync("machines", "web", "--forget", name)
  assert set(machines(one)) == {"one"}
  # With a copy, it has the same name.
  one.add("--machine", name)
  one.now()
  direct.run("write", "b", "3", "--store", one.address)
  one.sync("machines", "web", "--forget", name)
  assert machines(one) == {}


@pytest.mark.parametrize("name", ["", "x" * 65, "a\tb", "a\u200bb"])
def test_names_that_cannot_be_shown(make_home, cluster, name):
  machine = Machine(make_home(), cluster.store_url("names"))
  refused = machine.add("--machine", name, code=64)
  assert "the field 'machine'" in refused.error and not machine.configuration.exists()


# MARK: revert


def test_revert(make_machine):
  one, other = make_machine("one"), make_machine("other")
  write(one, "interval", 30)
  other.now()
  file = other.home.file("settings.json", json.dumps({"interval": 60, "new": [1, 2]}).encode())
  other.run("import", file)
  other.now()
  revision = last_revision(one)
  shown = one.sync("revert", "web", revision, "--dry-run").out.decode()
  diff = [line.split("\t") for line in shown.splitlines()]
  assert sorted(diff) == [
    ["+", "interval", "int", "30"], ["-", "interval", "int", "60"], ["-", "new", "array", "[1,2]"]]
  assert last_revision(one) == revision
  assert "--yes" in hinted(one.sync("revert", "web", revision, code=64))
  terminal = one.terminal("sync", "revert", "web", revision)
  terminal.expect("back on all machines\\? \\[y/N\\] ")
  terminal.sendline("n")
  assert ended(terminal)[0] == 130 and last_revision(one) == revision
  one.sync("revert", "web", revision, "--yes")
  # The copy has it, and the others get it; it is of this machine.
  assert json.loads(one.read("--json")) == {"interval": 30}
  other.now()
  assert json.loads(other.read("--json")) == {"interval": 30}
  taken = log(one)["transactions"][-1]
  assert taken["machine"] == "one" and len(taken["changes"]) == 2
  # Taking back what took back.
  other.sync("revert", "web", str(taken["revision"]), "--yes")
  assert json.loads(other.read("--json")) == {"interval": 60, "new": [1, 2]}
  refused = one.sync("revert", "web", revision, "--yes", code=75)
  assert "'interval' by other" in refused.error and "nothing was changed" in refused.error
  one.sync("revert", "web", "1", "--yes", code=44)


def test_changes_and_deletions_of_another_tool_as_one(make_machine, cluster):
  one = make_machine("one")
  write(one, "a", 1)
  write(one, "b", 2)
  row = {"key": b64(prefix(one) + b"k/c"), "value": b64(cluster.any.get(prefix(one) + b"k/a"))}
  done = cluster.any.call("kv/txn", {"success": [
    {"requestPut": row}, {"requestDeleteRange": {"key": b64(prefix(one) + b"k/b")}}]})
  for arguments in ((), ("b",)):
    assert ["another tool", "-", "b", "int", "2"] in [line[2:] for line in lines(one, *arguments)]
  shown = one.sync("revert", "web", done["header"]["revision"], "--dry-run").out.decode()
  assert sorted(shown.splitlines()) == ["+\tb\tint\t2", "-\tc\tint\t1"]


def b64(text: bytes) -> str:
  return base64.b64encode(text).decode()


def test_collected_removal_is_not_a_change(make_machine, cluster):
  one = make_machine("one")
  write(one, "a", 1)
  one.run("delete", "a")
  one.now()
  collected = cluster.any.delete(prefix(one) + b"k/a")
  assert "changed nothing" in one.sync("revert", "web", str(collected), "--yes", code=44).error


def test_a_rehearsed_reversal_ends_as_the_reversal(make_machine, cluster):
  one = make_machine("one")
  one.run("import", "-", input=json.dumps({f"k{number}": 1 for number in range(121)}).encode())
  one.now()
  revision = str(cluster.any.delete(prefix(one) + b"k/", prefix=True))
  dry = one.sync("revert", "web", revision, "--dry-run", code=79)
  assert "these are 121; nothing was changed" in dry.error and dry.out == b""
  assert one.sync("revert", "web", revision, "--yes", code=79).error == dry.error


def test_revert_after_unsent_changes(make_machine):
  one = make_machine("one")
  write(one, "a", 1)
  write(one, "a", 2)
  revision = last_revision(one)
  one.run("write", "a", "3", "--type", "int")
  refused = one.sync("revert", "web", revision, "--yes", code=75)
  assert "'a' by one" in refused.error and one.read("a") == b"3\n"


def test_deletion_of_another_tool_is_undone(make_machine, cluster):
  one = make_machine("one")
  write(one, "a", 1)
  write(one, "b", 2)
  deleted = cluster.any.delete(prefix(one) + b"k/b")
  for arguments in ((), ("b",)):
    assert log(one, *arguments)["transactions"][-1]["revision"] == deleted
  one.sync("revert", "web", str(deleted), "--yes")
  other = make_machine("other")
  other.now()
  assert json.loads(other.read("--json")) == {"a": 1, "b": 2}


def test_after_a_restore(make_home):
  with EtcdCluster() as cluster:
    one = named(Machine(make_home(), cluster.store_url("fleet")), "one")
    write(one, "a", 1)
    snapshot = cluster.snapshot()
    write(one, "a", 2)
    cluster.restore(snapshot)
    (kept,) = log(one)["transactions"]
    assert kept["changes"][0]["new"]["value"] == 1
    # It is missed, and sent again.
    one.now()
    one.now()
    assert [line[2:] for line in lines(one)][-1] == ["one", "+", "a", "int", "2"]
    assert set(machines(one)) == {"one"}


def test_who_may_only_read(make_home):
  with EtcdCluster(tls=True) as cluster:
    cluster.enable_authentication("the password of root")
    cluster.add_user("web", "of web", "fleet/")
    cluster.add_user("reader", "of reader", "fleet/", "READ")

    def machine(name: str) -> Machine:
      machine = Machine(make_home(), cluster.store_url("fleet"))
      return named(
        machine, name, "--user", name, "--password-file",
        machine.home.file("password", f"of {name}".encode()), "--cacert",
        str(cluster.certificates.authority))

    web, reader = machine("web"), machine("reader")
    write(web, "a", 1)
    write(web, "a", 2)
    reader.now()
    assert [line[2] for line in lines(reader)] == ["web", "web", "web"]
    assert set(machines(reader)) == {"web"}
    # Before anybody is asked, and in a dry run as without.
    for option in "--dry-run", "--yes":
      refused = reader.sync("revert", "web", last_revision(reader), option, code=79)
      assert "the user 'reader' may not make this change" in refused.error
    refused = reader.sync("machines", "web", "--forget", "web", code=79)
    assert "the user 'reader' may not make this change" in refused.error
    assert len(log(web)["transactions"]) == 2
    cluster.revoke("web", "fleet/")
    told = web.sync("log", "web")
    assert "the user 'web' has no rights to 'fleet/web/'" in told.error
    refused = web.sync("revert", "web", "2", "--yes", code=79)
    assert "the user 'web' has no rights to 'fleet/web/'" in refused.error
    refused = web.sync("machines", code=79)
    assert "error: 'web': the user 'web' has no rights" in refused.error
