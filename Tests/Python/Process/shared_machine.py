"""A home that shares the suite `web` with others."""

from __future__ import annotations

import itertools
import signal
import socket
import time

from prefs_testing import LIMIT
from preference_testing import Preferences

numbers = itertools.count()


class Machine(Preferences):
  """A home that shares the suite `web`."""

  def __init__(self, home, address: str) -> None:
    super().__init__(home)
    self.address = address

  def sync(self, *arguments: str, **options):
    return self.run("sync", *arguments, domain=None, **options)

  def add(self, *arguments: str, **options):
    return self.sync("add", "web", self.address, *arguments, **options)

  def now(self, *arguments: str, **options):
    return self.sync("now", *arguments, **options)

  @property
  def status(self) -> dict:
    (status,) = self.sync("status", "--json").json
    return status

  @property
  def configuration(self):
    return self.folder / "prephirences/shared/web.json"

  def wait_for(self, key: str, value: str) -> None:
    """Waits until a value of another machine is here."""
    self.run("watch", key, "--until", value, "--timeout", "40s")


def until(what: str, condition) -> None:
  deadline = time.monotonic() + LIMIT
  while not condition():
    assert time.monotonic() < deadline, f"not in {LIMIT} s: {what}"
    time.sleep(0.02)


class Running:
  """`sync run` within a `with` block, which begins when it says that it is ready."""

  def __init__(self, machine: Machine, *arguments: str, **variables: str) -> None:
    self.machine = machine
    environment = dict(machine.home.environment)
    self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    path = str(machine.home.folder / f"notify{next(numbers)}")
    self.socket.bind(path)
    self.socket.settimeout(LIMIT)
    machine.home.environment |= {"NOTIFY_SOCKET": path} | variables
    self.process = machine.start("sync", "run", *arguments, domain=None)
    machine.home.environment.clear()
    machine.home.environment |= environment

  def __enter__(self):
    assert self.socket.recv(100) == b"READY=1"
    return self

  def told(self, beginning: str) -> str:
    """Waits for a message to the service manager, and returns the rest of it."""
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
      message = self.socket.recv(4096).decode()
      if message.startswith(beginning):
        return message.removeprefix(beginning)
    raise AssertionError(f"not in {LIMIT} s: {beginning}")

  def stop(self) -> None:
    self.process.send_signal(signal.SIGSTOP)

  def go_on(self) -> None:
    self.process.send_signal(signal.SIGCONT)

  def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
    self.process.send_signal(number)
    _, error = self.process.communicate(timeout=LIMIT)
    return self.process.returncode, error.decode()

  def __exit__(self, *_):
    self.process.kill()
    self.process.communicate()
    self.socket.close()
