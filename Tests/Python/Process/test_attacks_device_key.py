"""Attacks by somebody who can write the file and has the device key, or the keys after the first unlock."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from attack_testing import (
  KEY, add_recipient, attacked, device_key, first_use, forget_seen, key_file, keyed, older,
  put_in_place, refused, refused_everywhere)
from forging import Forger, opened
from prefs_testing import Home, hinted

import vault_keys as keys
from sample_vault import generic, internet
from vault_members import Member
from vault_notation import digest
from vault_opening import Secrets

ALICE = generic("default", "alice")
ALWAYS, AFTER_FIRST_UNLOCK, WHEN_UNLOCKED = 4, 2, 0


@pytest.fixture
def local(home) -> Home:
  keyed(home)
  home.set("open", b"read by T0", "--accessibility", "always")
  home.set("later", b"read by T1", "--accessibility", "afterFirstUnlock")
  home.set("alice", b"secret")
  home.set("bob", b"b")
  return home


def daemon_keys(home: Home) -> Secrets:
  """The keys of T0 and T1."""
  tiers = opened(home.vault, key_file(home)).tiers
  return Secrets(tiers=(tiers[0], tiers[1]))


def known(home: Home, who: str) -> Secrets:
  return device_key(home) if who == "device key" else daemon_keys(home)


# What they can do.


def test_reads_items_that_need_no_unlock(local):
  """And the list of members, and whether a name is there."""
  add_recipient(local, "theirs", "--name", "Their name", *KEY)
  vault = opened(local.vault, device_key(local))
  assert [found.secret for found in vault.items if found.status == "open"] == [b"read by T0"]
  assert "Their name" in [member.name for member in vault.members.members]
  assert vault.lookup(ALICE.identity).status == "locked"
  assert vault.lookup(generic("default", "nobody").identity) is None
  assert set(vault.tiers) == {0} and vault.root is None


def test_plants_items_that_need_no_unlock(local):
  forger = Forger(local.vault, device_key(local))
  forger.put(generic("default", "open"), b"planted", ALWAYS)
  forger.put(generic("default", "new"), b"planted, too", ALWAYS)
  put_in_place(local, forger)
  assert local.get("open") == b"planted" and local.get("new") == b"planted, too"
  local.run("verify", *KEY)


def test_plants_of_a_daemon(local):
  forger = Forger(local.vault, daemon_keys(local))
  forger.put(generic("default", "later"), b"planted", AFTER_FIRST_UNLOCK)
  put_in_place(local, forger)
  assert local.get("later") == b"planted"
  local.run("verify", *KEY)


def test_cut_history_on_first_use(local):
  """At an earlier point they go on; who has seen a later one, of the items that need an unlock, refuses it."""
  copy = older(local)
  local.set("alice", b"newest secret")
  with attacked(local, alice=b"newest secret"):
    forger = Forger(copy, device_key(local))
    for number in range(3):
      forger.put(generic("default", f"planted {number}"), b"x", ALWAYS)
    put_in_place(local, forger)
    refused_everywhere(local, "alice", words="fork")
    refused(local, "rekey", "--yes", *KEY, words="fork")
    with first_use(local):
      assert local.get("alice", *KEY) == b"secret"


# What they cannot.


def forgery(forger: Forger, how: str) -> None:
  """A change of an item that needs an unlock."""
  item = forger.id_of(ALICE.identity)
  tier = 2
  planted = forger.sealed(ALICE, b"forged", ALWAYS)
  stored = forger.items[tier][item]
  other = forger.items[tier][forger.id_of(generic("default", "bob").identity)]
  wrong = replace(stored, metadata=ALICE.encoded(), box=os.urandom(len(stored.box)))
  forger.append({
    "removed": {2: [item]},
    "removed and planted": {2: [item], 0: [planted]},
    "replaced": {2: [wrong]},
    "of another name": {2: [replace(forger.moved(other, id=item), metadata=ALICE.encoded())]},
    "older version": {2: [forger.moved(wrong, version=stored.entry.version - 1)]},
  }[how])


@pytest.mark.parametrize("who", ["device key", "daemon"])
@pytest.mark.parametrize(
  "how", ["removed", "removed and planted", "replaced", "of another name", "older version"])
def test_item_that_needs_an_unlock_is_not_forged(local, who, how):
  """A change of a tier counts with the proof of its key; a reader that has the key refuses it without the proof."""
  with attacked(local, *KEY, alice=b"secret"):
    forger = Forger(local.vault, known(local, who))
    forgery(forger, how)
    put_in_place(local, forger)
    refused(local, "get", "alice")
    refused(local, "get", "alice", *KEY)
    refused(local, "list", *KEY)
    refused(local, "get", "--attribute", "env=test", *KEY)
    refused(local, "verify", *KEY)
    refused(local, "set", "alice", *KEY, input=b"next secret")
    refused(local, "rekey", "--yes", *KEY)


@pytest.mark.parametrize("who", ["device key", "daemon"])
def test_daemon_does_not_forge_unlocked_items(local, who):
  """An item of a lower tier under the same name is below the right one, also after set and rekey."""
  forger = Forger(local.vault, known(local, who))
  planted = forger.sealed(ALICE, b"forged", ALWAYS)
  changes = {0: [planted]}
  if who == "daemon":
    changes[1] = [forger.sealed(ALICE, b"forged", AFTER_FIRST_UNLOCK)]
  forger.append(changes)
  put_in_place(local, forger)
  assert local.get("alice") == b"secret"
  local.set("alice", b"newest secret")
  assert local.get("alice") == b"newest secret"
  assert local.run("show", "alice", "--json").json["accessibility"] == "whenUnlocked"
  local.run("rekey", "--yes", *KEY)
  assert local.get("alice", *KEY) == b"newest secret"
  vault = opened(local.vault, key_file(local))
  assert vault.shadowed == [] and vault.lookup(ALICE.identity).entry.item_class == WHEN_UNLOCKED


def test_planted_accessibility_is_not_kept(local):
  """The next secret must not be sealed under a key that the forger has."""
  forger = Forger(local.vault, device_key(local))
  forger.put(generic("default", "bank"), b"planted", ALWAYS)
  put_in_place(local, forger)
  before = local.vault.read_bytes()
  asked = refused(local, "set", "bank", code=79, input=b"next secret")
  assert "always" in asked.error and "--accessibility" in hinted(asked)
  assert local.vault.read_bytes() == before
  local.set("bank", b"next secret", "--accessibility", "whenUnlocked")
  vault = opened(local.vault, key_file(local))
  assert vault.lookup(generic("default", "bank").identity).entry.item_class == WHEN_UNLOCKED


def test_planted_accessibility_is_not_kept_for_git(local):
  """A helper names no accessibility: it stores nothing, and changes nothing."""
  forger = Forger(local.vault, device_key(local))
  forger.put(
    internet(("git.example", "https", 0, "", "alice", "", "")), b"planted", ALWAYS)
  put_in_place(local, forger)
  before = local.vault.read_bytes()
  told = local.run(
    "git-credential", "store", code=None,
    input=b"protocol=https\nhost=git.example\nusername=alice\npassword=next secret\n\n")
  assert "always" in told.error
  assert local.vault.read_bytes() == before


def test_noise_of_the_device_key_does_not_stop_new_keys(local):
  """An item that opens for nobody is shown by its id, and goes if a person agrees."""
  forger = Forger(local.vault, device_key(local))
  item = forger.sealed(generic("default", "noise"), b"x", ALWAYS)
  noise = os.urandom(len(item.box))
  forger.append({0: [replace(forger.moved(item, box_hash=digest(32, noise)), box=noise)]})
  put_in_place(local, forger)
  (problem,) = local.run("verify", "--json", *KEY, code=65).json["problems"]
  assert f"item {item.id.hex()[:12]}" in problem and "'noise'" in problem
  refused(local, "rekey", "--yes", *KEY, words="'noise'")
  other = older(local)
  local.run("rekey", "--yes", "--drop-damaged", *KEY)
  local.run("verify", *KEY)
  assert local.get("alice", *KEY) == b"secret"
  # The same by its id, in a copy.
  local.run("compact", "--drop", item.id.hex()[:12], "--vault", str(other), *KEY)
  local.run("verify", "--vault", str(other), *KEY)


def test_item_with_as_many_attributes_as_there_can_be(local):
  """They cost no more than the file is long."""
  names = tuple((f"{number:x}", "") for number in range(13_000))
  forger = Forger(local.vault, device_key(local))
  forger.put(generic("default", "many", attributes=names), b"x", ALWAYS)
  put_in_place(local, forger)
  start = os.times().children_user
  for command in (["get", "many"], ["list"], ["verify", *KEY]):
    assert local.run(*command, code=None).code in (0, 65)
  assert os.times().children_user - start < 15
  assert local.get("alice") == b"secret"


def test_member_that_nobody_signed(local):
  """They add a recipient of their own to the list, and cannot sign it."""
  with attacked(local, open=b"read by T0"):
    forger = Forger(local.vault, device_key(local))
    forger.tiers |= {1: os.urandom(32), 2: os.urandom(32)}
    forger.items = {tier: {} for tier in keys.TIERS}
    with forger.transaction():
      member = next(iter(forger.members.values()))
      forger.members[9] = Member(9, member.kind, 1, member.slot, member.box_key)
      forger.next_number = 10
      forger._list_changed = True
    put_in_place(local, forger)
    refused_everywhere(local, "open")
    refused(local, "rekey", "--yes", *KEY)


def forged_around(home: Home) -> None:
  """A whole vault under an administration key of the forger's, sealed to every slot's public key."""
  forger = Forger(home.vault, device_key(home))
  forger.own_administration()
  forger.items, forger.plain = {tier: {} for tier in keys.TIERS}, {}
  forger.successions = []
  with forger.transaction():
    forger._make_root()
    for slot in list(forger.slots.values()):
      forger._put_slot(slot)
    forger.put(ALICE, b"forged", WHEN_UNLOCKED)
  put_in_place(home, forger)


@pytest.mark.parametrize("seen", [True, False], ids=["seen", "first use"])
def test_vault_around_the_public_keys(local, seen):
  """Before the victim unlocks and rekeys, and also where there is no seen record."""
  local.run("recovery", "create", "--code-file", "code", *KEY)
  local.run("lock", "--all")
  with attacked(local, *KEY, alice=b"secret"):
    forged_around(local)
    if seen:
      refused_around(local)
    else:
      with first_use(local):
        refused_around(local)


def refused_around(home: Home) -> None:
  for source in (KEY, ("--recovery-code-file", "code")):
    for command in (["unlock"], ["rekey", "--yes"], ["get", "alice"]):
      refused(home, *command, *source)
    refused(home, "set", "bank", *source, input=b"next secret")


def test_passphrase_slot_of_a_forged_vault(home):
  """Its X is in the list; the header of the passphrase names the administration key."""
  home.init()
  home.run("lock", "--all")
  forged_around(home)
  forget_seen(home)
  refused(home, "unlock", *home.passphrase())
  refused(home, "rekey", "--yes", *home.passphrase())
