"""Backups that replace older ones."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from prefs_testing import LIMIT, PATIENT, hinted
from thoroughness import tried

REPLACE = ("backup", "copy.db", "--replace")


@pytest.fixture
def one(home):
  """A home with a vault of one item, and a backup of that."""
  home.set("alice", b"old")
  home.run(*REPLACE)
  return home


def copy(home) -> Path:
  return home.folder / "copy.db"


def accounts(home, path: Path) -> set[str]:
  """Returns a backup's accounts, ignoring the seen record, from a copy."""
  place = home.folder / "looked-at"
  shutil.rmtree(place, ignore_errors=True)
  place.mkdir(mode=0o700)
  shutil.copy(path, place / path.name)
  (place / path.name).chmod(0o600)
  given = ("--vault", str(place / path.name))
  assert home.run("verify", "--json", *given).json["intact"] is True
  return {item["account"] for item in home.run("list", "--json", *given).json}


def names(home) -> set[str]:
  """Returns the names of the backup and of files next to it."""
  return {path.name for path in home.folder.iterdir() if "copy" in path.name}


def test_again_and_again(one):
  for account in ("bob", "eve"):
    one.set(account, b"x")
    told = one.run(*REPLACE)
    assert "copied" in told.error
    assert accounts(one, copy(one)) >= {"alice", account}
  assert names(one) == {"copy.db"} and copy(one).stat().st_mode & 0o777 == 0o600


def test_without_the_option_it_is_named(one):
  before = copy(one).read_bytes()
  refused = one.run("backup", "copy.db", code=75)
  assert "exists already" in refused.error and "backup --replace" in hinted(refused)
  assert copy(one).read_bytes() == before


def refused_and_untouched(home, code: int, path: Path | None = None):
  path = path or copy(home)
  before = path.read_bytes() if path.is_file() else sorted(path.iterdir())
  refused = home.run("backup", str(path), "--replace", code=code)
  assert (path.read_bytes() if path.is_file() else sorted(path.iterdir())) == before
  assert not any("unfinished" in name for name in names(home))
  return refused


def test_another_vault_stays(one, make_home):
  other = make_home()
  other.set("mallory", b"x")
  shutil.copyfile(other.vault, copy(one))
  refused = refused_and_untouched(one, 79)
  assert "another vault" in refused.error and "name a new file" in hinted(refused)


def test_a_backup_from_before_new_keys_stays(one):
  one.run("slots", "add", "--new-passphrase-file", one.passphrase()[1])
  assert "before this one got new keys" in refused_and_untouched(one, 79).error
  copy(one).unlink()
  one.run(*REPLACE)
  one.set("bob", b"x", "--accessibility", "always")
  one.run(*REPLACE)


@pytest.mark.parametrize("contents", [b"", b"no vault", b"x" * 70000], ids=["empty", "text", "long"])
def test_other_file_stays(one, contents):
  copy(one).write_bytes(contents)
  refused = refused_and_untouched(one, 65)
  assert "copy.db" in refused.error and "not replaced" in refused.error


def test_a_copy_with_changes_of_its_own_stays(one):
  given = ("--vault", str(copy(one)))
  one.set("only there", b"x", *given)
  assert "has changes that the vault lacks" in refused_and_untouched(one, 79).error
  # As many changes, but others.
  one.set("only here", b"x")
  refused_and_untouched(one, 79)
  assert accounts(one, copy(one)) == {"alice", "only there"}


def test_backup_of_rolled_back_changes_stays(one):
  older = one.vault.read_bytes()
  one.set("bob", b"x")
  one.run(*REPLACE)
  # All of the home comes from a day before, and what was seen of the vault with it.
  one.vault.write_bytes(older)
  shutil.rmtree(one.state / "seen")
  assert "change" in refused_and_untouched(one, 79).error
  assert accounts(one, copy(one)) == {"alice", "bob"}


def test_the_vault_itself_stays(one):
  assert "the vault itself" in refused_and_untouched(one, 79, one.vault).error
  copy(one).unlink()
  os.link(one.vault, copy(one))
  assert "the vault itself" in refused_and_untouched(one, 79).error
  assert one.get("alice") == b"old"


def test_links_and_folders_stay(one):
  backup = copy(one).read_bytes()
  link = one.folder / "copy-link"
  for target in (copy(one), one.vault, one.folder / "nothing"):
    link.symlink_to(target)
    refused = one.run("backup", str(link), "--replace", code=79)
    assert "symbolic link" in refused.error and os.readlink(link) == str(target)
    link.unlink()
  assert copy(one).read_bytes() == backup
  copy(one).unlink()
  copy(one).mkdir()
  assert "not a regular file" in refused_and_untouched(one, 79).error
  copy(one).rmdir()
  os.mkfifo(copy(one))
  assert "not a regular file" in one.run(*REPLACE, code=79).error


def test_a_file_that_others_can_change_stays(one):
  copy(one).chmod(0o662)
  refused_and_untouched(one, 79)
  # On a memory stick, everybody can read everything.
  copy(one).chmod(0o644)
  one.set("bob", b"x")
  one.run(*REPLACE)
  assert "bob" in accounts(one, copy(one))


@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/dev/fd/1"])
def test_a_pipe_gets_a_whole_backup(one, name):
  made = one.run("backup", name)
  assert "copied 1 item to " in made.error
  path = Path(one.file("piped.db", made.out))
  assert accounts(one, path) == accounts(one, one.vault)
  assert "--replace needs a file" in one.run("backup", name, "--replace", code=64).error


@pytest.fixture
def place(one) -> Path:
  """A folder in which everybody can make files."""
  one.folder.chmod(0o755)
  place = one.folder / "open"
  place.mkdir()
  place.chmod(0o1777)
  return place


def test_file_of_another_user_next_to_the_backup(one, place, superuser):
  """Where others can make files, they make none that the copy is written into."""
  theirs = place / "copy.db.new"
  theirs.write_bytes(b"theirs")
  os.chown(theirs, 12345, 12345)
  for options in ([], ["--replace"]):
    refused = one.run("backup", str(place / "copy.db"), *options, code=79)
    assert str(theirs) in refused.error and "move it away" in hinted(refused)
    assert theirs.read_bytes() == b"theirs" and list(place.iterdir()) == [theirs]


def test_link_next_to_the_backup(one, place):
  link = place / "copy.db.new"
  link.symlink_to(one.vault)
  before = one.vault.read_bytes()
  one.run("backup", str(place / "copy.db"), "--replace", code=79)
  assert one.vault.read_bytes() == before
  link.unlink()
  one.run("backup", str(place / "copy.db"))
  one.run("backup", str(place / "copy.db"), "--replace")


CALLS = "openat,write,pwrite64,pwritev,fsync,fdatasync,ftruncate,fchmod,renameat2,unlink,flock"


def moments(home) -> list[tuple[str, int]]:
  """Some of the calls that matter, and all of those next to the renaming: each with its number among those
  of its name in its thread, as strace counts them."""
  trace = home.folder / "calls"
  home.run(*REPLACE, through=["strace", "-f", "-qq", "-o", str(trace), "-e", f"trace={CALLS}"])
  made: list[tuple[str, int]] = []
  counts: Counter[tuple[str, str]] = Counter()
  for line in trace.read_text().splitlines():
    # A number below 10,000 is padded.
    if match := re.match(r"(\d+) +(\w+)\(", line):
      counts[match.groups()] += 1
      made.append((match[2], counts[match.groups()]))
  assert len(made) > 20
  renaming = next(at for at, (name, _) in enumerate(made) if name == "renameat2")
  beginning = next(at for at, (name, _) in enumerate(made) if name == "flock")
  some = range(beginning, len(made), max(1, (len(made) - beginning) // tried(300)))
  return [made[at] for at in sorted({*some, *range(renaming - 4, renaming + 4)})]


def test_killed_at_any_moment(one, tracing):
  """One of the backups is complete, and the next run reuses what is left."""
  # Its size stays, and so do the numbers of the calls.
  last = "bob 0000"
  one.set(last, os.urandom(50_000))
  for at, (name, number) in enumerate(moments(one)):
    account = f"bob {at + 1:04}"
    before = accounts(one, copy(one))
    one.run("rename", last, account)
    last = account
    one.run(*REPLACE, code=None, through=[
      "strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={CALLS}",
      "-e", f"inject={name}:signal=KILL:when={number}"])
    assert accounts(one, copy(one)) in (before, {"alice", account})
    if at % 5 == 0:
      one.run(*REPLACE)
      assert accounts(one, copy(one)) == {"alice", account}
      assert names(one) == {"copy.db"}


def test_many_backups_to_one_file(one):
  for number in range(10):
    one.set(f"account {number}", os.urandom(50_000))
  processes = [one.start(*REPLACE, *PATIENT) for _ in range(8)]
  for process in processes:
    _, error = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, error
  assert len(accounts(one, copy(one))) == 11
  assert names(one) == {"copy.db"}


def test_failed_backup_keeps_older_one(one, mounting):
  small = one.folder / "small"
  small.mkdir()
  subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", small], check=True)
  try:
    path = small / "copy.db"
    one.run("backup", str(path), "--replace")
    before = path.read_bytes()
    one.set("large", os.urandom(3 << 20))
    refused = one.run("backup", str(path), "--replace", code=74)
    assert "no space left" in refused.error and str(path) in refused.error
    assert path.read_bytes() == before
    assert {entry.name for entry in small.iterdir() if entry.stat().st_size} == {"copy.db"}
  finally:
    subprocess.run(["umount", small], check=True)
