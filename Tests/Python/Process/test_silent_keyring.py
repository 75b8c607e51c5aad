"""A desktop keyring that is silent or fails may have what is looked for: nothing takes its place."""

from __future__ import annotations

import os
import signal
import time

import pytest

from desktop_session import desktop, secret_tool
from prefs_testing import hinted
from test_stores import BUS, listener

# Several commands of half a second each, on a busy machine.
LONGEST = 30

SERVICE = ("--service", "s")
REQUEST = b"protocol=https\nhost=s\nusername=alice\n"
HELPER_ITEM = ("user", "alice", "server", "s", "protocol", "https")

COMMANDS = {
  "get": (("get", "alice", *SERVICE), b""),
  "show": (("show", "alice", *SERVICE), b""),
  "read": (("read", "keychain://s/alice?optional"), b""),
  "list": (("list",), b""),
  "list of a service": (("list", *SERVICE), b""),
  "set": (("set", "alice", *SERVICE), b"new"),
  "update": (("update", "alice", *SERVICE, "--label", "l"), b""),
  "rename": (("rename", "alice", "bob", *SERVICE), b""),
  "delete": (("delete", "alice", *SERVICE, "--if-exists"), b""),
  "run": (("run", "--env", "T=keychain://s/alice?optional", "--", "touch", "ran"), b""),
  "inject": (("inject", "-"), b"{{ keychain://s/alice?optional }}"),
  "git": (("git-credential", "get"), REQUEST + b"\n"),
  "git stores": (("git-credential", "store"), REQUEST + b"password=new\n\n"),
  "docker": (("docker-credential", "get"), b"s"),
  "docker stores": (("docker-credential", "store"),
                    b'{"ServerURL": "s", "Username": "alice", "Secret": "new"}'),
  "docker lists": (("docker-credential", "list"), b""),
}


@pytest.fixture(params=["provider", "bus", "closing bus"])
def silent(request, home):
  """A desktop with a keyring that has what the commands look for, and is silent or not reached."""
  home.reason = "does not answer"
  if request.param != "provider":
    closes = request.param == "closing bus"
    if closes:
      home.reason = "does not take the connection now"
    with listener(str(home.folder / "bus"), closes=closes) as address:
      home.environment[BUS] = address
      yield home
    return
  with desktop(home) as variables:
    for pairs in ("service", "s", "username", "alice"), HELPER_ITEM:
      secret_tool(variables, "store", "--label", "x", *pairs, input=b"theirs")
    os.kill(int(variables["DESKTOP_PROVIDER_PID"]), signal.SIGSTOP)
    yield home


def test_silence_is_not_absence(silent):
  start = time.monotonic()
  running = {
    name: silent.start(*words, "--deadline", "1s", stdin=open(silent.file(name, given), "rb"))
    if words[0] != "run" else silent.start("run", "--deadline", "1s", *words[1:])
    for name, (words, given) in COMMANDS.items()}
  for name, process in running.items():
    out, error = process.communicate(timeout=LONGEST)
    # Clients of docker know one code of failure.
    expected = 1 if name.startswith("docker") else 75
    assert process.returncode == expected, f"{name}: {process.returncode}, {out}, {error}"
    assert silent.reason.encode() in error and b"--store vault" in error, f"{name}: {error}"
    if name == "git":
      # git asks no other helper, and nobody for what could not be stored.
      assert out == b"quit=1\n"
    else:
      assert b"not found" not in out and b"alice" not in out
  assert time.monotonic() - start < LONGEST
  assert not (silent.folder / "ran").exists(), "it ran without its secret"
  assert not silent.vault.exists() and not (silent.state / "stores").exists()
  # A person who wants to continue without the keyring says so.
  silent.set("alice", b"mine", *SERVICE, "--store", "vault")
  assert silent.get("alice", *SERVICE) == b"mine"


def test_choices_before_the_keyring_is_asked(silent):
  start = time.monotonic()
  silent.set("a", b"1", "--service", "chosen", "--store", "vault")
  assert silent.get("a", "--service", "chosen") == b"1"
  silent.set("b", b"1", "--service", "named", environment={"KEYCHAIN_VAULT": str(silent.vault)})
  assert silent.get("b", "--service", "named") == b"1"
  assert silent.get("b", "--service", "named", environment={"KEYCHAIN_STORE": "vault"}) == b"1"
  assert b"chosen" in silent.run("list").out
  assert time.monotonic() - start < LONGEST


def test_the_doctor_knows_no_store_of_a_new_service(silent):
  told = silent.run("doctor", "--deadline", "1s", code=75)
  assert "store: unknown: " in (text := " ".join(told.out.decode().split())) and silent.reason in text
  assert "--store vault" in hinted(told) + told.out.decode()


@pytest.mark.parametrize("limit", [7, 12])
def test_a_process_without_descriptors_knows_no_store(home, limit):
  """GLib would end the process, and its library cannot be loaded: that does not lead to the vault."""
  with desktop(home) as variables:
    secret_tool(variables, "store", "--label", "x", "service", "s", "username", "alice", input=b"theirs")
    for words, given in (("get", "alice", *SERVICE), b""), (("set", "alice", "--service", "t"), b"new"):
      told = home.run(*words, input=given, code=75,
                      through=["sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh"])
      assert "Too many open files" in told.error and "--store vault" in told.error
  assert not home.vault.exists() and not (home.state / "stores").exists()


def test_the_doctor_waits_once(home):
  """For a silent keyring with credentials, too, which it looks for when it has probed the keyring."""
  with desktop(home) as variables:
    home.set("a", b"1", *SERVICE)
    home.set("b", b"1", "--service", "t", "--store", "vault")
    os.kill(int(variables["DESKTOP_PROVIDER_PID"]), signal.SIGSTOP)
    start = time.monotonic()
    home.run("doctor", "--deadline", "2s", code=75)
    assert time.monotonic() - start < 3.8
