"""Everything at the same time, with users: no acknowledged write is lost, all agree, nothing hangs."""

from __future__ import annotations

import random
import signal
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from etcd_cluster import EtcdCluster
from faulty_proxy import Fault, FaultyProxy, Message
from sync_testing import Machine
from test_many_machines_random import Run
from thoroughness import PARTS

PASSWORD = "for writing"

# Acknowledged changes of keys, and how often a machine is killed or stopped meanwhile.
WRITES = 333_880 if PARTS == 1 else 3_000
KILLS = 380 if PARTS == 1 else 9
PAUSES = 60 if PARTS == 1 else 3

# Of a write, and of a flush beyond its own deadline, in seconds. A busy processor is no fault.
WRITE_LIMIT = 10
FLUSH_LIMIT = 5

# The share of messages that fail while answers are hostile.
HOSTILITY = 0.15

# What ends only with the silence of 10 s is rare.
HANGING = [Fault.HANG_BEFORE, Fault.HANG_AFTER]
FAULTS = [fault for fault in Fault if fault not in HANGING] * 20 + HANGING


class Chaos(Run):
  """Three nodes and three machines, each of which reaches each node through a proxy of its own."""

  # Who decides, and writes all the time, has a new conflict for each of its changes.
  deciding = 0

  def __init__(self, stack: ExitStack, folder, tool: str, seed: int) -> None:
    self.stack = stack
    # Its threads stay until the end, since a process is killed with the thread that has started it.
    self.pool = stack.enter_context(ThreadPoolExecutor(3))
    self.proxies: list[FaultyProxy] = []
    self.counts: Counter[str] = Counter()
    self.slowest = {"write": 0.0, "flush": 0.0}
    super().__init__(stack, folder, tool, seed)

  def make_cluster(self) -> EtcdCluster:
    return EtcdCluster(machines=self.nodes)

  def configure(self, machine: Machine) -> None:
    if self.cluster.password is None:
      self.cluster.enable_authentication("for root")
      self.cluster.add_user("web", PASSWORD, "fleet/")
    proxies = [
      self.stack.enter_context(FaultyProxy(node.host, node.port, 0.05, machine.host.entered))
      for node in self.cluster.nodes]
    self.proxies += proxies
    password = machine.folder / "password"
    password.touch(0o600)
    password.write_text(PASSWORD)
    machine.configure(
      self.cluster.store_url("fleet", [proxy.port for proxy in proxies]), user="web",
      passwordFile=str(password))

  # Writes

  def write(self, count: int) -> None:
    """Lets all machines write at the same time."""
    done = [
      self.pool.submit(self.work, machine, random.Random(self.chance.random()), count // 3)
      for machine in self.machines]
    for each in done:
      each.result()

  def work(self, machine: Machine, chance: random.Random, count: int) -> None:
    left = count
    killer = None
    while left > 0:
      draw = chance.random() * WRITES
      if draw < KILLS and killer is None:
        killer = threading.Timer(chance.uniform(0, 0.02), machine.process.kill)
        killer.start()
      elif draw < KILLS + PAUSES:
        self.pause(machine, chance)
      written = self.write_once(machine, chance)
      if written == 0:
        killer = None
      left -= written
      if chance.random() < 0.002:
        self.flush(machine)
    if killer is not None:
      killer.join()
      self.restart(machine)

  def write_once(self, machine: Machine, chance: random.Random) -> int:
    number, changes = self.changes(machine, chance)
    begin = time.monotonic()
    answer = machine.ask("swap", changes)
    self.took("write", begin, WRITE_LIMIT)
    assert "error" not in answer, f"{machine.name}: {answer}"
    if "ended" in answer:
      self.model.uncertain |= {(key, value) for key, value in changes.items() if value is not None}
      self.note(machine, number, changes, {})
      self.restart(machine)
      return 0
    self.note(machine, number, changes, answer["before"])
    self.counts["writes"] += len(changes)
    return len(changes)

  def restart(self, machine: Machine) -> None:
    self.counts["kills"] += 1
    ended = machine.process.wait(WRITE_LIMIT)
    assert ended == -signal.SIGKILL, f"{machine.name} ended by itself: {ended}"
    machine.finish()
    machine.start().do("observe")

  def pause(self, machine: Machine, chance: random.Random) -> None:
    """Stops a machine, which keeps its connections, and its locks if it has any."""
    self.counts["pauses"] += 1
    machine.process.send_signal(signal.SIGSTOP)
    time.sleep(chance.uniform(0.1, 1))
    machine.process.send_signal(signal.SIGCONT)

  def flush(self, machine: Machine) -> None:
    begin = time.monotonic()
    machine.ask("flush", 1)
    self.took("flush", begin, 1 + FLUSH_LIMIT)

  def exchange(self) -> None:
    self.flush(self.chance.choice(self.machines))

  def took(self, what: str, begin: float, limit: float) -> None:
    seconds = time.monotonic() - begin
    self.slowest[what] = max(self.slowest[what], seconds)
    assert seconds < limit, f"a {what} took {seconds:.1f} s"

  # Faults

  def node_paused(self):
    return self.paused(self.chance.choice(self.cluster.nodes))

  def leader_paused(self):
    return self.paused(self.cluster.leader())

  def paused(self, node):
    node.pause()
    return node.resume

  def hostile(self):
    """Answers are cut, lost, or those of something else, on the way to each node."""
    chance = random.Random(self.chance.random())

    def plan(message: Message) -> Fault | None:
      return chance.choice(FAULTS) if chance.random() < HOSTILITY else None
    for proxy in self.proxies:
      proxy.plan = plan

    def heal() -> None:
      for proxy in self.proxies:
        proxy.heal()
    return heal

  def report(self) -> str:
    self.counts["failed messages"] = sum(len(proxy.failed) for proxy in self.proxies)
    self.counts["hostile answers"] = sum(
      fault in (Fault.STRANGE_BEFORE, Fault.STRANGE_AFTER)
      for proxy in self.proxies for _, fault in proxy.failed)
    self.counts["revisions"] = len({each.revision for each in self.history.entries})
    slowest = ", ".join(f"slowest {name} {value:.2f} s" for name, value in self.slowest.items())
    return ", ".join(f"{count} {name}" for name, count in self.counts.items()) + ", " + slowest


PHASES = [
  Run.nothing, lambda this: this.offline(0), lambda this: this.offline(1), Run.node_killed,
  Run.leader_killed, Run.minority_apart, Run.leader_apart, Run.no_majority, Run.compacted,
  Run.restored, Chaos.node_paused, Chaos.leader_paused, Chaos.hostile, Chaos.hostile, Run.restored]

# In a short run, what says most.
SHORT = [Chaos.hostile, Run.restored, Run.leader_killed, Chaos.node_paused]


@pytest.mark.longest
def test_nothing_is_lost_and_all_agree(tmp_path, sync_tool, networking):
  seed = random.SystemRandom().randrange(1 << 32)
  phases = PHASES * 10 if PARTS == 1 else SHORT
  phases = random.Random(seed).sample(phases, len(phases))
  with ExitStack() as stack:
    chaos = Chaos(stack, tmp_path, sync_tool, seed)
    print(f"seed {seed}, deciding {chaos.model.deciding}")
    for phase in phases:
      chaos.counts["faults"] += 1
      end = phase(chaos)
      chaos.write(WRITES // len(phases) * 3 // 4)
      chaos.exchange()
      end()
      chaos.write(WRITES // len(phases) // 4)
    begin = time.monotonic()
    faults = chaos.finish()
    print(f"{chaos.report()}, in step after {time.monotonic() - begin:.1f} s")
    assert faults == []
