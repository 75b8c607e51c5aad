"""A private desktop for a home: a session bus, and a provider of the Secret Service."""

from __future__ import annotations

import json
import subprocess
from contextlib import contextmanager

from prefs_testing import LIMIT, ROOT, Home

RECORD = "attribute.prephirences:credential"


@contextmanager
def desktop(home: Home, provider: str = "gnome-keyring"):
  """Runs a home's commands in a desktop; yields the desktop's variables."""
  script = ROOT / "Scripts" / "lib" / "desktop"
  # The desktop ends with its command, which reads until this process lets go.
  command = ["sh", "-c", "env -0; printf 'READY=\\0'; cat >/dev/null"]
  with subprocess.Popen([str(script), provider, *command], stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE) as process:
    try:
      text = b""
      while not text.endswith(b"READY=\0"):
        piece = process.stdout.read1(65536)
        assert piece, "the desktop did not start"
        text += piece
      variables = dict(
        pair.split("=", 1) for pair in text.decode().split("\0") if "=" in pair)
      before = dict(home.environment)
      home.environment["DBUS_SESSION_BUS_ADDRESS"] = variables["DBUS_SESSION_BUS_ADDRESS"]
      yield variables
      home.environment = before
    finally:
      process.stdin.close()
      process.wait(timeout=LIMIT)


def secret_tool(variables: dict[str, str], *arguments: str, **options) -> bytes:
  return subprocess.run(
    ["secret-tool", *arguments], env=variables, stdout=subprocess.PIPE,
    stderr=subprocess.PIPE, timeout=LIMIT, **options).stdout


def lock_keyring(variables: dict[str, str]) -> None:
  subprocess.run(
    ["dbus-send", "--print-reply", "--dest=org.freedesktop.secrets", "/org/freedesktop/secrets",
     "org.freedesktop.Secret.Service.Lock",
     "array:objpath:/org/freedesktop/secrets/collection/login"],
    env=variables, check=True, stdout=subprocess.DEVNULL, timeout=LIMIT)


def keyring_items(variables: dict[str, str]) -> list[tuple[dict, bytes]]:
  """Returns the stored records and secrets of `prefs` items in the keyring."""
  found = subprocess.run(
    ["secret-tool", "search", "--all", "xdg:schema", "org.prephirences.Credential"],
    env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT).stdout
  items, secret = [], None
  for line in found.decode().splitlines():
    name, _, value = line.partition(" = ")
    if name == "secret":
      secret = value.encode()
    elif name == RECORD:
      items.append((json.loads(value), secret))
  return items
