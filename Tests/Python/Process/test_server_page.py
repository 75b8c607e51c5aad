"""The servers page is correct for servers: each of its commands is run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from container_testing import Machine
from prefs_testing import LIMIT
from servers_page import PAGE, STATE, TOKEN, USER, blocks, images, unit
from systemd_stand_in import SYSTEMD_RUN


@pytest.fixture
def server(home, sample_tool, program, superuser, mounting) -> Machine:
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
  """Removes the keys of every vault there from the kernel's keyring."""
  for vault in machine.root.rglob("vault"):
    owner = vault.stat().st_uid
    machine.run(
      "mytool", "keychain", "lock", "--all", "--vault", "/" + str(vault.relative_to(machine.root)),
      user=owner, variables={"XDG_STATE_HOME": "/tmp"}, code=None)


def test_the_key_is_made_of_32_bytes(server):
  assert (server.root / "etc/mytool/keychain.key").stat().st_size == 32


# MARK: Libraries


def libraries(program: str) -> str:
  return subprocess.run(
    ["ldd", program], capture_output=True, text=True, timeout=LIMIT, check=True).stdout


def loaded(program: str) -> set[str]:
  """The libraries that a program loads, Swift's own and the loader left out."""
  names = {line.split()[0] for line in libraries(program).splitlines() if "=>" in line}
  return {name for name in names if not re.match(r"lib(swift|_?Foundation|dispatch|Blocks)", name)}


def test_page_lists_the_loaded_libraries(sample_tool):
  table = PAGE.split("| library |")[1].split("\n\n")[0]
  named = set(re.findall(r"`(lib[^`]*\.so[^`]*)`", table))
  # The scripts link the libraries of the compiler into programs that contain the Swift runtime.
  compilers = set() if "libswiftCore" in libraries(sample_tool) else {"libstdc++.so.6", "libgcc_s.so.1"}
  # The vault needs no SQLite, and the host has no preferences.
  assert loaded(sample_tool) == named - {"libsqlite3.so.0"} - compilers
  assert {"libsodium23", "libsqlite3-0"} <= images(blocks("dockerfile")[0])[-1].packages


def newest_glibc(program: str) -> tuple[int, ...]:
  (command,) = [line for line in blocks("sh", "What a program needs")[0].splitlines() if "objdump" in line]
  told = subprocess.run(
    ["bash", "-c", command.replace("/usr/local/bin/mytool", program)], capture_output=True, text=True,
    timeout=LIMIT, check=True)
  return tuple(map(int, told.stdout.strip().removeprefix("GLIBC_").split(".")))


def test_the_oldest_glibc_of_the_page(program, sample_tool):
  if 'VERSION_ID="12"' not in Path("/etc/os-release").read_text():
    pytest.skip("the page speaks of a program that was built on Debian 12")
  built, installed = (tuple(map(int, said)) for said in re.findall(r"glibc (2)\.(\d+)", PAGE))
  assert newest_glibc(program) <= installed == (2, 34)
  # The scripts link the C++ library into it, which needs one more.
  assert newest_glibc(sample_tool) <= max(built, (2, 36))


def test_prefs_needs_glibc_alone(program):
  """Whatever else it is to load, it would not start where that is missing."""
  read = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, timeout=LIMIT, check=True).stdout
  needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", read))
  assert {name for name in needed if not name.startswith("ld-linux")} == {"libm.so.6", "libc.so.6"}
  assert not re.search(r"\((RPATH|RUNPATH)\)", read)


# MARK: systemd


def first_token(number: int) -> str:
  """The command for the first token that follows a unit."""
  return blocks("sh", "A service of systemd")[number]


@pytest.mark.parametrize("number", [0, 1])
def test_first_token_matches_unit_properties(number):
  settings = unit(blocks("ini")[number])
  command = first_token(number)
  given = re.findall(r"-p (\w+)=(\S+)", command)
  # Hardening changes nothing of where things lie.
  others = ("ProtectHome", "Environment", "ExecStart")
  assert given == [(name, value) for name, value in settings if name not in others]
  variables = dict(settings).get("Environment", "").replace("%S", "/var/lib").split()
  assert re.findall(r"-E (\S+)", command) == variables


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
  made = server.shell(first_token(0))
  state = STATE.replace("/lib/", "/lib/private/")
  assert f"created the vault {state}/keychain/vault; the given passphrase, key file" in made.error
  assert server.mode(f"{state}/keychain/vault") == (USER, 0o600) and f"`{state}`" in PAGE
  # The service itself, and the same without its key.
  read = first_token(0).split("| ", 1)[1].replace("set api", "get api")
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
  made = server.shell(first_token(1))
  assert f"created the vault {STATE}/vault; the given passphrase, key file" in made.error
  assert server.mode(f"{STATE}/keychain/device.key") == (USER, 0o600)
  assert os.listdir(server.root / "home/mytool") == []


def test_a_set_up_that_is_typed_twice_keeps_its_key(server):
  """A new key in its place would open nothing that is stored."""
  server.script("systemd-run", SYSTEMD_RUN)
  path = server.root / "etc/mytool/keychain.key"
  key = path.read_bytes()
  (command,) = blocks("sh", "Make a key")[:1]
  server.shell(first_token(0))
  assert "File exists" in server.shell_again(command).error
  server.shell_again(first_token(0))
  assert path.read_bytes() == key
  read = first_token(0).split("| ", 1)[1].replace("set api", "get api")
  assert server.shell(read).out == TOKEN.encode()


def test_a_forgotten_key_is_added_later(server):
  variables = {"KEYCHAIN_VAULT": "/var/lib/vault", "XDG_STATE_HOME": "/var/lib"}
  made = server.run(
    "mytool", "keychain", "set", "api", variables=variables, input=TOKEN.encode())
  assert "this machine's device key opens it" in made.error
  assert "slots add --new-passphrase-file FILE' or '--with-key-file FILE' adds it" in made.error
  assert b"weak" in server.run("mytool", "keychain", "doctor", variables=variables).out
  (command,) = blocks("sh", "Make a key")[1:]
  server.shell(command, variables=variables)
  assert b"strong" in server.run("mytool", "keychain", "doctor", variables=variables).out


# MARK: cron


class Deploying(BaseHTTPRequestHandler):
  """Takes the token of the test and no other, and answers with some text."""

  def do_GET(self):
    self.server.seen.append(self.headers["Authorization"])
    self.send_response(200 if self.server.seen[-1] == f"Bearer {TOKEN}" else 401)
    self.end_headers()
    self.wfile.write(b"deployed\n")

  def log_message(self, *arguments):
    pass


@pytest.fixture
def deploying():
  with HTTPServer(("127.0.0.1", 0), Deploying) as http:
    http.seen = []
    thread = threading.Thread(target=http.serve_forever)
    thread.start()
    yield http
    http.shutdown()
    thread.join()


def test_a_cron_job(server, deploying):
  """With the variables that cron sets, and no others, and a real curl."""
  home = server.root / "home/alice"
  home.mkdir()
  os.chown(home, USER, USER)
  home.chmod(0o700)
  script, setup = blocks("sh", "A cron job")
  server.script("deploy-nightly", script.replace(
    "https://ci.example.com/deploy", f"http://127.0.0.1:{deploying.server_port}/deploy"))
  person = {"HOME": "/home/alice", "TOKEN": TOKEN}
  (home / "passphrase").write_text("a passphrase\n")
  (home / "passphrase").chmod(0o600)
  os.chown(home / "passphrase", USER, USER)
  # Nothing but a passphrase opens the vault before: a device key would open it for the job, too.
  server.run(
    "prefs", "keychain", "init", "--new-passphrase-file", "/home/alice/passphrase", "--no-device",
    user=USER, variables=person)
  typed = server.shell(
    setup, user=USER, variables=person | {"KEYCHAIN_PASSPHRASE_FILE": "/home/alice/passphrase"})
  assert deploying.seen == [f"Bearer {TOKEN}"] and b"deployed" not in typed.out
  assert server.mode("/home/alice/.config/deploy.key") == (USER, 0o600)
  key = (home / ".config/deploy.key").read_bytes()
  server.shell_again(
    setup, user=USER, variables=person | {"KEYCHAIN_PASSPHRASE_FILE": "/home/alice/passphrase"})
  assert (home / ".config/deploy.key").read_bytes() == key
  assert deploying.seen == [f"Bearer {TOKEN}"] * 2
  del deploying.seen[1:]
  cron = {"HOME": "/home/alice", "LOGNAME": "alice", "SHELL": "/bin/sh", "PATH": "/usr/bin:/bin"}
  (line,) = blocks("crontab")
  command = line.split(None, 5)[5].strip()
  assert "%" not in line
  for as_container in (False, True):
    told = server.run("/bin/sh", "-c", command, user=USER, variables=cron, as_container=as_container)
    assert (told.out, told.error) == (b"", "")
  assert deploying.seen == [f"Bearer {TOKEN}"] * 3
  server.run(
    "/usr/local/bin/prefs", "keychain", "set", "deploy", "--service", "ci", user=USER, input=b"old",
    variables=cron | {"KEYCHAIN_KEY_FILE": "/home/alice/.config/deploy.key"})
  refused = server.run("/bin/sh", "-c", command, user=USER, variables=cron, code=22)
  assert "401" in refused.error and refused.error.count("\n") == 1
  # Without its token, nothing is sent.
  server.run("/usr/local/bin/prefs", "keychain", "delete", "deploy", "--service", "ci", user=USER, variables=cron)
  assert server.run("/bin/sh", "-c", command, user=USER, variables=cron, code=44).out == b""
  assert len(deploying.seen) == 4


# MARK: Copies


def test_a_vault_is_copied_and_moved(server):
  server.script("systemd-run", SYSTEMD_RUN)
  server.shell(first_token(0))
  backup, restore = blocks("sh", "Copy a vault")
  server.shell(backup)
  # Again and again.
  server.shell(backup)
  assert server.mode("/var/backups/mytool.db") == (0, 0o600)
  forget(server)
  # The other server has the key, and nothing else of this one.
  shutil.rmtree(server.root / "var/lib")
  (server.root / "var/lib").mkdir()
  server.shell(f"cd /var/backups\n{restore}")
  vault = "/var/lib/private/mytool/keychain/vault"
  assert server.mode(vault) == (USER, 0o600)
  program = first_token(0).split("| ", 1)[1]
  read = program.replace("set api", "get api")
  assert server.shell(read).out == TOKEN.encode()
  server.shell(program.replace("set api", "slots add --device"))
  assert "`slots add --device`" in PAGE
