"""The proxy of the tests fails as it says."""

from __future__ import annotations

import http.client

import pytest

from etcd_calls import EtcdCalls, EtcdRefusal, encoded
from faulty_proxy import Fault, FaultyProxy


@pytest.fixture
def proxy(cluster):
  with FaultyProxy("127.0.0.1", cluster.nodes[0].port, slowness=0.01) as made:
    yield made


@pytest.mark.parametrize("fault, is_performed, error", [
  (Fault.CUT_BEFORE, False, ConnectionError), (Fault.CUT_AFTER, True, ConnectionError),
  (Fault.UNAVAILABLE_BEFORE, False, EtcdRefusal), (Fault.UNAVAILABLE_AFTER, True, EtcdRefusal),
  (Fault.HALF_REQUEST, False, ConnectionError), (Fault.HALF_ANSWER, True, http.client.IncompleteRead),
  (Fault.STRANGE_BEFORE, False, EtcdRefusal), (Fault.STRANGE_AFTER, True, EtcdRefusal), (Fault.SLOW, True, None), (Fault.HANG_BEFORE, False, TimeoutError), (Fault.HANG_AFTER, True, TimeoutError),
])
def test_a_put_fails(cluster, proxy, fault, is_performed, error):
  calls = EtcdCalls("127.0.0.1", proxy.port)
  put = ("kv/put", {"key": encoded(fault.name.encode()), "value": encoded(b"x" * 100_000)}, 1)
  proxy.fail_every(1, fault, "kv/put", at_most=1)
  # Other answers look like one of etcd to these calls.
  proxy.strange = [("502 Bad Gateway", b"<html>")]
  if error is None:
    calls.call(*put)
  else:
    with pytest.raises(error):
      calls.call(*put)
  assert (cluster.any.get(fault.name.encode()) is not None) == is_performed
  calls.call(*put)
  assert [each for _, each in proxy.failed] == [fault]


def test_a_watch_fails_in_its_parts(cluster, proxy):
  calls = EtcdCalls("127.0.0.1", proxy.port)
  watch = {"create_request": {"key": encoded(b"watched")}}
  parts = calls.stream("watch", watch)
  assert next(parts)["created"]
  cluster.any.put(b"watched", b"1")
  assert next(parts)["events"]
  proxy.fail_every(1, Fault.CUT_BEFORE)
  cluster.any.put(b"watched", b"2")
  with pytest.raises((ConnectionError, http.client.IncompleteRead, StopIteration)):
    next(parts)


def test_a_closed_proxy_cuts_all(proxy):
  calls = EtcdCalls("127.0.0.1", proxy.port)
  parts = calls.stream("watch", {"create_request": {"key": encoded(b"watched")}})
  next(parts)
  proxy.close()
  with pytest.raises((ConnectionError, http.client.IncompleteRead, StopIteration)):
    next(parts)
  with pytest.raises(ConnectionError):
    calls.revision()
  proxy.open()
  assert calls.revision()
