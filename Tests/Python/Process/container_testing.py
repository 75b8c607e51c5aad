"""A root folder like that of a container or server, with nothing in it but the system's programs and ours.

No engine and no systemd is needed: what they would do before they start a program is done by hand, with the
same owners, modes, variables, mounts and forbidden calls.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from prefs_testing import LIMIT, Outcome
from system_calls import forbid_keys

# The arguments are the root folder, "ro" or "rw", the number of folders that stay writable, these, and the
# command. Everything is mounted in a namespace of its own, which ends with the command.
MOUNTING = """
set -e
root=$1 mode=$2 count=$3
shift 3
for folder in bin sbin lib lib32 lib64 libx32 opt dev proc; do
  if [ -L "/$folder" ]; then
    [ -L "$root/$folder" ] || cp -P "/$folder" "$root/$folder"
  elif [ -d "/$folder" ]; then
    mkdir -p "$root/$folder"
    mount --rbind "/$folder" "$root/$folder"
  fi
done
for folder in /usr/*; do
  [ "$folder" != /usr/local ] && [ -d "$folder" ] || continue
  mkdir -p "$root$folder"
  mount --rbind "$folder" "$root$folder"
done
if [ "$mode" = ro ]; then
  mount --bind "$root" "$root.ro"
  for folder in bin sbin lib lib32 lib64 libx32 opt dev proc; do
    if [ -d "/$folder" ] && ! [ -L "/$folder" ]; then mount --rbind "/$folder" "$root.ro/$folder"; fi
  done
  for folder in /usr/*; do
    if [ "$folder" != /usr/local ] && [ -d "$folder" ]; then mount --rbind "$folder" "$root.ro$folder"; fi
  done
  mount -o remount,bind,ro "$root.ro"
  for _ in $(seq "$count"); do mount --bind "$root$1" "$root.ro$1"; shift; done
  root=$root.ro
else
  shift "$count"
fi
exec /usr/sbin/chroot "$root" "$@"
"""

ACCOUNTS = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"


@dataclass
class Machine:
  """A root folder in which programs can be started."""

  root: Path
  environment: dict[str, str] = field(default_factory=dict)

  @classmethod
  def make(cls, root: Path, programs: dict[str, str]) -> Machine:
    """Creates the folders; the programs are in /usr/local/bin."""
    for name in ("etc", "root", "run", "tmp", "usr/local/bin", "var/lib", "var/backups", "home"):
      (root / name).mkdir(parents=True)
    root.with_name(root.name + ".ro").mkdir()
    (root / "root").chmod(0o700)
    (root / "tmp").chmod(0o1777)
    (root / "etc/passwd").write_text(ACCOUNTS)
    (root / "etc/group").write_text("root:x:0:\nnogroup:x:65534:\n")
    for name, path in programs.items():
      shutil.copy(path, root / "usr/local/bin" / name)
    return cls(root)

  def script(self, name: str, text: str) -> None:
    path = self.root / "usr/local/bin" / name
    path.write_text(text)
    path.chmod(0o755)

  def run(
      self, *command: str, user: int = 0, groups: tuple[int, ...] = (), variables: dict | None = None,
      writable: tuple[str, ...] | None = None, as_container: bool = False, code: int | None = 0,
      input: bytes = b"", join=lambda: None) -> Outcome:
    """Runs a command in the root folder; with `writable`, nothing but these folders can be written.

    A container denies the calls for kernel keys, and gives no privileges.
    """
    who = [] if user == 0 and not as_container else [
      "setpriv", "--reuid", str(user), "--regid", str(user), "--bounding-set=-all", "--no-new-privs",
      *(["--groups", ",".join(map(str, groups))] if groups else ["--clear-groups"])]
    folders = writable or ()
    environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                   "SWIFT_BACKTRACE": "enable=no"} | self.environment | (variables or {})

    def prepare():
      join()
      if as_container:
        forbid_keys(errno.EPERM)

    done = subprocess.run(
      ["unshare", "--mount", "sh", "-c", MOUNTING, "sh", str(self.root),
       "rw" if writable is None else "ro", str(len(folders)), *folders, *who, *command],
      env=environment, input=input, capture_output=True, timeout=LIMIT, preexec_fn=prepare,
      start_new_session=True)
    outcome = Outcome(done.returncode, done.stdout, done.stderr.decode())
    if code is not None:
      assert outcome.code == code, f"{command}: {outcome}"
    return outcome

  def shell(self, text: str, **options) -> Outcome:
    """Runs a block of commands, each of which must succeed."""
    return self.run("bash", "-e", "-c", text, **options)

  def shell_again(self, text: str, **options) -> Outcome:
    """Types a block once more, in a shell that goes on after a failure, as a person's does."""
    return self.run("bash", "-c", text, code=None, **options)

  def mode(self, path: str) -> tuple[int, int]:
    """Returns the owner and mode of a file."""
    status = os.lstat(self.root / path.lstrip("/"))
    return status.st_uid, status.st_mode & 0o7777
