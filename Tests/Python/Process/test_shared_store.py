"""--store reads and changes a shared store of etcd where no copy of it is on this machine."""

from __future__ import annotations

import itertools
import json

import pytest

from etcd_cluster import EtcdCluster
from faulty_proxy import Fault, FaultyProxy
from preference_testing import Preferences
from prefs_testing import LIMIT, hinted

PASSWORD = "a password that is nowhere"


@pytest.fixture(scope="module")
def guarded():
  """A cluster that asks for passwords, by TLS."""
  with EtcdCluster(tls=True) as cluster:
    cluster.enable_authentication("the password of root")
    cluster.add_user("web", PASSWORD, "fleet/")
    cluster.add_user("reader", PASSWORD, "fleet/", "READ")
    cluster.add_user("stranger", PASSWORD, "other/")
    yield cluster


numbers = itertools.count()


class Store(Preferences):
  """The commands with the store `web` of a prefix that no other test has."""

  def __init__(self, home, address: str) -> None:
    super().__init__(home)
    self.address = address
    self.variables: dict[str, str] = {}

  def start(self, command, *arguments, **options):
    address = options.pop("address", self.address)
    self.home.environment |= self.variables
    return super().start(command, "--store", address, *arguments, **options)


@pytest.fixture
def store(home, cluster) -> Store:
  return Store(home, cluster.store_url(f"test{next(numbers)}"))


def rows(cluster, store: Store) -> dict[bytes, bytes]:
  prefix = store.address.rpartition("/")[2].encode() + b"/web/"
  return {row.key.removeprefix(prefix): row.value for row in cluster.any.rows(prefix)}


def test_values_of_every_kind(store):
  values = {"text": "a\nb", "number": 1 << 62, "truth": True, "part": 0.5, "list": [1, "x", [False]],
            "ü \u0301": {"a": {"b": 1}}}
  for key, value in values.items():
    store.run("write", key, "--json", json.dumps(value))
  assert json.loads(store.read("--json")) == values
  for key, value in values.items():
    assert json.loads(store.read(key, "--json")) == value
  listed = json.loads(store.run("list", "--json").out)
  assert {row["key"] for row in listed} == set(values)
  exported = json.loads(store.run("export", "--json").out)
  assert exported == values
  # Nothing lies on this machine.
  assert store.files() == []


def test_absent(store):
  assert store.run("read", "port", code=44).out == b""
  assert "no shared store 'web'" in store.run("read", code=44).error
  assert store.read("port", "--default", "1") == b"1\n"
  store.run("write", "port", "8080", "--type", "int")
  found = store.run("read", "prot", code=44)
  assert "no 'prot'" in found.error and "'port'" in hinted(found)
  store.run("delete", "port")
  assert store.run("read", "port", code=44).out == b""
  store.run("delete", "port", code=44)
  store.run("delete", "port", "--if-exists")


def test_a_write_leaves_no_writer_behind(store, cluster):
  store.run("write", "port", "8080", "--type", "int")
  found = rows(cluster, store)
  assert set(found) >= {b"id", b"k/port"} and len(found[b"id"]) == 17
  (writer,) = [key for key in found if key.startswith(b"w/")]
  # Its tag is in the row of the key, too; the row of the writer ends with a lease.
  assert found[b"k/port"][2:18].hex().encode() == writer.removeprefix(b"w/")
  leases = cluster.any.call("lease/leases", {}).get("leases", [])
  assert leases
  seconds = [int(cluster.any.call("lease/timetolive", {"ID": lease["ID"]})["grantedTTL"]) for lease in leases]
  assert set(seconds) == {86_400}


def test_conditions(store):
  store.run("write", "state", "starting", "--if-absent")
  assert "exists" in store.run("write", "state", "x", "--if-absent", code=75).error
  store.run("write", "state", "ready", "--expect", "starting")
  assert "another value" in store.run("write", "state", "x", "--expect", "starting", code=75).error
  assert "no value" in store.run("write", "other", "x", "--expect", "y", code=75).error
  assert store.read("state") == b"ready\n"


def test_no_update_of_several_writers_is_lost(store):
  store.run("write", "list", "--json", "[]")
  processes = [
    store.start("write", "list", "-array-add", f"{number}") for number in range(12)]
  # The option takes the rest of the line; the domain and the store come first.
  for process in processes:
    _, error = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, error
  assert sorted(json.loads(store.read("list")), key=int) == [f"{number}" for number in range(12)]


def test_only_one_of_several_begins(store):
  processes = [store.start("write", "leader", f"{number}", "--if-absent") for number in range(8)]
  codes = [process.wait(LIMIT) for process in processes]
  for process in processes:
    process.communicate()
  assert sorted(codes) == [0] + [75] * 7
  assert store.read("leader").strip().isdigit()


def test_many_keys_are_imported_and_deleted(store):
  values = {f"key {number}": number for number in range(250)}
  path = store.home.file("values.json", json.dumps(values).encode())
  told = store.run("import", path).error
  assert "250 new" in told
  assert json.loads(store.read("--json")) == values
  path = store.home.file("values.json", json.dumps({"key 7": 8}).encode())
  assert "1 changed" in store.run("import", path, "--replace").error
  assert json.loads(store.read("--json")) == {"key 7": 8}
  store.run("delete", "--all", "--yes")
  assert json.loads(store.read("--json")) == {}


def test_large_values(store):
  text = "x" * 700_000
  for value in (text, text[1:], "small"):
    store.run("write", "big", "-", input=value.encode())
    assert store.read("big") == value.encode() + b"\n"
  refused = store.run("write", "big", "-", input=b"y" * (1 << 20), code=79)
  assert "more than 1 MiB" in refused.error
  refused = store.run("write", "k" * 65, "1", code=79)
  assert "64 bytes" in refused.error


def test_watch(store):
  store.run("write", "a", "1")
  with store.start("watch", "--initial", "--timeout", "30s", text=True) as watching:
    try:
      assert watching.stdout.readline() == "set\ta\tstring\t1\n"
      store.run("write", "b", "2", "--type", "int")
      assert watching.stdout.readline() == "set\tb\tint\t2\n"
      store.run("delete", "a")
      assert watching.stdout.readline() == "removed\ta\n"
    finally:
      watching.kill()
  with store.start("watch", "state", "--until", "ready", "--timeout", "30s", text=True) as watching:
    store.run("write", "state", "starting")
    store.run("write", "state", "ready")
    assert watching.wait(LIMIT) == 0


def test_a_watch_survives_a_lost_connection(store, cluster):
  store.run("write", "a", "1")
  with FaultyProxy("127.0.0.1", cluster.nodes[0].port) as proxy:
    address = cluster.store_url(store.address.rpartition("/")[2], [proxy.port])
    with store.start("watch", "--initial", "--timeout", "40s", address=address, text=True) as watching:
      try:
        assert watching.stdout.readline() == "set\ta\tstring\t1\n"
        proxy.is_open = False
        proxy.close()
        store.run("write", "a", "2")
        proxy.is_open = True
        assert watching.stdout.readline() == "set\ta\tstring\t2\n"
      finally:
        watching.kill()


# MARK: Failures


@pytest.mark.parametrize("address, said", [
  ("https://127.0.0.1/x", "etcd+https"), ("etcd+http://10.0.0.1:2379/x", "TLS"),
  ("etcd+https://web:secret@127.0.0.1/x", "must not contain"), ("etcd+https://127.0.0.1/x?a=b", "?"),
  ("etcd+https:///x", "ETCDCTL_ENDPOINTS")])
def test_addresses_that_cannot_be_used(store, address, said):
  refused = store.run("read", "port", address=address, code=64)
  assert said in refused.error and "secret" not in refused.error


def test_list_needs_a_domain(store):
  assert "--domain" in store.run("list", domain=None, code=64).error


def test_nobody_there(store, cluster):
  port = cluster.nodes[0].port
  refused = store.run("read", "port", address="etcd+http://127.0.0.1:1/x", code=69)
  assert "127.0.0.1:1" in refused.error
  # One endpoint of two is enough.
  store.run("write", "port", "1", address=f"etcd+http://127.0.0.1:1,127.0.0.1:{port}/x")


def test_damaged_and_newer_rows(store, cluster):
  store.run("write", "port", "1")
  prefix = store.address.rpartition("/")[2].encode()
  row = rows(cluster, store)[b"k/port"]
  cluster.any.put(prefix + b"/web/k/port", b"\x02" + row[1:])
  assert "newer release" in store.run("read", "port", code=79).error
  assert "newer release" in store.run("write", "port", "2", code=79).error
  cluster.any.put(prefix + b"/web/k/port", row[:20])
  assert "damaged" in store.run("read", "port", code=65).error
  # It hides no other one.
  store.run("write", "other", "1")
  for command in (["list"], ["export", "--json"], ["read"]):
    told = store.run(*command, code=65)
    assert b"other" in told.out and "'port' is damaged" in told.error
  assert rows(cluster, store)[b"k/port"] == row[:20]


def test_values_without_an_identity_are_not_changed(store, cluster):
  store.run("write", "port", "1")
  cluster.any.delete(store.address.rpartition("/")[2].encode() + b"/web/id")
  assert "its own" in store.run("write", "port", "2", code=65).error
  assert store.read("port") == b"1\n"


FAULTS = [fault for fault in Fault if fault not in (Fault.HANG_BEFORE, Fault.HANG_AFTER)]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name.lower())
def test_an_unknown_outcome_is_settled(store, cluster, fault):
  """Whichever message fails: the value is appended once, and the command says so."""
  store.run("write", "list", "--json", "[]")
  prefix = store.address.rpartition("/")[2]
  appended = 0
  for number in range(1, 8):
    with FaultyProxy("127.0.0.1", cluster.nodes[0].port, slowness=0.1) as proxy:
      counted = itertools.count(1)
      proxy.plan = lambda message: fault if next(counted) == number else None
      store.run("write", "list", "-array-add", "x", address=cluster.store_url(prefix, [proxy.port]))
      appended += 1
      assert json.loads(store.read("list")) == ["x"] * appended, f"message {number}"
      if not proxy.failed:
        break
  assert appended > 2


def test_foreign_answer_leaves_the_outcome_unknown(store, cluster):
  store.run("write", "port", "1")
  with FaultyProxy("127.0.0.1", cluster.nodes[0].port) as proxy:
    proxy.strange = [("400 Bad Request", b'{"code":99,"message":"new"}')]
    proxy.fail_every(1, Fault.STRANGE_AFTER, "/txn", at_most=1)
    store.run(
      "write", "port", "2",
      address=cluster.store_url(store.address.rpartition("/")[2], [proxy.port]))
    assert proxy.failed and store.read("port") == b"2\n"


def test_an_outcome_that_stays_unknown_is_81(store, cluster):
  store.run("write", "port", "1")
  prefix = store.address.rpartition("/")[2]
  with FaultyProxy("127.0.0.1", cluster.nodes[0].port) as proxy:
    # Performed, but never answered.
    proxy.plan = lambda message: Fault.CUT_AFTER if message.path.endswith("/txn") else None
    told = store.run(
      "write", "port", "2", address=cluster.store_url(prefix, [proxy.port]), code=81)
    assert "may have happened" in told.error


# MARK: Users


def options(store: Store, guarded, user: str, password: str = PASSWORD) -> list[str]:
  """Names the user by the variables of etcdctl; the password lies in a file."""
  store.variables = {
    "ETCDCTL_ENDPOINTS": guarded.nodes[0].url, "ETCDCTL_CACERT": str(guarded.certificates.authority),
    "ETCDCTL_USER": user}
  return ["--password-file", store.home.file("password", password.encode() + b"\n")]


def test_users(home, guarded):
  store = Store(home, "etcd+https:///fleet")
  store.run("write", "port", "1", *options(store, guarded, "web"))
  assert store.read("port", *options(store, guarded, "reader")) == b"1\n"
  refused = store.run("write", "port", "2", *options(store, guarded, "reader"), code=79)
  assert PASSWORD not in refused.error
  store.run("read", "port", *options(store, guarded, "stranger"), code=79)
  refused = store.run("read", "port", *options(store, guarded, "web", "another password"), code=78)
  assert "another password" not in refused.error
  assert store.read("port", *options(store, guarded, "web")) == b"1\n"


def test_users_by_options(home, guarded):
  """As the help of --store has it: an address with endpoints."""
  store = Store(home, guarded.store_url("fleet"))
  password = store.home.file("password", PASSWORD.encode())
  given = ["--user", "web", "--cacert", str(guarded.certificates.authority)]
  store.run("write", "given", "1", *given, "--password-file", password)
  assert store.read("given", *given, "--password-file", password) == b"1\n"
  assert "--password-file" in hinted(store.run("read", "given", *given, code=64))
  refused = store.run("read", "given", "--password-file", "nowhere", code=64)
  assert "no user" in refused.error and "--user" in hinted(refused)
  refused = store.run("read", "given", "--cacert", "nowhere", code=64)
  assert "nowhere" in refused.error
  store.run("read", "given", *given, "--password-ref", "junk", code=64)


def test_passwords_that_are_not_there(home, guarded):
  store = Store(home, "etcd+https:///fleet")
  options(store, guarded, "web")
  assert "password" in store.run("read", "port", code=64).error
  told = store.run("read", "port", "--password-file", "nowhere", code=77)
  assert "nowhere" in told.error and "EtcdError" not in told.error
  told = store.run("read", "port", "--password-ref", "keychain://etcd/fleet", code=77)
  assert "keychain://etcd/fleet" in told.error
  path = store.home.file("open", PASSWORD.encode(), mode=0o644)
  assert path in store.run("read", "port", "--password-file", path, code=77).error
  store.run("read", "port", "--password-file", "a", "--password-ref", "b", code=64)
  # The password of etcdctl's variable would be seen by every user of the machine.
  store.variables["ETCDCTL_USER"] = f"web:{PASSWORD}"
  refused = store.run("read", "port", "--password-file", path, code=64)
  assert PASSWORD not in refused.error


def test_a_password_of_the_keychain(home, guarded):
  store = Store(home, "etcd+https:///fleet")
  options(store, guarded, "web")
  home.environment["KEYCHAIN_STORE"] = "vault"
  home.run("set", "fleet", "--service", "etcd", input=PASSWORD.encode())
  store.run("write", "secret", "1", "--password-ref", "keychain://etcd/fleet")
  assert store.read("secret", "--password-ref", "keychain://etcd/fleet") == b"1\n"


def test_another_authority_is_not_trusted(home, guarded):
  store = Store(home, "etcd+https:///fleet")
  given = options(store, guarded, "web")
  del store.variables["ETCDCTL_CACERT"]
  store.home.environment.pop("ETCDCTL_CACERT", None)
  refused = store.run("read", "port", *given, code=79)
  assert "certificate" in refused.error


def test_the_environment_never_chooses_the_store(home, guarded):
  preferences = Preferences(home)
  home.environment |= {"ETCDCTL_ENDPOINTS": guarded.nodes[0].url, "ETCDCTL_USER": "web"}
  preferences.run("write", "port", "1")
  assert [path.name for path in preferences.files() if path.suffix == ".preferences"]


def test_reading_is_one_round_trip(store, cluster):
  store.run("write", "port", "1")
  prefix = store.address.rpartition("/")[2]
  with FaultyProxy("127.0.0.1", cluster.nodes[0].port) as proxy:
    assert store.read("port", address=cluster.store_url(prefix, [proxy.port])) == b"1\n"
    assert [message.path for message in proxy.messages] == ["/v3/kv/range"]


def test_a_store_that_is_removed_between_two_pieces(home, cluster):
  with FaultyProxy("127.0.0.1", cluster.nodes[0].port) as proxy:
    store = Store(home, cluster.store_url(f"test{next(numbers)}", [proxy.port]))
    values = json.dumps({f"k{number}": 1 for number in range(150)}).encode()
    calls = itertools.count(1)

    def plan(message) -> None:
      # The first makes the store, and the others send a piece each.
      if message.path.endswith("txn") and next(calls) == 3:
        cluster.any.delete(store.address.rpartition("/")[2].encode() + b"/web/id")
    proxy.plan = plan
    refused = store.run("import", "-", input=values, code=65)
    assert "removed or replaced meanwhile" in refused.error and "only a part was changed" in refused.error
    assert sum(key.startswith(b"k/") for key in rows(cluster, store)) == 100
