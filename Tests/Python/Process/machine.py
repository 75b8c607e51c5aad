"""Features that a machine may lack: each function returns the reason, or nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

# No account has it: neither a passwd entry nor a keyring of another program gets in the way.
STRANGER = 54321


def require(what: str, missing: str | None) -> None:
  """Skips a test if the machine lacks a feature; if CI is set, the test fails."""
  if missing is not None:
    (pytest.fail if os.environ.get("CI") else pytest.skip)(f"needs {what}: {missing}")


def refusal(*command: str, **options) -> str | None:
  """Returns the error output of a failed command."""
  outcome = subprocess.run(command, capture_output=True, text=True, **options)
  return (outcome.stderr or f"{command[0]} fails").splitlines()[0] if outcome.returncode else None


@cache
def superuser() -> str | None:
  """Checks that files of other users can be created, and programs run as other users."""
  if os.geteuid() != 0:
    return "run Scripts/test as root, or where sudo asks for nothing"
  with tempfile.TemporaryDirectory() as folder:
    try:
      os.chown(folder, STRANGER, STRANGER)
      return refusal("true", user=STRANGER, group=STRANGER, extra_groups=[])
    except (OSError, subprocess.SubprocessError) as error:
      return f"nobody can be user {STRANGER} here: {error}"


@cache
def mounting() -> str | None:
  with tempfile.TemporaryDirectory() as folder:
    refused = refusal("mount", "-t", "tmpfs", "tmpfs", folder)
    return refused.replace(folder, "a folder") if refused else refusal("umount", folder)


# A program that closes its memory to its own user, as `prefs` does.
CLOSED = "import ctypes; ctypes.CDLL(None).prctl(4, 0); open('/dev/zero')"


@cache
def tracing() -> str | None:
  """Checks that a tracer can read the memory of such a program."""
  traced = subprocess.run(
    ["strace", "-qq", "-f", "-e", "trace=open,openat", sys.executable, "-c", CLOSED],
    capture_output=True, text=True)
  if "/dev/zero" in traced.stderr:
    return None
  return traced.stderr.strip() if traced.returncode else "the superuser alone sees more than the calls"


@cache
def podman() -> str | None:
  """Checks that podman runs: it needs the folders of the superuser, or a user namespace of its own."""
  return refusal("podman", "info")


VERSION_1 = Path("/sys/fs/cgroup/memory")


@contextmanager
def control_group(limit: int):
  """A control group with a limit of memory, in bytes."""
  # The processes of version 2 may all lie in a group of their own, below which a new one fits.
  parent = VERSION_1 if VERSION_1.is_dir() else Path("/sys/fs/cgroup")
  if not VERSION_1.is_dir():
    (parent / "cgroup.subtree_control").write_text("+memory")
  group = Path(tempfile.mkdtemp(prefix="prefs-test-", dir=parent))
  try:
    name = "memory.limit_in_bytes" if VERSION_1.is_dir() else "memory.max"
    (group / name).write_text(str(limit))
    yield group
  finally:
    group.rmdir()


@cache
def control_groups() -> str | None:
  try:
    with control_group(64 << 20) as group:
      return None if os.access(group / "cgroup.procs", os.W_OK) else "no process can join one"
  except OSError as error:
    return f"no group can be made: {error.strerror}"
