"""`prefs sync run` with many suites: what they share, and what happens when the machine has no more."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import socket
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from etcd_cluster import EtcdCluster
from preference_testing import Preferences
from prefs_testing import LIMIT

COUNT = 200


@pytest.fixture
def cluster():
  with EtcdCluster() as cluster:
    yield cluster


@pytest.fixture
def machine(home) -> Preferences:
  return Preferences(home)


def share(machine: Preferences, cluster: EtcdCluster, count: int) -> list[str]:
  """Writes the settings of suites, as `sync add` does."""
  folder = machine.folder / "prephirences" / "shared"
  folder.mkdir(mode=0o700, parents=True)
  folder.parent.chmod(0o700)
  suites = [f"s{number:03}" for number in range(count)]
  for suite in suites:
    path = folder / f"{suite}.json"
    path.touch(0o600)
    path.write_text(json.dumps({"address": cluster.store_url("fleet")}))
  return suites


@contextmanager
def running(machine: Preferences, soft: int, hard: int):
  """Runs `sync run` with limits of the open files; yields the process and the file of its errors."""
  errors = machine.home.folder / "errors"
  with errors.open("wb") as file:
    process = machine.start(
      "sync", "run", domain=None, stdout=file, stderr=file,
      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard)))
  try:
    yield process, errors
  finally:
    process.kill()
    process.wait(LIMIT)


def rows(cluster: EtcdCluster) -> dict[str, bytes]:
  return {row.key.decode(): row.value for row in cluster.any.rows(b"fleet/")}


def wait(what: str, condition, limit: float = LIMIT) -> None:
  end = time.monotonic() + limit
  while not condition():
    assert time.monotonic() < end, f"not after {limit} s: {what}"
    time.sleep(0.02)


def stores(cluster: EtcdCluster) -> int:
  """How many suites have been in step: the first contact gives a store its identity."""
  return sum(key.endswith("/id") for key in rows(cluster))


def is_sent(cluster: EtcdCluster, suite: str) -> bool:
  return cluster.any.get(f"fleet/{suite}/k/port".encode()) is not None


def connections(cluster: EtcdCluster) -> int:
  """How many connections to the cluster are open; the tests close theirs."""
  [node] = cluster.nodes
  open_ones = [line.split()[2:4] for line in Path("/proc/net/tcp").read_text().splitlines()]
  return open_ones.count([f"0100007F:{node.port:04X}", "01"])


def test_many_suites_share_a_connection(machine, cluster):
  """Two hundred suites under the limit of a service: each change arrives, and few things are needed."""
  suites = share(machine, cluster, COUNT)
  # etcd's own, through which it passes on what clients call.
  others = connections(cluster)
  # A few are at the end of a process without any suite. Files of a suite's own for what all share, such as
  # inotify, would not fit.
  with running(machine, soft=1024, hard=5 * COUNT + 64) as (process, errors):
    wait("all suites are in step", lambda: stores(cluster) == COUNT)
    # One watch and at most eight calls.
    assert 0 < connections(cluster) - others <= 9
    assert len(os.listdir(f"/proc/{process.pid}/task")) < 3 * COUNT + 10
    for suite in (suites[0], suites[COUNT // 2], suites[-1]):
      machine.run("write", "port", "8080", domain=suite)
      wait(f"{suite} is sent", lambda: is_sent(cluster, suite))
    # What others change arrives over the one connection.
    value = cluster.any.get(f"fleet/{suites[0]}/k/port".encode())
    for suite in (suites[1], suites[-2]):
      cluster.any.put(f"fleet/{suite}/k/port".encode(), value)
      machine.run("watch", "port", "--until", "8080", "--timeout", "20s", domain=suite)
    process.send_signal(signal.SIGTERM)
    assert process.wait(LIMIT) == 0
    assert errors.read_text() == ""


def test_a_limit_is_named_and_others_go_on(machine, cluster):
  """Seven suites have a place under a hard limit of 100 open files; ten want one."""
  suites = share(machine, cluster, 10)
  path = str(machine.home.folder / "notify")
  machine.home.environment["NOTIFY_SOCKET"] = path
  with (socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notices,
        running(machine, soft=60, hard=100) as (process, errors)):
    notices.settimeout(LIMIT)
    notices.bind(path)
    wait("seven suites are in step", lambda: stores(cluster) == 7)
    status = b"STATUS=3 of 10 in trouble: 's007' is not kept in step: "
    wait("the service manager knows", lambda: notices.recv(4096).startswith(status))
    told = errors.read_text()
    assert re.findall(r"error: '(s\d+)'", told) == suites[7:]
    assert "may open 100 files, enough for 7 suites; raise LimitNOFILE=" in told and "ulimit -n" in told
    machine.run("write", "port", "8080", domain=suites[0])
    wait(f"{suites[0]} is sent", lambda: is_sent(cluster, suites[0]))
    # A process that leaves makes room.
    (machine.folder / "prephirences" / "shared" / f"{suites[1]}.json").unlink()
    wait("another suite is in step", lambda: stores(cluster) == 8)
    process.send_signal(signal.SIGTERM)
    assert process.wait(LIMIT) == 0
    assert errors.read_text() == told
