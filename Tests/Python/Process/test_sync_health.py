"""What the commands say when sharing is not well, and what monitoring gets."""

from __future__ import annotations

import base64
import fcntl
import itertools
import json
import os
import resource
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from etcd_certificates import make_certificates
from etcd_cluster import EtcdCluster
from preference_testing import change_database
from prefs_testing import LIMIT, hinted
from shared_machine import Machine, Running, until

numbers = itertools.count()


@pytest.fixture
def machine(make_home, cluster) -> Machine:
  machine = Machine(make_home(), cluster.store_url(f"health{next(numbers)}"))
  machine.add()
  return machine


def there(machine: Machine, command: str, *arguments: str, **options):
  return machine.run(command, *arguments, "--store", machine.address, **options)


def check(machine: Machine, code: int, *arguments: str) -> str:
  outcome = machine.sync("status", "--check", *arguments, code=code)
  assert outcome.error == ""
  return outcome.out.decode()


def value_in(cluster: EtcdCluster, key: str) -> bytes:
  (row,) = cluster.any.rows(b"fleet/web/k/" + key.encode())
  return row.value


# MARK: An engine that has gone backwards


@pytest.fixture
def restored(make_home):
  """A machine that has a later state than its cluster, whose revisions are as great again."""
  with EtcdCluster() as cluster:
    machine = Machine(make_home(), cluster.store_url("fleet"))
    machine.add()
    machine.run("write", "k", "1")
    machine.now()
    old = cluster.snapshot()
    machine.run("write", "k", "2")
    machine.now()
    yield machine, cluster, old


def test_now_waits_until_an_engine_that_went_back_has_everything_again(restored):
  machine, cluster, old = restored
  cluster.restore(old)
  assert value_in(cluster, "k").endswith(b"1")
  machine.now()
  assert value_in(cluster, "k").endswith(b"2") and machine.read("k") == b"2\n"
  cluster.restore(old)
  for number in range(20):
    cluster.any.put(b"fleet/web/k/other", b"\x01\x02" + b"o" * 16 + bytes(7) + bytes([number]) + bytes(16) + b"x")
  # Now the numbers of the revisions say nothing.
  machine.now()
  assert value_in(cluster, "k").endswith(b"2")


def test_now_sees_an_engine_that_went_back_behind_a_stopped_sender(restored):
  machine, cluster, old = restored
  with Running(machine) as running:
    until("the sender", lambda: machine.status["sender"])
    running.stop()
    cluster.restore(old)
    told = machine.now(code=75)
    assert f"process {running.process.pid}, which keeps it in step, is stopped" in told.error
    running.go_on()
    machine.now()
    assert value_in(cluster, "k").endswith(b"2")


# MARK: A sender that is stopped


def test_a_copy_behind_a_stopped_sender_says_how_old_it_is(make_home, machine):
  other = Machine(make_home(), machine.address)
  with Running(machine) as running:
    there(other, "write", "k", "1")
    machine.wait_for("k", "1")
    check(machine, 0)
    running.stop()
    # What is in step needs no word.
    assert there(machine, "read", "k").error == ""
    there(other, "write", "k", "2")
    begin = time.monotonic()
    told = there(machine, "read", "k")
    assert time.monotonic() - begin < 5
    assert told.out == b"1\n" and "is stopped" in told.error and "this is the copy of 20" in told.error
    assert "is stopped" in check(machine, 75)
    assert "is stopped" in machine.sync("status").out.decode()
    running.go_on()
    machine.wait_for("k", "2")
    check(machine, 0)


# MARK: What a person must mend


def test_a_full_database_is_79_at_once(make_home):
  with EtcdCluster(quota=1 << 20) as cluster:
    copy, direct = (Machine(make_home(), cluster.store_url("fleet")) for _ in range(2))
    copy.add()
    copy.run("write", "k", "1")
    copy.now()
    cluster.fill()
    begin = time.monotonic()
    assert "is full" in there(direct, "write", "k", "3", code=79).error
    told = there(copy, "write", "k", "2", code=79)
    assert "is full" in told.error and "unsent changes stay on this machine" in told.error
    assert "1 key is unsent" in copy.now(code=79).error
    assert time.monotonic() - begin < 15
    assert "is full" in check(copy, 79)
    cluster.make_room()
    copy.now()
    assert value_in(cluster, "k").endswith(b"2")


def with_password(machine: Machine, user: str) -> list[str]:
  return ["--user", user, "--password-file", machine.home.file(f"{user}.password", b"secret")]


def test_a_revoked_role_is_not_a_role_that_reads(make_home):
  with EtcdCluster() as cluster:
    cluster.enable_authentication("for root")
    cluster.add_user("web", "secret", "fleet/")
    cluster.add_user("reader", "secret", "fleet/", "READ")
    machine, reader = (Machine(make_home(), cluster.store_url("fleet")) for _ in range(2))
    machine.add(*with_password(machine, "web"))
    machine.run("write", "k", "1")
    machine.now()
    reader.add(*with_password(reader, "reader"))
    # What was written before that was known is removed as the page says.
    reader.run("write", "own", "1")
    reader.now(code=79)
    assert "may only read" in reader.sync("remove", "web", code=79).error.split("hint")[1]
    reader.sync("remove", "web", "--yes")
    reader.run("delete", "own")
    reader.add(*with_password(reader, "reader"))
    reader.now()
    with Running(reader):
      until("the refusal", lambda: reader.status["readOnly"])
      # Who may only read is in step.
      until("being in step", lambda: reader.status["healthy"])
      shown = reader.sync("status").out.decode()
      assert "read-only" in shown and "trouble" not in shown
    refused = there(reader, "write", "k", "3", *with_password(reader, "reader"), code=79)
    assert "no rights" not in refused.error
    with Running(machine):
      until("the sender", lambda: machine.status["healthy"])
      cluster.revoke("web", "fleet/")
      machine.run("write", "k", "2")
      until("the trouble", lambda: machine.status["trouble"])
      status = machine.status
      assert status["trouble"]["code"] == "permissionDenied" and not status["readOnly"]
      says = "the user 'web' has no rights to 'fleet/web/' (any more)"
      assert says in status["problem"] and status["code"] == 79 and says in check(machine, 79)
      begin = time.monotonic()
      told = machine.now(code=79)
      assert says in told.error and "1 key is unsent" in told.error
      assert says in there(machine, "write", "k", "4", code=79).error
      assert time.monotonic() - begin < 15
      cluster.grant("web", "fleet/", "READWRITE")
      machine.now()
    assert value_in(cluster, "k").endswith(b"4")


def with_time(text: bytes) -> bytes:
  """Returns the beginning of a certificate, up to the time from which it is valid."""
  def element(tag: int, content: bytes) -> bytes:
    return bytes([tag, len(content)]) + content
  times = element(0x30, element(0x18, text) * 2)
  return element(0x30, element(0x30, element(2, b"1") + element(0x30, b"") * 2 + times))


def pem(certificate: bytes) -> bytes:
  lines = b"-----%s CERTIFICATE-----\n"
  return lines % b"BEGIN" + base64.encodebytes(certificate) + lines % b"END"


def test_a_certificate_that_is_not_accepted_is_79_at_once(make_home, tmp_path):
  with EtcdCluster(tls=True) as cluster:
    machine, direct = (Machine(make_home(), cluster.store_url("fleet")) for _ in range(2))
    authority = Path(machine.home.file("ca.crt", cluster.certificates.authority.read_bytes()))
    foreign = make_certificates(tmp_path, ["127.0.0.1"]).authority
    begin = time.monotonic()
    direct.add("--cacert", str(foreign), code=79)
    there(direct, "read", "k", "--cacert", str(foreign), code=79)
    damaged = direct.home.file("damaged.crt", pem(with_time(b"9" * 30 + b"Z")))
    assert "has no certificate in PEM" in direct.add("--cacert", damaged, code=79).error
    machine.add("--cacert", str(authority))
    machine.run("write", "k", "1")
    machine.now()
    authority.write_bytes(foreign.read_bytes())
    told = there(machine, "write", "k", "2", code=79)
    assert "unsent changes stay on this machine" in told.error
    told = machine.now(code=79)
    assert "1 key is unsent" in told.error and "sent when this is mended" in hinted(told)
    assert machine.status["trouble"]["code"] == "certificate"
    machine.sync("adopt", "web", "--yes", code=79)
    assert time.monotonic() - begin < 30
    authority.write_bytes(cluster.certificates.authority.read_bytes())
    machine.now()
    assert value_in(cluster, "k").endswith(b"2")


# MARK: Checks


def test_check_reports_problems(machine):
  assert "no process keeps it in step" in check(machine, 75)
  with Running(machine) as running:
    assert running.told("STATUS=")
    until("being in step", lambda: machine.status["healthy"])
    assert check(machine, 0) == ""
    status = machine.status
    assert (status["healthy"], status["code"], status["problem"]) == (True, 0, None)
    until("a line for systemd", lambda: running.told("STATUS=") == "1 suite in step")
    # One that cannot be used hides no other, and is the worst.
    broken = machine.configuration.with_name("broken.json")
    broken.touch(0o600)
    broken.write_text("junk")
    line, = check(machine, 64).splitlines()
    assert line.startswith("broken: ") and line.endswith("(64)")
    all_of_them = {each["suite"]: each for each in machine.sync("status", "--json", "--check", code=64).json}
    assert all_of_them["web"]["healthy"] and all_of_them["broken"]["code"] == 64
    told = machine.sync("status", code=64)
    assert b"web" in told.out and b"broken" in told.out and "error: 'broken': " in told.error
    # A line is a line, and nothing in it is for the terminal.
    broken.write_text('{"\\u001b[2J\\n": 1}')
    line, = check(machine, 64).splitlines()
    assert "'\\u{1b}[2J\\n'" in line
    broken.unlink()
    running.end()
  assert "no process keeps it in step, last in step 20" in check(machine, 75)
  assert machine.status["problem"].endswith("'prefs sync run' does")


def test_check_reports_long_unsent_changes(machine):
  machine.now()
  machine.run("write", "k", "1")
  assert "1 key is unsent" not in check(machine, 75)
  with Running(machine) as running:
    until("the sender", lambda: machine.status["healthy"])
    # Its first work is done by then; stopped while it has the lock, it would hold up the write.
    time.sleep(1)
    running.stop()
    machine.run("write", "k", "2")
    time.sleep(0.02)
    status, = machine.sync("status", "--json", "--unsent-within", "10ms").json
    assert not status["healthy"] and status["code"] == 75


def test_times_in_the_future_say_nothing(machine):
  """Those of a clock that was set back since."""
  machine.run("write", "k", "1")
  machine.now()
  machine.run("write", "k", "2")
  path = machine.folder / "web.preferences"
  with (machine.folder / "web.preferences-sync").open("r+b") as sender:
    # A process that has the lock, and does nothing.
    fcntl.flock(sender, fcntl.LOCK_EX)
    check(machine, 0)
    change_database(path, ("UPDATE log SET since = since + 1000000", ()))
    assert "1 key is unsent, the oldest since" in check(machine, 75)
    change_database(
      path, ("UPDATE log SET since = since - 1000000", ()),
      ("UPDATE sync SET report = CAST(json_set(CAST(report AS TEXT), '$.lastContact', "
       "json_extract(CAST(report AS TEXT), '$.lastContact') + 1000) AS BLOB)", ()))
    assert "has not heard from etcd lately" in check(machine, 75)


def test_one_suite_hides_no_other(machine, cluster):
  """Whatever lies in the folder with the settings, and however it is called."""
  alike = ["caf\u00e9", "cafe\u0301"]
  for name in alike:
    machine.sync("add", name, machine.address)
  folder = os.fsencode(machine.configuration.parent)
  machine.configuration.with_name("evil\n\x1b[2Jall is well.json").mkdir()
  Path(os.fsdecode(folder + b"/\xff.json")).touch(0o600)
  with Running(machine):
    for number, name in enumerate(alike):
      machine.run("write", "k", str(number), domain=name)
    until("being in step", lambda: [
      value_of(cluster, machine, f"{name}/k/k".encode())[-1:] for name in alike] == [b"0", b"1"])
    until("the sender", lambda: len(check(machine, 79).splitlines()) == 2)
    evil, unnamed = check(machine, 79).splitlines()
    assert evil.startswith("evil\\n\\u{1b}[2Jall is well: ") and unnamed.endswith("(44)")
    every = {each["suite"]: each for each in machine.sync("status", "--json", "--check", code=79).json}
    assert all(every[name]["healthy"] for name in ["web", *alike])
    assert "'web' is in step" in machine.now(code=79).error
    listed = machine.sync("machines", code=79).out.decode()
    assert {line.split("\t")[0] for line in listed.splitlines()} == {"web", *alike}


def value_of(cluster: EtcdCluster, machine: Machine, key: bytes) -> bytes:
  return cluster.any.get(machine.address.rpartition("/")[2].encode() + b"/" + key) or b""


def test_check_of_a_cluster_that_is_away_and_of_nothing(make_home):
  machine = Machine(make_home(), "etcd+http://127.0.0.1:1/fleet")
  assert "no preferences are shared" in machine.sync("status", "--check", code=44).error
  machine.add("--offline")
  with Running(machine):
    until("the trouble", lambda: machine.status["trouble"])
    assert "127.0.0.1:1" in check(machine, 75)
  machine.sync("status", "--check", "other", code=44)


def test_failure_to_record_is_reported(machine):
  """As on a full disk: the file cannot grow any more."""
  signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
  try:
    running = Running(machine)
  finally:
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
  with running:
    until("being in step", lambda: machine.status["healthy"])
    resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
    machine.run("write", "k", "1")
    until("the failure", lambda: "cannot record" in (machine.status["problem"] or ""))
    assert machine.status["code"] == 74 and "cannot record" in machine.sync("status").out.decode()
    resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
    machine.run("write", "k", "2")
    machine.now()
    until("being in step again", lambda: machine.status["healthy"])
    assert "prefs: error: 'web': " in running.end()[1]


# MARK: The service


def test_the_watchdog_hears_of_a_service_that_gets_on(make_home):
  """Also if the cluster is away, which a restart does not mend."""
  machine = Machine(make_home(), "etcd+http://127.0.0.1:1/fleet")
  machine.add("--offline")
  with Running(machine, WATCHDOG_USEC="300000") as running:
    running.told("STATUS=1 of 1 in trouble: 'web': ")
    for _ in range(3):
      running.told("WATCHDOG=1")
  with Running(machine, WATCHDOG_USEC="300000", WATCHDOG_PID="1") as running:
    running.end()
    said = []
    while not said or said[-1] != b"STOPPING=1":
      said.append(running.socket.recv(4096))
    assert b"WATCHDOG=1" not in said


SCRIPTS = Path(__file__).resolve().parents[3] / "Scripts"
UNIT = SCRIPTS / "systemd/prefs-sync.service"


def settings(text: str) -> dict[str, str]:
  return dict(line.split("=", 1) for line in text.splitlines() if "=" in line and line[0] not in "#[")


def test_the_unit_names_what_the_program_does(machine):
  unit = settings(UNIT.read_text())
  assert unit["Type"] == "notify" and int(unit["WatchdogSec"]) > 3 * 2
  command = unit["ExecStart"].split()
  assert command[0].endswith("/prefs") and command[1:] == ["sync", "run"]
  # A start that would fail again in the same way ends with these.
  prevented = {int(code) for code in unit["RestartPreventExitStatus"].split()}
  assert prevented == {
    machine.sync("run", "nowhere", code=44).code, machine.sync("run", "--junk", code=64).code}


@pytest.mark.parametrize("path", ["/home/a b/.local/bin/prefs", '/o"dd/100%/b\\in/prefs'])
def test_the_unit_is_installed_with_the_path(path):
  made = subprocess.run(
    ["bash", "-euc", 'source "$root/Scripts/lib/install.sh"; make_unit "$0"', path],
    env={"root": str(SCRIPTS.parent)}, capture_output=True, text=True, timeout=LIMIT, check=True).stdout
  escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
  assert settings(made) == settings(UNIT.read_text()) | {"ExecStart": f'"{escaped}" sync run'}


def test_systemd_knows_every_setting_of_the_unit(tmp_path):
  if shutil.which("systemd-analyze") is None:
    pytest.skip("systemd-analyze is not needed for anything else")
  path = tmp_path / "prefs-sync.service"
  path.write_text(UNIT.read_text().replace("/usr/local/bin/prefs", "/bin/true"))
  told = subprocess.run(
    ["systemd-analyze", "verify", "--user", "--man=no", str(path)], capture_output=True, text=True,
    timeout=LIMIT)
  assert told.returncode == 0 and "prefs-sync" not in told.stderr, told
