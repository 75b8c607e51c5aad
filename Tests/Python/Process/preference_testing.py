"""Runs the commands for preferences in a home of a test."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pexpect

from prefs_testing import LIMIT, Home, Outcome


def change_database(path: Path, *statements: tuple[str, tuple]) -> None:
  """Changes a file of preferences as another program would, in its log: the pages of the database have
  sums that SQLite alone doesn't write, so nothing is closed."""
  child = os.fork()
  if child == 0:
    try:
      database = sqlite3.connect(path)
      for statement, values in statements:
        database.execute(statement, values)
      database.commit()
      os._exit(0)
    except BaseException as error:  # noqa: BLE001 - the parent sees the status
      print(error, file=sys.stderr)
    os._exit(1)
  assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


class Preferences:
  """The commands of `prefs` for preferences, with the domain `web` unless another is given."""

  def __init__(self, home: Home) -> None:
    self.home = home
    self.folder = home.folder / "config"

  def start(self, command: str, *arguments: str, domain: str | None = "web", **options):
    options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    named = [] if domain is None else ["--domain", domain]
    return subprocess.Popen(
      [*options.pop("through", []), self.home.program, command, *named, *arguments], cwd=self.home.folder,
      env=self.home.environment, start_new_session=True, **options)

  def run(self, command: str, *arguments: str, code: int = 0, **options) -> Outcome:
    given = options.pop("input", None)
    if given is not None:
      options["stdin"] = subprocess.PIPE
    with self.start(command, *arguments, **options) as process:
      try:
        out, error = process.communicate(given, timeout=LIMIT)
      finally:
        process.kill()
    outcome = Outcome(process.returncode, out or b"", (error or b"").decode())
    assert outcome.code == code, f"{command} {arguments}: {outcome}"
    return outcome

  def read(self, *arguments: str, **options) -> bytes:
    return self.run("read", *arguments, **options).out

  def terminal(self, *arguments: str) -> pexpect.spawn:
    return pexpect.spawn(
      self.home.program, list(arguments), cwd=self.home.folder,
      env=self.home.environment | {"TERM": "xterm"}, timeout=LIMIT, dimensions=(24, 200))

  def files(self) -> list[Path]:
    return list(self.folder.iterdir())
