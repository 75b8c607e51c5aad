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
from machine import require
from prefs_testing import LOCKED_ITEMS, Home

# Fixtures for what the superuser alone can do.
PRIVILEGED = {"superuser", "mounting", "control_groups", "tracing", "networking"}


def pytest_configure(config):
  config.addinivalue_line("markers", "longest: takes minutes, and so begins before all others")
  config.addinivalue_line("markers", "superuser: needs the superuser; set by the fixtures of a test")
  # A shell in the background and `nohup` have them ignored, and so would have every program of a test.
  for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    if signal.getsignal(number) == signal.SIG_IGN:
      signal.signal(number, signal.SIG_DFL)


def pytest_collection_modifyitems(items):
  for item in items:
    if PRIVILEGED & set(item.fixturenames):
      item.add_marker("superuser")
  # Begun last, it would keep all processors but one waiting.
  items.sort(key=lambda item: item.get_closest_marker("longest") is None)


def named_program(variable: str) -> str:
  path = os.environ.get(variable)
  if path is None:
    pytest.fail(f"{variable} names no program; Scripts/test sets it")
  return path


@pytest.fixture(scope="session")
def program() -> str:
  return named_program("PREFS")


@pytest.fixture(scope="session")
def sample_tool() -> str:
  return named_program("SAMPLE_TOOL")


@pytest.fixture(scope="session")
def plain_sample_tool() -> str:
  return named_program("PLAIN_SAMPLE_TOOL")


@pytest.fixture(scope="session")
def durable_tool() -> str:
  return named_program("DURABLE_TOOL")


@pytest.fixture(scope="module")
def cluster():
  """One node for the tests of a file, each of which has a prefix of its own."""
  with EtcdCluster() as cluster:
    yield cluster


@pytest.fixture(scope="session")
def preference_tool() -> str:
  return named_program("PREFERENCE_TOOL")


@pytest.fixture(scope="session")
def sync_tool() -> str:
  return named_program("SYNC_TOOL")


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
  """A vault with a passphrase, created once, because each use of a passphrase takes half a second."""
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
