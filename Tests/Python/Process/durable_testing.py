"""Processes of PreferencesTool, which use durable preferences and answer commands."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

SUITE = "settings"

# No answer may take longer, whatever happens: the longest waits for a lock are 10 seconds.
LIMIT = 60


class DurableProcess:
  """A process that has one suite; `ask` sends it a command and returns the lines of the answer."""

  def __init__(self, tool: str, folder: Path, through=(), **options) -> None:
    environment = {
      "PATH": os.environ["PATH"], "HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "config"),
      "SWIFT_BACKTRACE": "enable=no"}
    self.process = subprocess.Popen(
      [*through, tool, "session", SUITE], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
      text=True, **options)

  def ask(self, command: str) -> list[str]:
    try:
      self.process.stdin.write(command + "\n")
      self.process.stdin.flush()
    except BrokenPipeError:
      return [f"ended {self.process.wait(timeout=LIMIT)}"]
    lines = []
    for line in self.process.stdout:
      if line == "done\n":
        return lines
      lines.append(line.rstrip("\n"))
    return [*lines, f"ended {self.process.wait(timeout=LIMIT)}"]

  def end(self) -> None:
    self.process.stdin.close()
    self.process.stdout.close()
    try:
      self.process.wait(timeout=LIMIT)
    finally:
      self.process.kill()


class DurableHome:
  """A home folder with one suite."""

  def __init__(self, folder: Path, tool: str) -> None:
    self.folder = folder
    self.tool = tool
    self.config = folder / "config"
    self.config.mkdir(mode=0o700, exist_ok=True)
    self.database = self.config / f"{SUITE}.preferences"

  @contextmanager
  def process(self, **options):
    made = DurableProcess(self.tool, self.folder, **options)
    try:
      yield made
    finally:
      made.end()

  def ask(self, *commands: str, **options) -> list[list[str]]:
    """Sends commands to a process of their own."""
    with self.process(**options) as process:
      return [process.ask(command) for command in commands]

  def contents(self) -> dict[str, str]:
    return dict(line.split(" ", 1) for line in self.ask("dump")[0])

  def restore(self, copy: Path) -> None:
    """Replaces the folder by a copy of it."""
    shutil.rmtree(self.config)
    shutil.copytree(copy, self.config)


def failed(answer: list[str], *codes: str) -> bool:
  """Whether a command failed with one of these codes."""
  return len(answer) == 1 and any(answer[0].startswith(f"error {code} ") for code in codes)
