"""Changes of preferences that another process prints."""

from __future__ import annotations

import json
import re
import signal

import pytest

from preference_testing import Preferences
from prefs_testing import LIMIT

# So that a line that does not come is a failure, and not a test that waits for ever.
END = ["--timeout", "1m"]


@pytest.fixture
def preferences(home) -> Preferences:
  preferences = Preferences(home)
  preferences.run("write", "key", "first")
  return preferences


def test_changes_are_lines(preferences):
  with preferences.start("watch", "--initial", *END) as watching:
    assert watching.stdout.readline() == b"set\tkey\tstring\tfirst\n"
    preferences.run("write", "other", "a\tb", "--no-sync")
    assert watching.stdout.readline() == b"set\tother\tstring\ta\\tb\n"
    preferences.run("delete", "key")
    assert watching.stdout.readline() == b"removed\tkey\n"
    watching.send_signal(signal.SIGINT)
    assert watching.wait(LIMIT) == -signal.SIGINT


def test_json_lines(preferences):
  with preferences.start("watch", "key", "--initial", "--json", *END) as watching:
    assert json.loads(watching.stdout.readline()) == {
      "key": "key", "type": "string", "value": "first"}
    preferences.run("write", "other", "1")
    preferences.run("delete", "key")
    assert json.loads(watching.stdout.readline()) == {"key": "key", "removed": True}
    watching.terminate()


def test_waiting_for_a_value(preferences):
  preferences.run("watch", "key", "--until", "first")
  preferences.run("watch", "key", "--until", "last", "--timeout", "100ms", code=75)
  preferences.run("watch", "--timeout", "100ms")


def test_nobody_reads_any_more(preferences):
  with preferences.start("watch", "--initial", *END) as watching:
    watching.stdout.readline()
    watching.stdout.close()
    assert watching.wait(LIMIT) == 0


def test_a_program_that_it_starts_would_have_no_pipe_of_it(preferences):
  """From the calls, since the open files of `prefs` are hidden from its user."""
  trace = preferences.home.folder / "trace"
  preferences.run("watch", "--initial", "--timeout", "100ms", through=[
    "strace", "-f", "-qq", "-o", str(trace), "-e", "trace=pipe2,?pipe"])
  pipes = re.findall(r"pipe.*", trace.read_text())
  assert pipes and all("O_CLOEXEC" in pipe for pipe in pipes)


def test_changes_that_are_not_noticed_end_it(preferences):
  with preferences.start("watch", "--initial", *END) as watching:
    watching.stdout.readline()
    damaged = preferences.home.folder / "damaged"
    damaged.write_bytes(b"noise" * 1000)
    damaged.chmod(0o600)
    damaged.rename(preferences.folder / "web.preferences")
    counter = preferences.folder / "web.preferences-lock"
    counter.write_bytes(counter.read_bytes())
    out, error = watching.communicate(timeout=LIMIT)
    assert (watching.returncode, out) == (65, b"")
    assert b"web.preferences" in error
