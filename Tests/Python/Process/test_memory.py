"""Just before a command ends, its memory has no copy of a secret, passphrase or key."""

from __future__ import annotations

import fcntl
import functools
import os
import re
import secrets
import signal
import struct
import subprocess
import termios
import time
from pathlib import Path

import pexpect
import pytest

import vault_keys as keys
from machine import STRANGER
from prefs_testing import LIMIT, wait_for_end
from vault_opening import administration_seed
from vault_reader import Secrets, Vault
from vault_slots import COSTS, Slot, SlotKind, slot_private_key, slot_seed

# The reader asks for the same hash again and again, and each takes half a second.
keys.passphrase_key = functools.cache(keys.passphrase_key)

# Long enough that no copy is there by chance.
PASSPHRASE = secrets.token_hex(24).encode()


@pytest.fixture
def protected(home):
  home.init(value=PASSPHRASE)
  return home


def all_keys(home, item_class: int = 0) -> dict[str, bytes]:
  """Every key on the way from the passphrase to the only item, by the second implementation."""
  device = (home.state / "device.key").read_bytes()
  vault = Vault(home.vault, Secrets(passphrase=PASSPHRASE, device=device))
  found = {"root": vault.root, "device": device}
  found |= {f"tier {tier}": key for tier, key in vault.tiers.items()}
  found["class"] = keys.class_key(
    vault.tiers[keys.TIER_OF_CLASS[item_class]], item_class, device)
  found |= {f"{kind} box": keys.box_key(vault.tiers[0], kind) for kind in keys.BOX_LABELS}
  found |= {f"names {tier}": keys.names_key(key) for tier, key in vault.tiers.items()}
  found["administration box"] = keys.administration_box_key(vault.root)
  found["administration"] = administration_seed(vault.head, vault.root)
  for item in vault.items:
    found["item"] = keys.item_key(found["class"], item.entry.id, item.entry.version)
  for slot in map(Slot.decoded, vault.head.slots):
    if slot.kind == SlotKind.PASSPHRASE:
      cost = COSTS[slot.parameters]
      found["hash"] = keys.passphrase_key(PASSPHRASE, slot.salt, cost.memory, cost.passes)
      header = slot.header(vault.head.vault)
      found["slot's private key"] = slot_private_key(found["hash"], header)
      found["slot's signing seed"] = slot_seed(found["hash"], header)
  return found


def memory(pid: int) -> list[tuple[str, bytes]]:
  """Everything that the process could have written a secret to, by the names of the mappings."""
  found = []
  with open(f"/proc/{pid}/mem", "rb", buffering=0) as file:
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
      match = re.match(r"([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \S+ *(.*)", line)
      begin, end = int(match[1], 16), int(match[2], 16)
      if match[4] in ("[vvar]", "[vsyscall]", "[vdso]", "[vvar_vclock]"):
        continue
      if "w" not in match[3] and match[4]:
        continue
      file.seek(begin)
      try:
        # Guarded memory that cannot be read by the process is read here all the same.
        found.append((f"{match[4] or 'memory'} {match[3]}", file.read(end - begin)))
      except OSError:
        continue
  return found


def stopping_at_exit(trace: Path) -> list[str]:
  """The words that start a command and hold it when it is about to end."""
  return ["strace", "-f", "-o", str(trace), "-e", "trace=exit_group",
          "-e", "inject=exit_group:delay_enter=20s"]


def memory_at_exit(trace: Path, is_running, look=memory):
  """Waits until a command is about to end, and returns what a look at the process shows: its memory."""
  deadline = time.monotonic() + LIMIT
  # strace writes the call down when it begins.
  while not (trace.exists() and b"exit_group(" in trace.read_bytes()):
    assert time.monotonic() < deadline and is_running()
    time.sleep(0.02)
  child = int(trace.read_bytes().split(b"exit_group(")[0].splitlines()[-1].split()[0])
  found = look(child)
  # Without the tracer, the command would wait out the delay.
  os.kill(child, signal.SIGKILL)
  return found


def peak(pid: int) -> int:
  """The most memory that the process has had, in bytes."""
  status = Path(f"/proc/{pid}/status").read_text()
  return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) << 10


def at_exit(home, *arguments: str, look=memory, **options) -> tuple[bytes, object]:
  """Runs a command, and returns its output and what a look at the process shows when it is about to
  end: its memory."""
  given = options.pop("input", b"")
  trace = home.folder / f"trace-{secrets.token_hex(4)}"
  with home.start(
    *arguments, stdin=subprocess.PIPE, through=stopping_at_exit(trace), **options) as tracer:
    tracer.stdin.write(given)
    tracer.stdin.close()
    tracer.stdin = None
    try:
      found = memory_at_exit(trace, lambda: tracer.poll() is None, look)
      tracer.kill()
      out, error = tracer.communicate(timeout=LIMIT)
    finally:
      tracer.kill()
  assert b"exit_group(0" in trace.read_bytes(), error
  return out, found


def copies(found: list[tuple[str, bytes]], values: dict[str, bytes]) -> list[str]:
  return [f"{name} in {place}" for name, value in values.items() for place, bytes_ in found
          if value in bytes_]


def test_the_scan_finds_what_is_there(protected, tracing):
  """The check finds the arguments; otherwise the other tests would prove nothing."""
  marker = secrets.token_hex(24).encode()
  _, found = at_exit(protected, "get", "nobody", "--allow-expired", "--service",
                     marker.decode(), "--help")
  assert copies(found, {"marker": marker})


@pytest.mark.parametrize("source", ["file", "descriptor", "variable file", "cache", "device"])
def test_get(protected, source, tracing):
  secret = secrets.token_hex(32).encode()
  path = protected.passphrase(PASSPHRASE)[1]
  options, more = [], {}
  item_class = 0
  protected.set("alice", secret, "--passphrase-file", path,
                *(["--accessibility", "always"] if source == "device" else []))
  if source == "device":
    item_class = 4
  elif source == "file":
    options = ["--passphrase-file", path]
  elif source == "cache":
    protected.run("unlock", "--passphrase-file", path)
  elif source == "variable file":
    more = {"environment": {"KEYCHAIN_PASSPHRASE_FILE": path}}
  else:
    reader, writer = os.pipe()
    os.write(writer, PASSPHRASE)
    os.close(writer)
    options, more = ["--passphrase-fd", str(reader)], {"pass_fds": [reader]}
  out, found = at_exit(protected, "get", "alice", *options, **more)
  assert out == secret
  values = {"secret": secret, "passphrase": PASSPHRASE} | all_keys(protected, item_class)
  assert copies(found, values) == []


def test_get_into_a_file(protected, tracing):
  secret = secrets.token_hex(32).encode()
  options = protected.passphrase(PASSPHRASE)
  protected.set("alice", secret, *options)
  _, found = at_exit(protected, "get", "alice", "--output", "out", *options)
  assert (protected.folder / "out").read_bytes() == secret
  assert copies(found, {"secret": secret, "passphrase": PASSPHRASE} | all_keys(protected)) == []


@pytest.mark.parametrize("size", [32, 5000, 300_000])
def test_set(protected, size, tracing):
  secret = secrets.token_bytes(size)
  options = protected.passphrase(PASSPHRASE)
  _, found = at_exit(protected, "set", "alice", *options, input=secret)
  assert protected.get("alice", *options) == secret
  # A part that lies in no other part tells of a copy of any length.
  parts = {f"secret at {at}": secret[at:at + 32] for at in range(0, size - 31, 9973)}
  parts["end of secret"] = secret[-32:]
  assert copies(found, parts | {"passphrase": PASSPHRASE} | all_keys(protected)) == []


def test_set_in_place_and_update(protected, tracing):
  old, new = secrets.token_bytes(64), secrets.token_bytes(64)
  options = protected.passphrase(PASSPHRASE)
  protected.set("alice", old, *options)
  before = all_keys(protected)
  _, found = at_exit(protected, "set", "alice", *options, input=new)
  values = {"old": old, "new": new, "passphrase": PASSPHRASE}
  assert copies(found, values | before | all_keys(protected)) == []
  _, found = at_exit(protected, "update", "alice", "--label", "L", *options)
  assert copies(found, values | all_keys(protected)) == []


def test_init_and_slots_and_unlock(home, tracing):
  path = home.passphrase(PASSPHRASE)[1]
  _, found = at_exit(home, "init", "--new-passphrase-file", path)
  keys_now = all_keys(home)
  assert copies(found, {"passphrase": PASSPHRASE} | keys_now) == []
  _, found = at_exit(home, "unlock", "--passphrase-file", path)
  assert copies(found, {"passphrase": PASSPHRASE} | keys_now) == []
  other = secrets.token_hex(24).encode()
  new = home.passphrase(other)[1]
  _, found = at_exit(
    home, "slots", "add", "--new-passphrase-file", new, "--passphrase-file", path)
  assert copies(found, {"old": PASSPHRASE, "new": other} | all_keys(home)) == []


def test_the_first_passphrase_of_a_vault(home, tracing):
  """Every key is replaced; neither old nor new ones stay in memory."""
  secret = secrets.token_bytes(64)
  home.set("alice", secret)
  path = home.passphrase(PASSPHRASE)[1]
  _, found = at_exit(home, "slots", "add", "--new-passphrase-file", path)
  assert copies(found, {"secret": secret, "passphrase": PASSPHRASE} | all_keys(home)) == []


ALPHABET = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def written(text: bytes, count: int) -> dict[str, bytes]:
  """A key in the ways that it could lie in memory: written down, in one piece, and as bytes."""
  plain = text.upper().replace(b"-", b"")
  number = 0
  for character in plain:
    number = number << 5 | ALPHABET.index(character)
  key = number.to_bytes(len(plain) * 5 // 8, "big")[:count]
  return {"text": text, "capitals": plain, "small letters": plain.lower(), "key": key}


def test_recovery_codes(protected, tracing):
  secret = secrets.token_bytes(64)
  options = protected.passphrase(PASSPHRASE)
  protected.set("alice", secret, *options)
  _, found = at_exit(protected, "recovery", "create", "--code-file", "code", *options)
  code = written((protected.folder / "code").read_bytes().strip(), 16)
  assert copies(found, code | {"passphrase": PASSPHRASE} | all_keys(protected)) == []
  out, found = at_exit(protected, "get", "alice", "--recovery-code-file", "code")
  assert out == secret
  assert copies(found, code | {"secret": secret} | all_keys(protected)) == []


def test_a_recovery_code_on_the_terminal(home, tracing):
  """The shown code and the typed one are wiped, although both passed through a terminal."""
  home.set("alice", b"x")
  trace = home.folder / "trace"
  command = [*stopping_at_exit(trace), home.program, "keychain", "recovery", "create"]
  terminal = pexpect.spawn(
    command[0], command[1:], cwd=home.folder, env=home.environment | {"TERM": "xterm"}, timeout=LIMIT)
  terminal.expect(rb"(?:[0-9A-Z]{4}-){7}[0-9A-Z]{4}")
  code = terminal.match[0]
  terminal.expect_exact("as you wrote it down: ")
  terminal.sendline(code)
  terminal.expect_exact("added slot 2")
  found = memory_at_exit(trace, terminal.isalive)
  # The tracer would wait out the delay all the same.
  terminal.kill(signal.SIGKILL)
  wait_for_end(terminal)
  assert copies(found, written(code, 16)) == []
  assert copies(found, {"the question": b"as you wrote it down"}) != []


def test_identities(protected, tracing):
  secret = secrets.token_bytes(64)
  options = protected.passphrase(PASSPHRASE)
  protected.set("alice", secret, *options)
  made, found = at_exit(protected, "identity", "create", "identity")
  lines = (protected.folder / "identity").read_bytes().splitlines()
  line = next(line for line in lines if line.startswith(b"pksec2-"))
  identity = written(line.removeprefix(b"pksec2-"), 32)
  assert copies(found, identity) == []
  protected.run("slots", "add", "--recipient", made.decode().strip(), *options)
  out, found = at_exit(protected, "get", "alice", "--identity", "identity")
  assert out == secret
  assert copies(found, identity | {"secret": secret} | all_keys(protected)) == []
  _, found = at_exit(protected, "identity", "pin", "identity", "--check", "0" * 32, "--replace")
  assert copies(found, identity) == []


def test_a_passphrase_in_the_environment_is_only_there(protected, tracing):
  """The kernel stores the environment on the process's stack; there must be no other copy."""
  secret = secrets.token_bytes(64)
  protected.set("alice", secret, *protected.passphrase(PASSPHRASE))
  out, found = at_exit(
    protected, "get", "alice", environment={"KEYCHAIN_PASSPHRASE": PASSPHRASE.decode()})
  assert out == secret
  values = {"secret": secret, "passphrase": PASSPHRASE} | all_keys(protected)
  assert [copy for copy in copies(found, values) if "[stack]" not in copy] == []


def waiting_bytes(pipe) -> int:
  """Returns the number of unread bytes in a pipe."""
  return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]


def test_memory_of_a_running_command_is_unreadable(home, superuser):
  """Other processes of the user can neither trace it nor create a core file of it."""
  home.folder.chmod(0o755)
  program = home.folder / "prefs"
  program.write_bytes(Path(home.program).read_bytes())
  program.chmod(0o755)

  def as_stranger():
    os.setgroups([])
    os.setgid(STRANGER)
    os.setuid(STRANGER)

  os.chown(home.folder, STRANGER, STRANGER)
  for name in ("data", "state"):
    os.chown(home.folder / name, STRANGER, STRANGER)
  home.program = str(program)
  with home.start("set", "alice", stdin=subprocess.PIPE, preexec_fn=as_stranger) as process:
    try:
      process.stdin.write(b"secret")
      process.stdin.flush()
      # Once it has read something of the secret, it must be out of reach.
      deadline = time.monotonic() + LIMIT
      while waiting_bytes(process.stdin):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.01)
      reading = subprocess.run(
        ["cat", f"/proc/{process.pid}/environ"], preexec_fn=as_stranger, capture_output=True)
      assert reading.returncode != 0 and b"ermission denied" in reading.stderr
    finally:
      process.kill()


# How much a command may use beside what a password hash takes.
ENOUGH = 30_000_000


def test_peak_of_get(home, tracing):
  home.set("alice", b"secret")
  out, used = at_exit(home, "get", "alice", look=peak)
  assert out == b"secret" and used <= ENOUGH


def test_peak_of_get_with_a_password_hash(protected, tracing):
  options = protected.passphrase(PASSPHRASE)
  protected.set("alice", b"secret", *options)
  out, used = at_exit(protected, "get", "alice", *options, look=peak)
  # The hash is there, or this would measure something else.
  assert out == b"secret" and 64 << 20 <= used <= (64 << 20) + ENOUGH
