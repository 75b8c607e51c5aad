"""The page about servers and containers is true: each command in it is typed, in a machine made by hand."""

from __future__ import annotations

import base64
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from container_testing import Machine
from containers_page import PAGE, blocks, images, unit
from machine import control_group
from prefs_testing import LIMIT

USER = 10001
TOKEN = "tok-42"
STATE = "/var/lib/mytool"


@pytest.fixture
def server(tmp_path_factory, home, sample_tool, program, superuser, mounting) -> Machine:
  """A server with the programs, and a key made as the page says."""
  home.folder.chmod(0o755)
  machine = Machine.make(home.folder / "root", {"mytool": sample_tool, "prefs": program})
  (command,) = blocks("sh", "Make a key")[:1]
  machine.shell(command)
  assert machine.mode("/etc/mytool") == (0, 0o700)
  assert machine.mode("/etc/mytool/keychain.key") == (0, 0o600)
  machine.environment = {"TOKEN": TOKEN}
  yield machine
  forget(machine)


def forget(machine: Machine) -> None:
  """Takes the keys of every vault there out of the kernel's keyring."""
  for vault in machine.root.rglob("vault.db"):
    owner = vault.stat().st_uid
    machine.run(
      "mytool", "keychain", "lock", "--all", "--vault", "/" + str(vault.relative_to(machine.root)),
      user=owner, variables={"XDG_STATE_HOME": "/tmp"}, code=None)


def test_the_key_is_made_of_32_bytes(server):
  assert (server.root / "etc/mytool/keychain.key").stat().st_size == 32


# MARK: Libraries


def loaded(program: str) -> set[str]:
  """The libraries that a program loads, Swift's own and the loader left out."""
  told = subprocess.run(["ldd", program], capture_output=True, text=True, timeout=LIMIT, check=True)
  names = {line.split()[0] for line in told.stdout.splitlines() if "=>" in line}
  return {name for name in names if not re.match(r"lib(swift|_?Foundation|dispatch|Blocks)", name)}


def test_the_libraries_of_the_page_are_those_that_are_loaded(program, sample_tool):
  table = PAGE.split("| library |")[1].split("\n\n")[0]
  named = set(re.findall(r"`(lib[^`]*\.so[^`]*)`", table))
  for path in (program, sample_tool):
    assert loaded(path) == named
  assert {"libsodium23", "libsqlite3-0"} <= images(blocks("dockerfile")[0])[-1].packages


def test_the_oldest_glibc_of_the_page(program):
  if 'VERSION_ID="12"' not in Path("/etc/os-release").read_text():
    pytest.skip("the page speaks of a program that was built on Debian 12")
  (said,) = re.findall(r"glibc (2\.\d+)", PAGE)
  (command,) = [line for line in blocks("sh", "What a program needs")[0].splitlines() if "objdump" in line]
  told = subprocess.run(
    ["bash", "-c", command.replace("/usr/local/bin/mytool", program)], capture_output=True, text=True,
    timeout=LIMIT)
  found = told.stdout.strip().removeprefix("GLIBC_")
  assert tuple(map(int, found.split("."))) <= tuple(map(int, said.split("."))), told


# MARK: systemd


# What systemd does for the properties of the page, before it starts a program.
SYSTEMD_RUN = f"""#!/usr/bin/python3
import os, shutil, sys
words = sys.argv[1:]
properties = []
while words[0].startswith("-"):
  word = words.pop(0)
  if word == "-p":
    properties.append(tuple(words.pop(0).split("=", 1)))
  else:
    assert word in ("--pipe", "--wait", "--collect", "--quiet"), word
environment = {{"PATH": "/usr/local/bin:/usr/bin:/bin"}}
for name, value in properties:
  if name == "StateDirectory":
    folder = "/var/lib/" + value
    private = "private/" if ("DynamicUser", "yes") in properties else ""
    os.makedirs("/var/lib/" + private + value, 0o755, exist_ok=True)
    os.chown("/var/lib/" + private + value, {USER}, {USER})
    if private and not os.path.islink(folder):
      os.symlink(private + value, folder)
    environment["STATE_DIRECTORY"] = folder
  elif name == "LoadCredential":
    identifier, source = value.split(":")
    folder = "/run/credentials/run.service"
    os.makedirs(folder, 0o500, exist_ok=True)
    shutil.copy(source, folder)
    os.chmod(folder + "/" + identifier, 0o400)
    os.chown(folder + "/" + identifier, {USER}, {USER})
    os.chown(folder, {USER}, {USER})
    environment["CREDENTIALS_DIRECTORY"] = folder
  elif name == "Environment":
    environment |= dict(word.replace("%S", "/var/lib").split("=", 1) for word in value.split())
os.setgroups([])
os.setgid({USER})
os.setuid({USER})
os.execve(words[0], words, environment)
"""

# What the page adds to a unit for hardening; it changes nothing of where things lie.
HARDENING = {"ProtectHome", "StateDirectoryMode"}


def first_token() -> str:
  (command,) = [block for block in blocks("sh", "A service of systemd") if "systemd-run" in block]
  return command


def test_the_first_token_has_the_properties_of_the_unit():
  settings = unit(blocks("ini")[0])
  given = re.findall(r"-p (\w+)=(\S+)", first_token())
  assert given == [(name, value) for name, value in settings if name not in HARDENING | {"ExecStart"}]


@pytest.mark.parametrize("number", [0, 1])
def test_systemd_knows_every_setting(number, tmp_path):
  """systemd checks units without running as the first process, where it is."""
  if shutil.which("systemd-analyze") is None:
    pytest.skip("systemd-analyze is not needed for anything else")
  path = tmp_path / "mytool.service"
  path.write_text(re.sub(r"(?m)^ExecStart=.*", "ExecStart=/bin/true", blocks("ini")[number]))
  told = subprocess.run(
    ["systemd-analyze", "verify", "--man=no", str(path)], capture_output=True, text=True, timeout=LIMIT)
  assert told.returncode == 0 and "mytool" not in told.stderr, told
  # It does say what it doesn't know.
  path.write_text(path.read_text() + "StateFolder=mytool\n")
  told = subprocess.run(
    ["systemd-analyze", "verify", "--man=no", str(path)], capture_output=True, text=True, timeout=LIMIT)
  assert "StateFolder" in told.stderr


def test_a_service_of_systemd(server):
  server.script("systemd-run", SYSTEMD_RUN)
  made = server.shell(first_token())
  state = STATE.replace("/lib/", "/lib/private/")
  assert f"made the vault {state}/keychain/vault.db; it opens by the passphrase, key file" in made.error
  assert server.mode(f"{state}/keychain/vault.db") == (USER, 0o600) and f"`{state}`" in PAGE
  # The service itself, and the same without its key.
  read = first_token().split("| ", 1)[1].replace("set api", "get api")
  assert server.shell(read).out == TOKEN.encode()
  server.shell(read.replace("get api", "lock --all"))
  without = re.sub(r"-p LoadCredential=\S+ ", "", read)
  assert without != read
  assert server.shell(without, code=77).out == b""


def test_a_service_of_an_account_with_a_home(server):
  server.script("systemd-run", SYSTEMD_RUN)
  (server.root / "home/mytool").mkdir(mode=0o700)
  os.chown(server.root / "home/mytool", USER, USER)
  with (server.root / "etc/passwd").open("a") as accounts:
    accounts.write(f"mytool:x:{USER}:{USER}::/home/mytool:/bin/sh\n")
  settings = [pair for pair in unit(blocks("ini")[1]) if pair[0] not in HARDENING | {"ExecStart"}]
  properties = " ".join(f"-p '{name}={value}'" for name, value in settings)
  made = server.shell(
    f'printf %s "$TOKEN" | systemd-run --pipe {properties} /usr/local/bin/mytool keychain set api')
  assert f"made the vault {STATE}/vault.db; it opens by the passphrase, key file" in made.error
  assert server.mode(f"{STATE}/keychain/device.key") == (USER, 0o600)
  assert os.listdir(server.root / "home/mytool") == []


def test_a_forgotten_key_is_added_later(server):
  variables = {"KEYCHAIN_VAULT": "/var/lib/vault.db", "XDG_STATE_HOME": "/var/lib"}
  made = server.run(
    "mytool", "keychain", "set", "api", variables=variables, input=TOKEN.encode())
  assert "it opens by this machine's device key" in made.error
  assert "slots add --new-passphrase-file FILE' or '--with-key-file FILE' adds it" in made.error
  assert b"weak" in server.run("mytool", "keychain", "doctor", variables=variables).out
  (command,) = blocks("sh", "Make a key")[1:]
  server.shell(command, variables=variables)
  assert b"strong" in server.run("mytool", "keychain", "doctor", variables=variables).out


# MARK: cron


def test_a_cron_job(server):
  """With the variables that cron sets, and no others."""
  home, key = server.root / "home/alice", server.root / "home/alice/.config/deploy.key"
  key.parent.mkdir(parents=True)
  shutil.copy(server.root / "etc/mytool/keychain.key", key)
  for path in (home, key.parent, key):
    os.chown(path, USER, USER)
    path.chmod(0o600 if path == key else 0o700)
  script = next(block for block in blocks("sh", "A cron job") if block.startswith("#!"))
  server.script("deploy-nightly", script.replace("/usr/bin/curl", "/usr/local/bin/curl"))
  server.script("curl", '#!/bin/sh\n[ "$*" = "--config - https://ci.example.com/deploy" ] && cat\n')
  cron = {"HOME": "/home/alice", "LOGNAME": "alice", "SHELL": "/bin/sh", "PATH": "/usr/bin:/bin"}
  server.run(
    "/usr/local/bin/prefs", "keychain", "set", "deploy", "--service", "ci", user=USER,
    input=TOKEN.encode(), variables=cron | {"KEYCHAIN_KEY_FILE": "/home/alice/.config/deploy.key"})
  server.run("/usr/local/bin/prefs", "keychain", "lock", "--all", user=USER, variables=cron)
  (line,) = blocks("crontab")
  command = line.split(None, 5)[5].strip()
  for as_container in (False, True):
    told = server.run("/bin/sh", "-c", command, user=USER, variables=cron, as_container=as_container)
    assert (told.out.decode(), told.error) == (f'header = "Authorization: Bearer {TOKEN}"\n', "")
    assert "%" not in line


# MARK: Containers


@pytest.fixture
def container(home, sample_tool, superuser, mounting) -> Machine:
  """What the Dockerfile of the page makes of an image with the system's programs."""
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


def test_the_image_is_built_from_what_the_tests_build_with():
  build = images(blocks("dockerfile")[0])[0]
  scripts = Path(__file__).resolve().parents[2] / "Scripts/lib"
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
  assert f"made the vault {STATE}/vault.db; it opens by the passphrase, key file" in made.error
  assert "keyring" not in made.error
  found = in_container(machine, "keychain", "get", "api", **options)
  assert (found.out, found.error) == (TOKEN.encode(), "")
  assert in_container(machine, "whoami", **options).out == f"{len(TOKEN)} characters\n".encode()
  told = in_container(machine, "keychain", "doctor", **options).out.decode()
  assert "strong" in told and "keyring cannot be used" in told
  refused = in_container(machine, "keychain", "unlock", code=79, **options)
  assert "cannot be kept unlocked here" in refused.error and "KEYCHAIN_KEY_FILE" in refused.error
  assert not (machine.root / "nonexistent").exists()


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
  container.shell("cd /root\n" + "\n".join(line for line in commands if "docker" not in line))
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
  """Puts a secret where Kubernetes does: behind links, for root and the group of the pod."""
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
  mounted_secret(container, secret["mountPath"], key(container).read_bytes(), group)
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
  assert setting in refused.error and f"`{setting}`" in PAGE.replace("`\n", "` ")
  use(container, variables=variables | {"KEYCHAIN_ALLOW_READ": said})


def test_the_secret_of_kubernetes_is_the_key_as_it_is(container):
  """kubectl, where it is, makes the secret without a cluster."""
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


def test_a_backup_of_a_server(server):
  variables = {"KEYCHAIN_VAULT": "/var/lib/vault.db", "XDG_STATE_HOME": "/var/lib",
               "KEYCHAIN_KEY_FILE": "/etc/mytool/keychain.key"}
  server.run("mytool", "keychain", "set", "api", variables=variables, input=TOKEN.encode())
  (command,) = blocks("sh", "Copy a vault")
  server.shell(command, variables=variables)
  # Again and again.
  server.shell(command, variables=variables)
  there = variables | {"KEYCHAIN_VAULT": "/var/backups/mytool.db", "XDG_STATE_HOME": "/tmp"}
  assert server.run("mytool", "keychain", "get", "api", variables=there).out == TOKEN.encode()
