"""The page about a fleet: what it says is typed, from an empty etcd to a changed setting on three machines."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import time

import pytest

from etcd_cluster import end_with_parent, free_port
from fleet_page import PAGE, block
from prefs_testing import LIMIT
from servers_page import unit

HOST = "etcd.example.com"


class Place:
  """Where the page's commands are typed: its paths lie in a folder, and its host is this machine."""

  def __init__(self, folder) -> None:
    self.folder = folder
    self.etc = folder / "etc"
    self.data = folder / "data"
    self.etc.mkdir()
    self.port = free_port()
    self.peer_port = free_port()

  def here(self, text: str) -> str:
    changes = {
      "/etc/etcd": str(self.etc), "/var/lib/etcd": str(self.data), "0.0.0.0": "127.0.0.1",
      HOST: "localhost", ":2379": f":{self.port}", "sudo ": "",
      # There is no such user here.
      "chown etcd: ": "true "}
    for old, new in changes.items():
      text = text.replace(old, new)
    return text

  def shell(self, text: str, environment: dict[str, str]) -> subprocess.CompletedProcess:
    done = subprocess.run(
      ["bash", "-euo", "pipefail", "-c", self.here(text)], env=environment, cwd=self.folder,
      capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, f"{text}: {done.stdout}{done.stderr}"
    return done

  def start(self) -> subprocess.Popen:
    """Starts etcd with the settings of the page, and waits for it."""
    settings = dict(line.split("=", 1) for line in self.here(block("ini", "Settings")).splitlines())
    peer = f"http://127.0.0.1:{self.peer_port}"
    settings |= {
      "ETCD_LISTEN_PEER_URLS": peer, "ETCD_INITIAL_ADVERTISE_PEER_URLS": peer,
      "ETCD_INITIAL_CLUSTER": f"{settings['ETCD_NAME']}={peer}"}
    with (self.folder / "etcd.log").open("wb") as log:
      process = subprocess.Popen(
        ["etcd"], env={"PATH": os.environ["PATH"]} | settings, stdin=subprocess.DEVNULL, stdout=log,
        stderr=log, preexec_fn=end_with_parent)
    deadline = time.monotonic() + LIMIT
    while "ready to serve client requests" not in (self.folder / "etcd.log").read_text():
      assert process.poll() is None and time.monotonic() < deadline, (self.folder / "etcd.log").read_text()
      time.sleep(0.05)
    return process


@pytest.fixture
def place(tmp_path):
  return Place(tmp_path)


class Machine:
  """A home with the files that the page copies there, and the service of the page."""

  def __init__(self, home, place: Place, server) -> None:
    self.home, self.place = home, place
    self.environment = home.environment | {
      "XDG_CONFIG_HOME": str(home.folder / ".config"), "USER": "somebody",
      "PATH": f"{os.path.dirname(home.program)}:{os.environ['PATH']}"}
    fleet = home.folder / ".config/fleet"
    fleet.mkdir(parents=True, mode=0o700)
    (home.folder / ".config").chmod(0o700)
    for name in ("ca.crt", "machine.crt", "machine.key"):
      shutil.copy(place.etc / name, fleet)
    shutil.copy(server.folder / "web.password", fleet)

  def type(self, text: str) -> subprocess.CompletedProcess:
    return self.place.shell(text, self.environment)

  def start_service(self) -> subprocess.Popen:
    settings = dict(unit(block("ini", "A machine")))
    assert settings["Type"] == "notify"
    name = str(self.home.folder / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notified:
      notified.bind(name)
      notified.settimeout(LIMIT)
      words = settings["ExecStart"].split()
      assert words[0] == "/usr/local/bin/prefs"
      process = subprocess.Popen(
        [self.home.program, *words[1:]], env=self.environment | {"NOTIFY_SOCKET": name},
        stdin=subprocess.DEVNULL, preexec_fn=end_with_parent)
      assert notified.recv(100) == b"READY=1"
    return process


def test_a_changed_setting_on_three_machines(place, make_home):
  server = make_home()
  place.shell(block("sh", "Certificates"), server.environment)
  processes = [place.start()]
  try:
    place.shell(block("sh", "Users"), server.environment)
    machines = [Machine(make_home(), place, server) for _ in range(3)]
    for machine in machines:
      told = machine.type(block("sh", "A machine"))
      assert "the store 'com.example.web' has" in told.stderr
      # The users of the page are asked for their passwords.
      assert "asks nobody" not in told.stderr
      settings = machine.home.folder / ".config/prephirences/shared/com.example.web.json"
      assert settings.exists() and str(settings.name) in PAGE
      processes.append(machine.start_service())
    machines[0].type(block("sh", "Change a setting"))
    for machine in machines[1:]:
      machine.type(block("sh", "Change a setting", 1))
    machines[2].type(block("sh", "Change a setting").replace("30", "60"))
    machines[0].type(block("sh", "Change a setting", 1).replace("until 30", "until 60"))
    told = machines[0].type(block("sh", "See how it stands"))
    assert re.search(r"sender: +process \d+\n", told.stdout) and "trouble" not in told.stdout
    assert "\tinterval\tset\t" in told.stdout
    # A machine without a copy.
    stranger = Machine(make_home(), place, server)
    assert stranger.type(block("sh", "See how it stands", 1)).stdout == "60\n"
    assert not (stranger.home.folder / ".config/prephirences").exists()
    machines[1].type("prefs sync remove com.example.web")
  finally:
    for process in reversed(processes):
      process.terminate()
      process.wait(LIMIT)


def test_the_page_names_the_packages_of_the_tests():
  packages = re.search(r"apt-get install (.*)", block("sh", "The engine"))[1].split()
  assert {"etcd-server", "etcd-client"} <= set(packages)


def test_systemd_knows_every_setting(tmp_path):
  if shutil.which("systemd-analyze") is None:
    pytest.skip("systemd-analyze is not needed for anything else")
  path = tmp_path / "prefs-sync.service"
  path.write_text(re.sub(r"(?m)^ExecStart=.*", "ExecStart=/bin/true", block("ini", "A machine")))
  told = subprocess.run(
    ["systemd-analyze", "verify", "--man=no", str(path)], capture_output=True, text=True, timeout=LIMIT)
  assert told.returncode == 0 and "prefs-sync" not in told.stderr, told
