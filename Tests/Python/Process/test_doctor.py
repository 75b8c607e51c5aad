"""The report of `doctor`: the store, its protection, the files that must not be lost, and next steps."""

from __future__ import annotations

import errno
import os
import resource
import shutil

import pytest

from machine import STRANGER
from system_calls import LOCKING_CALLS, forbid


def test_doctor_of_a_usual_passphrase(home):
  home.init(through=())
  told = home.run("doctor").out.decode()
  assert "strong" in told and "256 MiB, 3 passes" in told


def test_doctor_of_a_vault_with_a_passphrase(locked):
  told = locked.run("doctor").out.decode()
  assert "fair" in told and "64 MiB, 2 passes" in told
  assert "3 (1 whenUnlocked, 1 afterFirstUnlock, 1 always)" in told
  assert "run 'prefs keychain unlock'" in told
  locked.run("unlock", *locked.passphrase())
  locked.set("bound", b"x", "--accessibility", "whenUnlockedThisDeviceOnly")
  assert "without device.key: " in locked.run("doctor").out.decode()
  assert "1 item bound to this device is lost" in locked.run("doctor").out.decode()


def test_doctor_sees_memory_that_cannot_be_locked(home, superuser):
  home.folder.chmod(0o755)
  home.set("alice", b"x")

  def limit():
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0))

  def unprivileged():
    limit()
    # Root's capability to lock memory has no limit.
    os.setgid(STRANGER)
    os.setuid(STRANGER)

  for folder, _, names in os.walk(home.folder):
    for path in [folder, *(os.path.join(folder, name) for name in names)]:
      os.chown(path, STRANGER, STRANGER)
  home.program = shutil.copy(home.program, home.folder / "prefs")
  told = home.run("doctor", preexec_fn=unprivileged).out.decode()
  assert "memory cannot be locked (limit: 0 KiB)" in told and "ulimit -l" in told
  assert "seccomp" not in told
  found = home.run("doctor", "--json", preexec_fn=unprivileged).json
  assert found["memoryLocking"] == "limited" and found["memoryCanBeLocked"] is False
  assert home.get("alice", preexec_fn=unprivileged) == b"x"


@pytest.mark.parametrize("error", [errno.EPERM, errno.ENOSYS], ids=["EPERM", "ENOSYS"])
def test_doctor_distinguishes_denied_call_from_low_limit(home, error):
  home.set("alice", b"x")

  def deny():
    forbid(LOCKING_CALLS, error)

  told = home.run("doctor", preexec_fn=deny).out.decode()
  assert "memory cannot be locked: the call is denied" in told and "seccomp profile" in told
  assert "SystemCallFilter=@memlock" in told and "ulimit" not in told
  found = home.run("doctor", "--json", preexec_fn=deny).json
  assert found["memoryLocking"] == "denied" and found["memoryCanBeLocked"] is False
  assert home.run("doctor", "--json").json["memoryLocking"] == "available"
  assert home.get("alice", preexec_fn=deny) == b"x"
