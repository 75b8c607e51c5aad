"""Runs the programs of this package in a home of a test, and what changes their settings."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "Tests" / "Python" / "Process"))

from etcd_cluster import end_with_parent  # found by the path above
from prefs_testing import LIMIT, Home

BUILT = Path(os.environ["TRAIT_PROGRAMS"])
SERVICE = ("--service", "com.example.webservice")

# In which time a change is to reach a program, from the end of the command that made it.
SOON = 1.0


class Program:
  """A running program of this package, with all that it has written."""

  def __init__(self, home: Home, name: str, *arguments: str, **variables: str) -> None:
    self.process = subprocess.Popen(
      [BUILT / name, *arguments], cwd=home.folder, env=home.environment | variables,
      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
      preexec_fn=end_with_parent)
    self.text = ""
    self.written = threading.Condition()
    self.reader = threading.Thread(target=self.read, daemon=True)
    self.reader.start()

  def __enter__(self) -> Program:
    return self

  def __exit__(self, *_) -> None:
    self.process.kill()
    self.process.wait(LIMIT)
    self.reader.join(LIMIT)
    self.process.stdout.close()

  def read(self) -> None:
    for line in self.process.stdout:
      with self.written:
        self.text += line
        self.written.notify_all()

  def reports(self, text: str, count: int = 1) -> str:
    """Waits until a text was written so many times, and returns the rest of the last line with it."""
    with self.written:
      assert self.written.wait_for(lambda: self.text.count(text) >= count, LIMIT), (
        f"not reported: {text}\n{self.text}")
      return self.text.split(text, count)[-1].split("\n")[0]

  def ends(self) -> int:
    """Waits for the end, and returns the exit code."""
    code = self.process.wait(LIMIT)
    self.reader.join(LIMIT)
    return code

  def terminated(self) -> int:
    self.process.send_signal(signal.SIGTERM)
    return self.ends()


class WebProgram(Program):
  """A program that serves on a free port."""

  def __init__(self, home: Home, *arguments: str, **variables: str) -> None:
    super().__init__(home, "ConfiguredServer", "--http-port", "0", *arguments, **variables)
    self.address = ""

  def get(self, path: str) -> str:
    """Returns the body of an answer, and the status in front if that is an error."""
    self.address = self.address or self.reports("Server started and listening on ")
    try:
      with urlopen(f"http://{self.address}{path}", timeout=LIMIT) as answer:
        return answer.read().decode()
    except HTTPError as error:
      with error:
        return f"{error.code} {error.read().decode()}"

  def answers(self, path: str, body: str, limit: float = SOON) -> float:
    """Waits for an answer, and returns how long that took."""
    return waited(lambda: self.get(path) == body, limit, lambda: f"{self.get(path)}\n{self.text}")


def waited(condition: Callable[[], bool], limit: float, state: Callable[[], str]) -> float:
  start = time.monotonic()
  while not condition():
    assert time.monotonic() - start < limit, f"not after {limit} s: {state()}"
    time.sleep(0.005)
  return time.monotonic() - start


def write(home: Home, *words: str, domain: str = "webservice") -> None:
  prefs(home, "write", "--domain", domain, *words)


def prefs(home: Home, *words: str) -> str:
  return subprocess.run(
    [home.program, *words], env=home.environment, cwd=home.folder, stdin=subprocess.DEVNULL,
    capture_output=True, text=True, timeout=LIMIT, check=True).stdout
