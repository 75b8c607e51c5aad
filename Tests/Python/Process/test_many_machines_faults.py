"""A faulty proxy between a machine and the engine: old state or new, nothing lost, nothing twice."""

from __future__ import annotations

import itertools
import threading
import time

import pytest

from etcd_cluster import EtcdCluster
from faulty_proxy import Fault, FaultyProxy
from shared_history import History, Model, Write
from sync_testing import SUITE, Fleet, Machine
from thoroughness import PARTS

# How many messages the work below takes at least, from the first contact on.
MESSAGES = 24

# Of a flush; a call that hangs is given up earlier.
DEADLINE = 40

ALL = list(itertools.product(Fault, range(1, MESSAGES + 1)))

# The same ones each time, since all workers must collect the same tests.
CASES = ALL[::PARTS]

HANGING = {Fault.HANG_BEFORE, Fault.HANG_AFTER}


class Work:
  """What a machine behind the proxy does, and another that has no proxy sees."""

  def __init__(self, fleet: Fleet, folder, tool: str, cluster: EtcdCluster, proxy: FaultyProxy) -> None:
    self.prefix = folder.name
    self.cluster = cluster
    self.model = Model()
    self.behind = fleet.add(
      Machine(folder / "behind", tool, cluster.store_url(self.prefix, [proxy.port])))
    self.beside = fleet.add(Machine(folder / "beside", tool, cluster.store_url(self.prefix)))

  def write(self, machine: Machine, changes: dict[str, object], transaction: int | None = None) -> None:
    before = machine.do("swap", changes)["before"]
    self.model.writes += [
      Write(machine.name, key, before.get(key), value, transaction) for key, value in changes.items()]

  def run(self) -> None:
    self.beside.start()
    self.write(self.beside, {"there": "first"})
    self.beside.flush()
    self.behind.start()
    for number in range(4):
      self.write(self.behind, {f"single{number % 2}": f"single {number}"})
      self.flush()
    self.write(self.behind, {"left": "both", "right": "both"}, transaction=1)
    self.write(self.behind, {"single0": None})
    self.flush()
    # Otherwise this would be a conflict.
    self.beside.agrees(
      {"there": "first", "single1": "single 3", "left": "both", "right": "both"}, DEADLINE)
    self.write(self.beside, {"answer": "from beside", "left": "other"})
    self.beside.flush()

  def flush(self) -> None:
    start = time.monotonic()
    self.behind.flush(DEADLINE)
    assert time.monotonic() - start < DEADLINE + 5, "a flush took longer than its deadline"

  def check(self) -> None:
    history = History(f"{self.prefix}/{SUITE}/".encode())
    history.collect(self.cluster.any)
    assert self.model.faults(history) == []
    for machine in (self.beside, self.behind):
      machine.agrees(history.values(), DEADLINE)
    assert history.values() == {
      "there": "first", "single1": "single 3", "left": "other", "right": "both",
      "answer": "from beside"}


@pytest.mark.parametrize("fault, number", CASES, ids=lambda each: getattr(each, "name", str(each)))
def test_one_message_fails(tmp_path, sync_tool, cluster, fault, number):
  with Fleet() as fleet, FaultyProxy("127.0.0.1", cluster.nodes[0].port) as proxy:
    proxy.plan = lambda message: fault if message.number == number else None
    work = Work(fleet, tmp_path, sync_tool, cluster, proxy)
    work.run()
    if fault in HANGING:
      # A watch that stays open and swallows a change is ended by a check after 30 s.
      proxy.close()
      proxy.open()
    work.check()


@pytest.mark.parametrize("fault", sorted(set(Fault) - HANGING, key=lambda fault: fault.name))
@pytest.mark.parametrize("path", ["", "kv/txn"])
def test_every_third_message_fails(tmp_path, sync_tool, cluster, fault, path):
  with Fleet() as fleet, FaultyProxy("127.0.0.1", cluster.nodes[0].port) as proxy:
    proxy.fail_every(3, fault, path)
    work = Work(fleet, tmp_path, sync_tool, cluster, proxy)
    work.run()
    assert proxy.failed, "no message has failed"
    proxy.heal()
    work.check()


@pytest.mark.parametrize("fault", [Fault.CUT_BEFORE, Fault.UNAVAILABLE_BEFORE, Fault.HANG_BEFORE])
def test_a_flush_ends_at_its_deadline(tmp_path, sync_tool, cluster, fault):
  with Fleet() as fleet, FaultyProxy("127.0.0.1", cluster.nodes[0].port) as proxy:
    machine = fleet.add(
      Machine(tmp_path / "behind", sync_tool, cluster.store_url(tmp_path.name, [proxy.port]))).start()
    proxy.fail_every(1, fault)
    machine.do("set", "color", "red")
    answer = machine.ask("flush", 1, limit=15)
    assert answer["error"] == ("outcomeUnknown" if "may have" in answer["message"] else "timedOut")
    assert machine.values() == {"color": "red"}
    proxy.heal()
    # Ends what hangs.
    proxy.close()
    proxy.open()
    machine.flush(DEADLINE)
    assert cluster.any.rows(f"{tmp_path.name}/{SUITE}/k/color".encode())


def test_an_outcome_that_stays_unknown_may_have_happened(tmp_path, sync_tool, cluster):
  with Fleet() as fleet, FaultyProxy("127.0.0.1", cluster.nodes[0].port) as proxy:
    machine = fleet.add(
      Machine(tmp_path / "behind", sync_tool, cluster.store_url(tmp_path.name, [proxy.port]))).start()
    machine.do("set", "color", "red")
    machine.flush(DEADLINE)
    # The watch would tell it.
    proxy.plan = lambda message: Fault.CUT_AFTER if "txn" in message.path else (
      Fault.CUT_BEFORE if message.is_part or "range" in message.path else None)
    machine.do("set", "color", "blue")
    answer = machine.ask("flush", 2, limit=15)
    assert answer["error"] == "outcomeUnknown" and "may have" in answer["message"], answer
    proxy.heal()
    machine.flush(DEADLINE)
    history = History(f"{tmp_path.name}/{SUITE}/".encode())
    history.collect(cluster.any)
    assert [each.value for each in history.by_key()["color"]] == ["red", "blue"]


class Overtaking:
  """Lets the node read everything before a transaction, and answer that only when it is told to."""

  def __init__(self, proxy: FaultyProxy) -> None:
    self.asked, self.read, self.ended = threading.Event(), threading.Event(), threading.Event()
    proxy.passes = self.passes
    # So that everything is read.
    proxy.plan = lambda message: Fault.CUT_BEFORE if message.is_part else None

  def passes(self, path: str, is_answer: bool) -> None:
    if path.endswith("txn") and not is_answer:
      self.asked.set()
      self.read.wait(DEADLINE)
    if path.endswith("range") and is_answer and self.asked.is_set():
      self.read.set()
      self.ended.wait(DEADLINE)

  def end(self, proxy: FaultyProxy) -> None:
    proxy.heal()
    self.ended.set()


def test_an_answer_that_overtakes_what_was_read_before(tmp_path, sync_tool, cluster):
  """What was read before an own change is no engine that was restored: nothing is sent again."""
  with Fleet() as fleet, FaultyProxy("127.0.0.1", cluster.nodes[0].port) as proxy:
    work = Work(fleet, tmp_path, sync_tool, cluster, proxy)
    work.beside.start()
    work.behind.start()
    work.write(work.behind, {"color": "red"})
    work.flush()
    overtaking = Overtaking(proxy)
    work.write(work.behind, {"color": "green"})
    assert overtaking.asked.wait(DEADLINE), "nothing is sent"
    # Its notification cuts the watch.
    work.write(work.beside, {"size": "9"})
    work.flush()
    assert overtaking.read.is_set(), "the transaction came first"
    work.write(work.behind, {"color": "blue"})
    overtaking.end(proxy)
    work.flush()
    history = History(f"{work.prefix}/{SUITE}/".encode())
    history.collect(cluster.any)
    assert work.model.faults(history) == []
    assert [each.value for each in history.by_key()["color"]] == ["red", "green", "blue"]
