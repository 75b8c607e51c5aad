"""The program with shared preferences as a service sends and receives while it runs, and ends in order."""

from __future__ import annotations

import json

import pytest

from configuration_testing import Program, prefs, write
from etcd_cluster import EtcdCluster

SUITE = "com.example.fleet"


@pytest.fixture(scope="module")
def cluster():
  with EtcdCluster() as cluster:
    yield cluster


def share(home, address: str) -> None:
  folder = home.folder / "config" / "prephirences" / "shared"
  for one in (folder.parent, folder):
    one.mkdir(mode=0o700)
  home.file(f"config/prephirences/shared/{SUITE}.json", json.dumps({"address": address}).encode())


def test_a_change_of_the_fleet_arrives(home, cluster):
  address = cluster.store_url("arrives")
  share(home, address)
  with Program(home, "FleetServer") as program:
    program.reports("every 60 seconds")
    # In the store itself, as any other machine.
    prefs(home, "write", "--store", address, "--domain", SUITE, "interval", "30", "--type", "int")
    program.reports("every 30 seconds")
    assert program.terminated() == 0
    assert "unsent" not in program.text and "not in step" not in program.text


def test_it_runs_on_without_etcd_and_says_at_the_end_what_stays(home):
  share(home, "etcd+http://127.0.0.1:1/fleet")
  with Program(home, "FleetServer") as program:
    program.reports("every 60 seconds")
    program.reports("Shared preferences are not in step")
    write(home, "interval", "30", "--type", "int", domain=SUITE)
    program.reports("every 30 seconds")
    assert program.terminated() == 0
    assert "stay unsent" in program.text
