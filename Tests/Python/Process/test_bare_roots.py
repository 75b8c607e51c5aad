"""`prefs` on systems with next to nothing: a root with its libraries alone, and fresh systems of Debian."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from machine import STRANGER
from package_testing import packing, printed
from thoroughness import PARTS


def test_a_root_with_its_libraries_alone(program, tmp_path, superuser):
  """There is no shell, no /proc, no /dev and no account."""
  root = tmp_path / "root"
  libraries = [word for word in printed("ldd", program).split() if word.startswith("/")]
  for file in [program, *libraries]:
    to = root / ("prefs" if file == program else file.lstrip("/"))
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, to)
  (root / "home").mkdir(mode=0o700)
  os.chown(root / "home", STRANGER, STRANGER)

  def keychain(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
      ["/usr/sbin/chroot", f"--userspec={STRANGER}:{STRANGER}", root, "/prefs", "keychain", *arguments],
      input=b"token", capture_output=True, env=environment)

  stored = keychain("set", "github", HOME="/home")
  assert stored.returncode == 0, stored
  assert keychain("get", "github", HOME="/home").stdout == b"token"
  examined = keychain("doctor", HOME="/home")
  assert examined.returncode == 0 and b"/proc is not mounted" in examined.stdout, examined
  assert keychain("lock", HOME="/home").returncode == 0

  homeless = keychain("set", "github")
  assert homeless.returncode == 69 and b"set KEYCHAIN_VAULT and XDG_STATE_HOME" in homeless.stderr, homeless


# In namespaces of its own, which end with the command, and without a network.
ENTERING = """
mount -t proc proc "$0/proc" && mount -t tmpfs -o mode=1777 tmpfs "$0/dev/shm" && exec /usr/sbin/chroot "$0" "$@"
"""


def entering(root: Path, script: str, user: str = "root") -> list[str | Path]:
  home = "/root" if user == "root" else f"/home/{user}"
  return ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "sh", "-c", ENTERING, root,
          "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups",
          "env", "-i", f"HOME={home}", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "sh", "-euc", script]


def run(root: Path, script: str, user: str = "root", **options) -> str:
  outcome = subprocess.run(entering(root, script, user), capture_output=True, text=True, **options)
  assert outcome.returncode == 0, (script, outcome)
  return outcome.stdout


def next_version(package: Path, folder: Path) -> Path:
  """Makes a package of the same contents with a higher version."""
  printed("dpkg-deb", "--raw-extract", package, folder)
  control = folder / "DEBIAN/control"
  control.write_text(control.read_text().replace("\nVersion: ", "\nVersion: 1+", 1))
  later = package.with_name("later.deb")
  printed("dpkg-deb", "--build", "--root-owner-group", "-Zgzip", folder, later)
  return later


# A step of minutes, which needs a mirror of Debian.
if PARTS == 1:
  @pytest.mark.longest
  @pytest.mark.parametrize("suite", ["bookworm", "trixie"])
  def test_a_fresh_system(program, suite, tmp_path, superuser, mounting):
    """The package is installed, used, updated while a vault is in use, and removed, which keeps the vault."""
    root = tmp_path / "root"
    printed("debootstrap", "--variant=minbase", suite, root)
    assert packing(program, tmp_path).wait() == 0
    [package] = tmp_path.glob("*.deb")
    shutil.copy(next_version(package, tmp_path / "raw"), root / "root")
    shutil.copy(package, root / "root/first.deb")
    run(root, "useradd -m ann && dpkg -i /root/first.deb")

    run(root, "prefs keychain set github && prefs keychain doctor", "ann", input="token")
    assert run(root, "prefs keychain get github", "ann") == "token"

    # One keeps the file of a secret, and another stores one secret after the other.
    holding = subprocess.Popen(
      entering(root, """
        mkdir -m 700 /dev/shm/run && export XDG_RUNTIME_DIR=/dev/shm/run
        prefs keychain run --named-files --file TOKEN=keychain:///github -- sh -c 'echo started; read go; cat $TOKEN'
        ls -A /dev/shm/run
        """, "ann"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holding.stdout.readline() == "started\n"
    writing = subprocess.Popen(
      entering(root, """
        number=0
        until [ -e /tmp/updated ]; do
          number=$((number + 1))
          echo $number | prefs keychain set item$number
        done
        echo $number | prefs keychain set item$number
        echo $number
        """, "ann"), stdout=subprocess.PIPE, text=True)
    run(root, "dpkg -i /root/later.deb && touch /tmp/updated")
    count, _ = writing.communicate()
    assert writing.returncode == 0
    assert holding.communicate("go\n")[0] == "token"
    assert holding.returncode == 0
    assert run(root, "prefs keychain list | grep -c item; prefs keychain verify", "ann").startswith(count)

    run(root, "dpkg --remove prefs && dpkg --purge prefs && ! command -v prefs")
    run(root, "dpkg -i /root/first.deb")
    assert run(root, "prefs keychain get github", "ann") == "token"
