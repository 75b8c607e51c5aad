"""`prefs sync`: shares a suite, keeps it in step, and says how it stands."""

from __future__ import annotations

import itertools
import json
import re
import select
import signal
import socket
import stat
import time

import pytest

from etcd_cluster import EtcdCluster
from prefs_testing import ended, hinted
from shared_machine import Machine, Running, until

numbers = itertools.count()


@pytest.fixture
def make_machine(make_home, cluster):
  address = cluster.store_url(f"fleet{next(numbers)}")
  return lambda: Machine(make_home(), address)


@pytest.fixture
def machine(make_machine) -> Machine:
  return make_machine()


# MARK: add


def test_add_says_what_will_happen(make_machine):
  one, other = make_machine(), make_machine()
  one.run("write", "port", "8080", "--type", "int")
  one.run("write", "name", "one")
  told = one.add().error
  assert "the store 'web' has 0 keys; 2 keys will be sent" in told
  assert "this cluster asks nobody for a password" in told
  assert json.loads(one.configuration.read_text())["address"] == one.address
  assert stat.S_IMODE(one.configuration.stat().st_mode) == 0o600
  one.now()
  other.run("write", "name", "other")
  other.run("write", "own", "1")
  assert "key" not in one.add().error.partition("has 2 keys")[2].partition("shared")[0]
  told = other.add().error
  assert "has 2 keys; 1 key will be sent; 1 key will come" in told
  assert "1 key with two values will get those of the store" in told
  other.now()
  assert json.loads(other.read("--json")) == {"port": 8080, "name": "one", "own": "1"}
  one.now()
  assert json.loads(one.read("--json")) == {"port": 8080, "name": "one", "own": "1"}


def test_add_changes_nothing_if_nobody_is_there(machine):
  machine.run("write", "port", "1")
  before = {path.name for path in machine.files()}
  machine.address = "etcd+http://127.0.0.1:1/fleet"
  assert "127.0.0.1:1" in machine.add(code=69).error
  assert not machine.configuration.exists()
  machine.address = "etcd+http://web:secret@127.0.0.1:1/fleet"
  assert "secret" not in machine.add(code=64).error
  assert {path.name for path in machine.files()} >= before and not machine.configuration.exists()
  machine.address = "etcd+http://127.0.0.1:1/fleet"
  machine.add("--offline")
  assert machine.status["unsentKeys"] == 1


def test_add_again(machine):
  machine.add("--quota-keys", "3")
  machine.add("--quota-keys", "4")
  assert json.loads(machine.configuration.read_text())["quotaKeys"] == 4
  machine.address += "/elsewhere"
  refused = machine.add(code=75)
  assert "are shared at" in refused.error and "--overwrite" in hinted(refused)
  machine.add("--overwrite")
  settings = json.loads(machine.configuration.read_text())
  assert settings["address"] == machine.address and settings["quotaKeys"] == 4
  machine.add("--program-decides", "--machine", "web-1")
  machine.add("--no-program-decides")
  settings = json.loads(machine.configuration.read_text())
  assert settings["machine"] == "web-1" and settings["programDecides"] is False


@pytest.mark.parametrize("arguments", [
  ["--cert", "a"], ["--key", "a"], ["--user", "web", "--password-file", "a", "--password-ref", "b"],
  ["--user", "web"], ["--password-file", "a"], ["--cacert", "nowhere"],
  ["--user", "web", "--password-ref", "junk"],
  ["--user", "web:secret", "--password-file", "a"], ["--quota-keys", "0"], ["--store-name", "a/b"]])
def test_settings_that_do_not_fit(machine, arguments):
  assert "secret" not in machine.add(*arguments, code=64).error
  assert not machine.configuration.exists()


def test_the_environment_is_recorded_and_chooses_nothing_later(machine, cluster):
  endpoint = cluster.nodes[0].url
  machine.address = "etcd+http:///" + machine.address.rpartition("/")[2]
  machine.home.environment["ETCDCTL_ENDPOINTS"] = endpoint
  machine.add()
  address = json.loads(machine.configuration.read_text())["address"]
  assert address == machine.address.replace("///", f"//{endpoint.removeprefix('http://')}/")
  with socket.create_server(("127.0.0.1", 0)) as other:
    machine.home.environment["ETCDCTL_ENDPOINTS"] = f"http://127.0.0.1:{other.getsockname()[1]}"
    machine.run("write", "port", "1")
    machine.now()
    assert machine.status["unsentKeys"] == 0
    # A file that leaves the endpoints open is refused; the other cluster hears nothing.
    settings = json.loads(machine.configuration.read_text()) | {"address": machine.address}
    machine.configuration.write_text(json.dumps(settings))
    assert "names no endpoint" in machine.now(code=64).error
    other.setblocking(False)
    with pytest.raises(BlockingIOError):
      other.accept()
  machine.home.environment["ETCDCTL_ENDPOINTS"] = endpoint
  machine.add("--overwrite")
  assert json.loads(machine.configuration.read_text())["address"] == address
  machine.configuration.write_text(json.dumps(settings))
  machine.sync("remove", "web")
  assert not machine.configuration.exists()


def test_quota(machine):
  machine.add("--quota-keys", "2")
  machine.run("write", "a", "1")
  machine.run("write", "b", "1")
  refused = machine.run("write", "c", "1", code=79)
  assert "2" in refused.error
  machine.run("write", "a", "2")
  machine.run("delete", "a")
  machine.run("write", "c", "1")


# MARK: Being in step


def test_changes_of_every_program_are_sent(make_machine):
  one, other = make_machine(), make_machine()
  one.add()
  other.add()
  one.run("write", "port", "8080", "--type", "int")
  one.run("write", "name", "one")
  assert one.status["unsentKeys"] == 2 and one.status["oldestUnsent"]
  one.now()
  assert one.status["unsentKeys"] == 0
  other.now()
  assert json.loads(other.read("--json")) == {"port": 8080, "name": "one"}
  other.run("delete", "name")
  other.now()
  one.now()
  assert json.loads(one.read("--json")) == {"port": 8080}


def test_now_ends_with_75_if_the_engine_is_away(machine):
  with EtcdCluster() as cluster:
    machine.address = cluster.store_url("fleet")
    machine.add()
    machine.now()
    machine.run("write", "port", "1")
    cluster.nodes[0].stop()
    begin = time.monotonic()
    told = machine.now("--timeout", "2s", code=75)
    assert time.monotonic() - begin < 20
    assert "'web' is not in step" in told.error and "1 key is unsent" in told.error
    # It is kept.
    cluster.nodes[0].start()
    cluster.wait()
    machine.now()
    assert machine.status["unsentKeys"] == 0


def test_now_without_shared_suites(machine):
  assert "no preferences are shared" in machine.now(code=44).error
  assert "'web' are not shared" in machine.now("web", code=44).error
  assert machine.sync("status", "--json").json == []
  assert "no preferences are shared" in machine.sync("status").error


# MARK: run


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_run_keeps_in_step_until_it_is_ended(make_machine, number):
  one, other = make_machine(), make_machine()
  one.add()
  other.add()
  with Running(one) as first, Running(other) as second:
    one.run("write", "port", "1")
    other.wait_for("port", "1")
    other.run("write", "port", "2")
    one.wait_for("port", "2")
    assert one.status["sender"] == first.process.pid
    assert one.status["trouble"] is None
    for running in (first, second):
      begin = time.monotonic()
      assert running.end(number) == (0, "")
      assert time.monotonic() - begin < 10
  assert one.status["sender"] is None
  assert "none; 'prefs sync run' sends" in one.sync("status").out.decode()


def test_run_follows_the_settings(make_machine, cluster):
  one, other = make_machine(), make_machine()
  one.sync("add", "first", one.address)
  other.add()
  with Running(one) as running:
    one.add()
    until("a new suite", lambda: {s["sender"] for s in one.sync("status", "--json").json} == {
      running.process.pid})
    other.run("write", "port", "1")
    other.now()
    one.wait_for("port", "1")
    # Another store.
    one.address = other.address = one.address + "-moved"
    one.add("--overwrite", "--store-name", "moved")
    one.sync("adopt", "web", "--yes")
    one.run("write", "moved", "1")
    until("other settings", lambda: cluster.any.rows(
      one.address.rpartition("/")[2].encode() + b"/moved/k/moved"))
    one.sync("remove", "web")
    one.sync("status", "web", code=44)
    code, error = running.end()
  assert code == 0
  # Between the new address and the adoption, it may have met the other store.
  assert error == "" or re.fullmatch(r"prefs: error: 'web': .*; adopt it if that is meant\n", error)


def test_run_waits_for_the_first_suite(machine):
  """A service that was enabled before must not end for good."""
  assert "prefs sync add web ADDRESS" in hinted(machine.sync("run", "web", code=44))
  with Running(machine) as running:
    assert running.told("STATUS=") == "no suite is shared"
    machine.add()
    until("the first suite", lambda: machine.status["sender"] == running.process.pid)
    code, error = running.end()
  assert code == 0 and error.count("no preferences are shared yet") == 1


def test_run_keeps_the_others_if_one_cannot_be_used(machine):
  machine.add()
  broken = machine.configuration.with_name("broken.json")
  broken.touch(0o600)
  broken.write_text("junk")
  with Running(machine) as running:
    until("the suite that can be used", lambda: machine.sync(
      "status", "web", "--json").json[0]["sender"] == running.process.pid)
    until("a trouble", lambda: running.told("STATUS=").startswith("1 of 2 in trouble: 'broken': "))
    assert "'broken'" in running.end()[1]


def test_run_reports_failures(machine):
  machine.address = "etcd+http://127.0.0.1:1/fleet"
  machine.add("--offline")
  with Running(machine) as running:
    assert select.select([running.process.stderr], [], [], 10)[0], "nothing was reported"
    line = running.process.stderr.readline().decode()
    assert line.startswith("prefs: error: 'web': ") and "127.0.0.1:1" in line
    running.end()


# MARK: status


def test_status_in_words(machine):
  machine.add()
  machine.run("write", "port", "secret value")
  told = machine.sync("status").out.decode()
  assert f"'web' at {machine.address}" in told and "1 key, " in told and "secret" not in told
  machine.now()
  assert "nothing" in machine.sync("status").out.decode()


def test_conflicts_wait_for_a_program(make_machine):
  one, other = make_machine(), make_machine()
  one.add()
  other.add("--program-decides")
  one.run("write", "port", "1")
  one.now()
  other.run("write", "port", "2")
  other.run("write", "name", "other")
  told = other.now(code=75)
  assert "web" in told.error
  (waiting,) = other.status["waiting"]
  assert (waiting["keys"], waiting["for"]) == (["port"], "decision")
  assert "'port': changed here and elsewhere" in other.sync("status").out.decode()
  lines = other.sync("log", "web").out.decode().splitlines()
  assert [line.split("\t")[3:5] for line in lines if "waits" in line] == [["waits", "port"]]
  # Others go on.
  one.now()
  assert one.read("name") == b"other\n"
  assert other.read("port") == b"2\n"


# MARK: adopt and remove


def prefix(machine: Machine) -> bytes:
  return machine.address.rpartition("/")[2].encode() + b"/web/"


def test_adopt(machine, cluster):
  machine.add()
  machine.run("write", "port", "1")
  machine.now()
  cluster.any.delete(prefix(machine) + b"id")
  machine.run("write", "name", "x")
  with Running(machine):
    until("the other store is noticed", lambda: machine.status["trouble"])
    assert machine.status["trouble"]["code"] == "foreignStore"
  refused = machine.now(code=65)
  assert "prefs sync adopt web" in hinted(refused)
  assert prefix(machine) + b"k/name" not in {row.key for row in cluster.any.rows(prefix(machine))}
  assert "--yes" in hinted(machine.sync("adopt", "web", code=64))
  terminal = machine.terminal("sync", "adopt", "web")
  terminal.expect("now\\? \\[y/N\\] ")
  terminal.sendline("n")
  assert ended(terminal)[0] == 130
  machine.sync("adopt", "web", "--yes")
  machine.now()
  assert prefix(machine) + b"k/name" in {row.key for row in cluster.any.rows(prefix(machine))}


def test_remove(machine):
  machine.add()
  machine.run("write", "port", "1")
  refused = machine.sync("remove", "web", code=79)
  assert "1 key of 'web' is not sent yet" in refused.error
  machine.now()
  machine.sync("remove", "web")
  assert not machine.configuration.exists() and machine.sync("status", "--json").json == []
  machine.run("write", "port", "2")
  machine.add()
  machine.run("write", "name", "2")
  machine.sync("remove", "web", "--yes")
  assert json.loads(machine.read("--json")) == {"port": "2", "name": "2"}
  machine.sync("remove", "web", code=44)


# MARK: Others


def test_help_names_each_command(machine):
  told = machine.sync("--help").out.decode()
  for name in ("add", "status", "now", "run", "log", "machines", "revert", "adopt", "remove"):
    assert f"  {name}" in told
  assert "name a command" in machine.sync(code=64).error
