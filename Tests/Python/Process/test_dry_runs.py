"""--dry-run shows what would change, changes and creates nothing, and ends as the command would."""

from __future__ import annotations

import itertools
import json
import os
import plistlib
import subprocess

import pytest

from etcd_cluster import EtcdCluster
from preference_testing import Preferences
from prefs_testing import LIMIT, ended, hinted
from shared_machine import Machine
from test_preference_damage import damage

numbers = itertools.count()

FILE = b'{"port": 9, "name": "web", "new": [1, {"a": null}]}'
DIFF = b"+\tnew\tarray\t[1,{}]\n-\tport\tint\t8080\n+\tport\tint\t9\n"


@pytest.fixture
def preferences(home) -> Preferences:
  return Preferences(home)


def tree(home) -> dict:
  """Everything in a home: the files with their contents, and the folders."""
  # Who reads a database notes that in its index of the log, which is no part of its values.
  return {path: path.is_file() and not path.name.endswith("-shm") and path.read_bytes()
          for path in home.folder.rglob("*")}


def given(preferences, *more: str) -> None:
  """Sets what the diffs begin with."""
  preferences.run("write", "port", "8080", "--type", "int", *more)
  preferences.run("write", "name", "web", *more)


def test_a_diff(preferences):
  given(preferences)
  before = tree(preferences.home)
  dry = preferences.run("write", "port", "9", "--type", "int", "--dry-run")
  assert dry.out == b"-\tport\tint\t8080\n+\tport\tint\t9\n" and dry.error == ""
  assert preferences.run("write", "a", "1\t2", "--dry-run").out == b"+\ta\tstring\t1\\t2\n"
  assert preferences.run("delete", "port", "--dry-run").out == b"-\tport\tint\t8080\n"
  every = b"-\tname\tstring\tweb\n-\tport\tint\t8080\n"
  # Nobody is asked.
  assert preferences.run("delete", "--all", "--dry-run").out == every
  dry = preferences.run("import", "-", "--dry-run", input=FILE)
  assert dry.out == DIFF and "would import 3 preferences into 'web': 1 new, 1 changed" in dry.error
  dry = preferences.run("import", "-", "--replace", "--dry-run", input=b"{}")
  assert dry.out == every and "2 deleted" in dry.error
  same = preferences.run("write", "name", "web", "--dry-run")
  assert same.out == b"" and "nothing would change" in same.error
  assert preferences.run("delete", "none", "--if-exists", "--dry-run").out == b""
  terminal = preferences.terminal("write", "port", "9", "--type", "int", "--dry-run", "--domain", "web")
  terminal.expect("   KEY   TYPE  VALUE\r\n-  port  int   8080\r\n\\+  port  int   9\r\n")
  assert ended(terminal) == (0, "")
  assert tree(preferences.home) == before


def test_nothing_is_created(preferences):
  def run(*words, out=b"", code=0, **options):
    before = tree(preferences.home)
    dry = preferences.run(*words, "--dry-run", code=code, **options)
    assert dry.out == out and tree(preferences.home) == before

  run("write", "port", "9", out=b"+\tport\tstring\t9\n")
  run("write", "port", "9", "--expect", "1", code=75)
  run("import", "-", "--replace", input=FILE, out=(
    b"+\tname\tstring\tweb\n+\tnew\tarray\t[1,{}]\n+\tport\tint\t9\n"))
  run("delete", "--all", code=44)
  # Values of UserDefaults are seen, and not imported.
  preferences.folder.mkdir(exist_ok=True)
  (preferences.folder / "web.plist").write_bytes(plistlib.dumps({"port": 8080, "name": "web"}))
  run("write", "port", "9", code=79)
  run("import", "-", input=FILE, out=DIFF)
  run("delete", "port", out=b"-\tport\tint\t8080\n")


def test_a_damaged_value_is_named(preferences):
  given(preferences)
  damage(preferences, "name", "kind = 99")
  preferences.run("list", code=65)
  before = tree(preferences.home)
  dry = preferences.run("write", "name", "new", "--dry-run")
  assert dry.out == b"+\tname\tstring\tnew\n" and "'name' is damaged" in dry.error
  dry = preferences.run("delete", "name", "--dry-run")
  assert dry.out == b"" and "'name' is damaged" in dry.error
  assert tree(preferences.home) == before


def test_unsupported_change_is_refused(preferences):
  given(preferences)
  home = preferences.home
  # The superuser writes everywhere, unless that is given up.
  through = ["setpriv", "--bounding-set=-dac_override"] if os.geteuid() == 0 else []

  def refused(domain: str, *options: str) -> str:
    done = subprocess.run(
      [*through, home.program, "write", "port", "9", "--type", "int", "--domain", domain, *options],
      env=home.environment, capture_output=True, text=True, timeout=LIMIT)
    assert (done.returncode, done.stdout) == (79, ""), done
    return done.stderr

  preferences.folder.chmod(0o500)
  try:
    for domain in "web", "none":
      before = tree(home)
      assert refused(domain, "--dry-run") == refused(domain) and tree(home) == before
  finally:
    preferences.folder.chmod(0o700)


# MARK: shared


@pytest.fixture
def machines(make_home, cluster) -> list[Machine]:
  address = cluster.store_url(f"dry{next(numbers)}")
  return [Machine(make_home(), address) for _ in range(2)]


def rows(cluster, machine: Machine) -> list:
  return cluster.any.rows(machine.address.rpartition("/")[2].encode() + b"/")


@pytest.mark.parametrize("has_copy", [False, True], ids=["direct", "copy"])
def test_a_shared_store(machines, cluster, has_copy):
  machine, other = machines
  store = ["--store", machine.address]
  dry = machine.run("write", "port", "9", "--dry-run", *store)
  assert dry.out == b"+\tport\tstring\t9\n" and rows(cluster, machine) == []
  given(other, *store)
  if has_copy:
    machine.add()
    machine.now()
    # The copy is left as it is; what the engine has counts.
    other.run("write", "port", "8081", "--type", "int", *store)
    other.run("write", "port", "8080", "--type", "int", *store)
  before, engine = tree(machine.home), rows(cluster, machine)
  assert machine.run("import", "-", "--dry-run", *store, input=FILE).out == DIFF
  assert machine.run("delete", "--all", "--dry-run", *store).out.count(b"-\t") == 2
  long = "k" * 65
  refused = [(75, ["write", "port", "9", "--type", "int", "--expect", "1"]), (44, ["delete", "none"]),
             (79, ["write", long, "1", "--if-absent"]), (79, ["write", long, "1"])]
  for code, words in refused:
    dry = machine.run(*words, "--dry-run", *store, code=code)
    assert dry.out == b"" and tree(machine.home) == before and rows(cluster, machine) == engine
    assert machine.run(*words, *store, code=code).error == dry.error
    before, engine = tree(machine.home), rows(cluster, machine)


def test_quotas_of_a_copy(machines):
  machine = machines[0]
  machine.run("import", "-", input=json.dumps({f"k{number}": 1 for number in range(120)}).encode())
  machine.add("--quota-keys", "121")
  machine.now()
  dry = machine.run("import", "-", "--dry-run", input=b'{"a": 1, "b": 1}', code=79)
  assert "more than 121 keys" in dry.error
  assert machine.run("write", "a", "1", "--dry-run").out == b"+\ta\tstring\t1\n"
  before = tree(machine.home)
  for more in [], ["--store", machine.address]:
    assert machine.run(
      "import", "-", "--dry-run", *more, input=b'{"a": 1, "b": 1}', code=79).error == dry.error
  assert tree(machine.home) == before and machine.status["unsentKeys"] == 0


def test_who_may_only_read(make_home):
  with EtcdCluster() as cluster:
    cluster.enable_authentication("the password of root")
    cluster.add_user("reader", "secret", "fleet/", "READ")
    machine = Machine(make_home(), cluster.store_url("fleet"))
    password = machine.home.folder / "password"
    password.write_text("secret")
    password.chmod(0o600)
    connection = ["--store", machine.address, "--user", "reader", "--password-file", str(password)]
    dry = machine.run("write", "port", "9", "--dry-run", *connection, code=79)
    assert machine.run("write", "port", "9", *connection, code=79).error == dry.error


# MARK: sync


def test_the_first_contact(machines, cluster):
  machine, other = machines
  given(other)
  other.run("write", "same", "1")
  other.add()
  other.now()
  machine.run("write", "name", "mine")
  machine.run("write", "own", "1")
  machine.run("write", "same", "1")
  before, engine = tree(machine.home), rows(cluster, machine)
  dry = machine.add("--dry-run")
  assert dry.out == (
    b"lost\tname\there\tstring\tmine\nlost\tname\tstore\tstring\tweb\nsent\town\there\tstring\t1\n"
    b"comes\tport\tstore\tint\t8080\n")
  assert "1 key will be sent; 1 key will come; 1 key with two values will get those" in dry.error
  assert "shared" not in dry.error
  listed = json.loads(machine.add("--dry-run", "--diff-json", "--program-decides").out)
  assert listed[0] == {"key": "name", "change": "waits", "here": {"type": "string", "value": "mine"},
                       "store": {"type": "string", "value": "web"}}
  assert "--offline" in machine.add("--dry-run", "--offline", code=64).error
  assert tree(machine.home) == before and rows(cluster, machine) == engine


def test_an_adoption(machines, cluster):
  machine = machines[0]
  machine.run("write", "own", "1")
  machine.add()
  machine.now()
  # What is unsent stays so: it is the store that this machine knows.
  machine.run("write", "own", "2")
  same = machine.sync("adopt", "web", "--dry-run")
  assert same.out == b"" and "not adopted again" in same.error
  assert machine.sync("adopt", "web", "--dry-run", "--diff-json").out == b"[]\n"
  machine.sync("adopt", "web", "--yes")
  machine.now()
  assert machine.read("own") == b"2\n"
  cluster.ctl("del", "--prefix", machine.address.rpartition("/")[2] + "/")
  assert "prefs sync adopt web" in hinted(machine.sync("now", "web", code=65))
  before, engine = tree(machine.home), rows(cluster, machine)
  dry = machine.sync("adopt", "web", "--dry-run")
  assert dry.out == b"sent\town\there\tstring\t2\n" and "1 key will be sent" in dry.error
  assert tree(machine.home) == before and rows(cluster, machine) == engine
  assert "will be sent" not in machine.sync("adopt", "web", "--yes").error
