"""A cluster with users goes back to a snapshot while machines use it: nobody must restart anything."""

from __future__ import annotations

import time

import pytest

from etcd_cluster import RELEASES, EtcdCluster
from preference_testing import Preferences
from sync_testing import SUITE, Fleet, Machine

PASSWORD = "for writing"

# Less than the time after which a silent member is given up.
LIMIT = 9


@pytest.fixture(params=RELEASES)
def guarded(request):
  with EtcdCluster(3, release=request.param) as cluster:
    cluster.enable_authentication("for root")
    cluster.add_user("web", PASSWORD, "fleet/")
    yield cluster


def with_password(folder, tool: str, cluster: EtcdCluster) -> Machine:
  folder.mkdir(mode=0o700)
  (folder / "password").touch(0o600)
  (folder / "password").write_text(PASSWORD)
  return Machine(
    folder, tool, cluster.store_url("fleet"), user="web", passwordFile=str(folder / "password"))


def test_running_machines_go_on(tmp_path, sync_tool, guarded):
  with Fleet() as fleet:
    first, second = (fleet.add(with_password(tmp_path / name, sync_tool, guarded)) for name in "ab")
    for machine in (first, second):
      machine.start().do("observe")
    first.do("set", "before", "1")
    first.flush()
    snapshot = guarded.snapshot()
    # Tokens of after the snapshot: the restored members wait for their index.
    second.end()
    for number in range(30):
      first.do("set", "lost", f"{number}")
      first.flush()
    second.start().do("observe")
    second.agrees({"before": "1", "lost": "29"})
    guarded.restore(snapshot)
    begin = time.monotonic()
    first.do("set", "after", "2")
    first.flush(LIMIT)
    second.agrees({"before": "1", "lost": "29", "after": "2"}, LIMIT)
    print(f"in step after {time.monotonic() - begin:.1f} s")
    rows = guarded.any.rows(f"fleet/{SUITE}/k/".encode())
    assert {row.key.decode().rsplit("/", 1)[1] for row in rows} == {"before", "lost", "after"}


def test_a_watch_without_a_copy_goes_on(home, guarded):
  preferences = Preferences(home)
  store = [
    "--store", guarded.store_url("fleet"), "--user", "web", "--password-file",
    home.file("password", PASSWORD.encode())]
  preferences.run("write", "state", "first", *store)
  snapshot = guarded.snapshot()
  with preferences.start("watch", "--initial", "--timeout", "40s", *store, text=True) as watching:
    try:
      assert watching.stdout.readline() == "set\tstate\tstring\tfirst\n"
      guarded.restore(snapshot)
      begin = time.monotonic()
      preferences.run("write", "state", "second", *store)
      assert watching.stdout.readline() == "set\tstate\tstring\tsecond\n"
      assert time.monotonic() - begin < LIMIT
    finally:
      watching.kill()
