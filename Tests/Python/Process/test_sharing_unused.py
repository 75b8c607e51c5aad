"""Who shares nothing pays nothing: no libcurl, no search for a configuration."""

from __future__ import annotations

import subprocess

import pytest

from client_tracing import Trace
from etcd_cluster import EtcdCluster
from preference_testing import Preferences
from prefs_testing import LIMIT

OPENING = ("open", "openat", "openat2", "stat", "newfstatat", "statx", "access", "faccessat", "faccessat2")


@pytest.fixture
def clients(program, sample_tool, plain_sample_tool, durable_tool, preference_tool) -> list[str]:
  """Programs with each of the products that are not about sharing, and `prefs`."""
  return [program, sample_tool, plain_sample_tool, durable_tool, preference_tool]


def test_no_program_links_what_it_does_not_use(clients, program, sample_tool, plain_sample_tool):
  """None has libcurl, and clients of the keychain have no SQLite either; `prefs` contains its own."""
  for path in clients:
    linked = subprocess.run(["ldd", path], capture_output=True, text=True, timeout=LIMIT, check=True).stdout
    assert "libc.so" in linked and "curl" not in linked, path
    assert ("libsqlite3" in linked) == (path not in (program, sample_tool, plain_sample_tool)), path


def test_clients_of_other_products_have_no_part_of_sharing(
    program, sample_tool, plain_sample_tool, durable_tool):
  """The names of the modules are in the programs that have them, for the runtime."""
  def modules(path: str) -> set[bytes]:
    with open(path, "rb") as file:
      text = file.read()
    return {name for name in (b"PrephirencesEtcd", b"PreferencesShared") if name in text}

  assert len(modules(program)) == 2
  for path in (sample_tool, plain_sample_tool, durable_tool):
    assert not modules(path), path


def opened(home, folder, *arguments: str) -> set[str]:
  """Runs `prefs`, and returns the paths that it looked at."""
  trace = Trace(folder, *OPENING)
  done = subprocess.run(
    [*trace.words, home.program, *arguments], env=home.environment, capture_output=True, timeout=LIMIT)
  assert done.returncode == 0, done
  return {rest for name, rest in trace.calls if name in OPENING}


def test_prefs_looks_for_nothing_that_is_shared(home, tmp_path, tracing):
  lines = [
    ("write", "port", "1", "-d", "web"), ("read", "port", "-d", "web"), ("list",),
    ("list", "-d", "web"), ("export", "-d", "web"), ("delete", "port", "-d", "web"),
    ("keychain", "list"), ("watch", "port", "-d", "web", "--timeout", "1ms")]
  for line in lines:
    found = [path for path in opened(home, tmp_path, *line) if "curl" in path or "prephirences" in path]
    assert not found, line


def test_libcurl_is_loaded_for_a_store(home, tmp_path, tracing):
  """The check itself finds what it looks for."""
  with EtcdCluster() as cluster:
    address = cluster.store_url("fleet")
    Preferences(home).run("write", "port", "1", "--store", address)
    found = opened(home, tmp_path, "read", "port", "-d", "web", "--store", address)
    assert any("libcurl" in path for path in found)
    assert any("prephirences/shared" in path for path in found)
