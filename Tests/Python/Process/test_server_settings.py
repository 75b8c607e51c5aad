"""The program on the page of a server's settings works as the page says."""

from __future__ import annotations

import plistlib
import re
import select
import signal
import subprocess
import time
from pathlib import Path

import pytest

from prefs_testing import LIMIT, ROOT

PAGE = (ROOT / "Documentation" / "Preferences.md").read_text().split("\n## Settings of a server\n")[1]
SOURCE = ROOT / "Tests" / "Clients" / "ServerSettings" / "ServerSettings.swift"
PROGRAM = ROOT / ".build" / "debug" / "ServerSettings"
SERVICE = ("--service", "com.example.webservice")


def test_the_page_has_the_program():
  (program,) = re.findall(r"(?ms)^```swift\n(import .*?)^```$", PAGE)
  assert program == SOURCE.read_text()


class Server:
  """The running program, and what it has reported."""

  def __init__(self, home, *arguments: str, **variables: str) -> None:
    self.file = home.folder / "webservice.plist"
    self.process = subprocess.Popen(
      [PROGRAM, *arguments], cwd=home.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
      stderr=subprocess.PIPE, env=home.environment | {"WEBSERVICE_FILE": str(self.file)} | variables)
    self.text = ""

  def __enter__(self) -> Server:
    return self

  def __exit__(self, *_) -> None:
    self.process.kill()
    self.process.communicate()

  def reports(self, line: str) -> bool:
    """Waits until the program reports a line after those that were waited for before."""
    end = time.monotonic() + LIMIT
    while f"webservice: {line}\n" not in self.text:
      ready, _, _ = select.select([self.process.stderr], [], [], max(0, end - time.monotonic()))
      part = self.process.stderr.read1() if ready else b""
      assert part, f"not reported: {line}\n{self.text}"
      self.text += part.decode()
    self.text = self.text.split(f"webservice: {line}\n", 1)[1]
    return True

  def ends(self) -> tuple[int, str]:
    _, error = self.process.communicate(timeout=LIMIT)
    return self.process.returncode, error.decode()


@pytest.fixture
def service(home):
  """A home with the password of the service."""
  home.set("databasePassword", b"a password", *SERVICE)
  return home


def prefs(home, *words: str) -> str:
  return subprocess.run(
    [home.program, *words], env=home.environment, cwd=home.folder, stdin=subprocess.DEVNULL,
    capture_output=True, text=True, timeout=LIMIT, check=True).stdout


def test_the_first_place_that_has_a_key_answers(service):
  with Server(service, "--port", "9091") as server:
    assert server.reports("listening on port 9091, with a password of 10 characters")
    assert server.reports("host is localhost")
    assert server.reports("logLevel is info")
  prefs(service, "write", "--domain", "webservice", "logLevel", "notice")
  with Server(service, WEBSERVICE_HOST="::1") as server:
    assert server.reports("listening on port 8080, with a password of 10 characters")
    assert server.reports("host is ::1")
    assert server.reports("logLevel is notice")
  with Server(service, "--log-level", "error", WEBSERVICE_LOG_LEVEL="debug") as server:
    assert server.reports("logLevel is error")


def test_changes_reach_the_running_program(service):
  with Server(service) as server:
    assert server.reports("logLevel is info")
    prefs(service, "write", "--domain", "webservice", "logLevel", "debug")
    assert server.reports("logLevel is debug")
    server.file.write_bytes(plistlib.dumps({"host": "www.example.com", "logLevel": "error"}))
    server.process.send_signal(signal.SIGHUP)
    assert server.reports("host is www.example.com")
    prefs(service, "delete", "--domain", "webservice", "logLevel")
    assert server.reports("logLevel is error")
  assert prefs(service, "read", "--domain", "webservice", "started")


def test_missing_password_and_damaged_file_are_reported(home):
  with Server(home) as server:
    code, error = server.ends()
    assert code == 1 and "prefs keychain set databasePassword" in error
    server.file.write_bytes(b"\0damaged")
  with Server(home) as server:
    code, error = server.ends()
    assert code != 0 and str(server.file) in error


def test_a_locked_keychain_is_not_a_missing_password(service):
  (Path(service.state) / "device.key").unlink()
  with Server(service) as server:
    code, error = server.ends()
    assert code != 0 and "no password" not in error and "listening" not in error
