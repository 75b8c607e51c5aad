"""The servers page is correct for containers: its manifests are followed by hand."""

from __future__ import annotations

import base64
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from container_testing import Machine
from machine import control_group
from prefs_testing import LIMIT
from servers_page import PAGE, STATE, TOKEN, USER, blocks, images


@pytest.fixture
def container(home, sample_tool, superuser, mounting) -> Machine:
  """Returns the image that the page's Dockerfile creates, with the system's programs."""
  home.folder.chmod(0o755)
  machine = Machine.make(home.folder / "image", {})
  image = images(blocks("dockerfile")[0])[-1]
  for run in image.runs:
    if "apt-get" not in run:
      machine.shell(run)
  assert image.copies == [("/src/.build/release/mytool", "/usr/local/bin/mytool")]
  shutil.copy(sample_tool, machine.root / "usr/local/bin/mytool")
  assert image.volumes == [STATE] and image.entry == ["/usr/local/bin/mytool"]
  assert image.user == f"{USER}:{USER}" and machine.mode(STATE) == (USER, 0o700)
  # The engine takes HOME from the account.
  machine.environment = image.environment | {"HOME": "/nonexistent"}
  (machine.root / "run/keychain").mkdir(mode=0o755)
  return machine


def test_image_uses_packages_of_the_tests():
  build = images(blocks("dockerfile")[0])[0]
  scripts = Path(__file__).resolve().parents[3] / "Scripts/lib"
  assert {"libsodium-dev", "libsqlite3-dev"} <= set(re.findall(
    r"\S+-dev\b", (scripts / "packages.sh").read_text())) & build.packages
  assert "-c release --static-swift-stdlib" in build.runs[-1]
  assert "-c release --static-swift-stdlib" in (scripts / "common.sh").read_text()


def in_container(machine: Machine, *arguments: str, **options):
  return machine.run(
    "/usr/local/bin/mytool", *arguments, user=USER, as_container=True, writable=(STATE,), **options)


def use(machine: Machine, **options) -> None:
  """Stores the first token, and uses it, while nothing but the volume can be written."""
  made = in_container(machine, "keychain", "set", "api", input=TOKEN.encode(), **options)
  assert f"created the vault {STATE}/vault; the given passphrase, key file" in made.error
  assert "keyring" not in made.error
  found = in_container(machine, "keychain", "get", "api", **options)
  assert (found.out, found.error) == (TOKEN.encode(), "")
  assert in_container(machine, "whoami", **options).out == f"{len(TOKEN)} characters\n".encode()
  told = in_container(machine, "keychain", "doctor", **options).out.decode()
  assert "strong" in told and "keyring cannot be used" in told
  refused = in_container(machine, "keychain", "unlock", code=79, **options)
  assert "cannot be kept unlocked here" in refused.error and "KEYCHAIN_KEY_FILE" in refused.error
  assert not (machine.root / "nonexistent").exists()


def make_key(machine: Machine, commands: list[str]) -> None:
  """Makes the key as a page says, twice: the second time, it stays."""
  text = "cd /root\n" + "\n".join(line for line in commands if not re.search("docker|kubectl", line))
  machine.shell(text)
  made = (machine.root / "root/keychain.key").read_bytes()
  assert "File exists" in machine.shell_again(text).error
  assert (machine.root / "root/keychain.key").read_bytes() == made and len(made) == 32


def manifests(language: str, section: str) -> list[dict]:
  import yaml
  (text,) = blocks(language, section)
  return list(yaml.safe_load_all(text))


def test_compose(container):
  (told,) = manifests("yaml", "Compose")
  service = told["services"]["mytool"]
  assert set(service) == {"build", "image", "command", "read_only", "cap_drop", "security_opt", "mem_limit",
                          "volumes", "secrets"}
  assert service["volumes"] == [f"mytool:{STATE}"] and set(told["volumes"]) == {"mytool"}
  (secret,) = service["secrets"]
  assert set(told["secrets"]) == {secret["source"]}
  # The key is made as the page says, in the folder of the file.
  commands = blocks("sh", "Compose")[0].splitlines()
  make_key(container, commands)
  source = container.root / "root" / told["secrets"][secret["source"]]["file"]
  target = container.root / secret["target"].lstrip("/")
  source.rename(target)
  assert container.mode(secret["target"]) == (USER, 0o600)
  typed = [line.split("docker compose run --rm -T mytool ")[1] for line in commands if " run " in line]
  assert typed == ["keychain set api", "keychain doctor"]
  use(container)


def test_compose_in_little_memory(container, control_groups):
  (told,) = manifests("yaml", "Compose")
  shutil.copy(key(container), container.root / "run/keychain/keychain.key")
  os.chown(container.root / "run/keychain/keychain.key", USER, USER)
  limit = int(told["services"]["mytool"]["mem_limit"].removesuffix("m"))
  # The page promises 40 MiB; what is given must be no less.
  assert limit >= 40
  with control_group(40 << 20) as group:
    use(container, join=lambda: (group / "cgroup.procs").write_text(str(os.getpid())))


def key(machine: Machine) -> Path:
  path = machine.root / "root/keychain.key"
  path.write_bytes(os.urandom(32))
  path.chmod(0o400)
  return path


def test_a_container_without_its_key(container):
  made = in_container(container, "keychain", "set", "api", input=b"x")
  assert "/run/keychain holds neither keychain.passphrase nor keychain.key" in made.error


def pod() -> tuple[dict, dict]:
  """The pod of the page, and its container."""
  claim, pod = manifests("yaml", "Kubernetes")
  assert (claim["kind"], pod["kind"]) == ("PersistentVolumeClaim", "Pod")
  assert claim["metadata"]["name"] == pod["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"]
  (container,) = pod["spec"]["containers"]
  return pod["spec"], container


def mounted_secret(machine: Machine, folder: str, contents: bytes, group: int) -> None:
  """Stores a secret like Kubernetes: behind links, for root and the pod's group."""
  volume = machine.root / folder.lstrip("/")
  data = volume / "..2026_01_01_00_00_00.1234567890"
  data.mkdir(mode=0o2755, parents=True)
  (data / "keychain.key").write_bytes(contents)
  (data / "keychain.key").chmod(0o440)
  for path in (volume, data, data / "keychain.key"):
    os.chown(path, 0, group)
  volume.chmod(0o3777)
  (volume / "..data").symlink_to(data.name)
  (volume / "keychain.key").symlink_to("..data/keychain.key")
  volume.chmod(0o2755)


def test_kubernetes(container):
  spec, program = pod()
  security = spec["securityContext"]
  group = security["fsGroup"]
  assert security["runAsUser"] == USER == group
  data, secret = program["volumeMounts"]
  assert (data["mountPath"], secret["mountPath"]) == (
    STATE, container.environment["CREDENTIALS_DIRECTORY"])
  assert {volume["name"] for volume in spec["volumes"]} == {data["name"], secret["name"]}
  make_key(container, blocks("sh", "Kubernetes")[0].splitlines())
  made = (container.root / "root/keychain.key").read_bytes()
  mounted_secret(container, secret["mountPath"], made, group)
  # A volume with fsGroup.
  volume = container.root / STATE.lstrip("/")
  os.chown(volume, 0, group)
  volume.chmod(0o2775)
  refused = in_container(
    container, "keychain", "set", "api", groups=(group,), input=b"x", code=79)
  variables = {variable["name"]: variable["value"] for variable in program["env"]}
  assert all(name in refused.error for name in variables)
  use(container, groups=(group,), variables=variables)
  # At each start of a pod, the group gets all files of the volume, to read and to write.
  for folder, _, names in os.walk(volume):
    for path in [folder, *(os.path.join(folder, name) for name in names)]:
      os.chown(path, -1, group)
      os.chmod(path, os.lstat(path).st_mode | (0o2070 if os.path.isdir(path) else 0o060))
  again = in_container(container, "keychain", "get", "api", groups=(group,), variables=variables)
  assert again.out == TOKEN.encode()


@pytest.mark.parametrize("mode, said", [(0o444, "others"), (0o440, "group")])
def test_a_secret_that_others_can_read(container, mode, said):
  path = "/run/secrets-of-others"
  shutil.copy(key(container), container.root / path.lstrip("/"))
  (container.root / path.lstrip("/")).chmod(mode)
  os.chown(container.root / path.lstrip("/"), 0, USER)
  variables = {"KEYCHAIN_KEY_FILE": path}
  refused = in_container(container, "keychain", "set", "api", input=b"x", code=79, variables=variables)
  setting = f"KEYCHAIN_ALLOW_READ={said}"
  assert setting in refused.error and f"`{setting}`" in PAGE
  use(container, variables=variables | {"KEYCHAIN_ALLOW_READ": said})


def test_kubernetes_secret_is_the_raw_key(container):
  """kubectl, if installed, creates the secret without a cluster."""
  if shutil.which("kubectl") is None:
    pytest.skip("kubectl is not needed for anything else")
  import yaml
  lines = blocks("sh", "Kubernetes")[0].splitlines()
  folder = container.root / "root"
  for line in (lines[0], lines[1] + " --dry-run=client -o yaml"):
    done = subprocess.run(["bash", "-e", "-c", line], cwd=folder, capture_output=True, timeout=LIMIT)
    assert done.returncode == 0, done
  told = yaml.safe_load(done.stdout)
  spec, _ = pod()
  assert told["metadata"]["name"] == spec["volumes"][1]["secret"]["secretName"]
  assert base64.b64decode(told["data"]["keychain.key"]) == (folder / "keychain.key").read_bytes()
