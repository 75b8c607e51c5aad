"""What is in the packages, and that the same program gives the same bytes."""

from __future__ import annotations

import filecmp
import gzip
import hashlib
import io
import re
import subprocess
import tarfile
from pathlib import Path

import pytest

from package_testing import EPOCH, ROOT, packing, printed


@pytest.fixture(scope="module")
def packed(program, tmp_path_factory) -> list[Path]:
  """Two folders, packed at the same time by users with other habits."""
  folders = [tmp_path_factory.mktemp("packed") for _ in range(2)]
  started = [
    packing(program, folder, umask=umask, cwd=cwd)
    for folder, umask, cwd in zip(folders, (0o002, 0o077), (ROOT, "/"))]
  assert [process.wait() for process in started] == [0, 0]
  return folders


def names(folder: Path) -> list[str]:
  return sorted(path.name for path in folder.iterdir())


def version(program: str) -> str:
  return re.search(r"\d+\.\d+\.\d+", printed(program, "--version"))[0]


def contents(archive: bytes, folders: bool = True) -> dict[str, bytes]:
  """Returns the files. All entries belong to root, have no odd mode, and are of the same time."""
  files = {}
  with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
    entries = opened.getmembers()
    assert any(entry.isdir() for entry in entries) == folders
    assert [entry.name for entry in entries] == sorted(entry.name for entry in entries)
    for entry in entries:
      executable = entry.isdir() or entry.name.endswith("/bin/prefs")
      assert entry.isdir() or entry.isreg(), entry.name
      assert (entry.uid, entry.gid) == (0, 0), entry.name
      assert entry.mode == (0o755 if executable else 0o644), entry.name
      assert entry.mtime == EPOCH, entry.name
      if entry.isreg():
        files[entry.name.removeprefix("./")] = opened.extractfile(entry).read()
  return files


def test_packing_twice_gives_the_same_bytes(packed):
  first, second = packed
  assert names(first) == names(second)
  for name in names(first):
    assert filecmp.cmp(first / name, second / name, shallow=False), name
  subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=first, check=True)


def test_the_archive(program, packed):
  top = f"prefs-{version(program)}-linux-{printed('uname', '-m').strip()}"
  # A folder that exists, such as ~/.local/bin, keeps its mode.
  files = contents((packed[0] / f"{top}.tar.gz").read_bytes(), folders=False)
  assert {name.partition("/")[0] for name in files} == {top}
  files = {name.removeprefix(f"{top}/"): content for name, content in files.items()}
  assert files["bin/prefs"] == Path(program).read_bytes()
  assert b'\nExecStart="/usr/local/bin/prefs" sync run\n' in files["share/systemd/user/prefs-sync.service"]
  documents = {Path(name).name for name in files if name.startswith("share/doc/prefs/")}
  assert documents == {"Apache-2.0.txt", "CHANGELOG.md", "README", "copyright"}
  assert {"share/bash-completion/completions/prefs", "share/zsh/site-functions/_prefs",
          "share/fish/vendor_completions.d/prefs.fish", "share/man/man1/prefs-keychain-set.1"} <= {*files}


def test_the_package_for_debian(program, packed, tmp_path):
  architecture = printed("dpkg", "--print-architecture").strip()
  package = packed[0] / f"prefs_{version(program)}_{architecture}.deb"
  files = contents(subprocess.check_output(["dpkg-deb", "--fsys-tarfile", package]))

  assert files["usr/bin/prefs"] == Path(program).read_bytes()
  assert b'\nExecStart="/usr/bin/prefs" sync run\n' in files["usr/lib/systemd/user/prefs-sync.service"]
  assert {"usr/share/bash-completion/completions/prefs", "usr/share/zsh/vendor-completions/_prefs",
          "usr/share/fish/vendor_completions.d/prefs.fish", "usr/share/doc/prefs/copyright"} <= {*files}
  printed(program, "--generate-man-pages", tmp_path / "man")
  for page in (tmp_path / "man").iterdir():
    assert gzip.decompress(files[f"usr/share/man/man1/{page.name}.gz"]) == page.read_bytes()

  # No script runs as root, and none removes what users keep.
  printed("dpkg-deb", "--control", package, tmp_path / "control")
  assert names(tmp_path / "control") == ["control", "md5sums"]
  sums = (tmp_path / "control/md5sums").read_text().splitlines()
  assert sums == [f"{hashlib.md5(files[name]).hexdigest()}  {name}" for name in sorted(files)]

  fields = dict(re.findall(r"(?m)^([\w-]+): (.*)$", printed("dpkg-deb", "--field", package)))
  assert (fields["Package"], fields["Architecture"]) == ("prefs", architecture)
  assert fields["Recommends"] == "libcurl4t64 | libcurl4, libsecret-1-0"
  needed = max(
    [int(part) for part in found.split(".")]
    for found in re.findall(r"GLIBC_([\d.]+)", printed("objdump", "-T", program)))
  promised = re.search(r"\blibc6 \(>= ([\d.]+)", fields["Depends"])[1]
  assert [int(part) for part in promised.split(".")] >= needed


def test_licences_of_what_is_linked_in(program):
  objects = Path(program).with_name("prefs.product") / "Objects.LinkFileList"
  modules = set(re.findall(r"/(\w+)\.build/", objects.read_text()))
  packages = {
    path.relative_to(ROOT / ".build/checkouts").parts[0]
    for name in modules for path in ROOT.glob(f".build/checkouts/*/Sources/{name}")}
  assert "swift-argument-parser" in packages
  licences = (ROOT / "Scripts/packaging/copyright").read_text()
  assert {name for name in packages if f"\nFiles: {name}/*\n" not in licences} == set()
