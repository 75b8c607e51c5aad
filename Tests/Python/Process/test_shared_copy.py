"""--store of a store of which this machine has a copy."""

from __future__ import annotations

import itertools
import json
import time

import pytest

from etcd_cluster import EtcdCluster
from prefs_testing import LIMIT, hinted
from shared_machine import Machine

numbers = itertools.count()


@pytest.fixture
def machines(make_home, cluster) -> tuple[Machine, Machine]:
  """One with a copy that is in step, and one without."""
  address = cluster.store_url(f"copied{next(numbers)}")
  one, other = Machine(make_home(), address), Machine(make_home(), address)
  one.add()
  one.now()
  return one, other


@pytest.fixture
def machine(machines) -> Machine:
  return machines[0]


def there(machine: Machine, command: str, *arguments: str, **options):
  return machine.run(command, *arguments, "--store", machine.address, **options)


def prefix(machine: Machine) -> bytes:
  return machine.address.rpartition("/")[2].encode() + b"/web/"


def test_a_copy_is_used_for_its_address(machine, cluster):
  machine.add()
  machine.run("write", "port", "1", "--store", machine.address)
  # It was sent.
  assert prefix(machine) + b"k/port" in {row.key for row in cluster.any.rows(prefix(machine))}
  assert machine.status["unsentKeys"] == 0
  with EtcdCluster() as gone:
    machine.address = gone.store_url("fleet")
    machine.add("--overwrite", "--offline")
    gone.nodes[0].stop()
    # Reading needs no engine.
    assert machine.read("port", "--store", machine.address) == b"1\n"
    # Under another prefix there is no copy.
    machine.read("port", "--store", machine.address + "/other", code=69)


def test_a_copy_is_in_step_when_it_is_read_and_changed(machines):
  one, other = machines
  there(other, "write", "k", "100", "--type", "int")
  assert there(one, "read", "k").out == b"100\n"
  there(other, "write", "k", "101", "--type", "int")
  # What is written last counts.
  there(one, "write", "k", "200", "--type", "int")
  assert there(other, "read", "k").out == b"200\n"
  there(other, "write", "k", "300", "--type", "int")
  there(one, "delete", "k")
  there(other, "read", "k", code=44)
  assert one.status["lost"] == []


def test_one_of_two_machines_gets_a_lock(machines):
  one, other = machines
  there(other, "write", "lock", "other", "--if-absent")
  assert "exists" in there(one, "write", "lock", "one", "--if-absent", code=75).error
  there(other, "write", "lock", "free")
  there(one, "write", "lock", "one", "--expect", "free")
  there(other, "write", "lock", "other", "--expect", "free", code=75)
  assert one.read("lock") == b"one\n"
  # What this machine alone has comes first.
  one.run("write", "own", "1")
  there(one, "write", "own", "2", "--if-absent", code=75)
  assert there(other, "read", "own").out == b"1\n"


def test_both_write_the_same_lock(machines):
  """Equal values are no conflict, but one of the machines has not written."""
  one, other = machines
  processes = [
    machine.start("write", "same", "x", "--if-absent", "--store", machine.address)
    for machine in (one, other, one, other)]
  assert sorted(process.wait(LIMIT) for process in processes) == [0, 75, 75, 75]
  for process in processes:
    process.communicate()


def test_a_change_that_is_given_up_is_75(make_home):
  with EtcdCluster() as cluster:
    one, other = (Machine(make_home(), cluster.store_url("fleet")) for _ in range(2))
    one.add()
    one.now()
    there(other, "write", "k", "100")
    cluster.nodes[0].pause()
    # It cannot be brought in step, so the value is based on an older one.
    with one.start("write", "k", "200", "--store", one.address) as writing:
      try:
        deadline = time.monotonic() + LIMIT
        while one.status["unsentKeys"] == 0:
          assert time.monotonic() < deadline
          time.sleep(0.05)
        cluster.nodes[0].resume()
        _, error = writing.communicate(timeout=LIMIT)
      finally:
        writing.kill()
    assert writing.returncode == 75 and "another machine changed 'k'" in error.decode()
    assert there(other, "read", "k").out == b"100\n"
    (lost,) = one.status["lost"]
    assert lost["key"] == "k" and lost["time"]
    assert "'k': given up for another machine's" in one.sync("status").out.decode()


def test_a_copy_says_how_old_it_is(make_home):
  with EtcdCluster() as cluster:
    one = Machine(make_home(), cluster.store_url("fleet"))
    one.add()
    one.run("write", "k", "1")
    one.now()
    cluster.nodes[0].stop()
    told = there(one, "read", "k")
    assert told.out == b"1\n" and "this is the copy of 20" in told.error
    assert there(one, "read", "k", "--quiet").error == ""
    there(one, "write", "k", "2", "--expect", "1", code=69)
    assert one.status["unsentKeys"] == 0
    assert "of 20" in there(one, "read", "k").error
    # Without a conflict, it waits for the engine.
    there(one, "write", "k", "2", code=75)
    cluster.nodes[0].start()
    cluster.wait()
    one.now()
    assert one.status["lost"] == [] and one.read("k") == b"2\n"


def test_now_names_what_was_lost_and_keeps_the_rest_of_an_import(machines):
  one, other = machines
  there(other, "write", "k", "8", "--type", "int")
  file = one.home.file("settings.json", json.dumps({"i2": 1, "i3": 3, "k": 9}).encode())
  one.run("import", file)
  told = one.now().error
  assert "'web' is in step" in told and "given up for those of others: 'k'" in told
  assert json.loads(there(other, "read", "--json").out) == {"i2": 1, "i3": 3, "k": 8}
  assert "given up" not in one.now().error


def test_status_has_the_answer_of_etcd_to_now(make_home):
  with EtcdCluster() as cluster:
    one = Machine(make_home(), cluster.store_url("fleet"))
    one.add()
    one.now()
    assert one.status["trouble"] is None
    contact = one.status["lastContact"]
    cluster.nodes[0].pause()
    one.now("--timeout", "1s", code=75)
    status = one.status
    assert status["trouble"]["code"] == "unreachable" and status["lastContact"] == contact
    cluster.nodes[0].resume()
    one.now()
    assert one.status["trouble"] is None


def test_watching_ends_in_time_if_nobody_answers(make_home):
  with EtcdCluster() as cluster:
    other = Machine(make_home(), cluster.store_url("fleet"))
    there(other, "write", "k", "1")
    cluster.nodes[0].pause()
    begin = time.monotonic()
    there(other, "watch", "k", "--once", "--timeout", "1s", code=75)
    assert time.monotonic() - begin < 10
