"""Whoever writes on a machine, it arrives; and what has not arrived is said."""

from __future__ import annotations

import json
import subprocess

from etcd_cluster import EtcdCluster
from faulty_proxy import Fault, FaultyProxy
from sync_testing import LIMIT, SUITE, Fleet, Machine


def prefs(machine: Machine, program: str, *words: str) -> str:
  done = subprocess.run(
    [program, *words], env=machine.environment, capture_output=True, text=True, timeout=LIMIT)
  assert done.returncode == 0, f"{words}: {done.stderr}"
  return done.stdout


def pair(fleet: Fleet, folder, tool: str, cluster: EtcdCluster) -> tuple[Machine, Machine]:
  address = cluster.store_url(folder.name)
  first, second = (fleet.add(Machine(folder / name, tool, address)) for name in ("first", "second"))
  second.start().do("observe")
  return first, second


def test_changes_of_other_processes_arrive(tmp_path, sync_tool, program, cluster):
  with Fleet() as fleet:
    first, second = pair(fleet, tmp_path, sync_tool, cluster)
    first.start()
    plain = Machine(first.folder, sync_tool, decision="plain")
    fleet.callback(plain.kill)
    plain.start().do("set", "plain", "set")
    prefs(first, program, "write", "--domain", SUITE, "command", "written")
    second.agrees({"plain": "set", "command": "written"})
    second.do("set", "plain", "from second")
    second.do("remove", "command")
    plain.agrees({"plain": "from second"})


def test_changes_without_a_sender_arrive_later(tmp_path, sync_tool, program, cluster):
  with Fleet() as fleet:
    first, second = pair(fleet, tmp_path, sync_tool, cluster)
    # Shared from here on; nothing has the file open afterwards.
    first.start().flush()
    first.end()
    plain = Machine(first.folder, sync_tool, decision="plain")
    fleet.callback(plain.kill)
    plain.start().do("set", "plain", "set")
    plain.end()
    first.start()
    second.agrees({"plain": "set"})


def test_the_sender_is_replaced(tmp_path, sync_tool, cluster):
  with Fleet() as fleet:
    first, second = pair(fleet, tmp_path, sync_tool, cluster)
    first.start().flush()
    other = Machine(first.folder, sync_tool)
    fleet.callback(other.kill)
    other.start().do("set", "a", "1")
    second.agrees({"a": "1"})
    first.kill()
    other.do("set", "a", "2")
    second.agrees({"a": "2"})


def test_status_names_what_is_unsent(tmp_path, sync_tool, program, cluster):
  with Fleet() as fleet, FaultyProxy("127.0.0.1", cluster.nodes[0].port) as proxy:
    address = cluster.store_url(tmp_path.name, [proxy.port])
    machine = fleet.add(Machine(tmp_path / "behind", sync_tool, address)).start()
    machine.flush()
    assert machine.do("status")["unsent"] == 0
    proxy.fail_every(1, Fault.CUT_BEFORE)
    proxy.close()
    machine.do("set", "color", "red")
    assert machine.do("status")["unsent"] == 1
    said = json.loads(prefs(machine, program, "sync", "status", "--json"))
    assert "color" in json.dumps(said) or '"unsent' in json.dumps(said), said
    proxy.heal()
    proxy.open()
    machine.flush()
    assert machine.do("status")["unsent"] == 0
