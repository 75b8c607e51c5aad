"""Attacks on which keys a vault is used with: heads and slots of other vaults, cached keys."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace

import pytest

from attack_testing import KEY, attacked, key_file, keyed, opened, refused, refused_everywhere
from prefs_testing import cache_name

import vault_keys as keys
from vault_head import Head
from vault_notation import sealed_box
from vault_opening import Secrets
from vault_seen import cache_payload
from vault_slots import Slot


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
    self.vault = opened(self.other, Secrets(key_file=(home.folder / "other").read_bytes()))

  def put_fields(self, *fields: str) -> None:
    """Puts fields of B's head into A's."""
    theirs = {field: getattr(self.vault.head, field) for field in fields}
    self.home.put_head(replace(self.home.head(), **theirs))


@pytest.fixture
def two(home):
  vaults = TwoVaults(home)
  yield vaults
  for tier in range(3):
    name = cache_name(tier, vaults.vault.head.vault)
    subprocess.run(["keyctl", "purge", "user", name], stdout=subprocess.DEVNULL, check=True)


@pytest.mark.parametrize("fields", [
  ("checks",), ("vault",), ("vault", "checks", "administration"), ("list",), ("slots",),
  ("slots", "list", "administration_box"), ("vault", "epoch", "checks", "administration", "slots", "list",
                                            "administration_box", "successions")],
  ids=" ".join)
def test_head_of_another_unlocked_vault(two, fields):
  """Tier confusion: A's next secret would be sealed under a key that B's members know."""
  with attacked(two.home, alice=b"secret"):
    two.put_fields(*fields)
    refused(two.home, "get", "alice", code=None)
    for source in ([], KEY, ("--key-file", "other")):
      found = two.home.run("set", "bank", *source, code=None, input=b"next secret")
      assert found.code in (65, 77, 78), found
    assert opened_items(two) == {b"of B"}


def opened_items(two: TwoVaults) -> set[bytes]:
  return {item.secret for item in two.vault.items}


def test_one_check_of_another_vault(two):
  """With A's T0: the cached key of B's T2 has the check, and nothing is sealed under it."""
  with attacked(two.home, alice=b"secret"):
    own = two.home.head().checks
    two.home.put_head(replace(two.home.head(), checks=(*own[:2], two.vault.head.checks[2])))
    refused_everywhere(two.home, "alice")


def test_another_vault_in_its_place(two):
  with attacked(two.home, alice=b"secret"):
    shutil.copyfile(two.other, two.home.vault)
    refused_everywhere(two.home, "b", words="another vault")
    refused(two.home, "unlock", "--key-file", "other", words="another vault")


def binding_of(head: Head) -> bytes:
  return keys.binding(head.vault, head.epoch, head.administration)


def test_slot_that_gives_keys_of_another_vault(two):
  """Anyone who has T0 knows each slot's public key, and can seal anything to it."""
  home = two.home
  with attacked(home, alice=b"secret"):
    vault, head = home.opened(), home.head()
    slots = [Slot.decoded(slot) for slot in head.slots]
    place = next(place for place, slot in enumerate(slots) if slot.kind == 2)
    member = vault.members.member(slots[place].number)
    for bound in (binding_of(two.vault.head), binding_of(head)):
      box = sealed_box(member.box_key, two.vault.root + bound, bytes(range(32)))
      forged = [*head.slots]
      forged[place] = replace(slots[place], box=box).encoded()
      home.put_head(replace(head, slots=tuple(forged)))
      refused(home, "set", "bank", *KEY, input=b"next secret")
      refused(home, "get", "alice", *KEY)


def test_cached_key_of_an_older_epoch(home):
  """A key of before a rekey is passed over, no matter who put it back into the kernel's keyring."""
  keyed(home).set("alice", b"secret")
  head, before = home.head(), opened(home.vault, key_file(home)).tiers
  home.run("rekey", "--yes", *KEY)
  refused(home, "get", "alice", code=77)
  add = ["keyctl", "padd", "user", cache_name(2, head.vault), "@u"]
  now = home.head()
  for bound in (binding_of(head), binding_of(now), binding_of(replace(now, epoch=9))):
    payload = cache_payload((1 << 64) - 1, bound, before[2])
    subprocess.run(add, input=payload, check=True, stdout=subprocess.DEVNULL)
    failed = home.run("get", "alice", code=None)
    assert failed.code in (65, 77) and failed.out == b"", failed
    home.set("bank", b"next secret", code=failed.code)
  home.run("lock")
  home.run("unlock", *KEY)
  assert home.get("alice") == b"secret"
