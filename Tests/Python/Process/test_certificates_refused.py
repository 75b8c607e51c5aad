"""Certificates that are refused: each is told at once, in words by which a person can mend it."""

from __future__ import annotations

import os
import time

import pytest

from etcd_certificates import Certificates, make_certificates, names
from etcd_cluster import EtcdCluster, free_port
from sync_testing import Fleet, Machine

PAST = ("20200101000000Z", "20210203040506Z")
FUTURE = ("20400102030405Z", "20410101000000Z")
CLIENT = "extendedKeyUsage=clientAuth"

# The words of a failure are there within this time, in seconds; a second is left for the machine.
LIMIT = 5


@pytest.fixture(scope="module")
def guarded():
  """A cluster that wants certificates of its authority, by TLS alone."""
  with EtcdCluster(tls=True, options=("--log-level", "error")) as cluster:
    node = cluster.nodes[0]
    node.stop()
    cluster.more_options = (
      "--client-cert-auth", "--trusted-ca-file", str(cluster.certificates.authority))
    node.start()
    node.wait()
    yield cluster


@pytest.fixture
def own(guarded, tmp_path) -> dict[str, str]:
  """The settings of a machine that the cluster takes."""
  certificate, key = guarded.certificates.client()
  return {
    "certificateAuthority": str(guarded.certificates.authority), "certificate": str(certificate),
    "key": str(key)}


def failure(folder, tool: str, address: str, settings: dict[str, str]) -> dict:
  """Returns what a machine says that has a change to send; how long it took is in `seconds`."""
  with Fleet() as fleet:
    machine = fleet.add(Machine(folder, tool, address, **settings)).start()
    machine.do("observe")
    begin = time.monotonic()
    machine.do("set", "color", "red")

    def said() -> list[dict]:
      return [event for event in machine.events if event["event"] == "failure"]
    machine.wait(said, "failure")
    assert machine.do("status")["unsent"] == 1
    return said()[0] | {"seconds": time.monotonic() - begin}


def refused(folder, tool: str, address: str, settings: dict[str, str], *words: str) -> str:
  said = failure(folder, tool, address, settings)
  for word in words:
    assert word in said["message"], said
  assert said["seconds"] < LIMIT, said
  return said["message"]


def outdated(guarded, name: str, validity) -> dict[str, str]:
  certificate, key = guarded.certificates.dated(name, validity, CLIENT)
  return {"certificate": str(certificate), "key": str(key)}


def test_the_clients_certificate(tmp_path, sync_tool, guarded, own):
  other = tmp_path / "other"
  other.mkdir()
  stranger, strangers_key = make_certificates(other, ["127.0.0.1"]).client()
  address = guarded.store_url("fleet")
  expired = outdated(guarded, "expired", PAST)
  early = outdated(guarded, "early", FUTURE)
  cases = {
    "expired": (expired, "expired at 2021-02-03 04:05 UTC", "clock", expired["certificate"]),
    "early": (early, "not yet valid", "2040-01-02 03:04 UTC", "look at the clock"),
    "stranger": (
      {"certificate": str(stranger), "key": str(strangers_key)}, "does not accept",
      str(stranger), "authority"),
    "mismatch": ({"key": str(strangers_key)}, "does not fit", str(strangers_key)),
    "no key": ({"key": str(tmp_path / "nowhere")}, "key", "is missing", str(tmp_path / "nowhere")),
    "no certificate": (
      {"certificate": str(tmp_path / "gone")}, "client certificate is missing", str(tmp_path / "gone")),
    "no authority": (
      {"certificateAuthority": str(tmp_path / "away")}, "authority is missing", str(tmp_path / "away")),
    "no PEM": ({"certificate": os.devnull}, "no certificate in PEM", os.devnull),
    "nothing": ({"certificate": None, "key": None}, "asks for a client certificate"),
  }
  for number, (name, (change, *words)) in enumerate(cases.items()):
    settings = {key: value for key, value in (own | change).items() if value}
    said = refused(tmp_path / str(number), sync_tool, address, settings, *words)
    print(f"{name}: {said}")


def test_a_dead_endpoint_does_not_hide_it(tmp_path, sync_tool, guarded, own):
  node = guarded.nodes[0].port
  address = guarded.store_url("fleet", [node, free_port(), node])
  said = refused(
    tmp_path / "a", sync_tool, address, own | outdated(guarded, "expired", PAST), "expired at",
    "other endpoints: ", "cannot be reached")
  assert said.index("expired") < said.index("cannot be reached")


SERVERS = {
  "expired": (PAST, ["127.0.0.1"], ("has expired", "renew it there", "clock")),
  "early": (FUTURE, ["127.0.0.1"], ("not yet valid", "look at the clock")),
  "named": (("20200101000000Z", "20400101000000Z"), ["127.0.0.9"], ("is for another name",)),
  "stranger": (None, ["127.0.0.1"], ("not of an authority in ", "name its authority")),
}


@pytest.mark.parametrize("case", SERVERS)
def test_the_servers_certificate(tmp_path, sync_tool, case):
  validity, addresses, words = SERVERS[case]
  authority = make_certificates(tmp_path, ["127.0.0.1"])
  with EtcdCluster(tls=True) as cluster:
    if validity:
      cluster.certificates = authority
      certificate, key = authority.dated("served", validity, names(addresses))
      node = cluster.nodes[0]
      node.stop()
      cluster.more_options = ("--cert-file", str(certificate), "--key-file", str(key))
      node.start()
      node.wait()
    said = refused(
      tmp_path / "a", sync_tool, cluster.store_url("fleet"),
      {"certificateAuthority": str(authority.authority)}, *words)
    print(f"{case}: {said}")
