"""Attacks by whoever has the device key of a local vault, and so T0, and can write the file."""

from __future__ import annotations

from dataclasses import replace

import pytest

from attack_testing import (
  KEY, add_recipient, attacked, believed, device_key, forget_seen, item_added, keyed, older,
  refused, t0_of)
from prefs_testing import Home

import vault_forging as forging
import vault_keys as keys
from vault_codes import Recipient
from vault_opening import Secrets
from vault_rows import change, drop_item, put_item_back, put_rows, replace_table
from vault_slots import Granted
from vault_state import State
from vault_verifying import Vault
from vault_writer import VaultWriter


@pytest.fixture
def local(home) -> Home:
  keyed(home)
  home.set("open", b"read by T0", "--accessibility", "always")
  return home


def test_reads_what_needs_no_unlock(local):
  """And the list of members, and whether a name is there."""
  item = item_added(local, "alice", b"secret")
  add_recipient(local, "theirs", "--name", "Their name", *KEY)
  vault = Vault(local.vault, Secrets(device=device_key(local)))
  assert [found.secret for found in vault.items if found.status == "open"] == [b"read by T0"]
  assert "Their name" in [member.name for member in vault.members.members]
  identity = forging.keys.text("") + forging.keys.text("default") + forging.keys.text("alice")
  assert keys.item_id(vault.tiers[0], b"\0" + identity) == item
  assert set(vault.tiers) == {0} and vault.root is None


def test_drops_an_item_and_puts_an_old_one_back(local):
  """The documented limit: in a local vault, T0 makes states that hold."""
  alice = item_added(local, "alice", b"old value")
  bob = item_added(local, "bob", b"x")
  copy = older(local)
  local.set("alice", b"secret")
  with believed(local, *KEY, alice=b"secret"):
    put_item_back(local.vault, copy, alice)
    drop_item(local.vault, bob)
    forging.reseal(local.vault, t0_of(local))
    assert local.get("alice") == b"old value"
    local.run("get", "bob", code=44)
    local.run("verify", *KEY)


def test_older_copy_as_a_newer_state(local):
  """It does not follow from what was seen, unless nobody has seen a newer state."""
  local.set("alice", b"old value")
  copy = older(local)
  local.set("alice", b"secret")
  local.set("bob", b"secret")
  t0 = t0_of(local)
  with attacked(local, alice=b"secret"):
    local.vault.write_bytes(copy.read_bytes())
    for _ in range(4):
      forging.reseal(local.vault, t0)
    refused(local, "get", "alice", words="fork")
    refused(local, "rekey", "--yes", *KEY, words="fork")
  local.vault.write_bytes(copy.read_bytes())
  forget_seen(local)
  assert local.get("alice") == b"old value"


@pytest.mark.parametrize("columns", [
  ("metadata", "secret", "hash", "version"), ("secret", "hash"), ("metadata",), ("version",),
  ("class",)])
def test_item_that_needs_an_unlock_is_not_forged(local, columns):
  """A state that holds lists what T0's holder cannot open or make."""
  alice, bob = item_added(local, "alice", b"secret"), item_added(local, "bob", b"b")
  with believed(local, *KEY, alice=b"secret"):
    rows = {row.id: row for row in forging.read(local.vault).items}
    names = {"class": "item_class"}
    fields = {names.get(name, name): getattr(rows[bob], names.get(name, name)) for name in columns}
    if columns == ("class",):
      fields = {"item_class": 4}
    forging.put_item(local.vault, replace(rows[alice], **fields))
    forging.reseal(local.vault, t0_of(local))
    refused(local, "get", "alice", words="alice")
    refused(local, "verify", *KEY)
    assert local.get("bob") == b"b"


def test_item_of_another_name_put_there(local):
  """Whole rows under another id: what opens says another name."""
  alice, bob = item_added(local, "alice", b"secret"), item_added(local, "bob", b"b")
  with believed(local, *KEY, alice=b"secret"):
    row = {row.id: row for row in forging.read(local.vault).items}[bob]
    forging.put_item(local.vault, replace(row, id=alice))
    forging.reseal(local.vault, t0_of(local))
    refused(local, "get", "alice")
    refused(local, "verify", *KEY)


def test_older_members_without_a_record(local):
  """The documented limit of `--keep-keys`: for who has not seen the removal, the slot opens."""
  local.set("alice", b"secret")
  number = add_recipient(local, "theirs")
  copy = older(local)
  local.run("slots", "remove", str(number), "--keep-keys", "--yes", *KEY)
  with attacked(local, alice=b"secret"):
    for table in ("members", "slot"):
      replace_table(local.vault, table, copy)
    forging.reseal(local.vault, t0_of(local))
    refused(local, "get", "alice", words="rolled back")
    refused(local, "get", "alice", "--identity", "theirs", words="rolled back")
    record = {path: path.read_bytes() for path in (local.state / "seen").iterdir()}
    forget_seen(local)
    assert local.get("alice", "--identity", "theirs") == b"secret"
    for path, contents in record.items():
      path.parent.mkdir(mode=0o700, exist_ok=True)
      path.write_bytes(contents)


# A vault around the public keys of the list: all but `made` is the forger's.


def forged_around(home: Home, *, made: bool = False, successions: bool = False) -> VaultWriter:
  """Replaces administration key, list, macs and state, and seals a root key to every slot."""
  t0, rows = t0_of(home), forging.read(home.vault)
  members, head = forging.list_of(home.vault, t0), rows.head
  forger = VaultWriter("forger")
  tiers = dict(enumerate(keys.tier_keys(forger.root, head.id, head.epoch)))
  forging.forge_head(home.vault, tiers, checks=tuple(map(keys.tier_check, tiers.values())),
                     administration=forger.administration)
  binding = keys.binding(head.id, head.epoch, forger.administration)
  listed = []
  for slot in rows.slots:
    granted = tiers[0] if slot.granted == Granted.OPEN_TIER else forger.root
    fields = {"made": forger.administration} if made else {}
    member = members.member(slot.number)
    row = forging.resealed_slot(slot, head.id, member.box_key, granted, binding, **fields)
    put_rows(home.vault, "slot", row.columns())
    listed.append(replace(member, row=row.row_hash()))
  box = forging.put_administration(home.vault, forger.root, forger.administration_seed)
  hashed = forging.put_successions(home.vault)
  if successions:
    mine = forging.Succession.made(
      head.id, head.epoch, VaultWriter("another").administration_seed, forger.administration_seed,
      members.hash(), 0)
    hashed = forging.put_successions(home.vault, replace(mine, old=head.administration))
  forged = replace(
    members, administration=forger.administration, administration_box=box, successions=hashed,
    members=tuple(listed))
  forging.put_list(home.vault, tiers[0], forged, forger.administration_seed)
  for table in ("item", "token", "access_group", "chain"):
    change(home.vault, f"DELETE FROM {table}")
  roots = forging.put_nodes(home.vault, tiers[0])
  put_forged_state(home, tiers[0], forged, roots)
  return forger


def put_forged_state(home: Home, t0: bytes, members, roots) -> None:
  state = State(1, members.epoch, members.serial, members.hash(), 1, 1, roots)
  change(home.vault, "DELETE FROM state")
  put_rows(home.vault, "state", (1, b""))
  forging.put_state(home.vault, t0, forging.SignedState(state, bytes(32)))


@pytest.mark.parametrize("seen", [True, False], ids=["seen", "first sight"])
@pytest.mark.parametrize("successions", [False, True], ids=["alone", "with a succession"])
def test_vault_around_the_public_keys(local, seen, successions):
  """Before the victim unlocks and rekeys, and also where there is no seen record."""
  local.set("alice", b"secret")
  local.run("recovery", "create", "--code-file", "code", *KEY)
  local.run("lock")
  with attacked(local, *KEY, alice=b"secret"):
    forged_around(local, successions=successions)
    record = {path: path.read_bytes() for path in (local.state / "seen").iterdir()}
    if not seen:
      forget_seen(local)
    for source in (KEY, ("--recovery-code-file", "code")):
      refused(local, "unlock", *source)
      refused(local, "rekey", "--yes", *source)
      refused(local, "set", "bank", *source, input=b"next secret")
    for path, contents in record.items():
      path.parent.mkdir(mode=0o700, exist_ok=True)
      path.write_bytes(contents)


def test_passphrase_slot_of_a_forged_vault(home):
  """Its X is in the list; the header of the passphrase names the administration key."""
  home.init()
  home.run("lock")
  with attacked(home, *home.passphrase()):
    forged_around(home)
    forget_seen(home)
    refused(home, "unlock", *home.passphrase())
    refused(home, "rekey", "--yes", *home.passphrase())


def test_forged_vault_is_whole_but_for_made(local, make_home):
  """The same, where each slot names the forger's key: only a recipient's opens, and a pin stops it."""
  mallory = make_home()
  key = mallory.run("identity", "create", "mine").out.decode().strip()
  identity = local.file("mine", (mallory.folder / "mine").read_bytes())
  local.run("slots", "add", "--recipient", key, *KEY)
  check = local.run("status", "--json").json["check"]
  local.run("lock")
  forged_around(local, made=True)
  forget_seen(local)
  told = local.set("bank", b"next", "--identity", identity)
  assert "first time" in told.error
  refused(local, "get", "bank", *KEY, code=78)
  forget_seen(local)
  pinned = local.file("pinned", (mallory.folder / "mine").read_bytes() + f"vault: {check}\n".encode())
  refused(local, "get", "bank", "--identity", pinned, words="not pinned")


def test_member_that_nobody_signed(local, make_home):
  """T0's holder adds a recipient of their own to the list, and cannot sign it."""
  mallory = make_home()
  key = Recipient.decoded(mallory.run("identity", "create", "mine").out.decode().strip())
  with attacked(local, open=b"read by T0"):
    t0 = t0_of(local)
    members = forging.list_of(local.vault, t0)
    mine = replace(
      members.members[-1], number=members.next_number, kind=5, granted=1, box_key=key.box_key,
      signing_key=key.signing_key)
    forging.put_list(local.vault, t0, forging.added_member(members, mine), bytes(32))
    forging.reseal(local.vault, t0)
    refused(local, "get", "open", words="list of members")
    refused(local, "set", "open", *KEY, input=b"next secret")
    refused(local, "rekey", "--yes", *KEY, words="list of members")
