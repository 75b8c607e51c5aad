"""Names of credentials as arguments of a process, and in the vault."""

from __future__ import annotations

import json
import subprocess

from prefs_testing import LIMIT, hinted

def test_names_and_texts_have_64_kib_together(home):
  home.set("alice", b"x", "--label", "l" * (65536 - len("default" + "alice")))
  refused = home.run("rename", "alice", "alicia", code=79)
  assert "more than 65536 bytes together" in refused.error and "shorten them" in hinted(refused)
  login = {"ServerURL": "registry", "Username": "u" * 65536, "Secret": "s"}
  failed = home.run("docker-credential", "store", input=json.dumps(login).encode(), code=1)
  assert b"more than 65536 bytes together" in failed.out
  home.run("verify")


def test_arguments_that_are_not_text(home):
  refused = home.run(b"set", b"a", b"--insecure-value", b"\xc3\x28", code=64)
  assert "not valid UTF-8" in refused.error
  assert not home.vault.exists()


def test_a_secret_is_in_no_list_of_processes(home):
  """Storing a secret with a shell pipe does not expose it."""
  home.set("alice", b"hunter2")
  process = home.start("set", "alice", stdin=subprocess.PIPE)
  try:
    with open(f"/proc/{process.pid}/cmdline", "rb") as arguments:
      assert b"hunter2" not in arguments.read()
    process.communicate(b"hunter2", timeout=LIMIT)
  finally:
    process.kill()
  assert process.returncode == 0
