"""Machines that write at random, while the network and the engine fail: in the end, all agree."""

from __future__ import annotations

import itertools
import random
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from etcd_cluster import EtcdCluster
from networks import Network
from shared_history import History, Model, Write
from sync_testing import SUITE, Fleet, Machine
from thoroughness import tried

KEYS = 40
WRITES = tried(10_000)

# Until all have sent everything, and have what the others sent.
LIMIT = 90


class Run:
  """Three nodes and three machines on a network, and later a copy of one machine."""

  # How often the program of one machine decides about its conflicts.
  deciding = 0.5

  def __init__(self, stack: ExitStack, folder: Path, tool: str, seed: int) -> None:
    self.chance = random.Random(seed)
    self.folder = folder
    self.network = stack.enter_context(Network(7))
    self.nodes, self.places = self.network.hosts[:3], self.network.hosts[3:]
    self.cluster = stack.enter_context(self.make_cluster())
    self.fleet = stack.enter_context(Fleet())
    self.history = History(f"fleet/{SUITE}/".encode())
    self.model = Model(deciding={"c"} if self.chance.random() < self.deciding else set())
    self.numbers = itertools.count()
    self.snapshot: Path | None = None
    for name, place in zip("abc", self.places):
      machine = Machine(
        folder / name, tool, host=place,
        decision="local" if name in self.model.deciding else "shared")
      self.configure(machine)
      self.fleet.add(machine).start().do("observe")
    # An engine gets its identity with the first change. Restored from before, it is another one, and
    # rightly refused.
    Run.write(self, 1)
    for machine in self.machines:
      machine.settle(LIMIT)

  def make_cluster(self) -> EtcdCluster:
    return EtcdCluster(machines=self.nodes, tls=True)

  def configure(self, machine: Machine) -> None:
    machine.configure(
      self.cluster.store_url("fleet"),
      certificateAuthority=str(self.cluster.certificates.authority))

  @property
  def machines(self) -> list[Machine]:
    return self.fleet.machines

  # Writes

  def write(self, count: int) -> None:
    for _ in range(count):
      machine = self.chance.choice(self.machines)
      number, changes = self.changes(machine, self.chance)
      self.note(machine, number, changes, machine.do("swap", changes)["before"])

  def changes(self, machine: Machine, chance: random.Random) -> tuple[int, dict[str, str | None]]:
    """Returns what a machine does next: it sets a key, removes one, or changes several together."""
    kind = chance.random()
    keys = chance.sample(range(KEYS), chance.randint(2, 4) if kind < 0.1 else 1)
    number = next(self.numbers)
    return number, {
      f"key{key}": None if 0.1 <= kind < 0.2 else f"{machine.name}{number}-{key}" for key in keys}

  def note(self, machine: Machine, number: int, changes: dict, before: dict) -> None:
    self.model.writes += [
      Write(machine.name, key, before.get(key), value, number if len(changes) > 1 else None)
      for key, value in changes.items()]

  def exchange(self) -> None:
    """Lets one machine send what it can; who is cut off cannot."""
    self.chance.choice(self.machines).ask("flush", 1)

  # Faults: each does something, and returns what ends it.

  def nothing(self):
    return lambda: None

  def offline(self, number: int):
    self.places[number].cut_off()
    return lambda: self.places[number].join(0)

  def node_killed(self):
    return self.killed(self.chance.choice(self.cluster.nodes))

  def leader_killed(self):
    return self.killed(self.cluster.leader())

  def killed(self, node):
    node.kill()
    return lambda: (node.start(), node.wait())

  def minority_apart(self):
    """A node that follows nobody, and a machine that reaches no other."""
    self.network.divide(self.nodes[0], self.places[0])
    return self.network.heal

  def leader_apart(self):
    self.network.divide(self.cluster.leader().machine, self.places[1])
    return self.network.heal

  def no_majority(self):
    self.network.divide(self.nodes[0], self.places[0])
    self.nodes[1].cut_off()
    return self.network.heal

  def copied(self):
    """A home is copied while its machine is off, and both go on."""
    original = self.machines[2]
    original.end()
    copy = original.copy_to(self.folder / "d", host=self.places[3])
    self.model.copied["d"] = original.name
    if original.name in self.model.deciding:
      self.model.deciding.add("d")
    original.start().do("observe")
    self.fleet.add(copy).start().do("observe")
    return lambda: None

  def restored(self):
    """The engine has an older state again; before it is lost, machines have had what came after it."""
    snapshot = self.cluster.snapshot()
    return lambda: self.restore(snapshot)

  def restore(self, snapshot: Path) -> None:
    self.network.divide(*self.places)
    self.cluster.wait()
    self.history.collect(self.cluster.any)
    self.cluster.restore(snapshot)
    self.history.restored(self.cluster.any.revision())
    self.network.heal()

  def compacted(self):
    self.network.divide(*self.places)

    def end():
      self.cluster.wait()
      self.history.collect(self.cluster.any)
      self.cluster.compact()
      self.network.heal()
    return end

  # The end

  def finish(self) -> list[str]:
    self.cluster.wait()
    for machine in self.machines:
      machine.settle(LIMIT)
    self.history.collect(self.cluster.any)
    values = self.history.values()
    for machine in self.machines:
      machine.agrees(values, LIMIT)
    # Programs are told of conflicts on a thread of their own.
    end = time.monotonic() + 10
    while (faults := self.faults()) and time.monotonic() < end:
      time.sleep(0.2)
    return faults

  def faults(self) -> list[str]:
    self.model.conflicts = {
      (machine.name, event["key"], event["lost"]) for machine in self.machines
      for event in list(machine.events) if event["event"] == "conflict"}
    return self.model.faults(self.history)


def run(folder: Path, tool: str, faults, seed: int, writes: int) -> None:
  with ExitStack() as stack:
    this = Run(stack, folder, tool, seed)
    print(f"seed {seed}, deciding {this.model.deciding}")
    for fault in faults:
      end = fault(this)
      this.write(writes // len(faults) // 2)
      this.exchange()
      this.write(writes // len(faults) // 4)
      end()
      this.exchange()
      this.write(writes // len(faults) // 4)
    assert this.finish() == []
    assert this.history.entries, "nothing was written"


PHASES = [
  Run.nothing, lambda this: this.offline(0), lambda this: this.offline(1),
  lambda this: this.offline(2), Run.node_killed, Run.leader_killed, Run.minority_apart,
  Run.leader_apart, Run.no_majority, Run.compacted, Run.restored, Run.copied]


@pytest.mark.longest
def test_all_agree_in_the_end(tmp_path, sync_tool, networking):
  seed = random.SystemRandom().randrange(1 << 32)
  phases = random.Random(seed).sample(PHASES, len(PHASES))
  run(tmp_path, sync_tool, phases, seed, WRITES)


@pytest.mark.parametrize("fault", [Run.restored, Run.copied, Run.no_majority], ids=lambda each: each.__name__)
def test_all_agree_after(tmp_path, sync_tool, networking, fault):
  run(tmp_path, sync_tool, [Run.nothing, fault], random.SystemRandom().randrange(1 << 32), WRITES // 5)


class SingleWriters(Run):
  """Each key has one writer, which is away now and then while the engine is lost."""

  deciding = 0

  def changes(self, machine: Machine, chance: random.Random) -> tuple[int, dict[str, str | None]]:
    number, changes = super().changes(machine, chance)
    return number, {f"{machine.name} {key}": value for key, value in changes.items()}

  def lost_values(self) -> list[str]:
    last = {write.key: write.value for write in self.model.writes}
    values = self.history.values()
    return [
      f"{key} is {values.get(key)!r}, not {value!r}" for key, value in last.items()
      if values.get(key) != value]


def test_no_change_of_a_single_writer_is_lost_with_the_engine(tmp_path, sync_tool, networking):
  seed = random.SystemRandom().randrange(1 << 32)
  rounds = tried(40)
  with ExitStack() as stack:
    this = SingleWriters(stack, tmp_path, sync_tool, seed)
    print(f"seed {seed}")
    for _ in range(rounds):
      end = this.restored()
      this.write(WRITES // rounds // 2)
      this.exchange()
      if this.chance.random() < 0.5:
        this.places[this.chance.randrange(3)].cut_off()
      this.write(WRITES // rounds // 4)
      this.exchange()
      end()
      this.write(WRITES // rounds // 4)
    faults = this.finish()
    assert this.lost_values() == [] and faults == []
