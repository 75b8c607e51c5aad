"""One process renews expired tokens, even if others are killed."""

from __future__ import annotations

import signal
import stat
import subprocess
import time
from contextlib import ExitStack, contextmanager

import pytest

from prefs_testing import LIMIT, PATIENCE, Home
from token_server import TokenServer


@pytest.fixture
def mytool(sample_tool, home) -> Home:
  host = Home.__new__(Home)
  host.__dict__ |= home.__dict__ | {"program": sample_tool}
  return host


@pytest.fixture
def server(mytool):
  """A server whose first pair of tokens is stored, and has expired."""
  with TokenServer() as server:
    mytool.set("api", server.pair(expires=0))
    yield server


@contextmanager
def asking(home: Home, server: TokenServer, *options: str):
  """A process that asks for an access token; it is ended afterwards."""
  process = subprocess.Popen(
    [home.program, "token", "--port", str(server.port), *options], env=home.environment,
    cwd=home.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    text=True)
  try:
    yield process
  finally:
    process.kill()
    process.communicate()


def outcome(process: subprocess.Popen, limit: float = PATIENCE) -> tuple[int, list[str], str]:
  out, error = process.communicate(timeout=limit)
  return process.returncode, out.split(), error


def ask(home: Home, server: TokenServer, *options: str) -> tuple[int, list[str], str]:
  with asking(home, server, *options) as process:
    return outcome(process)


@pytest.mark.parametrize("options", [[], ["--blocking"], ["--tasks", "5"]])
def test_twenty_processes_renew_once(mytool, server, options):
  server.delay = 1
  with ExitStack() as stack:
    processes = [
      stack.enter_context(asking(mytool, server, *options, "--deadline", str(PATIENCE)))
      for _ in range(20)]
    outcomes = [outcome(process) for process in processes]
  tokens = 5 if "--tasks" in options else 1
  assert outcomes == [(0, ["access-1"] * tokens, "")] * 20
  assert (server.requests, server.revoked) == (1, False)


def test_the_tasks_of_a_process_renew_once(mytool, server):
  server.delay = 0.2
  assert ask(mytool, server, "--tasks", "500") == (0, ["access-1"] * 500, "")
  assert ask(mytool, server) == (0, ["access-1"], "")
  assert (server.requests, server.revoked) == (1, False)


@pytest.mark.parametrize("options", [[], ["--blocking"]])
def test_lock_of_killed_process_is_free(mytool, server, options):
  server.free.clear()
  with asking(mytool, server, *options) as killed, ExitStack() as stack:
    assert server.begun.acquire(timeout=LIMIT)
    others = [stack.enter_context(asking(mytool, server, *options)) for _ in range(5)]
    time.sleep(0.3)
    assert all(process.poll() is None for process in others)
    killed.kill()
    # The one that is next has asked; what the killed one asked for comes to nothing.
    assert server.begun.acquire(timeout=LIMIT)
    server.renew = once(server.renew)
    server.free.set()
    assert [outcome(process) for process in others] == [(0, ["access-1"], "")] * 5
  assert not server.begun.acquire(blocking=False)


def once(renew):
  """Answers as if the first of two requests with the same token had not arrived."""
  answers = {}

  def answer(refresh: str):
    if refresh not in answers:
      answers[refresh] = renew(refresh)
    return answers[refresh]

  return answer


@pytest.mark.parametrize("options", [[], ["--blocking"]])
def test_stopped_process_does_not_block_forever(mytool, server, options):
  server.free.clear()
  with asking(mytool, server, *options, "--deadline", str(PATIENCE)) as stopped:
    assert server.begun.acquire(timeout=LIMIT)
    stopped.send_signal(signal.SIGSTOP)
    begin = time.monotonic()
    code, out, error = ask(mytool, server, *options, "--deadline", "0.5")
    assert (code, out) == (75, []) and time.monotonic() - begin < LIMIT
    assert "'api' of service 'com.example.mytool'" in error and "refresh-" not in error
    stopped.send_signal(signal.SIGCONT)
    server.free.set()
    assert outcome(stopped) == (0, ["access-1"], "")
  assert ask(mytool, server) == (0, ["access-1"], "")
  assert (server.requests, server.revoked) == (1, False)


def test_hanging_server_ends_at_deadline(mytool, server):
  server.free.clear()
  with asking(mytool, server, "--deadline", "0.5", "--tasks", "3") as process:
    code, out, error = outcome(process, LIMIT)
  assert (code, out) == (75, []) and "took longer than 0.5 seconds" in error
  assert server.begun.acquire(timeout=LIMIT)
  assert not server.begun.acquire(blocking=False)


def test_a_locked_vault_costs_no_refresh_token(mytool, sample_tool):
  mytool.init()
  with TokenServer() as server:
    mytool.set("api", server.pair(expires=0), *mytool.passphrase())
    mytool.run("lock", "--all")
    for options in [[], ["--blocking"]]:
      assert ask(mytool, server, *options)[0] == 77
    assert not server.begun.acquire(blocking=False)


def test_locked_vault_opens_before_first_token_request(mytool, sample_tool):
  mytool.init()
  mytool.run("lock", "--all")
  with TokenServer() as server:
    for options in [[], ["--blocking"]]:
      assert ask(mytool, server, *options)[0] == 77
    assert not server.begun.acquire(blocking=False)


def test_one_file_that_names_nothing_is_left(mytool, server):
  before = set(mytool.state.iterdir())
  assert ask(mytool, server)[0] == 0
  (lock,) = set(mytool.state.iterdir()) - before
  assert lock.name == "renewal.lock" and stat.S_IMODE(lock.stat().st_mode) == 0o600
  contents = lock.read_bytes()
  assert len(contents) == 32
  mytool.set("api", server.pair(expires=0))
  assert ask(mytool, server)[0] == 0
  assert lock.read_bytes() == contents
