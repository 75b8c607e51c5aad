"""Attacks with copies and counters: forks, older copies, forged numbers of changes, other vaults."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from attack_testing import (
  KEY, attacked, believed, forget_seen, item_added, key_file, keyed, older, opening, refused,
  refused_everywhere, t0_of)
from prefs_testing import PASSPHRASE, Home, hinted

import vault_forging as forging
from vault_notation import FormatError
from vault_opening import Secrets
from vault_rows import change


@pytest.fixture
def shared_start(home) -> Home:
  keyed(home)
  home.set("shared", b"x")
  return home


def elsewhere(home: Home, make_home, steps: int, copy: Path) -> Path:
  """The copy of another machine, which its user changed there."""
  other = make_home()
  place = other.folder / "copy.db"
  shutil.copy(copy, place)
  shutil.copy(home.folder / "key", other.folder / "key")
  for step in range(steps):
    other.set(f"elsewhere {step}", b"y", "--vault", str(place), *KEY)
  return place


@pytest.mark.parametrize("steps", [1, 2, 5], ids=["equal", "higher", "much higher"])
def test_fork_of_two_copies(shared_start, make_home, steps):
  """The chain shows it, also where the other copy has the higher counter."""
  home = shared_start
  copy = elsewhere(home, make_home, steps, older(home))
  home.set("acknowledged", b"secret")
  with attacked(home, acknowledged=b"secret"):
    shutil.copyfile(copy, home.vault)
    refused_everywhere(home, "acknowledged", words="fork")
    refused(home, "rekey", "--yes", *KEY, words="fork")
    refused(home, "slots", "add", "--new-key-file", "k", *KEY, words="fork")
    refused(home, "backup", "backup.db", words="fork")


def test_changes_that_follow_are_no_fork(shared_start, make_home):
  home = shared_start
  shutil.copyfile(elsewhere(home, make_home, 3, older(home)), home.vault)
  assert home.get("elsewhere 2") == b"y"
  home.run("verify")


def test_fork_that_is_accepted_loses_what_it_says(shared_start, make_home):
  home = shared_start
  copy = elsewhere(home, make_home, 2, older(home))
  home.set("acknowledged", b"secret")
  shutil.copyfile(copy, home.vault)
  assert "--yes" in hinted(home.run("accept-restored", code=64))
  home.run("accept-restored", "--yes")
  assert home.get("elsewhere 1") == b"y"
  home.run("get", "acknowledged", code=44)
  home.run("verify")


@pytest.mark.parametrize("chain", ["dropped", "an entry", "swapped", "old"])
def test_chain_that_does_not_hold(shared_start, chain):
  """Whoever can write the file takes entries of the chain away, or puts others in their places."""
  home = shared_start
  seen = {path: path.read_bytes() for path in (home.state / "seen").iterdir()}
  for account in "abc":
    home.set(account, b"secret")
  with attacked(home, a=b"secret"):
    (counter,) = home.rows("SELECT count(*) FROM chain")[0]
    if chain == "dropped":
      change(home.vault, "DELETE FROM chain")
    elif chain == "an entry":
      change(home.vault, "DELETE FROM chain WHERE place = ?", counter - 1)
    elif chain == "swapped":
      one, two = (home.rows("SELECT box FROM chain WHERE place = ?", place)[0][0]
                  for place in (counter, counter - 1))
      change(home.vault, "UPDATE chain SET box = ? WHERE place = ?", two, counter)
      change(home.vault, "UPDATE chain SET box = ? WHERE place = ?", one, counter - 1)
    else:
      change(home.vault, "UPDATE chain SET box = (SELECT box FROM chain WHERE place = 1)")
    refused(home, "verify")
    # Whoever saw an earlier state needs the entries from there.
    for path, record in seen.items():
      path.write_bytes(record)
    refused(home, "get", "a")
    refused(home, "set", "a", input=b"next secret")


@pytest.mark.parametrize("record", ["seen", "none"])
@pytest.mark.parametrize("counter", [(1 << 63) - 1, 1 << 48, (1 << 48) - 1, (1 << 40) + 1],
                         ids=["2^63-1", "2^48", "2^48-1", "2^40+1"])
def test_forged_counter(shared_start, counter, record):
  """A holder of T0 would have every good copy count as rolled back."""
  home, t0 = shared_start, t0_of(shared_start)
  with attacked(home, shared=b"x"):
    forging.reseal(home.vault, t0, counter=counter, first=counter)
    if record == "none":
      forget_seen(home)
    refused_everywhere(home, "shared")
    refused(home, "get", "shared", *KEY)
    refused(home, "rekey", "--yes", *KEY)


@pytest.mark.parametrize("up", [1 << 32, (1 << 32) + 1], ids=["2^32", "2^32+1"])
@pytest.mark.parametrize("chained", [False, True], ids=["chain of its own", "old chain"])
def test_counter_far_above_the_seen_one(shared_start, up, chained):
  """Up to 2^32 it may be true, where the chain does not reach so far; that is said.

  A limit: a holder of T0 can make a state that holds, and the good copy is then the older one.
  """
  home, t0 = shared_start, t0_of(shared_start)
  counter = forging.state_of(home.vault, t0).state.counter + up
  if up > 1 << 32 or chained:
    with attacked(home, shared=b"x"):
      forging.reseal(home.vault, t0, counter=counter, first=1 if chained else counter)
      refused_everywhere(home, "shared")
    return
  with believed(home, *KEY, shared=b"x"):
    forging.reseal(home.vault, t0, counter=counter, first=counter)
    change(home.vault, "DELETE FROM chain WHERE place <> ?", counter % 1000)
    told = home.run("get", "shared")
    assert told.out == b"x" and "nothing proves" in told.error, told


def test_older_copy_in_its_place(shared_start):
  """Somebody with an old copy shows it to whoever has seen a newer state."""
  home, copy = shared_start, older(shared_start)
  home.set("shared", b"secret")
  with attacked(home, shared=b"secret"):
    shutil.copyfile(copy, home.vault)
    refused_everywhere(home, "shared", words="rolled back")
    refused(home, "rekey", "--yes", *KEY, words="rolled back")


def test_older_copy_at_first_sight(shared_start):
  """A limit: without a record, and without newer keys, nothing shows that it is old."""
  home, copy = shared_start, older(shared_start)
  home.set("shared", b"secret")
  shutil.copyfile(copy, home.vault)
  forget_seen(home)
  assert home.get("shared", *KEY) == b"x"
  home.run("verify")


def test_old_copy_and_what_opened_it(home):
  """It is read for ever; by its keys a later copy too, until the vault has new ones."""
  home.init()
  old, new = home.passphrase(), home.passphrase(b"another")
  home.set("alice", b"old secret", *old)
  copy = older(home)
  t0 = opening(copy, Secrets(passphrase=PASSPHRASE)).tiers[0]
  home.run("change-passphrase", *old, "--new-passphrase-file", new[1])
  home.set("bob", b"secret", *new)
  refused(home, "get", "bob", *old, code=78)
  assert forging.list_of(home.vault, t0).serial == 2
  assert forging.state_of(home.vault, t0).state.serial == 2
  home.run("rekey", "--yes", *new)
  for read in (forging.list_of, forging.state_of):
    with pytest.raises(FormatError):
      read(home.vault, t0)
  assert home.get("alice", "--vault", str(copy), *old) == b"old secret"


def test_vault_of_the_attacker_at_first_sight(home, make_home):
  """A limit without pins, as a recipient is public; a pinned identity opens no other vault."""
  victim, mallory = home, make_home()
  keyed(mallory)
  mine = victim.run("identity", "create", "mine").out.decode().strip()
  keyed(victim, unlocked=False)
  victim.run("slots", "add", "--recipient", mine, *KEY)
  check = victim.run("status", "--json").json["check"]
  mallory.run("slots", "add", "--recipient", mine, *KEY)
  item_added(mallory, "trap", b"x")
  shutil.copyfile(mallory.vault, victim.vault)
  refused(victim, "get", "trap", "--identity", "mine", words="another vault")
  forget_seen(victim)
  told = victim.run("get", "trap", "--identity", "mine")
  assert "first time" in told.error and told.out == b"x"
  forget_seen(victim)
  victim.run("identity", "pin", "mine", "--check", check)
  refused(victim, "get", "trap", "--identity", "mine")
  refused(victim, "set", "bank", "--identity", "mine", input=b"next secret")
  assert opening(mallory.vault, key_file(mallory)).root is not None
