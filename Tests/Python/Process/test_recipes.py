"""The lines of the page with recipes, with the programs they are for."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import machine
from client_servers import HOST, Answering, DatabaseServer, PostgreSQLRequest, WebServer, basic, running
from etcd_certificates import make_certificates
from pages import ROOT
from prefs_testing import LIMIT, Home

PAGE = (ROOT / "Documentation" / "Running.md").read_text().split("\n## Recipes\n")[1]


def recipe(name: str, language: str = "sh", number: int = 0) -> str:
  """Returns a block of a program's section, as it stands on the page."""
  section = re.search(rf"(?ms)^### {re.escape(name)}$(.*?)(?=^##|\Z)", PAGE)
  return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", section[1])[number]


def needs(*programs: str) -> None:
  """Requires what the scripts don't install."""
  for program in programs:
    machine.require(program, None if shutil.which(program) else "it is not installed")


@pytest.fixture(autouse=True)
def path(home) -> None:
  """`prefs` in PATH, as the lines call it."""
  folder = home.folder / "bin"
  folder.mkdir()
  (folder / "prefs").symlink_to(home.program)
  home.environment["PATH"] = f"{folder}:{home.environment['PATH']}"
  home.environment["LC_ALL"] = "C.UTF-8"


def shell(home: Home, line: str, code: int = 0, **variables: str) -> str:
  """Runs lines in the home; returns their output."""
  done = subprocess.run(
    ["sh", "-ec", line], cwd=home.folder, env=home.environment | variables, stdin=subprocess.DEVNULL,
    capture_output=True, text=True, timeout=LIMIT)
  assert done.returncode == code, done
  return done.stdout


def write(home: Home, name: str, text: str) -> None:
  path = home.folder / name
  path.parent.mkdir(parents=True, exist_ok=True)
  path.write_text(text)


ARN = "arn:aws:iam::123456789012:user/alice"
IDENTITY = f"""<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>
<Arn>{ARN}</Arn><UserId>AIDA</UserId><Account>123456789012</Account>
</GetCallerIdentityResult></GetCallerIdentityResponse>"""


def test_aws(home):
  needs("aws")
  shell(home, recipe("aws and boto3"), ID="AKIAEXAMPLE", KEY="secret+key")
  write(home, ".aws/config", recipe("aws and boto3", "ini"))
  with running(Answering(IDENTITY.encode(), "text/xml")) as server:
    shown = shell(
      home, "aws --profile work --region us-east-1 sts get-caller-identity",
      AWS_ENDPOINT_URL=server.url)
    assert ARN in shown
    assert server.given and "Credential=AKIAEXAMPLE/" in server.given[0]


def test_cargo(home):
  needs("cargo")
  home.set("company", b"tok-hunter2", "--service", "cargo")
  with running(Answering(b"{}", challenge='Cargo login_url="http://x"')) as server:
    config = recipe("cargo", "toml").replace("https://cargo.example.com/", server.url)
    write(home, ".cargo/config.toml", config)
    write(home, "app/src/lib.rs", "")
    write(
      home, "app/Cargo.toml", '[package]\nname = "app"\nversion = "0.1.0"\n'
      '[dependencies]\ntool = { version = "1", registry = "company" }\n')
    # rustup looks for itself in the home folder, too.
    rustup = Path(shutil.which("cargo")).parents[2] / ".rustup"
    variables = {"RUSTUP_HOME": str(rustup)} if rustup.is_dir() else {}
    # The registry has no package; it is about the token.
    shell(home, "cd app; cargo fetch", code=101, CARGO_HOME=str(home.folder / ".cargo"), **variables)
    assert set(server.given) == {"tok-hunter2"}


def test_pip(home):
  page = b'<a href="tool-1-py3-none-any.whl">tool-1-py3-none-any.whl</a>'
  with running(WebServer(basic("alice", "p w"), {"/simple/tool/": ("text/html", page)})) as server:
    home.set("alice", b"p w", "--server", HOST, "--protocol", "https", "--port", str(server.port))
    line = recipe("pip").replace("https://pypi.example.com", server.url)
    # What is offered is not there; it is about the password.
    shell(
      home, line.replace("pypi.example.com", f"{HOST}:{server.port}"), code=1,
      PATH=f"{Path(sys.executable).parent}:{home.environment['PATH']}", PIP_CONFIG_FILE=os.devnull)
    assert server.authorization in server.authorizations


def test_npm(home):
  needs("npm")
  home.set("token", b"tok-hunter2", "--service", "npm")
  with running(Answering(b'{"username":"alice"}')) as server:
    settings = recipe("npm", "ini").replace("https://", "http://").replace("npm.example.com", server.host)
    write(home, ".npmrc", settings)
    assert shell(home, recipe("npm"), NO_UPDATE_NOTIFIER="1").strip() == "alice"
    assert set(server.given) == {"Bearer tok-hunter2"}


def test_maven(home):
  needs("mvn")
  home.set("alice", b"hunter2", "--service", "maven")
  write(home, ".m2/settings.xml", recipe("Maven", "xml"))
  parent = b"<project><modelVersion>4.0.0</modelVersion></project>"
  with running(Answering(parent, "text/xml")) as server:
    write(
      home, "pom.xml",
      "<project><modelVersion>4.0.0</modelVersion><artifactId>app</artifactId><parent><groupId>g</groupId>"
      "<artifactId>parent</artifactId><version>1</version></parent>"
      f"<repositories><repository><id>company</id><url>{server.url}</url></repository></repositories></project>")
    # The parent is none; it is about the password.
    shell(home, recipe("Maven"), code=1, MAVEN_OPTS=f"-Duser.home={home.folder} -XX:TieredStopAtLevel=1")
    assert set(server.given) == {basic("alice", "hunter2")}


def test_kubectl(home):
  needs("kubectl")
  certificates = make_certificates(home.folder, [HOST])
  with running(Answering(b'{"major":"1"}', certificates=certificates)) as server:
    shell(home, recipe("kubectl"), TOKEN="tok-hunter2")
    shown = shell(
      home, f"kubectl --user me --server https://{server.host} --certificate-authority "
      f"{certificates.authority} get --raw /version")
    assert shown == '{"major":"1"}'
    assert set(server.given) == {"Bearer tok-hunter2"}


def test_terraform(home):
  needs("terraform")
  home.set("admin", b"hunter2", "--service", "db")
  write(
    home, "main.tf", 'variable "password" {}\noutput "count" { value = "${length(var.password)} characters" }\n')
  assert "7 characters" in shell(home, recipe("terraform").splitlines()[0], CHECKPOINT_DISABLE="1")


def test_ansible(home):
  home.set("vault", b"hunter2\n", "--service", "ansible")
  write(home, "plain", "hunter2\n")
  shell(home, "echo shown > secrets.yml; ansible-vault encrypt --vault-password-file plain secrets.yml")
  assert shell(home, recipe("ansible-vault")) == "shown\n"


def test_restic(home):
  home.set("restic", b"hunter2", "--service", "backup")
  lines = recipe("restic").replace("/srv/backup", str(home.folder / "backup"))
  shell(home, lines.replace("snapshots", "init"))
  shell(home, lines)
  home.set("restic", b"wrong", "--service", "backup")
  shell(home, lines, code=1)


def test_borg(home):
  home.set("borg", b"hunter2", "--service", "backup")
  lines = recipe("borg").replace("/srv/backup", str(home.folder / "backup"))
  shell(home, lines.replace("borg list", "borg init --encryption=repokey"))
  shell(home, lines)
  home.set("borg", b"wrong", "--service", "backup")
  shell(home, lines, code=2)


def test_gpg(home):
  home.set("me", b"hunter2", "--service", "gpg")
  home.folder.joinpath(".gnupg").mkdir(mode=0o700)
  try:
    shell(
      home, "echo shown | gpg --batch --pinentry-mode loopback --passphrase hunter2 --symmetric "
      "--no-symkey-cache --output letter.gpg")
    assert shell(home, recipe("gpg")) == "shown\n"
  finally:
    shell(home, "gpgconf --kill all")


def test_ssh_add(home):
  shell(home, "ssh-keygen -q -t ed25519 -N '' -C of-a-test -f key")
  home.set("id_ed25519", (home.folder / "key").read_bytes(), "--service", "ssh")
  # The agent ends with its command.
  shown = shell(home, f"ssh-agent sh -ec '{recipe('ssh-add')}ssh-add -l'")
  assert "of-a-test" in shown


def test_age(home):
  key = subprocess.run(["age-keygen"], capture_output=True, check=True, timeout=LIMIT)
  home.set("age", key.stdout, "--service", "sops")
  recipient = re.search(rb"age1\w+", key.stdout)[0].decode()
  shell(home, f"echo shown | age --encrypt --recipient {recipient} --output secrets.age")
  assert shell(home, recipe("sops and age", number=1)) == "shown\n"


def test_psql(home):
  home.set("admin", b"hunter2", "--service", "db")
  with running(DatabaseServer(PostgreSQLRequest, "admin", "hunter2")) as server:
    line = recipe("psql").replace("db.example.com", f"{HOST} -p {server.port}")
    assert shell(home, line) == "welcome\n"
    assert server.accepted == 1


def test_every_recipe_is_run_or_named(request):
  sections = re.findall(r"(?m)^### (.*)$", PAGE)
  run = {name.removeprefix("test_") for name in dir(request.module) if name.startswith("test_")}
  untested = re.search(r"except for ([\w, ]+)\.", re.sub(r"\s+", " ", PAGE))[1]
  named = set(re.split(r",\s*|\s+and\s+", untested))
  for section in sections:
    words = {word.lower().replace("-", "_") for word in re.split(r" and ", section)}
    words |= {word.split("_")[0] for word in words}
    assert words & (run | named), section
