"""`kill -9` of machines at any point: what was acknowledged stays, and arrives."""

from __future__ import annotations

import random
import threading

from etcd_cluster import EtcdCluster
from shared_history import History
from sync_testing import SUITE, Fleet, Machine
from thoroughness import tried

KEYS = 7


def test_what_was_set_arrives(tmp_path, sync_tool):
  seed = random.SystemRandom().randrange(1 << 32)
  print(f"seed {seed}")
  chance = random.Random(seed)
  with EtcdCluster() as cluster, Fleet() as fleet:
    machines = [
      fleet.add(Machine(tmp_path / name, sync_tool, cluster.store_url("fleet")))
      for name in ("a", "b", "c")]
    for _ in range(tried(300)):
      killed_in_turn(chance, machines)
    last = {machine: last_set(machine) for machine in machines}
    for machine in machines:
      machine.start().settle(60)
    history = History(f"fleet/{SUITE}/".encode())
    history.collect(cluster.any)
    for machine in machines:
      machine.agrees(history.values())
    assert check(history, last) == []


def killed_in_turn(chance: random.Random, machines: list[Machine]) -> None:
  """Lets all machines write, and kills each at a time of its own."""
  for machine in machines:
    machine.start()
    # Its own keys, and those that all have.
    machine.send("sets", machine.name if chance.random() < 0.7 else "shared", KEYS, 1_000_000)
  killers = [threading.Timer(chance.uniform(0, 0.4), machine.kill) for machine in machines]
  for killer in killers:
    killer.start()
  for killer in killers:
    killer.join()


def last_set(machine: Machine) -> dict[str, int]:
  """Returns the place of the last report of each of the machine's own keys."""
  return {
    event["key"]: index for index, event in enumerate(machine.events)
    if event["event"] == "set" and event["key"].startswith(machine.name)}


def check(history: History, last: dict[Machine, dict[str, int]]) -> list[str]:
  """The engine has what was reported last of a key; or the next value, whose report was cut short."""
  values = history.values()
  faults = []
  for machine, places in last.items():
    for key, place in places.items():
      reported = machine.events[place]["value"]
      if values.get(key) == reported:
        continue
      name, process, number = reported.split("-")
      following = f"{name}-{process}-{int(number) + KEYS}"
      # The first of a later process that was killed before it could report.
      others = [str(each) for each in [values.get(key)]]
      if values.get(key) == following or not was_seen(machine, others[0]):
        continue
      faults.append(f"{key}: {machine.name} set {reported!r} last, and the engine has {values.get(key)!r}")
  arrived = [(each.key, each.value) for each in history.entries]
  faults += [f"{name} is there twice" for name in {each for each in arrived if arrived.count(each) > 1}]
  return faults


def was_seen(machine: Machine, value: str) -> bool:
  return any(event.get("value") == value for event in machine.events)
