"""The commands of the page of swift-configuration put a password and a setting where its service finds them."""

from __future__ import annotations

import re

import pytest

from container_testing import Machine
from prefs_testing import ROOT
from servers_page import USER
from systemd_stand_in import SYSTEMD_RUN

PAGE = (ROOT / "Documentation" / "ConfiguredServers.md").read_text()
STATE = "/var/lib/private/webservice"


def as_root(words: str) -> str:
  """The block of commands with some words that root types."""
  found = re.findall(r"(?ms)^```sh\n(.*?)^```$", PAGE)
  (block,) = [block for block in found if words in block and "systemd-run" in block]
  return block


@pytest.fixture
def server(home, program, superuser, mounting) -> Machine:
  """A server with a key, and without a vault."""
  home.folder.chmod(0o755)
  machine = Machine.make(home.folder / "root", {"prefs": program})
  machine.script("systemd-run", SYSTEMD_RUN)
  machine.shell("install -d -m 700 /etc/webservice; head -c 32 /dev/urandom > /etc/webservice/keychain.key")
  yield machine
  machine.run("prefs", "keychain", "lock", "--all", "--vault", f"{STATE}/keychain/vault", user=USER,
              variables={"XDG_STATE_HOME": "/tmp"}, code=None)


def test_the_password_and_the_setting_of_the_service(server):
  store = as_root("prefs keychain set")
  made = server.shell(store, variables={"PASSWORD": "first"})
  assert f"created the vault {STATE}/keychain/vault; the given passphrase, key file" in made.error
  assert server.mode(f"{STATE}/keychain/vault") == (USER, 0o600)
  server.shell(store, variables={"PASSWORD": "second"})
  read = store.split("| ", 1)[1].replace("keychain set", "keychain get")
  assert server.shell(read).out == b"second"
  change = as_root("prefs write")
  server.shell(change)
  assert server.mode(f"{STATE}/webservice.preferences") == (USER, 0o600)
  assert server.shell(change.replace("prefs write", "prefs read").replace(" Welcome", "")).out == b"Welcome\n"
