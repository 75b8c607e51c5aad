#!/usr/bin/env python3
"""Makes the checked-in vault of format 3 that `prefs` wrote: make_fixture.py PREFS FOLDER.

A vault that is checked in stays as it is; this is how it was made.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path

from prefs_testing import FIXTURES, Home
import vault_keys as keys
from vault_reader import Secrets, Vault, described

COMPOSED, DECOMPOSED = "\u00e9", "e\u0301"
ODD_NAMES = (
  COMPOSED, DECOMPOSED, "line\nbreak\ttab", "-x", "\U0001f1e9\U0001f1ea", "a" * 2000)
GROUP = "gr\u00fcppe \U0001f511"
SERVER = ["--server=example.com", "--protocol=https", "--port=443", "--path=/a/b"]


def fill(home: Home) -> None:
  for accessibility in keys.ACCESSIBILITIES:
    home.set(accessibility, f"secret of {accessibility}".encode(), "--service=class",
             f"--accessibility={accessibility}")
  for number, accessibility in enumerate(keys.ACCESSIBILITIES):
    home.set("a", f"grouped {number}".encode(), "--service=s", f"--access-group={GROUP}",
             f"--accessibility={accessibility}")
  home.set("a", b"another group", "--service=s", "--access-group=-other")
  for name in ODD_NAMES:
    home.set(name, b"odd name", "--service", name)
  home.set("alice", b"\0\xff\n", *SERVER, "--security-domain=realm",
           "--authentication-type=httpDigest")
  home.set("alice", b"no port", "--server=example.com")
  home.set("root", b"server alone", "--server=example.org", "--port=65535", "--accessibility=always")
  for size in (0, 1, 251, 252, 253, 1000, 20_000):
    home.set(str(size), (bytes(range(256)) * (size // 256 + 1))[:size], "--service=size",
             *(["--allow-empty"] if size == 0 else []))
  home.set("full", b"everything", "--label=L\u00e4bel", "--comment=two\nlines",
           "--content-type=application/json", "--expires=2099-12-31T23:59:58Z",
           "--attribute=env=test", "--attribute=empty=", f"--attribute={COMPOSED}={DECOMPOSED}")
  home.set("expired", b"old", "--expires=2001-02-03")
  home.set("gone", b"x")
  home.run("delete", "gone")
  home.set("changed", b"first")
  home.set("changed", b"second")
  home.run("update", "changed", "--label=new", "--accessibility=afterFirstUnlock")


def main() -> None:
  program, target = sys.argv[1], Path(sys.argv[2])
  folder = Path(tempfile.mkdtemp(prefix="prefs-fixture.", dir="/var/tmp"))
  home = Home(folder, program)
  home.state.mkdir(mode=0o700)
  device = (FIXTURES / "test-device.key").read_bytes()
  (home.state / "device.key").write_bytes(device)
  (home.state / "device.key").chmod(0o600)
  passphrase = home.file("passphrase", (FIXTURES / "test-passphrase").read_bytes())
  key = home.file("key", (FIXTURES / "test-key-file").read_bytes())
  home.run("init", "--new-passphrase-file", passphrase, "--with-key-file", key)
  home.run("unlock", "--key-file", key)
  fill(home)
  home.run("verify")
  home.run("lock", "--all")
  vault = Vault(home.vault, Secrets(key_file=Path(key).read_bytes(), device=device))
  assert vault.problems == []
  items = [described(item, with_secret=True) for item in vault.items]
  shutil.copyfile(home.vault, target / "format3-swift.vault")
  head = vault.head
  expected = {
    "number": vault.log.last.number, "witness": vault.witness, "epoch": head.epoch, "serial": vault.members.serial,
    "id": head.vault.hex(), "check": keys.vault_check(head.vault, head.administration).hex(),
    "slots": len(head.slots), "items": items}
  text = json.dumps(expected, indent=1) + "\n"
  (target / "format3-swift.expected.json").write_text(text, "utf-8")
  shutil.rmtree(folder)


if __name__ == "__main__":
  main()
