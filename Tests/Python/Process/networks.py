"""Machines on a network of their own, which can be cut into parts.

Each has a network namespace with one link to a switch; a part of the network is a switch. Nothing of it
is seen outside, and the kernel removes it with the last process in it.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import threading
from contextlib import contextmanager
from functools import cache

from etcd_cluster import end_with_parent
from machine import refusal

LIMIT = 30
CLONE_NEWNET = 0x40000000
_C_LIBRARY = ctypes.CDLL(None, use_errno=True)


@cache
def networking() -> str | None:
  """Returns why no namespaces can be made; nothing if they can."""
  return refusal("unshare", "--net", "ip", "link", "add", "switch", "type", "bridge")


class Namespace:
  """A network namespace, which a process holds."""

  def __init__(self) -> None:
    # `cat` ends with the pipe, that is with this process.
    self.holder = subprocess.Popen(
      ["unshare", "--net", "sh", "-c", "ip link set lo up && echo ready && exec cat"],
      stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=end_with_parent)
    assert self.holder.stdout.readline() == b"ready\n", "no network namespace was made"
    self.descriptor = os.open(f"/proc/{self.holder.pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)

  @property
  def through(self) -> list[str]:
    """The words before a command that run it here."""
    return ["nsenter", f"--net=/proc/{self.holder.pid}/ns/net"]

  def ip(self, *words: str) -> None:
    done = subprocess.run(
      [*self.through, "ip", *words], capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, f"ip {' '.join(words)}: {done.stderr}"

  @contextmanager
  def entered(self):
    """Within it, the sockets that this thread makes are of this namespace; they stay so."""
    outside = os.open(f"/proc/self/task/{threading.get_native_id()}/ns/net", os.O_RDONLY)
    try:
      enter(self.descriptor)
      try:
        yield
      finally:
        enter(outside)
    finally:
      os.close(outside)

  def end(self) -> None:
    os.close(self.descriptor)
    self.holder.stdin.close()
    self.holder.stdout.close()
    self.holder.wait(LIMIT)


def enter(descriptor: int) -> None:
  if _C_LIBRARY.setns(descriptor, CLONE_NEWNET) != 0:
    raise OSError(ctypes.get_errno(), "the network namespace was not entered")


class Host(Namespace):
  """A machine of a network."""

  def __init__(self, network: Network, number: int) -> None:
    super().__init__()
    self.network = network
    self.address = f"10.47.0.{number}"
    self.port = f"port{number}"
    network.switches.ip(
      "link", "add", self.port, "type", "veth", "peer", "name", "eth0", "netns",
      str(self.holder.pid))
    self.ip("addr", "add", f"{self.address}/24", "dev", "eth0")
    self.ip("link", "set", "eth0", "up")
    self.join(0)
    network.switches.ip("link", "set", self.port, "up")

  def join(self, part: int) -> None:
    """Moves the machine into a part of the network."""
    self.network.switches.ip("link", "set", self.port, "master", f"part{part}")

  def cut_off(self) -> None:
    """Takes the machine off the network; it notices nothing but silence."""
    self.network.switches.ip("link", "set", self.port, "nomaster")


class Network:
  """A number of machines, which are in one part at first."""

  def __init__(self, count: int) -> None:
    self.switches = Namespace()
    self.hosts: list[Host] = []
    try:
      for part in (0, 1):
        # No delay until a port forwards; nothing here has loops.
        self.switches.ip(
          "link", "add", f"part{part}", "type", "bridge", "stp_state", "0", "forward_delay", "0")
        self.switches.ip("link", "set", f"part{part}", "up")
      for number in range(1, count + 1):
        self.hosts.append(Host(self, number))
    except BaseException:
      self.end()
      raise

  def __enter__(self):
    return self

  def __exit__(self, *_):
    self.end()

  def divide(self, *others: Host) -> None:
    """Puts these machines into a part of their own, and all others together."""
    for host in self.hosts:
      host.join(1 if host in others else 0)

  def heal(self) -> None:
    self.divide()

  def end(self) -> None:
    for namespace in [*self.hosts, self.switches]:
      namespace.end()
