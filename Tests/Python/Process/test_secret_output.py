"""Where `get` puts a secret: files, pipes, devices, and other programs."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from machine import STRANGER
from prefs_testing import LIMIT, hinted


@pytest.fixture
def alice(home):
  home.set("alice", b"secret")
  return home


def files(home) -> list[str]:
  return sorted(entry.name for entry in home.folder.iterdir() if not entry.is_dir())


def test_a_new_file_is_for_the_user_alone(alice):
  assert alice.get("alice", "--output", "out", "--newline", "always") == b""
  assert (alice.folder / "out").read_bytes() == b"secret\n"
  assert stat.S_IMODE((alice.folder / "out").stat().st_mode) == 0o600
  assert files(alice) == ["out"]


def test_a_file_that_is_there_stays(alice):
  alice.file("out", b"old")
  refused = alice.run("get", "alice", "--output", "out", code=75)
  assert "'out' exists already" in refused.error and "--overwrite" in hinted(refused)
  assert (alice.folder / "out").read_bytes() == b"old"
  alice.get("alice", "--output", "out", "--overwrite")
  assert (alice.folder / "out").read_bytes() == b"secret" and files(alice) == ["out"]
  alice.get("alice", "--output", "new", "--overwrite")
  assert (alice.folder / "new").read_bytes() == b"secret"
  alice.run("get", "alice", "--overwrite", code=64)


def test_a_replaced_file_survives_a_power_loss(alice, tracing):
  """The folder is synced after the file has got its name: else the old file, or none, could come back."""
  alice.file("out", b"old")
  traced = alice.folder / "traced"
  alice.run("get", "alice", "--output", "out", "--overwrite", through=[
    "strace", "-f", "-qq", "-e", "trace=rename,fsync", "-o", str(traced)])
  calls = re.findall(r"\d+ +(\w+)\(", traced.read_text())
  assert calls[-3:] == ["fsync", "rename", "fsync"]


def test_a_link_or_folder_is_never_replaced(alice):
  alice.file("target", b"old")
  (alice.folder / "link").symlink_to("target")
  (alice.folder / "dangling").symlink_to("nowhere")
  (alice.folder / "folder").mkdir()
  for name in ("link", "dangling", "folder"):
    for options in ([], ["--overwrite"]):
      alice.run("get", "alice", "--output", name, *options, code=79)
  assert (alice.folder / "target").read_bytes() == b"old" and not (alice.folder / "nowhere").exists()


def test_only_one_of_many_makes_the_file(alice):
  running = [alice.start("get", "alice", "--output", "out") for _ in range(8)]
  codes = sorted(process.wait(LIMIT) for process in running)
  for process in running:
    process.communicate()
  assert codes == [0] + [75] * 7
  assert files(alice) == ["out"]


def test_descriptors_get_the_secret(alice):
  for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
    assert alice.get("alice", "--output", name) == b"secret"
  log = Path(alice.file("log", b"first "))
  with log.open("ab") as file:
    alice.run("get", "alice", "--output", "/dev/stdout", stdout=file)
  assert log.read_bytes() == b"first secret"
  read, write = os.pipe()
  alice.run("get", "alice", "--output", f"/dev/fd/{write}", pass_fds=[write])
  assert os.read(read, 100) == b"secret"
  os.close(read)
  os.close(write)
  assert "/dev/fd/777" in alice.run("get", "alice", "--output", "/dev/fd/777", code=74).error


def test_a_device_gets_the_secret(alice):
  assert alice.get("alice", "--output", "/dev/null") == b""
  alice.run("get", "alice", "--output", "/dev/full", code=74)


def test_a_named_pipe_gets_the_secret(alice):
  pipe = alice.folder / "pipe"
  os.mkfifo(pipe, 0o600)
  with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
    alice.get("alice", "--output", str(pipe))
    assert reader.communicate(timeout=LIMIT)[0] == b"secret"
  refused = alice.run("get", "alice", "--output", str(pipe), "--deadline", "200ms", code=75)
  assert f"nobody reads from '{pipe}'" in refused.error
  assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_pipe_of_another_user_gets_nothing(alice, superuser):
  pipe = alice.folder / "pipe"
  os.mkfifo(pipe, 0o666)
  os.chown(pipe, STRANGER, STRANGER)
  read = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
  refused = alice.run("get", "alice", "--output", str(pipe), code=79)
  assert "belongs to another user" in refused.error
  assert os.read(read, 100) == b""
  os.close(read)


def test_missing_terminal_is_not_waited_for(home):
  home.set("alice", b"secret")
  start = time.monotonic()
  assert "/dev/tty" in home.run("get", "alice", "--output", "/dev/tty", "--deadline", "50s", code=74).error
  assert time.monotonic() - start < 25


class Server(BaseHTTPRequestHandler):
  """Records the authorization header, and whether any program exposes the secret."""

  secret = b""
  seen: list[tuple[str, bool]] = []

  def do_GET(self):
    shown = any(self.secret in line for line in command_lines())
    self.seen.append((self.headers["Authorization"], shown))
    self.send_response(200)
    self.end_headers()

  def log_message(self, *arguments):
    pass


def command_lines():
  for process in Path("/proc").iterdir():
    if process.name.isdigit():
      try:
        yield (process / "cmdline").read_bytes()
      except OSError:
        continue


def test_help_examples_do_not_expose_secrets(home):
  """As the help has them, with another address."""
  home.set("api", b"tok-\"\\-5f3a91")
  home.set("alice", b"pass-5f3a91")
  Server.secret = b"5f3a91"
  Server.seen.clear()
  (home.folder / "prefs").symlink_to(home.program)
  text = home.run("get", "--help").out.decode().split("Example:")[1].split("USAGE:")[0]
  examples = [example for example in text.split("\n\n") if "curl" in example]
  assert len(examples) == 2
  with HTTPServer(("127.0.0.1", 0), Server) as server:
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
      for example in examples:
        assert "https://example.com/" in example and "--fail" in example
        line = example.replace("https://example.com/", f"http://127.0.0.1:{server.server_port}/")
        done = subprocess.run(
          ["sh", "-c", line], cwd=home.folder, capture_output=True, timeout=LIMIT,
          env=home.environment | {"PATH": f"{home.folder}:{os.environ['PATH']}"})
        assert done.returncode == 0, done
        # A name that isn't there ends the line, and nothing is sent.
        count = len(Server.seen)
        missing = subprocess.run(
          ["sh", "-c", line.replace("get a", "get no-a")], cwd=home.folder, capture_output=True,
          timeout=LIMIT, env=home.environment | {"PATH": f"{home.folder}:{os.environ['PATH']}"})
        assert missing.returncode == 44 and len(Server.seen) == count, missing
    finally:
      server.shutdown()
      thread.join()
  assert Server.seen == [
    ("Bearer tok-\"\\-5f3a91", False), ("Basic YWxpY2U6cGFzcy01ZjNhOTE=", False)]
