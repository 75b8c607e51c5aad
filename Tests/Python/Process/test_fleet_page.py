"""The pages about a fleet: what they say is typed, from empty nodes to a restored snapshot."""

from __future__ import annotations

import re
import shutil
import ssl

import pytest

from fleet_page import OPERATION, PAGE, Fleet, block


@pytest.fixture
def fleet(make_home, tmp_path):
  """Three nodes and three machines, whose services run."""
  fleet = Fleet(tmp_path, make_home())
  try:
    fleet.set_up()
    for _ in range(3):
      machine = fleet.add(make_home())
      told = machine.type(block("sh", "A machine"))
      assert "the store 'com.example.web' has" in told.stderr
      # The users of the page are asked for their passwords.
      assert "asks nobody" not in told.stderr
      settings = machine.home.folder / ".config/prephirences/shared/com.example.web.json"
      assert settings.exists() and str(settings.name) in PAGE
      machine.start_service()
    yield fleet
  finally:
    fleet.end()


def change(fleet: Fleet, value: int) -> None:
  """Changes the setting of the page on one machine, and waits for it on the others."""
  fleet.machines[0].type(block("sh", "Change a setting").replace("30", str(value)))
  for machine in fleet.machines[1:]:
    machine.type(block("sh", "Change a setting", 1).replace("until 30", f"until {value}"))


def a_changed_setting_on_three_machines(fleet, make_home):
  change(fleet, 30)
  change(fleet, 60)
  # What a machine has does not make it a node.
  calling = ("curl -sS --http1.1 --cacert ~/fleet/peers.crt --cert ~/fleet/{0}.crt --key ~/fleet/{0}.key "
             "https://etcd1.example.com:2380/version")
  assert "etcdcluster" in fleet.type(calling.format("etcd2-peer"))
  fleet.type("! " + calling.format("machine1"))
  machines = fleet.machines
  # What this machine has lost or not sent follows in the log, without a revision.
  machines[1].stop_service()
  machines[1].type("prefs sync remove com.example.web; prefs write interval 1 --type int --domain com.example.web\n"
                   + block("sh", "A machine"))
  machines[1].start_service()
  told = machines[1].type("prefs sync now; prefs sync log com.example.web interval --last 1 | tail -n 1").stdout
  assert "\tlost\tinterval" in told
  told = machines[0].type(block("sh", "See the status"))
  assert re.search(r"sender: +process \d+\n", told.stdout) and "trouble" not in told.stdout
  told = machines[1].type("".join(
    block("sh", "Find a change, and take it back", number, OPERATION) for number in range(3)))
  assert told.stdout.count("+\tinterval\tint\t60\n") == 1 and "+\tinterval\tint\t30\n" in told.stdout
  machines[0].type(block("sh", "Change a setting", 1))
  # A machine without a copy.
  fleet.machines = machines[:1]
  stranger = fleet.add(make_home())
  fleet.machines = machines
  assert stranger.type(block("sh", "See the status", 1)).stdout == "30\n"
  assert not (stranger.home.folder / ".config/prephirences").exists()


def a_set_up_that_is_typed_twice_keeps_its_keys(fleet):
  keys = fleet.keys
  assert len(keys) == 2 + 3 * 2 + 4 + 2 + 3 * 2
  fleet.set_up_again()
  assert fleet.keys == keys
  fleet.restart()
  change(fleet, 61)


def trust(fleet: Fleet) -> None:
  """Copies the certificates of authorities to all, and restarts the nodes one after the other."""
  for machine in fleet.machines:
    machine.copy("ca.crt")
  for node in fleet.nodes:
    node.copy()
  fleet.restart()


def certificates_are_replaced_while_all_runs(fleet):
  begun = [machine.process.pid for machine in fleet.machines]
  fleet.operate("Replace certificates")
  machine = fleet.machines[0]
  shutil.copy(fleet.certificates / "machine1.crt", machine.home.folder)
  shutil.copy(fleet.certificates / "machine1.key", machine.home.folder)
  machine.type(block("sh", "Replace certificates", 1, OPERATION))
  fleet.nodes[0].copy()
  change(fleet, 31)
  # Both authorities are trusted for a while.
  fleet.operate("Replace the authority")
  trust(fleet)
  change(fleet, 32)
  fleet.operate("Replace the authority", 1)
  assert (fleet.certificates / "ca.crt").read_text().count("BEGIN") == 2
  fleet.operate("See how the cluster stands")
  for machine in fleet.machines:
    machine.copy(f"{machine.name}.crt", f"{machine.name}.key")
  for node in fleet.nodes:
    node.copy()
    shown = ssl.get_server_certificate(("127.0.0.1", node.port))
    assert shown == (fleet.certificates / f"{node.name}.crt").read_text()
  change(fleet, 33)
  # The operator's own commands work all the time.
  fleet.operate("See how the cluster stands")
  fleet.operate("Replace the authority", 2)
  assert (fleet.certificates / "ca.crt").read_text().count("BEGIN") == 1
  trust(fleet)
  change(fleet, 34)
  assert [machine.process.pid for machine in fleet.machines] == begun
  assert all(machine.process.poll() is None for machine in fleet.machines)
  told = fleet.machines[0].type("prefs sync status").stdout
  assert "trouble" not in told


def a_password_is_replaced(fleet):
  fleet.operate("Replace a password, or shut out a machine")
  for machine in fleet.machines:
    machine.type("! prefs sync now com.example.web")
    machine.copy("web.password")
    machine.type("prefs sync now com.example.web")
    # The service goes on at once, too, though it had met the old password.
    machine.type("for _ in {1..100}; do ! prefs sync status --check || exit 0; sleep 0.1; done; exit 1")
  change(fleet, 41)


def a_node_is_replaced(fleet):
  lost = fleet.nodes[2]
  lost.stop()
  change(fleet, 51)
  fleet.operate("Replace a node")
  lost.type(block("sh", "Replace a node", 1, OPERATION))
  lost.start()
  lost.wait()
  assert fleet.operate("See how the cluster stands").count("etcd3") == 1
  change(fleet, 52)


def room_is_made(fleet):
  change(fleet, 61)
  assert "https" in fleet.operate("See how the cluster stands")
  assert "etcd_server_has_leader 1" in fleet.operate("See how the cluster stands", 1)
  fleet.operate("See how the cluster stands", 2)
  fleet.operate("Make room")
  change(fleet, 62)


def a_snapshot_is_restored(fleet):
  change(fleet, 71)
  fleet.operate("Save and restore")
  fleet.machines[1].type("prefs write lost 1 --domain com.example.web; prefs sync now com.example.web")
  for node in fleet.nodes:
    node.stop()
  for node in fleet.nodes:
    shutil.copy(fleet.certificates / "snapshot.db", node.folder)
    node.type(block("sh", "Save and restore", 1, OPERATION))
    node.start()
  for node in fleet.nodes:
    node.wait()
  change(fleet, 72)
  # What only the lost cluster had is sent again by the machine that had changed it.
  sent = "until etcdctl get fleet/com.example.web/k/lost | grep -q lost; do sleep 0.1; done\n"
  fleet.type(re.search(r"(?ms)^```sh\n(.*?)^```$", OPERATION)[1], sent)


def test_three_nodes_and_three_machines(fleet, make_home):
  """One cluster for all parts, since it takes longer to set up than to use."""
  a_changed_setting_on_three_machines(fleet, make_home)
  a_set_up_that_is_typed_twice_keeps_its_keys(fleet)
  a_password_is_replaced(fleet)
  room_is_made(fleet)
  a_node_is_replaced(fleet)
  certificates_are_replaced_while_all_runs(fleet)
  a_snapshot_is_restored(fleet)


def test_the_pages_name_the_packages_of_the_tests():
  packages = re.search(r"apt-get install (.*)", block("sh", "The engine"))[1].split()
  assert {"etcd-server", "etcd-client"} <= set(packages)
