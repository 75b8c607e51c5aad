"""The image of `prefs`: its layout, and the commands, the compose file and the pod of its page, run by podman."""

from __future__ import annotations

import filecmp
import json
import os
import shlex
import shutil
import socket
import ssl
import subprocess
import tarfile
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

import pytest
import yaml

from container_engine import Engine
from etcd_certificates import make_certificates
from machine import require, superuser
from package_testing import EPOCH, ROOT, packing
from pages import blocks
from servers_page import images

USER = 65532
HOME = "/var/lib/prefs"
FILES = "/run/app"
TOKEN = b"tok-42"

# What a container of Kubernetes and of the compose file may do.
CLOSED = ("--read-only", "--cap-drop=all", "--security-opt=no-new-privileges")


def typed(language: str, number: int = 0) -> str:
  """Returns a block of the page."""
  return [block.text for block in blocks(language) if block.page == "Containers.md"][number]


@pytest.fixture(scope="module")
def packed(program, tmp_path_factory) -> list[Path]:
  """The image, packed twice at the same time by users with other habits."""
  folders = [tmp_path_factory.mktemp("image") for _ in range(2)]
  started = [
    packing(program, folder, script="image", umask=umask, cwd=cwd)
    for folder, umask, cwd in zip(folders, (0o002, 0o077), (ROOT, "/"))]
  assert [process.wait() for process in started] == [0, 0]
  return [next(folder.iterdir()) for folder in folders]


@pytest.fixture(scope="module")
def layout(packed, tmp_path_factory) -> Path:
  folder = tmp_path_factory.mktemp("layout")
  with tarfile.open(packed[0]) as archive:
    archive.extractall(folder)
  return folder


def blob(layout: Path, descriptor: dict) -> Path:
  path = layout / "blobs" / descriptor["digest"].replace(":", "/")
  assert path.stat().st_size == descriptor["size"]
  return path


def test_the_same_program_gives_the_same_image(packed):
  first, second = packed
  # pytest would look for the difference for minutes.
  assert first.name == second.name and filecmp.cmp(first, second, shallow=False)


def test_the_image_says_how_it_runs(packed):
  config = json.loads(subprocess.check_output(["skopeo", "inspect", "--config", f"oci-archive:{packed[0]}"]))
  assert config["config"]["User"] == f"{USER}:{USER}"
  assert config["config"]["Entrypoint"] == ["/usr/bin/prefs"]
  assert config["config"]["Volumes"] == {HOME: {}}
  assert f"HOME={HOME}" in config["config"]["Env"]
  labels = config["config"]["Labels"]
  assert labels["org.opencontainers.image.version"] in packed[0].name


def test_the_image_has_what_it_needs_and_no_more(layout, program):
  [manifest] = json.loads((layout / "index.json").read_text())["manifests"]
  [layer] = json.loads(blob(layout, manifest).read_text())["layers"]
  with tarfile.open(blob(layout, layer)) as archive:
    entries = {entry.name.removeprefix("./"): entry for entry in archive}
    records = [archive.extractfile(entry).read().decode() for name, entry in entries.items()
               if name.startswith("var/lib/dpkg/status.d/") and entry.isreg()]
    certificates = archive.extractfile(entries["etc/ssl/certs/ca-certificates.crt"]).read()
  assert sum(entry.size for entry in entries.values()) <= 50_000_000
  assert {entry.mtime for entry in entries.values()} == {EPOCH}
  volume = entries.pop(HOME.lstrip("/"))
  assert (volume.uid, volume.gid, volume.mode) == (USER, USER, 0o700)
  assert {(entry.uid, entry.gid) for entry in entries.values()} == {(0, 0)}
  assert entries["tmp"].mode == 0o1777
  assert not [name for name, entry in entries.items()
              if name != "tmp" and not entry.issym() and entry.mode & 0o6022]
  executable = {name for name, entry in entries.items() if entry.isreg() and entry.mode & 0o111}
  assert {name for name in executable if ".so" not in name} == {"usr/bin/prefs"}
  assert not [name for name in entries if "libsecret" in name]
  assert certificates.count(b"BEGIN CERTIFICATE") > 100
  packages = [record.split("\n", 1)[0].removeprefix("Package: ") for record in records]
  assert {"libc6", "ca-certificates"} <= set(packages)
  assert [name for name in packages if name.startswith("libcurl4")]
  assert all("\nVersion: " in record for record in records)
  assert {f"usr/share/doc/{name}/copyright" for name in [*packages, "prefs"]} <= set(entries)


@pytest.fixture(scope="module")
def loaded(packed):
  """An engine that has the image, by the page's commands."""
  require("the superuser", superuser())
  # The storage of images cannot be in memory, nor below a folder that others cannot enter.
  folder = Path(tempfile.mkdtemp(prefix="prefs-test.", dir="/var/tmp")).resolve()
  folder.chmod(0o755)
  engine = Engine(folder)
  build, *loading = typed("sh").splitlines()
  assert build == "Scripts/image"
  (folder / ".build/package").mkdir(parents=True)
  shutil.copy(packed[0], folder / ".build/package")
  assert engine.shell("\n".join(loading)).out.decode().splitlines()[-1].startswith("with libsodium")
  yield engine
  engine.run("podman", "system", "reset", "--force")
  shutil.rmtree(folder)


@pytest.fixture
def engine(loaded):
  """The same, without the containers, volumes and keys of other tests."""
  yield loaded
  loaded.shell("podman rm --all --force --time 0; podman volume rm --all --force; rm -f keychain.key")


@pytest.fixture
def memory():
  """A folder in memory, as `/run` has one."""
  folder = Path(tempfile.mkdtemp(prefix="prefs-test.", dir="/dev/shm"))
  yield folder
  shutil.rmtree(folder)


def podman(*options: str, image: str = "prefs:0.1.0") -> list[str]:
  return ["podman", "run", "--rm", "--interactive", *options, image]


def test_libcurl_finds_everything(engine, tmp_path):
  """A certificate that nobody signed is refused: so there are authorities, and all libraries."""
  certificates = make_certificates(tmp_path, ["127.0.0.1"])
  context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
  context.load_cert_chain(certificates.certificate, certificates.key)
  with socket.create_server(("127.0.0.1", 0)) as listener:
    def serve():
      with suppress(OSError):
        context.wrap_socket(listener.accept()[0], server_side=True)
    threading.Thread(target=serve, daemon=True).start()
    address = f"etcd+https://127.0.0.1:{listener.getsockname()[1]}/fleet"
    refused = engine.run(*podman(*CLOSED, "--network=host"), "sync", "add", "com.example.web", address, code=79)
    assert "unable to get local issuer" in refused.error
  refused = engine.run(*podman(*CLOSED), "sync", "add", "com.example.web", "etcd+https://127.0.0.1:1/x", code=69)
  assert "127.0.0.1:1 cannot be reached" in refused.error


class Compose:
  """Runs services of the compose file, with a folder in memory in the place of /run/app."""

  def __init__(self, engine: Engine, memory: Path) -> None:
    self.engine, self.memory = engine, memory
    self.file = yaml.safe_load(typed("yaml"))

  def words(self, name: str, *, detached: bool = False) -> list[str]:
    service = self.file["services"][name]
    assert set(service) <= {"image", "command", "read_only", "cap_drop", "security_opt", "volumes", "secrets",
                            "user", "depends_on"}
    options = ["--read-only"] if service.get("read_only") else []
    options += [f"--cap-drop={name.lower()}" for name in service.get("cap_drop", [])]
    options += [f"--security-opt={option.split(':')[0]}" for option in service.get("security_opt", [])]
    options += [f"--volume={self.here(volume)}" for volume in service["volumes"]]
    for secret in service.get("secrets", []):
      source = self.file["secrets"][secret["source"]]["file"]
      options.append(f"--volume={self.engine.folder / source}:{secret['target']}:ro")
    return podman(*options) if not detached else ["podman", "run", "--detach", f"--name={name}", *options, "prefs:0.1.0"]

  def here(self, text: str) -> str:
    """On the machine, not within a container."""
    return str(self.memory) + text.removeprefix(FILES) if text.startswith(FILES) else text

  def type(self, text: str, input: bytes = b"") -> None:
    """Runs a block of the page, with podman for `docker compose`."""
    for line in text.splitlines():
      command = line.replace(f" {FILES}", f" {self.memory}")
      if " docker compose " in f" {line}":
        words = shlex.split(line.split("docker compose ")[1])
        if words[0] == "up":
          self.up()
          continue
        assert words[:3] == ["run", "--rm", "-T"]
        service, *more = words[3:]
        more = more or self.file["services"][service]["command"]
        self.engine.run(*self.words(service), *more, input=input if line.startswith("printf") else b"")
      else:
        self.engine.shell(command)

  def up(self) -> None:
    assert self.file["services"]["app"]["depends_on"] == {
      "secrets": {"condition": "service_completed_successfully"}}
    for name in "secrets", "prefs":
      self.engine.run(*self.words(name, detached=name == "prefs"), *self.file["services"][name]["command"])

  def read(self) -> bytes:
    """What the app reads, as its user."""
    service = self.file["services"]["app"]
    assert service["user"] == f"{USER}:{USER}" and service["volumes"] == [f"{FILES}:{FILES}:ro"]
    return subprocess.check_output(["cat", self.memory / "token"], user=USER, group=USER, extra_groups=[])


def test_compose(engine, memory):
  compose = Compose(engine, memory)
  first, again = typed("sh", 1), typed("sh", 2)
  # The folder has to be made.
  memory.rmdir()
  compose.type(first, TOKEN)
  assert compose.read() == TOKEN and os.lstat(memory / "token").st_mode & 0o777 == 0o600
  compose.type(again, b"newer")
  assert compose.read() == b"newer"
  assert "strong" in engine.run("podman", "exec", "prefs", "prefs", "keychain", "doctor").out.decode()
  engine.run("podman", "stop", "--time", "60", "prefs")
  assert engine.run("podman", "inspect", "--format", "{{.State.ExitCode}}", "prefs").out == b"0\n"


class Pod:
  """Runs containers of the pod, with volumes of the owners and modes that Kubernetes gives them."""

  def __init__(self, engine: Engine, memory: Path) -> None:
    self.engine = engine
    self.claim, pod = yaml.safe_load_all(typed("yaml", 1))
    self.spec = pod["spec"]
    security = self.spec["securityContext"]
    assert (security["runAsUser"], security["runAsGroup"], security["fsGroup"]) == (USER, USER, USER)
    assert security["runAsNonRoot"]
    self.volumes = {"data": engine.folder / "data", "key": engine.folder / "key", "files": memory / "files"}
    assert {volume["name"] for volume in self.spec["volumes"]} == set(self.volumes)
    for name, mode in ("data", 0o2775), ("key", 0o2755), ("files", 0o2777):
      self.volumes[name].mkdir()
      os.chown(self.volumes[name], 0, USER)
      self.volumes[name].chmod(mode)

  def add_key(self) -> None:
    """Behind links, for root and the pod's group."""
    data = self.volumes["key"] / "..2026_01_01_00_00_00.1234567890"
    data.mkdir(mode=0o755)
    shutil.copy(self.engine.folder / "keychain.key", data)
    os.chown(data / "keychain.key", 0, USER)
    (data / "keychain.key").chmod(next(
      volume["secret"]["defaultMode"] for volume in self.spec["volumes"] if "secret" in volume))
    (self.volumes["key"] / "..data").symlink_to(data.name)
    (self.volumes["key"] / "keychain.key").symlink_to("..data/keychain.key")

  def words(self, container: dict, *start: str) -> list[str]:
    security = container["securityContext"]
    assert security["readOnlyRootFilesystem"] and security["capabilities"] == {"drop": ["ALL"]}
    assert not security["allowPrivilegeEscalation"]
    options = [f"--env={variable['name']}={variable['value']}" for variable in container.get("env", [])]
    options += [f"--volume={self.volumes[mount['name']]}:{mount['mountPath']}" + ":ro" * mount.get("readOnly", False)
                for mount in container["volumeMounts"]]
    return ["podman", "run", *start, *CLOSED, f"--group-add={USER}", *options, "prefs:0.1.0", *container["args"]]


def test_kubernetes(engine, memory):
  pod = Pod(engine, memory)
  sidecar, step = pod.spec["initContainers"]
  [app] = pod.spec["containers"]
  assert sidecar["restartPolicy"] == "Always" and "restartPolicy" not in step
  make, secret, apply, store = typed("sh", 3).splitlines()
  engine.shell(make)
  pod.add_key()
  engine.run(*pod.words(sidecar, "--detach", f"--name={sidecar['name']}"))
  engine.run(*pod.words(step, "--rm"), code=44)

  def execute(line: str, input: bytes) -> None:
    _, words = line.split("kubectl exec ")
    name, command = words.split(" -c ")[1].split(" -- ")
    engine.run("podman", "exec", "--interactive", name, *shlex.split(command), input=input)

  execute(store, TOKEN)
  engine.run(*pod.words(step, "--rm"))
  [mount] = app["volumeMounts"]
  file = pod.volumes[mount["name"]] / "token"
  assert file.read_bytes() == TOKEN and file.stat().st_uid == USER
  # A pod that starts again has the file already.
  engine.run(*pod.words(step, "--rm"))
  execute(store, b"newer")
  execute(typed("sh", 4), b"")
  assert file.read_bytes() == b"newer"


def test_an_app_that_run_starts(engine, program):
  """The image of the page's Dockerfile, with the machine's programs for those of its base."""
  [image] = images(typed("dockerfile"))
  root = engine.folder / "app"
  machine = [path for path in ("/usr/bin", "/usr/lib", "/usr/lib64") if os.path.isdir(path)]
  for folder in "/dev", "/proc", "/run/files", "/sys", "/tmp", "/usr/local/bin", HOME, *machine:
    (root / folder[1:]).mkdir(parents=True)
  for name in "bin", "lib", "lib64":
    (root / name).symlink_to(f"usr/{name}")
  [prefs, own] = image.copies
  assert prefs[0] == "/usr/bin/prefs"
  shutil.copy(program, root / prefs[1][1:])
  (root / own[1][1:]).write_text('#!/bin/sh\ncat "$TOKEN"; echo " $$"; cat /proc/1/comm; exit 7\n')
  (root / own[1][1:]).chmod(0o755)
  for line in typed("sh", 1).splitlines()[:2]:
    engine.shell(line)
  engine.run(*podman(*CLOSED, "--volume=prefs:/var/lib/prefs", "--volume=./keychain.key:/run/keychain/keychain.key:ro"),
             "keychain", "set", "token", "--service", "app", input=TOKEN)
  command = typed("sh", 5).replace("\\\n", " ").split()
  assert command[:3] == ["podman", "run", "--rm"] and command[-1] == "app"
  options = [*command[1:-1], f"--user={image.user}", *(f"--volume={path}:{path}:ro" for path in machine),
             *(f"--env={name}={value}" for name, value in (image.environment | {"PATH": os.environ["PATH"]}).items())]
  started = engine.run("podman", *options, "--rootfs", str(root), *image.entry, code=7)
  secret, number, first = started.out.split()
  assert secret == TOKEN and number != b"1" and first == b"keychain-files"
  # Without names, the app is the first process.
  words = [word for word in image.entry if word != "--named-files"]
  started = engine.run("podman", *options, "--rootfs", str(root), *words, code=7)
  assert started.out.split()[:2] == [TOKEN, b"1"]
