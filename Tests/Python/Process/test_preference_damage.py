"""One damaged value hides no other one, and can be replaced or deleted."""

from __future__ import annotations

import itertools
import json
import random
import shutil
import subprocess

import pytest

from preference_testing import Preferences, change_database
from prefs_testing import LIMIT

# What no release writes: a kind that there is not, and an integer of one byte.
DAMAGES = ["kind = 99", "kind = 2, value = x'ff'"]


UNREADABLE = b"<plist><dict><key>i</key><integer>5</integer></dict>"


def damage(preferences: Preferences, key: str, change: str) -> None:
  change_database(
    preferences.folder / "web.preferences",
    ("UPDATE state SET generation = generation + 1", ()),
    (f"UPDATE preference SET generation = (SELECT generation FROM state), {change} WHERE key = ?",
     (key.encode(),)))


@pytest.fixture(params=DAMAGES)
def damaged(request, home) -> Preferences:
  preferences = Preferences(home)
  for key in ("a", "bad", "c"):
    preferences.run("write", key, "1")
  damage(preferences, "bad", request.param)
  return preferences


@pytest.mark.parametrize("command", [["list"], ["list", "--json"], ["export"], ["export", "--json"],
                                     ["read"], ["read", "--plist"]], ids=" ".join)
def test_others_are_shown(damaged, command):
  told = damaged.run(*command, code=65)
  assert b"a" in told.out and b"c" in told.out and b"bad" not in told.out
  assert told.error.count("'bad' is damaged") == 1


def test_each_damaged_key_is_named(damaged):
  damage(damaged, "a", "kind = 99")
  told = damaged.run("list", code=65)
  assert told.out == b"c\tstring\t1\n"
  assert "'a' is damaged" in told.error and "'bad' is damaged" in told.error
  # The others of the domain are counted all the same.
  assert b"web\t3\t" in damaged.run("list", domain=None).out


def test_it_is_replaced(damaged):
  damaged.run("read", "bad", code=65)
  for condition in (["--if-absent"], ["--expect", "1"]):
    damaged.run("write", "bad", "2", *condition, code=65)
  damaged.run("write", "bad", "-array-add", "2", code=65)
  damaged.run("write", "a", "2")
  damaged.run("write", "bad", "2")
  assert json.loads(damaged.read("--json")) == {"a": "2", "bad": "2", "c": "1"}


def test_it_is_deleted(damaged):
  damaged.run("delete", "a", "bad")
  assert json.loads(damaged.read("--json")) == {"c": "1"}


def test_all_are_deleted(damaged):
  damaged.run("delete", "--all", "--yes")
  assert damaged.run("list").out == b""


def test_an_import_replaces_it(damaged):
  file = damaged.home.file("settings.json", b'{"bad": "2"}')
  assert "0 new, 1 changed" in damaged.run("import", file, "--dry-run").error
  assert "0 new, 1 changed, 0 the same, 2 deleted" in damaged.run("import", file, "--replace").error
  assert json.loads(damaged.read("--json")) == {"bad": "2"}


@pytest.mark.parametrize("keys", [[], ["bad", "c"]], ids=["all", "named"])
def test_watching_goes_on(damaged, keys):
  with damaged.start("watch", *keys, "--initial", "--timeout", "1m") as watching:
    lines = [watching.stdout.readline() for _ in range(1 if keys else 2)]
    assert lines[-1] == b"set\tc\tstring\t1\n"
    assert b"'bad' is damaged" in watching.stderr.readline()
    damaged.run("write", "c", "2")
    assert watching.stdout.readline() == b"set\tc\tstring\t2\n"
    damaged.run("write", "bad", "3")
    assert watching.stdout.readline() == b"set\tbad\tstring\t3\n"
    damage(damaged, "bad", "kind = 99")
    damaged.run("write", "c", "3")
    assert watching.stdout.readline() == b"set\tc\tstring\t3\n"
    assert b"'bad' is damaged" in watching.stderr.readline()
    damaged.run("delete", "bad")
    assert watching.stdout.readline() == b"removed\tbad\n"
    watching.terminate()
    watching.communicate(timeout=LIMIT)


def test_a_watch_that_met_damage_does_not_end_with_0(damaged):
  told = damaged.run("watch", "--timeout", "100ms", code=65)
  assert told.error.count("'bad' is damaged") == 1
  # What was waited for has happened.
  damaged.run("watch", "c", "--until", "1")
  damaged.run("watch", "c", "--timeout", "100ms")


@pytest.mark.parametrize("has_file", [False, True], ids=["list", "file"])
def test_unimportable_value_is_not_absent(home, has_file):
  preferences = Preferences(home)
  preferences.folder.mkdir(exist_ok=True)
  (preferences.folder / "web.plist").write_bytes(UNREADABLE)
  if has_file:
    assert "UserDefaults" in preferences.run("write", "own", "1").error
  files = preferences.files()
  for refused in (
      ["delete", "i"], ["delete", "i", "--if-exists"], ["delete", "--all", "--yes"],
      ["write", "i", "9", "--expect", "5", "--type", "int"], ["write", "i", "9", "--if-absent"],
      ["write", "i", "-array-add", "9"], ["import", "-", "--replace"]):
    told = preferences.run(*refused, code=65, input=b'{"i": 1}')
    assert "web.plist" in told.error
  assert preferences.files() == files
  for reading in (["list"], ["read"], ["export"], ["read", "i"]):
    told = preferences.run(*reading, code=65)
    assert "web.plist" in told.error and (b"own" in told.out) == (has_file and "i" not in reading)
  if has_file:
    assert preferences.read("own") == b"1\n"
    preferences.run("delete", "own")
    preferences.run("read", "own", code=44)
  # When it is repaired, its values are there without a change.
  (preferences.folder / "web.plist").write_bytes(UNREADABLE + b"</plist>")
  assert preferences.read("i") == b"5\n"
  assert preferences.run("list").out == b"i\tint\t5\n"


def test_write_continues_without_unimportable_values(home):
  preferences = Preferences(home)
  preferences.folder.mkdir(exist_ok=True)
  (preferences.folder / "web.plist").write_bytes(UNREADABLE)
  for key in ("i", "own"):
    assert "UserDefaults" in preferences.run("write", key, "1").error
  (preferences.folder / "web.plist").write_bytes(UNREADABLE + b"</plist>")
  assert json.loads(preferences.read("--json")) == {"i": "1", "own": "1"}


@pytest.mark.parametrize("key", ["x'ff41'", "'text'", "7"])
@pytest.mark.parametrize("command", [["delete", "--all", "--yes"], ["import", "-", "--replace"]],
                         ids=" ".join)
def test_a_key_that_is_not_text_is_removed(home, key, command):
  preferences = Preferences(home)
  preferences.run("write", "a", "1")
  change_database(
    preferences.folder / "web.preferences",
    (f"INSERT INTO preference VALUES({key}, 3, 2, x'0500000000000000')", ()))
  assert preferences.run("list", code=65).out == b"a\tstring\t1\n"
  preferences.run(*command, input=b"{}")
  assert preferences.run("list").out == b""


def run_with(preferences: Preferences, file: str, fault: str, *arguments: str, **options):
  """Runs a command some of whose calls on a file fail."""
  return subprocess.run(
    ["strace", "-qq", "-f", "-o", "/dev/null", "-P", str(preferences.folder / file), "-e",
     f"inject={fault}", preferences.home.program, *arguments, "--domain", "web"],
    env=preferences.home.environment, capture_output=True, timeout=LIMIT, check=False, **options)


@pytest.mark.parametrize("file", ["web.preferences", "web.preferences-wal"])
def test_disk_that_fails_to_read_is_not_damage(home, tracing, file):
  preferences = Preferences(home)
  preferences.run("write", "a", "1")
  preferences.run("write", "b", "1", "--no-sync")
  for number in itertools.count(1):
    told = run_with(preferences, file, f"pread64:error=EIO:when={number}", "read", "a")
    if told.returncode == 0:
      break
    assert told.returncode == 74 and b"check the disk" in told.stderr, (number, told)
  assert number > 2
  told = run_with(preferences, "web.preferences", "openat:error=EIO", "read", "a")
  assert told.returncode == 74 and b"check the disk" in told.stderr


def test_a_refused_write_gives_the_space_of_a_full_disk_back(home, tracing):
  preferences = Preferences(home)
  preferences.run("write", "a", "1")
  told = run_with(
    preferences, "web.preferences-wal", "pwrite64:error=ENOSPC:when=30+", "write", "a", "-",
    input=b"x" * 3_000_000)
  assert told.returncode == 74 and b"the disk is full" in told.stderr
  assert (preferences.folder / "web.preferences-wal").stat().st_size == 0
  assert preferences.read("a") == b"1\n"


# What was stored, and is changed by others


KEYS = [f"k{number}" for number in range(30)]


@pytest.fixture
def unfinished(home) -> Preferences:
  """A domain half of which is only in the log, as a process leaves it that is killed."""
  preferences = Preferences(home)
  for key in KEYS[:15]:
    preferences.run("write", key, key)
  for key in KEYS[15:]:
    preferences.run("write", key, key, "--no-sync")
  assert (preferences.folder / "web.preferences-wal").stat().st_size > 0
  return preferences


def test_the_log_of_a_command_is_in_the_database(home):
  preferences = Preferences(home)
  preferences.run("write", "a", "1")
  (preferences.folder / "web.preferences-wal").unlink()
  assert preferences.read("a") == b"1\n"


@pytest.mark.parametrize("change", ["a bit", "removed"])
def test_changes_that_are_missing_are_not_absent(unfinished, change):
  log = unfinished.folder / "web.preferences-wal"
  if change == "a bit":
    data = bytearray(log.read_bytes())
    data[100] ^= 4
    log.write_bytes(data)
  else:
    log.unlink()
  for command in (["read", "k20"], ["read", "k2"], ["write", "new", "1"], ["delete", "k2"],
                  ["import", "-", "--replace"], ["write", "k20", "1", "--if-absent"]):
    told = unfinished.run(*command, code=65, input=b"{}")
    assert told.out == b""
    assert "15 changes of the preferences are missing" in told.error
    assert "'prefs accept-restored --domain web' uses what is left" in told.error
  # What is left is shown.
  told = unfinished.run("list", code=65)
  assert told.out.decode().splitlines() == sorted(f"{key}\tstring\t{key}" for key in KEYS[:15])
  unfinished.run("accept-restored", code=64)
  assert "15 changes of 'web' are missing" in unfinished.run("accept-restored", "--yes").error
  assert "no changes" in unfinished.run("accept-restored", "--yes").error
  unfinished.run("write", "new", "1")
  assert len(json.loads(unfinished.read("--json"))) == 16


def test_a_changed_count_of_cells_is_damage(unfinished):
  unfinished.run("write", "k0", "k0")
  unfinished.run("write", "k0", "other")
  database = unfinished.folder / "web.preferences"
  data = bytearray(database.read_bytes())
  assert data[4100] == 30
  data[4100] = 5
  database.write_bytes(data)
  for command in (["list"], ["read", "k9"], ["write", "z", "1"], ["export"]):
    assert "damaged" in unfinished.run(*command, code=65).error


@pytest.mark.parametrize("suffix", ["", "-wal", "-lock", "-shm"])
def test_a_changed_bit_hides_no_key(unfinished, suffix):
  """Each reading shows all, or ends with 65."""
  intact = unfinished.home.folder / "intact"
  shutil.copytree(unfinished.folder, intact)
  numbers = random.Random(suffix)
  file = unfinished.folder / f"web.preferences{suffix}"
  data = (intact / file.name).read_bytes()
  expected = {key: key for key in KEYS}
  for _ in range(30):
    changed = bytearray(data)
    place = numbers.randrange(len(data))
    changed[place] ^= 1 << numbers.randrange(8)
    shutil.rmtree(unfinished.folder)
    shutil.copytree(intact, unfinished.folder)
    file.write_bytes(changed)
    with unfinished.start("read", "--json") as reading:
      out, error = reading.communicate(timeout=LIMIT)
    assert reading.returncode in (0, 65), (place, error)
    if reading.returncode == 0:
      assert json.loads(out) == expected, place
