"""Attacks on which keys a vault is used with: heads and slots of other vaults, cached keys."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
from contextlib import closing
from dataclasses import replace

import pytest

from attack_testing import (
  KEY, attacked, key_file, keyed, opening, refused, refused_everywhere, t0_of)
from prefs_testing import cache_name

import vault_forging as forging
import vault_keys as keys
from vault_opening import Secrets
from vault_rows import change
from vault_state import cache_payload

HEAD = ("id", "epoch", "administration", "check0", "check1", "check2", "mac0", "mac1", "mac2")


class TwoVaults:
  """The vaults A and B, both unlocked; the attacker is a member of B, and knows its keys."""

  def __init__(self, home) -> None:
    self.home = keyed(home)
    home.set("alice", b"secret")
    self.other = home.folder / "data" / "b.db"
    given = ("--vault", str(self.other))
    home.run("init", *given, "--new-key-file", "other")
    home.run("unlock", *given, "--key-file", "other")
    home.set("b", b"of B", *given)
    secrets = Secrets(key_file=(home.folder / "other").read_bytes())
    self.tiers = opening(self.other, secrets).tiers

  def put_columns(self, *columns: str) -> None:
    """Puts columns of B's head into A's, whose sum needs no key."""
    with closing(sqlite3.connect(self.other)) as connection:
      values = connection.execute(f"SELECT {', '.join(columns)} FROM head").fetchone()
    change(self.home.vault, f"UPDATE head SET {', '.join(f'{c} = ?' for c in columns)}", *values)
    forging.put_head(self.home.vault, forging.read(self.home.vault).head)


@pytest.fixture
def two(home):
  vaults = TwoVaults(home)
  yield vaults
  for tier in range(3):
    name = cache_name(tier, forging.read(vaults.other).head.id)
    subprocess.run(["keyctl", "purge", "user", name], stdout=subprocess.DEVNULL, check=True)


@pytest.mark.parametrize("columns", [
  ("check2",), ("check2", "mac2"), ("check0", "check1", "check2", "mac0", "mac1", "mac2"), HEAD],
  ids=lambda columns: f"{len(columns)} columns")
def test_head_of_another_unlocked_vault(two, columns):
  """Tier confusion: A's next secret would be sealed under a key that B's members know."""
  with attacked(two.home, alice=b"secret"):
    two.put_columns(*columns)
    refused_everywhere(two.home, "alice")
    refused(two.home, "get", "alice", *KEY)


def test_head_that_fits_the_other_vaults_key(two):
  """With A's device key, too: B's T2 has the check and the mac, T0 has its own; nothing is sealed."""
  home, t0 = two.home, t0_of(two.home)
  with attacked(home, alice=b"secret"):
    checks = (*forging.read(home.vault).head.checks[:2], keys.tier_check(two.tiers[2]))
    forging.forge_head(home.vault, {0: t0, 2: two.tiers[2]}, checks=checks)
    rows = home.rows("SELECT * FROM item")
    refused(home, "get", "alice")
    refused(home, "set", "bank", input=b"next secret")
    refused(home, "set", "bank", *KEY, input=b"next secret")
    assert home.rows("SELECT * FROM item") == rows


@pytest.mark.parametrize("table", ["members", "state", "chain", "slot", "item_node"])
def test_rows_of_another_vault(two, table):
  with attacked(two.home, alice=b"secret"):
    forging.change(two.home.vault, f"DELETE FROM {table}")
    with closing(sqlite3.connect(two.other)) as connection:
      rows = connection.execute(f"SELECT * FROM {table}").fetchall()
    forging.put_rows(two.home.vault, table, *rows)
    if table == "slot":
      # The keys are at hand, and no slot is needed.
      assert two.home.get("alice") == b"secret"
      refused(two.home, "get", "alice", *KEY, code=78)
    elif table != "chain":
      refused(two.home, "get", "alice")
    refused(two.home, "verify")
    opened = ("--key-file", "other") if table == "slot" else KEY
    assert two.home.run("slots", "add", "--new-key-file", "k", *opened, code=None).code in (65, 78)


def test_another_vault_in_its_place(two):
  with attacked(two.home, alice=b"secret"):
    shutil.copyfile(two.other, two.home.vault)
    refused_everywhere(two.home, "b", words="another vault")
    refused(two.home, "unlock", "--key-file", "other", words="another vault")


def test_slot_that_gives_keys_of_another_vault(two):
  """Whoever has T0 knows each slot's public key, and can seal anything to it."""
  home = two.home
  with attacked(home, alice=b"secret"):
    rows, t0 = forging.read(home.vault), t0_of(home)
    slot = next(slot for slot in rows.slots if slot.kind == 2)
    member = forging.list_of(home.vault, t0).member(slot.number)
    other = forging.read(two.other).head
    binding = keys.binding(other.id, other.epoch, other.administration)
    root = opening(two.other, Secrets(key_file=(home.folder / "other").read_bytes())).root
    for bound in (binding, opening_binding(rows.head)):
      forging.put_rows(home.vault, "slot", forging.resealed_slot(
        slot, rows.head.id, member.box_key, root, bound).columns())
      refused(home, "set", "bank", *KEY, input=b"next secret")
      refused(home, "get", "alice", *KEY)


def opening_binding(head) -> bytes:
  return keys.binding(head.id, head.epoch, head.administration)


def test_cached_key_of_an_older_epoch(home):
  """Whoever put it back into the kernel's keyring, a key of before a rekey is passed over."""
  keyed(home).set("alice", b"secret")
  head, before = forging.read(home.vault).head, opening(home.vault, key_file(home)).tiers
  home.run("rekey", "--yes", *KEY)
  refused(home, "get", "alice", code=77)
  add = ["keyctl", "padd", "user", cache_name(2, head.id), "@u"]
  now = forging.read(home.vault).head
  for bound in (opening_binding(head), opening_binding(now), opening_binding(replace(now, epoch=9))):
    payload = cache_payload((1 << 64) - 1, bound, before[2])
    subprocess.run(add, input=payload, check=True, stdout=subprocess.DEVNULL)
    failed = home.run("get", "alice", code=None)
    assert failed.code in (65, 77) and failed.out == b"", failed
    home.set("bank", b"next secret", code=failed.code)
  home.run("lock")
  home.run("unlock", *KEY)
  assert home.get("alice") == b"secret"
