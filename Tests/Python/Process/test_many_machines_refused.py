"""What the engine refuses, and what it has that nobody expects: it is said, and blocks nothing else."""

from __future__ import annotations

import pytest

from etcd_calls import EtcdRefusal
from etcd_cluster import RELEASES, EtcdCluster
from shared_history import REMOVAL
from sync_testing import SUITE, Fleet, Machine

STORE = f"fleet/{SUITE}/"


def with_password(folder, tool: str, cluster: EtcdCluster, user: str, password: str) -> Machine:
  folder.mkdir(mode=0o700)
  file = folder / "password"
  file.touch(0o600)
  file.write_text(password)
  return Machine(
    folder, tool, cluster.store_url("fleet"), user=user, passwordFile=str(file),
    **({"certificateAuthority": str(cluster.certificates.authority)} if cluster.certificates else {}))


def waiting(machine: Machine) -> set[tuple[str, str]]:
  return {(key, each["reason"]) for each in machine.do("status")["waiting"] for key in each["keys"]}


def until(machine: Machine, condition, what: str) -> None:
  """Waits for something that each change of the machine's state may bring."""
  def holds() -> bool:
    return condition(machine.do("status"))
  for _ in range(300):
    if holds():
      return
    with machine.changed:
      machine.changed.wait(0.1)
  raise AssertionError(f"{machine.name}: no {what}: {machine.do('status')}")


def test_read_only_user_follows(tmp_path, sync_tool):
  with EtcdCluster(tls=True) as cluster, Fleet() as fleet:
    cluster.enable_authentication("for root")
    cluster.add_user("writer", "for writing", "fleet/")
    cluster.add_user("reader", "for reading", "fleet/", "READ")
    writer = fleet.add(with_password(tmp_path / "writer", sync_tool, cluster, "writer", "for writing"))
    reader = fleet.add(with_password(tmp_path / "reader", sync_tool, cluster, "reader", "for reading"))
    writer.start().do("set", "color", "red")
    writer.flush()
    reader.start().do("observe")
    reader.agrees({"color": "red"})
    until(reader, lambda status: status["readOnly"], "refusal of changes")
    assert reader.ask("set", "color", "blue")["error"] == "readOnly"
    writer.do("set", "color", "green")
    reader.agrees({"color": "green"})


@pytest.mark.parametrize("release", RELEASES)
def test_a_wrong_password_is_said(tmp_path, sync_tool, release):
  with EtcdCluster(release=release) as cluster, Fleet() as fleet:
    cluster.enable_authentication("for root")
    cluster.add_user("writer", "for writing", "fleet/")
    machine = fleet.add(with_password(tmp_path / "writer", sync_tool, cluster, "writer", "wrong"))
    machine.start().do("set", "color", "red")
    until(machine, lambda status: (status["failure"] or {}).get("error") == "wrongPassword", "failure")
    assert machine.do("status")["unsent"] == 1
    assert "wrong" not in str(machine.do("status")["failure"]["message"]).replace("wrong password", "")


@pytest.mark.parametrize("release", RELEASES)
def test_forbidden_changes_arrive_when_allowed(tmp_path, sync_tool, release):
  with EtcdCluster(release=release) as cluster, Fleet() as fleet:
    cluster.enable_authentication("for root")
    cluster.add_user("writer", "for writing", "fleet/")
    machine = fleet.add(with_password(tmp_path / "writer", sync_tool, cluster, "writer", "for writing"))
    machine.start().do("set", "color", "red")
    machine.flush()
    cluster.revoke("writer", "fleet/")
    machine.do("set", "color", "blue")
    until(machine, lambda status: status["failure"], "failure")
    cluster.grant("writer", "fleet/", "READWRITE")
    machine.flush(60)
    rows = cluster.any.rows(f"{STORE}k/color".encode())
    assert rows[0].value.endswith(b"blue")


@pytest.mark.parametrize("release", RELEASES)
def test_a_full_engine_is_waited_for(tmp_path, sync_tool, release):
  with EtcdCluster(quota=1 << 20, release=release) as cluster, Fleet() as fleet:
    machine = fleet.add(Machine(tmp_path / "a", sync_tool, cluster.store_url("fleet"))).start()
    machine.do("set", "color", "red")
    machine.flush()
    cluster.fill()
    machine.do("set", "color", "blue")
    until(machine, lambda status: status["failure"] or status["waiting"], "failure")
    assert machine.values() == {"color": "blue"}
    cluster.make_room()
    machine.flush(60)
    assert cluster.any.rows(f"{STORE}k/color".encode())[0].value.endswith(b"blue")


def test_a_newer_form_stays_as_it_is(tmp_path, sync_tool):
  with EtcdCluster() as cluster, Fleet() as fleet:
    machine = fleet.add(Machine(tmp_path / "a", sync_tool, cluster.store_url("fleet"))).start()
    machine.do("set", "here", "1")
    machine.flush()
    newer = bytes([2, 200]) + b"what a later release writes"
    cluster.any.put(f"{STORE}k/there".encode(), newer)
    cluster.any.put(f"{STORE}k/kind".encode(), bytes([1, 200]) + b"t" * 16 + bytes(24) + b"unknown")
    machine.do("set", "here", "2")
    machine.flush()
    machine.do("set", "there", "mine")
    machine.do("set", "kind", "mine")
    machine.do("set", "here", "3")
    until(machine, lambda _: {key for key, _ in waiting(machine)} >= {"there", "kind"}, "waiting keys")
    assert waiting(machine) == {("there", "newerRelease"), ("kind", "newerRelease")}

    def rows() -> dict[str, bytes]:
      return {row.key.decode(): row.value for row in cluster.any.rows(f"{STORE}k/".encode())}

    # The two are passed over first, and then this one is sent.
    until(machine, lambda _: rows()[f"{STORE}k/here"].endswith(b"3"), "the value of the other key")
    assert rows()[f"{STORE}k/there"] == newer and rows()[f"{STORE}k/kind"].endswith(b"unknown")


def test_another_store_gets_nothing_and_takes_nothing(tmp_path, sync_tool):
  with EtcdCluster() as cluster, Fleet() as fleet:
    machine = fleet.add(Machine(tmp_path / "a", sync_tool, cluster.store_url("fleet"))).start()
    machine.do("set", "color", "red")
    machine.flush()
    cluster.any.delete(STORE.encode(), prefix=True)
    machine.do("set", "color", "blue")
    until(machine, lambda status: (status["failure"] or {}).get("error") == "foreignStore", "failure")
    assert machine.values() == {"color": "blue"}
    assert cluster.any.rows(STORE.encode()) == []
    other = fleet.add(Machine(tmp_path / "b", sync_tool, cluster.store_url("fleet"))).start()
    other.do("set", "color", "green")
    other.flush()
    assert machine.do("status")["failure"]["error"] == "foreignStore"
    assert machine.values() == {"color": "blue"}


def test_received_changes_are_never_refused(tmp_path, sync_tool):
  """Two machines that fill the quota at the same time have more than it together."""
  with EtcdCluster() as cluster, Fleet() as fleet:
    address = cluster.store_url("fleet")
    first, second = (
      fleet.add(Machine(tmp_path / name, sync_tool, address, quotaKeys=10)) for name in "ab")
    for machine in (first, second):
      machine.start().do("fill", machine.name, 8)
    for machine in (first, second):
      machine.flush()
    expected = {f"{name}{number}": f"value {number}" for name in "ab" for number in range(8)}
    for machine in (first, second):
      machine.agrees(expected)
    assert first.ask("set", "more", "1")["error"] == "overQuota"
    first.do("set", "a0", "value of the same size"[:7])
    first.do("remove", "b0")
    second_has = {key: value for key, value in expected.items() if key != "b0"} | {"a0": "value o"}
    second.agrees(second_has)


def test_removals_are_collected(tmp_path, sync_tool):
  """A machine that was away when a removal was collected takes the key as removed."""
  with EtcdCluster() as cluster, Fleet() as fleet:
    address = cluster.store_url("fleet")
    first, away = (
      fleet.add(Machine(tmp_path / name, sync_tool, address, quotaKeys=30_000, quotaBytes=20 << 20))
      for name in "ab")
    first.start().do("fill", "key", 10_500)
    first.do("set", "stays", "1")
    first.flush(60)
    away.start().do("observe")
    away.agrees(first.values(), 60)
    away.end()
    first.do("clear")
    first.do("set", "stays", "2")
    first.flush(60)
    rows = [row for row in cluster.any.rows(f"{STORE}k/".encode()) if row.value[1] == REMOVAL]
    first.do("set", "after", "3")
    first.flush(60)
    assert len(rows) <= 10_501
    for _ in range(300):
      rows = [row for row in cluster.any.rows(f"{STORE}k/".encode()) if row.value[1] == REMOVAL]
      if len(rows) <= 10_000:
        break
      with first.changed:
        first.changed.wait(0.1)
    assert len(rows) <= 10_000, f"{len(rows)} removals are left"
    assert cluster.any.get(f"{STORE}floor".encode())
    away.start()
    away.agrees({"stays": "2", "after": "3"}, 60)
