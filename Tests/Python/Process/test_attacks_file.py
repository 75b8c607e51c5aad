"""Attacks by who can write the file, and has no key."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from itertools import product

import pytest

from attack_testing import (
  KEY, attacked, first_use, forget_seen, keyed, older, recipient, refused,
  refused_everywhere)
from prefs_testing import Home, hinted
from vault_layout import Layout, flip

import vault_keys as keys
from sample_vault import generic


@pytest.fixture
def vault(home) -> Home:
  """A vault whose base and log both have items, with a newest secret."""
  keyed(home)
  home.set("alice", b"old secret")
  home.set("carol", b"c")
  home.run("compact", *KEY)
  home.set("bob", b"b")
  home.set("alice", b"secret")
  return home


def places(home: Home) -> dict[str, int]:
  """A byte of each part of the file."""
  layout, opened = home.layout(), home.opened()
  spine = layout.log - layout.spine_count
  carol = opened.state[2][keys.item_id(opened.tiers[0], generic("default", "carol").identity.encoded())]
  frame = layout.frames[-2]
  return {
    "id": 40, "epoch": 48, "check": 90, "administration key": 110, "slot": layout.slots[1].start + 80,
    "list": layout.slots[max(layout.slots)].stop + 60, "administration": layout.head_count - 20,
    "page": opened.log.index.pages[2][0].place + 40, "secret of the base": carol.place + 40, "index": spine - 20, "spine": spine + 20,
    "base": layout.log + 60, "number": frame.start, "lengths": frame.start + 8, "mac": frame.start + 20,
    "change": frame.box.start + 40, "secret": frame.boxes.start + 40,
    "newest change": layout.frames[-1].box.start + 40}


def test_any_changed_byte_is_damaged(vault):
  """Whatever is changed, no other secret is given, and `verify` says so."""
  with attacked(vault, alice=b"secret"):
    good = vault.vault.read_bytes()
    for name, place in places(vault).items():
      vault.vault.write_bytes(good)
      flip(vault.vault, place)
      outcome = vault.run("get", "alice", code=None)
      assert (outcome.code, outcome.out) == (0, b"secret") or (
        outcome.code in (65, 77, 78, 79) and outcome.out == b""), (name, outcome)
      if name != "slot":
        assert vault.run("verify", code=None).code == 65, name


def test_withheld_changes(vault, make_home):
  """A limit: a reader can be shown the state that it saw last, without newer changes."""
  other = make_home()
  copy = other.folder / "copy.db"
  shutil.copy(vault.vault, copy)
  shutil.copy(vault.folder / "key", other.folder / "key")
  other.set("alice", b"newest secret", "--vault", str(copy), *KEY)
  assert vault.get("alice") == b"secret"
  shutil.copyfile(copy, vault.vault)
  assert vault.get("alice") == b"newest secret"


def test_older_copy_on_first_use(vault):
  """A limit: without a record, and without newer keys, nothing shows that it is old."""
  copy = older(vault)
  vault.set("alice", b"newest secret")
  shutil.copyfile(copy, vault.vault)
  forget_seen(vault)
  assert vault.get("alice", *KEY) == b"secret"
  vault.run("verify", *KEY)


def test_older_copy_in_its_place(vault):
  copy = older(vault)
  vault.set("alice", b"newest secret")
  with attacked(vault, alice=b"newest secret"):
    shutil.copyfile(copy, vault.vault)
    refused_everywhere(vault, "alice", words="rolled back")
    refused(vault, "rekey", "--yes", *KEY, words="rolled back")


@pytest.mark.parametrize("steps", [1, 2, 5], ids=["equal", "higher", "much higher"])
@pytest.mark.parametrize("compacted", [False, True])
def test_fork_of_two_copies(vault, make_home, steps, compacted):
  """The chain shows it, also where the other copy has more changes, or a new base."""
  other = make_home()
  copy = other.folder / "copy.db"
  shutil.copy(vault.vault, copy)
  shutil.copy(vault.folder / "key", other.folder / "key")
  for step in range(steps):
    other.set(f"elsewhere {step}", b"y", "--vault", str(copy), *KEY)
  if compacted:
    other.run("compact", "--vault", str(copy), *KEY)
  vault.set("alice", b"acknowledged secret")
  with attacked(vault, alice=b"acknowledged secret"):
    shutil.copyfile(copy, vault.vault)
    refused_everywhere(vault, "alice", words="fork")
    refused(vault, "rekey", "--yes", *KEY, words="fork")
    refused(vault, "slots", "add", "--new-key-file", "k", *KEY, words="fork")


def test_vault_of_the_attacker_on_first_use(home, make_home):
  """A limit without pins, as a recipient is public; a pinned identity opens no other vault."""
  victim, mallory = home, make_home()
  keyed(mallory)
  mine = recipient(victim, "mine")
  keyed(victim, unlocked=False)
  victim.run("slots", "add", "--recipient", mine, *KEY)
  check = victim.run("status", "--json").json["check"]
  mallory.run("slots", "add", "--recipient", mine, *KEY)
  mallory.set("trap", b"x")
  shutil.copyfile(mallory.vault, victim.vault)
  refused(victim, "get", "trap", "--identity", "mine", words="another vault")
  forget_seen(victim)
  told = victim.run("get", "trap", "--identity", "mine")
  assert "first time" in told.error and told.out == b"x"
  forget_seen(victim)
  victim.run("identity", "pin", "mine", "--check", check)
  refused(victim, "get", "trap", "--identity", "mine")
  refused(victim, "set", "bank", "--identity", "mine", input=b"next secret")


def states(home: Home) -> dict[str, Layout]:
  """States of one vault: an older and a newer one of a base, another base, and newer keys."""
  found = {"older": home.layout()}
  home.set("alice", b"secret")
  found["newer"] = home.layout()
  home.run("compact", *KEY)
  home.set("bob", b"secret")
  found["other base"] = home.layout()
  home.run("rekey", "--yes", *KEY)
  home.run("unlock", *KEY)
  home.set("alice", b"newest secret")
  found["new keys"] = home.layout()
  return found


def recombined(found: dict[str, Layout]) -> list[bytes]:
  """Parts of states in every combination, and frames that were dropped, doubled and exchanged."""
  made = []
  for head, middle, log in product(found.values(), repeat=3):
    parts = (
      head.data[: head.head_count], middle.data[middle.head_count : middle.log], log.data[log.log :])
    made.append(b"".join(parts))
  newest = found["new keys"]
  frames = [newest.data[frame.start : frame.end] for frame in newest.frames]
  old = [one.data[one.frames[-1].start :] for one in found.values()]
  before = newest.data[: newest.log]
  for others in (frames[:-1], frames[:1], frames[1:], [*frames, frames[-1]], [*frames[::-1]],
                 *([*frames[:-1], one] for one in old), *([*frames, one] for one in old)):
    made.append(before + b"".join(others))
  return [data for data in made if data not in {one.data for one in found.values()}]


def test_parts_of_other_states(vault):
  found = states(vault)
  with attacked(vault, alice=b"newest secret"):
    for data in recombined(found):
      vault.vault.write_bytes(data)
      for command in (["get", "alice"], ["get", "alice", *KEY]):
        outcome = vault.run(*command, code=None)
        # What follows the newest change counts as an unfinished write.
        assert (outcome.code, outcome.out) == (0, b"newest secret") or (
          outcome.code in (65, 78) and outcome.out == b""), outcome


@pytest.mark.parametrize("order", [
  (1, 2), (0, 2), (0, 1), (0, 2, 1), (0, 1, 1, 2), (0,), (2, 1, 0), (0, 1, 0, 1, 2)], ids=str)
def test_commits_in_another_order(vault, order):
  """The base, and the changes after it: each follows one digest."""
  with attacked(vault, alice=b"secret"):
    layout = vault.layout()
    frames = [layout.data[frame.start : frame.end] for frame in layout.frames]
    assert len(frames) == 3
    vault.vault.write_bytes(
      layout.data[: layout.log] + b"".join(frames[number] for number in order))
    refused_everywhere(vault, "alice")
    refused(vault, "rekey", "--yes", *KEY)


def test_damaged_secret_damages_its_item_alone(vault):
  vault.set("dave", b"d")
  with attacked(vault, alice=b"secret"):
    flip(vault.vault, vault.layout().frames[-2].boxes.start + 40)
    told = refused(vault, "get", "alice", words="alice")
    assert "verify" in hinted(told)
    refused(vault, "verify")
    assert vault.get("carol") == b"c" and vault.get("bob") == b"b" and vault.get("dave") == b"d"


@pytest.mark.parametrize("tail", [b"\0", bytes(5000), b"x" * 70_000], ids=["byte", "zeros", "text"])
def test_bytes_behind_the_log(vault, tail):
  """An unfinished write: reads pass over it, and the next write cuts it off."""
  end = vault.vault.stat().st_size
  with open(vault.vault, "ab") as file:
    file.write(tail)
  assert vault.get("alice") == b"secret"
  assert "not finished" in vault.run("verify", *KEY).error
  assert vault.vault.stat().st_size == end + len(tail)
  vault.set("dave", b"d")
  assert vault.layout().frames[-1].start == end
  assert vault.layout().frames[-1].end == vault.vault.stat().st_size
  assert vault.run("verify", *KEY).error == ""


def test_cut_at_every_length(vault):
  """A shorter file is never a right one for who has seen it all."""
  with attacked(vault, alice=b"secret"):
    good = vault.vault.read_bytes()
    for count in range(1, len(good), 97):
      vault.vault.write_bytes(good[:count])
      assert vault.run("get", "alice", code=65).out == b""


def test_storage_that_answers_differently(vault):
  """A file that changes at any moment gives the newest secret, or none."""
  old = older(vault).read_bytes()
  vault.set("alice", b"newest secret")
  new = vault.vault.read_bytes()
  with attacked(vault, alice=b"newest secret"):
    stop = threading.Event()

    def change() -> None:
      with open(vault.vault, "r+b", buffering=0) as file:
        while not stop.is_set():
          for data in (old.ljust(len(new), b"\0"), new):
            os.pwrite(file.fileno(), data, 0)
    thread = threading.Thread(target=change)
    thread.start()
    try:
      for command in [["get", "alice"], ["get", "alice", *KEY]] * 20:
        outcome = vault.run(*command, code=None)
        assert (outcome.code, outcome.out) == (0, b"newest secret") or (
          outcome.code in (65, 75) and outcome.out == b""), outcome
      copies = [vault.run("backup", f"copy-{number}.db", code=None).code for number in range(5)]
      rekeyed = vault.run("rekey", "--yes", *KEY, code=None)
    finally:
      stop.set()
      thread.join()
    # What was read twice would be sealed anew as the newest.
    for number, code in enumerate(copies):
      if code == 0:
        copy = ("--vault", str(vault.folder / f"copy-{number}.db"))
        assert vault.get("alice", *copy, *KEY) == b"newest secret"
    if rekeyed.code == 0:
      assert vault.get("alice", *KEY) == b"newest secret"
      vault.run("verify", *KEY)
      # The file under the old keys comes back, as if nothing had been seen.
      vault.vault.write_bytes(new)
      forget_seen(vault)
    vault.run("unlock", *KEY, code=None)


def test_resources_of_a_hostile_file(vault):
  """A tail of a gigabyte, and lengths of gigabytes, cost neither memory nor time."""
  with attacked(vault, alice=b"secret"):
    with open(vault.vault, "r+b") as file:
      file.truncate(1 << 30)
    start = time.monotonic()
    with vault.start("get", "alice", through=["prlimit", f"--as={1 << 30}"]) as process:
      process.communicate(timeout=60)
    assert process.returncode == 65 and time.monotonic() - start < 3


def test_interrupted_change_of_members(vault, make_home, tracing):
  """A limit: a new base that never got the vault's name is a whole vault, for who saw nothing newer."""
  mallory = make_home()
  key = recipient(mallory, "mine")
  before = vault.vault.read_bytes()
  vault.run("slots", "add", "--recipient", key, *KEY, code=None, through=[
    "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=rename,renameat,renameat2",
    "-e", "inject=rename,renameat,renameat2:signal=KILL:when=1"])
  assert vault.vault.read_bytes() == before
  left = vault.vault.with_name(vault.vault.name + ".new").read_bytes()
  # The next writer removes it.
  vault.set("carol", b"c")
  vault.run("compact", *KEY)
  assert not vault.vault.with_name(vault.vault.name + ".new").exists()
  with attacked(vault, alice=b"secret"):
    vault.vault.write_bytes(left)
    refused(vault, "get", "alice")
    with first_use(vault):
      assert vault.get("alice", *KEY) == b"secret"


def test_a_copy_needs_no_quiet_moment(vault):
  """A copier that takes the length once, while others write, has a whole vault."""
  stop = threading.Event()

  def write() -> None:
    count = 0
    while not stop.is_set():
      count += 1
      vault.set("busy", os.urandom(2000))
      if count % 10 == 0:
        vault.run("compact", *KEY)
  thread = threading.Thread(target=write)
  thread.start()
  try:
    for number in range(20):
      copy = vault.folder / f"copy-{number}.db"
      subprocess.run(["cp", str(vault.vault), str(copy)], check=True)
      copy.chmod(0o600)
      assert vault.get("alice", "--vault", str(copy), *KEY) == b"secret"
      vault.run("verify", "--vault", str(copy), *KEY)
  finally:
    stop.set()
    thread.join()
