"""Homes for the tests, each with its own folder, vault and kernel keys."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

import machine
import networks
from etcd_cluster import EtcdCluster
from lacking import pytest_runtest_makereport  # a hook
from machine import require
from prefs_testing import LOCKED_ITEMS, Home

# Files with one of each: secrets in and out, git, docker, commands that get secrets, preferences, exports, locking.
FAST = {
  f"test_{name}.py" for name in (
    "asked_secret", "docker_helper", "export", "git_contract", "habits", "preference_commands", "run_files",
    "scripts", "sessions")}

# Fixtures for what the superuser alone can do.
PRIVILEGED = {"superuser", "mounting", "control_groups", "tracing", "networking"}


def pytest_configure(config):
  config.addinivalue_line("markers", "longest: takes minutes, and so begins before all others")
  config.addinivalue_line("markers", "fast: in the files of FAST; Scripts/test --fast runs these alone")
  config.addinivalue_line("markers", "superuser: needs the superuser; set by the fixtures of a test")
  # A shell in the background and `nohup` have them ignored, and so would have every program of a test.
  for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    if signal.getsignal(number) == signal.SIG_IGN:
      signal.signal(number, signal.SIG_DFL)


def pytest_collection_modifyitems(items):
  for item in items:
    if PRIVILEGED & set(item.fixturenames):
      item.add_marker("superuser")
    if item.path.name in FAST:
      item.add_marker("fast")
  # Begun last, it would keep all processors but one waiting.
  items.sort(key=lambda item: item.get_closest_marker("longest") is None)


@pytest.fixture(scope="session")
def program() -> str:
  path = os.environ.get("PREFS")
  if path is None:
    pytest.fail("PREFS names no program; Scripts/test sets it")
  return path


def built(name: str, product: str, variable: str = ""):
  """A fixture with the path of another product: of the same build, or in the folder that a variable names."""
  @pytest.fixture(scope="session", name=name)
  def path(program) -> str:
    return str(Path(os.environ.get(variable) or Path(program).parent) / product)
  return path


sample_tool = built("sample_tool", "SampleTool")
durable_tool = built("durable_tool", "PreferencesTool")
plain_sample_tool = built("plain_sample_tool", "PlainSampleTool", "DEBUG_PROGRAMS")
preference_tool = built("preference_tool", "PreferenceTool", "DEBUG_PROGRAMS")
sync_tool = built("sync_tool", "SyncTool", "DEBUG_PROGRAMS")


@pytest.fixture(scope="module")
def cluster():
  """One node for the tests of a file, each of which has a prefix of its own."""
  with EtcdCluster() as cluster:
    yield cluster


@contextmanager
def homes(program: str):
  """Creates homes, and removes them and the keys of their vaults at the end."""
  made = []

  def make() -> Home:
    # Not below the folder of the user's temporary files, which other users cannot enter.
    folder = Path(tempfile.mkdtemp(prefix="prefs-test.", dir="/var/tmp")).resolve()
    made.append(Home(folder, program))
    return made[-1]

  try:
    yield make
  finally:
    for home in made:
      home.forget_keys()
      shutil.rmtree(home.folder)


@pytest.fixture
def make_home(program):
  with homes(program) as make:
    yield make


@pytest.fixture
def home(make_home) -> Home:
  return make_home()


@pytest.fixture(scope="session")
def locked_vault(program):
  """A vault with a passphrase, created once, because each use of a passphrase takes time."""
  with homes(program) as make:
    home = make()
    home.init()
    home.run("unlock", *home.passphrase())
    for accessibility in LOCKED_ITEMS:
      home.set(accessibility, accessibility.encode(), "--accessibility", accessibility)
    yield home


@pytest.fixture
def locked(locked_vault, home) -> Home:
  """A locked vault with an item for each of `LOCKED_ITEMS`, which is also its account and secret."""
  shutil.copytree(locked_vault.vault.parent, home.vault.parent)
  home.state.mkdir(mode=0o700)
  shutil.copy(locked_vault.state / "device.key", home.state)
  # The vaults have the same keys.
  home.run("lock", "--all")
  return home


@pytest.fixture
def superuser() -> None:
  """For tests that create files of other users, or run as other users."""
  require("the superuser", machine.superuser())


@pytest.fixture
def mounting() -> None:
  require("to mount file systems", machine.mounting())


@pytest.fixture
def control_groups() -> None:
  require("control groups that can be written", machine.control_groups())


@pytest.fixture
def tracing() -> None:
  """For tests that inspect a command's system calls and memory, which are hidden from its user."""
  require("tracing", machine.tracing())


@pytest.fixture
def networking() -> None:
  """For tests whose machines are on a network of their own."""
  require("network namespaces", networks.networking())
