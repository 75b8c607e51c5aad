"""podman with images and volumes of a test's own, wherever its system allows containers."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from prefs_testing import LIMIT, Outcome

# What a machine or an outer container may forbid, and no test here is about. Other engines run at the same time.
CONTAINERS = """
[containers]
cgroups = "disabled"
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
netns = "none"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
lock_type = "file"
tmp_dir = "{folder}/tmp"
"""

STORAGE = """
[storage]
driver = "overlay"
graphroot = "{folder}/graph"
runroot = "{folder}/run"
"""

# crun refuses the groups of a machine that has those of both versions, and gives /dev/null to a container's user.
OWN_MOUNTS = """
umount -R /sys/fs/cgroup
mount -t cgroup2 none /sys/fs/cgroup && mount -t tmpfs none devices && mknod -m 666 devices/null c 1 3 &&
  mount --bind devices/null /dev/null && exec "$@"
"""


class Engine:
  """Runs the commands of a page; `folder` is where they are typed."""

  def __init__(self, folder: Path) -> None:
    self.folder = folder
    (folder / "devices").mkdir()
    (folder / "containers.conf").write_text(CONTAINERS.format(folder=folder))
    (folder / "storage.conf").write_text(STORAGE.format(folder=folder))
    self.environment = os.environ | {
      "CONTAINERS_CONF": str(folder / "containers.conf"), "CONTAINERS_STORAGE_CONF": str(folder / "storage.conf")}

  def start(self, *command: str, **options) -> subprocess.Popen:
    return subprocess.Popen(
      ["unshare", "--mount", "sh", "-c", OWN_MOUNTS, "sh", *command], cwd=self.folder, env=self.environment,
      **({"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options))

  def run(self, *command: str, input: bytes = b"", code: int = 0) -> Outcome:
    with self.start(*command, stdin=subprocess.PIPE) as process:
      try:
        out, error = process.communicate(input, timeout=LIMIT)
      finally:
        process.kill()
    outcome = Outcome(process.returncode, out, error.decode())
    assert outcome.code == code, f"{command}: {outcome}"
    return outcome

  def shell(self, text: str, **options) -> Outcome:
    """Runs a block of commands, each of which must succeed."""
    return self.run("bash", "-e", "-c", text, **options)
