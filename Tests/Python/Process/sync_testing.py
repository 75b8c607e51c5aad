"""Machines that share preferences: processes of SyncTool, each with a home of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from etcd_cluster import end_with_parent

SUITE = "settings"

# No answer may take longer: the longest waits for a lock are 10 seconds.
LIMIT = 60


class Machine:
  """A home with one suite, and at most one process of SyncTool in it.

  Parameters:
    folder: The home; it is made if it is missing.
    tool: The path of SyncTool.
    address: Where the suite is shared; nothing if it is not.
    host: The machine of a network on which the process runs.
    decision: What SyncTool decides about conflicts.
    settings: Further fields of the file of the configuration.
  """

  def __init__(
    self, folder: Path, tool: str, address: str | None = None, host=None, decision: str = "shared",
    **settings
  ) -> None:
    self.folder, self.tool, self.host, self.decision = folder, tool, host, decision
    self.name = folder.name
    self.config = folder / "config"
    self.config.mkdir(mode=0o700, parents=True, exist_ok=True)
    self.process: subprocess.Popen | None = None
    self.events: list[dict] = []
    self.answers: list[dict] = []
    self.changed = threading.Condition()
    if address is not None:
      self.configure(address, **settings)

  @property
  def configuration(self) -> Path:
    return self.config / "prephirences" / "shared" / f"{SUITE}.json"

  def configure(self, address: str, **settings) -> None:
    """Writes the file that says where the suite is shared."""
    for folder in reversed(self.configuration.relative_to(self.config).parents):
      (self.config / folder).mkdir(mode=0o700, exist_ok=True)
    self.configuration.touch(0o600)
    self.configuration.write_text(json.dumps({"address": address} | settings))

  @property
  def environment(self) -> dict[str, str]:
    return {
      "PATH": os.environ["PATH"], "HOME": str(self.folder), "XDG_CONFIG_HOME": str(self.config),
      "SWIFT_BACKTRACE": "enable=no"}

  @property
  def through(self) -> list[str]:
    return self.host.through if self.host else []

  # The process

  def start(self) -> Machine:
    assert self.process is None, f"{self.name} runs already"
    self.answers = []
    self.process = subprocess.Popen(
      [*self.through, self.tool, SUITE, self.decision], env=self.environment, stdin=subprocess.PIPE,
      stdout=subprocess.PIPE, text=True, preexec_fn=end_with_parent)
    self.reader = threading.Thread(target=self.read, args=[self.process], daemon=True)
    self.reader.start()
    return self

  def read(self, process: subprocess.Popen) -> None:
    for line in process.stdout:
      # The last one, if the process was killed.
      if not line.endswith("\n"):
        break
      said = json.loads(line)
      with self.changed:
        (self.events if "event" in said else self.answers).append(said)
        self.changed.notify_all()
    with self.changed:
      self.answers.append({"ended": True})
      self.changed.notify_all()

  def send(self, command: str, *arguments) -> None:
    self.process.stdin.write(json.dumps([command, *arguments]) + "\n")
    self.process.stdin.flush()

  def ask(self, command: str, *arguments, limit: float = LIMIT) -> dict:
    """Performs a command; an answer with `error` is returned, too."""
    try:
      self.send(command, *arguments)
    except BrokenPipeError:
      return {"ended": True}
    return self.answer(f"{command} {arguments}", limit)

  def answer(self, what: str, limit: float = LIMIT) -> dict:
    self.wait(lambda: self.answers, f"an answer to {what}", limit)
    with self.changed:
      return self.answers.pop(0)

  def do(self, command: str, *arguments, limit: float = LIMIT) -> dict:
    """Performs a command that must succeed."""
    answer = self.ask(command, *arguments, limit=limit)
    assert "error" not in answer and "ended" not in answer, f"{self.name}: {command} {arguments}: {answer}"
    return answer

  def wait(self, condition: Callable[[], object], what: str, limit: float = LIMIT) -> None:
    """Waits for something that the process reports."""
    with self.changed:
      assert self.changed.wait_for(condition, limit), f"{self.name}: no {what} after {limit} s"

  def kill(self) -> None:
    if self.process is not None:
      self.process.kill()
      self.finish()

  def end(self) -> None:
    """Lets the process come to its end, without a flush."""
    if self.process is not None:
      self.process.stdin.close()
      self.finish()

  def finish(self) -> None:
    try:
      self.process.wait(LIMIT)
    finally:
      self.process.kill()
      self.reader.join(LIMIT)
      self.process.stdout.close()
      self.process = None

  # What it has

  def values(self) -> dict:
    return self.do("dictionary")["values"]

  def flush(self, seconds: float = 30) -> None:
    self.do("flush", seconds, limit=seconds + 10)

  def settle(self, seconds: float = 30) -> None:
    """Waits until nothing is unsent; what was given up meanwhile is an error, but a definite one."""
    if self.ask("flush", seconds, limit=seconds + 10).get("error") == "conflict":
      self.flush(seconds)

  def agrees(self, values: dict, limit: float = 30) -> None:
    """Waits until this machine has these values."""
    deadline = time.monotonic() + limit
    while True:
      # Before the values are read, so that no change is missed.
      seen = len(self.events)
      mine = self.values()
      if mine == values:
        return
      left = deadline - time.monotonic()
      if left < 0:
        keys = sorted(key for key in mine.keys() | values.keys() if mine.get(key) != values.get(key))
        pairs = [(key, mine.get(key), values.get(key)) for key in keys[:5]]
        raise AssertionError(
          f"{self.name} differs in {len(keys)} keys after {limit} s: (key, here, expected) {pairs}; "
          f"{self.ask('status')}")
      with self.changed:
        self.changed.wait_for(lambda: len(self.events) > seen, min(left, 0.2))

  def copy_to(self, folder: Path, **options) -> Machine:
    """Makes a machine with a copy of this home, as who restores an image does."""
    shutil.copytree(self.folder, folder)
    return Machine(folder, self.tool, host=options.get("host", self.host), decision=self.decision)


class Fleet(ExitStack):
  """Machines that end with a `with` block."""

  def __init__(self) -> None:
    super().__init__()
    self.machines: list[Machine] = []

  def add(self, machine: Machine) -> Machine:
    self.machines.append(machine)
    self.callback(machine.kill)
    return machine
