"""The page about the settings of a fleet: its blocks, and three nodes and machines on which they are typed."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import time
from pathlib import Path

from etcd_cluster import end_with_parent, free_port
from prefs_testing import LIMIT
from servers_page import unit

ROOT = Path(__file__).resolve().parents[3]
UNIT = ROOT / "Scripts/systemd/prefs-sync.service"
PAGE = (ROOT / "Documentation/Fleet.md").read_text()
OPERATION = PAGE.split("\n## Run it\n")[1]

NODES = ["etcd1", "etcd2", "etcd3"]


def block(language: str, section: str, number: int = 0, page: str = PAGE) -> str:
  """Returns a block of a section, up to the next heading of any level."""
  text = re.split(rf"(?m)^##+ {re.escape(section)}$", page)[1]
  text = re.split(r"(?m)^##+ ", text)[0]
  found = re.findall(rf"(?ms)^( *)```{language}\n(.*?)^\1```$", text)[number]
  return re.sub(rf"(?m)^{found[0]}", "", found[1])


class Node:
  """A node: what lies in its folder lies elsewhere on the page."""

  def __init__(self, fleet: Fleet, name: str) -> None:
    self.fleet, self.name = fleet, name
    self.folder = fleet.folder / name
    self.folder.mkdir()
    self.port, self.peer_port = free_port(), free_port()
    self.log = self.folder / "etcd.log"
    self.process: subprocess.Popen | None = None

  @property
  def settings(self) -> Path:
    return self.folder / "default"

  def here(self, text: str) -> str:
    changes = {
      "/etc/default/etcd": str(self.settings), "/etc/etcd": str(self.folder / "etc"),
      "/var/lib/etcd": str(self.folder / "data"), "0.0.0.0:2379": f"127.0.0.1:{self.port}",
      "0.0.0.0:2380": f"127.0.0.1:{self.peer_port}", "-o etcd ": "", "chown -R etcd: ": "true "}
    for old, new in changes.items():
      text = text.replace(old, new)
    return self.fleet.here(text)

  def type(self, text: str) -> None:
    """Types what the page has for the first node; the list of all nodes stays."""
    text = re.sub(r"(?<!initial-cluster )etcd1", self.name, text)
    text = re.sub(r"(?<=initial-cluster )\S+", lambda match: match[0].replace(self.name, "etcd1", 1), text)
    self.fleet.shell(self.here(text), {"PATH": os.environ["PATH"]}, self.folder)

  def copy(self) -> None:
    """Copies the certificates of this node from the machine of the operator."""
    for name in ("ca.crt", "peers.crt", *(f"{self.name}{end}" for end in (".crt", ".key", "-peer.crt", "-peer.key"))):
      shutil.copy(self.fleet.certificates / name, self.folder)
    self.type(block("sh", "Certificates", 1))

  def configure(self) -> None:
    text = block("ini", "Settings")
    (self.folder / "etcd.settings").write_text(text)
    self.settings.write_text(text)
    if self.name != "etcd1":
      command = block("sh", "Settings").replace("etcd2", self.name)
      self.fleet.shell(self.here(command), {"PATH": os.environ["PATH"]}, self.folder)

  def start(self) -> None:
    settings = dict(line.split("=", 1) for line in self.here(self.settings.read_text()).splitlines())
    # What the page has is for a network.
    settings |= {"ETCD_HEARTBEAT_INTERVAL": "50", "ETCD_ELECTION_TIMEOUT": "500"}
    with self.log.open("wb") as log:
      self.process = subprocess.Popen(
        ["etcd"], env={"PATH": os.environ["PATH"]} | settings, stdin=subprocess.DEVNULL, stdout=log,
        stderr=log, preexec_fn=end_with_parent)

  def wait(self) -> None:
    deadline = time.monotonic() + LIMIT
    while "ready to serve client requests" not in self.log.read_text():
      assert self.process.poll() is None and time.monotonic() < deadline, self.log.read_text()[-3000:]
      time.sleep(0.02)

  def stop(self) -> None:
    if self.process is not None:
      self.process.terminate()
      self.process.wait(LIMIT)
      self.process = None

  def restart(self) -> None:
    self.stop()
    self.start()
    self.wait()


class Fleet:
  """Three nodes, the machine of the operator, and what is typed there."""

  def __init__(self, folder: Path, operator) -> None:
    self.folder = folder
    self.operator = operator
    self.certificates = operator.folder / "fleet"
    self.nodes = [Node(self, name) for name in NODES]
    self.machines: list[Machine] = []

  def here(self, text: str) -> str:
    for node in self.nodes:
      text = text.replace(f"{node.name}.example.com:2379", f"localhost:{node.port}")
      text = text.replace(f"{node.name}.example.com:2380", f"localhost:{node.peer_port}")
    text = re.sub(r"(etcd\d|\$node)\.example\.com", "localhost", text)
    # Tests start and stop the nodes themselves.
    return text.replace("sudo ", "").replace("systemctl ", "true ")

  def shell(self, text: str, environment: dict[str, str], folder: Path) -> subprocess.CompletedProcess:
    done = subprocess.run(
      ["bash", "-euo", "pipefail", "-c", text], env=environment, cwd=folder, capture_output=True, text=True,
      timeout=LIMIT)
    assert done.returncode == 0, f"{text}: {done.stdout}{done.stderr}"
    return done

  def type(self, *texts: str) -> str:
    """Types blocks on the machine of the operator, in one shell."""
    environment = self.operator.environment | {"HOME": str(self.operator.folder)}
    return self.shell(self.here("".join(texts)), environment, self.operator.folder).stdout

  def operate(self, section: str, number: int = 0) -> str:
    """Types a block of the part about running a fleet, after the variables at its beginning."""
    start = re.search(r"(?ms)^```sh\n(.*?)^```$", OPERATION)[1]
    return self.type(start, block("sh", section, number, OPERATION))

  def set_up(self) -> None:
    self.type(block("sh", "Certificates"))
    for node in self.nodes:
      node.configure()
      node.copy()
      node.start()
    for node in self.nodes:
      node.wait()
    self.type(block("sh", "Users"), block("sh", "Users", 1))

  def set_up_again(self) -> None:
    """Types the set-up once more, in shells that go on after a failure, as a person's do."""
    for section, number in (("Certificates", 0), ("Users", 0), ("Users", 1)):
      self.type("set +e\n", block("sh", section, number), "true\n")
    for node in self.nodes:
      node.copy()
    for machine in self.machines:
      machine.type("set +e\n" + block("sh", "A machine") + "true\n")

  @property
  def keys(self) -> dict[str, bytes]:
    """The keys and passwords of the operator and the nodes, by their places."""
    folders = [self.certificates, *(node.folder / "etc" for node in self.nodes)]
    return {str(path): path.read_bytes() for folder in folders for path in folder.iterdir()
            if path.suffix in (".key", ".password")}

  def add(self, home) -> Machine:
    machine = Machine(home, self, len(self.machines) + 1)
    self.machines.append(machine)
    return machine

  def restart(self) -> None:
    """Restarts the nodes one after the other, as the page says."""
    for node in self.nodes:
      node.restart()

  def end(self) -> None:
    for machine in self.machines:
      machine.stop_service()
    for node in self.nodes:
      node.stop()


class Machine:
  """A home with the files that the page copies there, and the service of the page."""

  def __init__(self, home, fleet: Fleet, number: int) -> None:
    self.home, self.fleet, self.name = home, fleet, f"machine{number}"
    self.environment = home.environment | {
      "HOME": str(home.folder), "XDG_CONFIG_HOME": str(home.folder / ".config"), "USER": "somebody",
      "PATH": f"{os.path.dirname(home.program)}:{os.environ['PATH']}"}
    self.process: subprocess.Popen | None = None
    (home.folder / ".config").mkdir(mode=0o700)
    self.files.mkdir(mode=0o700)
    self.copy("ca.crt", f"{self.name}.crt", f"{self.name}.key", "web.password")

  @property
  def files(self) -> Path:
    return self.home.folder / ".config/fleet"

  def copy(self, *names: str, to: Path | None = None) -> None:
    """Copies files from the machine of the operator, each in one step."""
    for name in names:
      new = (to or self.files) / f"{name}.new"
      shutil.copy(self.fleet.certificates / name, new)
      new.rename(new.with_name(name))

  def type(self, text: str) -> subprocess.CompletedProcess:
    text = self.fleet.here(text.replace("machine1", self.name))
    return self.fleet.shell(text, self.environment, self.home.folder)

  def start_service(self) -> None:
    settings = dict(unit(UNIT.read_text()))
    assert settings["Type"] == "notify"
    name = str(self.home.folder / "notify")
    Path(name).unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notified:
      notified.bind(name)
      notified.settimeout(LIMIT)
      words = settings["ExecStart"].split()
      assert words[0] == "/usr/local/bin/prefs"
      self.process = subprocess.Popen(
        [self.home.program, *words[1:]], env=self.environment | {"NOTIFY_SOCKET": name},
        stdin=subprocess.DEVNULL, preexec_fn=end_with_parent)
      assert notified.recv(100) == b"READY=1"

  def stop_service(self) -> None:
    if self.process is not None:
      self.process.terminate()
      self.process.wait(LIMIT)
      self.process = None
