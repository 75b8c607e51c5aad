"""The last step of a change fails: it may have happened, and nothing that it needs is removed."""

from __future__ import annotations

import os

import pytest

from prefs_testing import hinted

UNFINISHED = ".unfinished-file"


def failing(home, call: str, number: int | str, path=None, how: str = "error=EIO") -> list[str]:
  """Returns the words that let one system call of a command fail, or only those of a path."""
  only = [] if path is None else ["-P", str(path)]
  return ["strace", "-f", "-qq", "-o", str(home.folder / "trace"), *only, "-e", f"trace={call}",
          "-e", f"inject={call}:{how}:when={number}"]


def end_of_commit(home) -> list[str]:
  """The sync of the folder after a new base has the vault's name."""
  return failing(home, "fsync", "1+", home.vault.parent)


def end_of_append(home) -> list[str]:
  """The sync of an appended change, and that after it was cut off again."""
  return failing(home, "fsync,fdatasync", "1+", home.vault)


def names(home) -> list[str]:
  return sorted(entry.name for entry in home.folder.iterdir() if entry.name != "trace")


def unknown(home, *words: str, through: list[str], **options):
  outcome = home.run(*words, code=81, through=through, **options)
  assert "is not known" in outcome.error and "(INJECTED)" in (home.folder / "trace").read_text()
  assert "before you repeat it" in hinted(outcome)
  return outcome


def test_possible_keys_of_the_vault_are_kept(home, tracing):
  home.set("alice", b"secret", "--accessibility", "whenUnlocked")
  through = end_of_commit(home)
  refused = unknown(home, "slots", "add", "--new-key-file", "key", "--yes", through=through)
  assert "'key' is kept" in hinted(refused)
  assert home.get("alice", "--key-file", "key") == b"secret"
  key = ("--key-file", "key")
  refused = unknown(home, "recovery", "create", "--code-file", "code", *key, through=through)
  assert "'code' is kept" in hinted(refused)
  assert home.get("alice", "--recovery-code-file", "code") == b"secret"
  unknown(home, "slots", "remove", "2", "--yes", "--recovery-code-file", "code", through=through)
  home.run("get", "alice", *key, code=78)


@pytest.mark.parametrize("shared", [False, True])
def test_a_new_vault_opens_with_what_was_made_for_it(home, tracing, shared):
  home.run("identity", "create", "id")
  words = ["--shared", "--identity", "id", "--code-file", "code"] if shared else ["--new-key-file", "key"]
  unknown(home, "init", *words, through=end_of_commit(home))
  opens = ["--recovery-code-file", "code"] if shared else ["--key-file", "key"]
  home.set("alice", b"secret", *opens)


def test_a_changed_passphrase(locked, tracing):
  new = locked.passphrase(b"another")
  unknown(locked, "change-passphrase", *locked.passphrase(), "--new-passphrase-file", new[1],
          through=end_of_commit(locked))
  assert locked.get("whenUnlocked", *new) == b"whenUnlocked"


def test_a_credential_may_have_changed(home, tracing):
  home.set("alice", b"old")
  unknown(home, "set", "alice", input=b"new", through=end_of_append(home))
  assert home.get("alice") in (b"old", b"new")
  unknown(home, "rename", "alice", "bob", through=end_of_commit(home))
  # Where a change may not be durable yet, it is made so before another one is begun.
  home.run("rekey", "--yes", code=74, through=end_of_commit(home))
  assert home.layout().epoch == 1 and home.get("bob") in (b"old", b"new")
  unknown(home, "rekey", "--yes", through=end_of_commit(home))
  assert home.layout().epoch == 2
  home.run("verify")
  home.set("alice", b"newer")
  assert home.get("alice") == b"newer"


def test_a_sync_that_fails_once_leaves_the_old_state(home, tracing):
  home.set("alice", b"old")
  before = home.vault.read_bytes()
  home.run("set", "alice", input=b"new", code=74, through=failing(home, "fdatasync", 1, home.vault))
  assert home.vault.read_bytes() == before and home.get("alice") == b"old"


def test_a_read_has_no_unknown_outcome(home, tracing):
  home.set("alice", b"old")
  for number in range(1, 4):
    through = failing(home, "flock", number, home.vault)
    assert home.run("get", "alice", code=None, through=through).code in (0, 74, 75)


def test_a_replaced_file_may_be_lost_with_the_power(home, tracing):
  # Before there is a vault to which it is pinned.
  home.run("identity", "create", "id")
  home.set("alice", b"secret")
  home.file("out", b"old")
  refused = home.run(
    "get", "alice", "--output", "out", "--overwrite", code=81, through=failing(home, "fsync", 2))
  assert "may be lost with the power" in refused.error
  assert (home.folder / "out").read_bytes() == b"secret"
  home.run("identity", "pin", "id", code=81, through=failing(home, "fsync", 2))
  assert "vault: " in (home.folder / "id").read_text()


@pytest.mark.parametrize("number", [1, 2])
def test_a_new_file_is_there_or_not(home, tracing, number):
  home.set("alice", b"secret")
  before = names(home)
  for words in (["get", "alice", "--output", "new"], ["export", "new", *exporting(home)],
                ["slots", "add", "--new-key-file", "new", "--yes"], ["identity", "create", "new"]):
    home.run(*words, code=74, through=failing(home, "fsync", number))
    assert [name for name in names(home) if name not in before] == []
  assert home.get("alice") == b"secret"


def exporting(home) -> tuple[str, str]:
  # Not one of the files that are compared.
  path = home.folder / "config" / "passphrase"
  path.write_bytes(b"export\n")
  path.chmod(0o600)
  return "--export-passphrase-file", str(path)


def test_device_key_stays_for_its_readers(home, tracing):
  """Another process may have made a vault with it by then."""
  refused = home.run("set", "alice", input=b"secret", code=74, through=failing(
    home, "fsync", 1, home.state))
  assert "sync the folder" in refused.error
  key = (home.state / "device.key").read_bytes()
  # It is synced before a vault depends on it.
  trace = home.folder / "trace"
  home.set("alice", b"secret", through=["strace", "-f", "-qq", "-y", "-o", str(trace), "-e",
                                        "trace=fsync,fdatasync"])
  synced = [line.partition("<")[2].partition(">")[0] for line in trace.read_text().splitlines()]
  assert synced.index(str(home.state)) < synced.index(str(home.vault))
  assert (home.state / "device.key").read_bytes() == key


def test_a_key_file_of_the_user_is_durable_before_the_vault_needs_it(home, tracing):
  home.set("alice", b"secret")
  key = home.file("key", os.urandom(32))
  home.run("slots", "add", "--with-key-file", key, "--yes", code=74,
           through=failing(home, "fsync", 1, key))
  home.run("get", "alice", "--key-file", key, code=78)


@pytest.mark.parametrize("error", ["EINVAL", "EOPNOTSUPP"])
def test_a_file_system_that_syncs_no_folders_is_used(home, tracing, error):
  home.run("identity", "create", "id", through=failing(
    home, "fsync", "1+", home.folder, f"error={error}"))
  assert "(INJECTED)" in (home.folder / "trace").read_text() and "id" in names(home)


@pytest.mark.parametrize("call", ["linkat", "fsync", "rename"])
def test_a_kill_leaves_no_secret_for_long(home, tracing, call):
  home.set("alice", b"the secret")
  home.file("out", b"old")
  words = ("get", "alice", "--output", "out", "--overwrite")
  home.run(*words, code=None, through=failing(home, call, 1, how="signal=KILL"))
  left = [name for name in names(home) if b"the secret" in read(home.folder / name)]
  # Between the link and the renaming, which follow each other, the file has its temporary name.
  assert left in ([], ["out"]) or (call in ("linkat", "rename") and left == ["out" + UNFINISHED])
  home.run(*words)
  assert [name for name in names(home) if b"the secret" in read(home.folder / name)] == ["out"]


def read(path) -> bytes:
  return path.read_bytes() if path.is_file() else b""
