"""The model of many machines finds what it is there to find."""

from __future__ import annotations

import pytest

from etcd_cluster import EtcdCluster
from shared_history import FORM, Entry, History, Model, Write

STORE = b"fleet/settings/"
A, B = b"a" * 16, b"b" * 16


def row(writer: bytes, number: int, text: str | None) -> bytes:
  value = b"" if text is None else text.encode()
  return bytes([FORM, 0 if text is None else 6]) + writer + number.to_bytes(8, "big") + bytes(16) + value


def history(*entries: tuple[str, object]) -> History:
  return History(STORE, [Entry(key, number, value) for number, (key, value) in enumerate(entries, 2)])


def test_the_history_is_what_the_engine_had():
  with EtcdCluster() as cluster:
    found = History(STORE)
    cluster.any.put(STORE + b"k/color", row(A, 1, "red"))
    cluster.any.put(STORE + b"w/" + A.hex().encode(), b"not a key")
    found.collect(cluster.any)
    snapshot, revision = cluster.snapshot(), found.revision
    cluster.any.put(STORE + b"k/color", row(B, 1, "lost"))
    found.collect(cluster.any)
    assert found.values() == {"color": "lost"}
    cluster.restore(snapshot)
    found.restored(revision)
    cluster.any.put(STORE + b"k/size", row(B, 2, "9"))
    cluster.any.put(STORE + b"k/gone", row(A, 3, "x"))
    cluster.any.put(STORE + b"k/gone", row(A, 4, None))
    found.collect(cluster.any)
    cluster.compact()
    cluster.any.delete(STORE + b"k/gone")
    cluster.any.put(STORE + b"k/size", row(A, 5, "10"))
    found.collect(cluster.any)
    assert found.values() == {"color": "red", "size": "10"}
    assert [each.value for each in found.lost] == ["lost"]
    assert [(each.value, each.number) for each in found.by_key()["size"]] == [("9", 2), ("10", 5)]


FIRST = Write("a", "k", None, "a1")


@pytest.mark.parametrize("writes, entries, fault", [
  ([FIRST], [("k", "a1")], None),
  ([FIRST], [], "never arrived"),
  ([FIRST], [("k", "a1"), ("k", "a1")], "and at"),
  ([], [("k", "a1")], "nobody wrote"),
  # Replaced before it was sent.
  ([FIRST, Write("a", "k", "a1", "a2")], [("k", "a2")], None),
  ([FIRST, Write("a", "k", "a1", "a2")], [("k", "a1")], "never arrived"),
  ([FIRST, Write("a", "k", "a1", "a2")], [("k", "a2"), ("k", "a1")], "not after it"),
  # Another machine's write, which was known, and not.
  ([FIRST, Write("b", "k", "a1", "b1")], [("k", "a1"), ("k", "b1")], None),
  ([FIRST, Write("b", "k", None, "b1")], [("k", "a1"), ("k", "b1")], "is based on one of"),
  ([FIRST, Write("b", "k", None, "b1"), Write("b", "k", "b1", "b2")],
   [("k", "a1"), ("k", "b2")], "is based on one of"),
  # A removal that was not sent.
  ([FIRST, Write("b", "k", "a1", None), Write("b", "k", None, "b1")], [("k", "a1"), ("k", "b1")], None),
  ([Write("a", "k", None, "a1", 1), Write("a", "l", None, "a2", 1)], [("k", "a1"), ("l", "a2")], "torn"),
])
def test_the_model_finds(writes, entries, fault):
  faults = Model(writes).faults(history(*entries))
  assert any(fault in each for each in faults) if fault else not faults, faults


def test_lost_conflict_loses_no_value():
  model = Model([FIRST, Write("b", "k", None, "b1")], conflicts={("b", "k", "b1")})
  assert not model.faults(history(("k", "a1")))


def test_a_program_that_decides_may_overwrite_what_it_did_not_know():
  model = Model([FIRST, Write("b", "k", None, "b1")], deciding={"b"})
  assert not model.faults(history(("k", "a1"), ("k", "b1")))


def test_a_machine_does_not_take_itself_for_a_copy():
  writes = [FIRST, Write("a", "l", None, "a2")]
  found = History(STORE, [Entry("k", 2, "a1", A, 1), Entry("l", 3, "a2", B, 1)])
  assert any("took itself for a copy" in each for each in Model(writes).faults(found))
  assert not Model(writes, copied={"b": "a"}).faults(found)
