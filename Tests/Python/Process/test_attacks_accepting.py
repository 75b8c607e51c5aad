"""Attacks on a person who accepts a file or compares its check: what counts then is what the keys prove, and nothing else."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace

import pytest

from attack_testing import (
  KEY, MINE, Team, device_key, keyed, key_file, older, opened, put_in_place, refused, secrets_of)
from forging import Forger
from prefs_testing import Home

import vault_building
from sample_vault import generic
from vault_forging import Forge
from vault_log import Commit, FrameHeader
from vault_seen import SeenCommit, SeenRecord

API = generic("default", "api")
CODE = ("--recovery-code-file", "code")


@pytest.fixture
def local(home) -> Home:
  """T0 is at hand, and the rest is opened by a key file."""
  keyed(home, unlocked=False)
  for secret in (b"old secret", b"newest secret"):
    home.set("alice", secret, *KEY)
  return home


@pytest.fixture
def team(home, make_home) -> Team:
  """Bob writes and Carol reads; both have seen the newest secret."""
  made = Team(home, make_home)
  made.bob, made.carol = made.add("bob", "write"), made.add("carol", "read")
  home.set("api", b"secret", *MINE)
  for member in (made.bob, made.carol):
    made.give(member)
    assert member.get("api", *MINE) == b"secret"
  return made


def seen(home: Home) -> tuple:
  (record,) = (home.state / "seen").iterdir()
  return record, SeenRecord.decoded(record.read_bytes())


def put_back(forge: Forge, index: int) -> None:
  """Appends the changes of an older commit once more, without the proofs of tiers whose key is not held."""
  placed, frame = forge.vault.log.commits[index], forge.frames()[index + 1]
  header = FrameHeader.found(frame, forge.open_key, forge.vault.head.epoch, 0, 1 << 40)
  commit = Commit(forge.number + 1, forge.digest, placed.commit.time, 0, placed.commit.content)
  forge.add(forge.proved(commit), frame[header.count - header.boxes_count :])


def broken_off(forge: Forge) -> bytes:
  """As if a commit were damaged, and a later one followed it."""
  later = FrameHeader(forge.number + 2, 296, 0).encoded(forge.open_key, forge.vault.head.epoch)
  return forge.data + bytes(100) + later + bytes(300)


def test_item_put_back_with_the_device_key_is_not_accepted(local):
  """It has no proof of its tier, and who accepts would prove it."""
  good = local.vault.read_bytes()
  forge = Forge.of(local.vault, device_key(local), 0)
  put_back(forge, 0)
  forged = broken_off(forge)
  local.vault.write_bytes(forged)
  refused(local, "get", "alice", *KEY, words="damaged")
  refused(local, "accept-restored", "--yes", *KEY, words="damaged")
  assert local.vault.read_bytes() == forged
  local.vault.write_bytes(good)
  assert local.get("alice", *KEY) == b"newest secret"


def test_base_of_who_reads_is_not_accepted(team):
  good = team.home.vault.read_bytes()
  forger = Forger(team.home.vault, secrets_of(team.carol))
  forger.put(API, b"forged secret", 0)
  forger.compact()
  put_in_place(team.home, forger)
  refused(team.home, "get", "api", *MINE, words="signed")
  refused(team.home, "accept-restored", "--yes", *MINE, words="signed")
  team.home.vault.write_bytes(good)
  assert team.home.get("api", *MINE) == b"secret"


def without_dave(team: Team, *, forked: bool) -> str:
  """Removes an administrator, before or after a change that Carol has seen; returns the new check."""
  team.add("dave", "administer")
  for member in (team.bob, team.carol):
    team.give(member)
  team.bob.set("more", b"more secrets", *MINE)
  shutil.copy(team.bob.vault, team.carol.vault)
  assert team.carol.get("more", *MINE) == b"more secrets"
  if not forked:
    shutil.copy(team.bob.vault, team.home.vault)
  team.remove("dave")
  for number in range(3):
    team.home.set(f"later {number}", b"x", *MINE)
  team.give(team.carol)
  return team.home.run("status", "--json").json["check"]


def test_compared_check_does_not_accept_a_fork(team):
  """It says whose vault it is, not that nothing is missing."""
  check = without_dave(team, forked=True)
  before = seen(team.carol)[0].read_bytes()
  told = refused(team.carol, "accept-restored", "--yes", "--check", check, *MINE, code=79)
  assert "copy" in told.error
  assert seen(team.carol)[0].read_bytes() == before


def test_compared_check_changes_the_record_alone(team):
  check = without_dave(team, forked=False)
  file = team.carol.vault.read_bytes()
  told = team.carol.run("accept-restored", "--yes", "--check", check, *MINE)
  assert "new keys" not in told.error
  assert team.carol.vault.read_bytes() == file
  assert team.carol.get("more", *MINE) == b"more secrets"


def test_wrong_check_is_refused_where_nothing_else_asks_for_one(local):
  """A code that names the file's own administration key needs no check; one that is given counts."""
  local.run("recovery", "create", "--code-file", "code", *KEY)
  check = local.run("status", "--json").json["check"]
  shutil.rmtree(local.state / "seen")
  wrong = check[:-1] + ("0" if check[-1] != "0" else "1")
  for source in (CODE, KEY):
    refused(local, "unlock", "--check", wrong, *source, words="check")
  local.run("unlock", "--check", check, *CODE)


def test_interrupted_change_that_the_device_key_finishes(local):
  """The record keeps what other keys proved."""
  record, before = seen(local)
  local.run("rekey", "--yes", "--new-administration-key", *KEY)
  after = seen(local)[1]
  record.write_bytes(replace(before, next_administration=after.administration).encoded())
  local.run("list", code=77)
  finished = seen(local)[1]
  assert finished.administration == after.administration and finished.proved[1:] == before.proved[1:]
  assert finished.proved[0] == after.proved[0]
  assert local.get("alice", *KEY) == b"newest secret"
  assert seen(local)[1] == after


def test_item_under_another_service_is_not_hidden(team):
  """Who writes can spoil an item, and a search says so."""
  forger = Forger(team.home.vault, secrets_of(team.bob))
  item = forger.sealed(API, b"forged secret", 0)
  forger.append({2: [forger.moved(item, service=os.urandom(8))]})
  put_in_place(team.home, forger)
  refused(team.home, "list", "--service", "default", *MINE, words="damaged")
  refused(team.home, "get", "api", *MINE, words="damaged")


def test_pages_that_share_boxes(local, monkeypatch):
  """A small file does not become a large one, nor does it take longer than it is long."""
  forger = Forger(local.vault, key_file(local))
  for number in range(20):
    forger.put(generic("default", f"{number}"), b"x" * 100_000, 0)
  first, page = [], vault_building.Page

  def sharing(*fields):
    first[:] = first or [fields[5]]
    return page(*fields[:5], first[0])

  monkeypatch.setattr(vault_building, "PAGE_COUNT", 1)
  monkeypatch.setattr(vault_building, "Page", sharing)
  boxes = iter([os.urandom(150_000)])
  monkeypatch.setattr(vault_building, "boxes_of", lambda _: next(boxes, b""))
  forger.compact()
  put_in_place(local, forger)
  refused(local, "compact", *KEY, words="share")
  refused(local, "verify", *KEY)
  assert local.vault.read_bytes() == forger.file() and len(forger.file()) < 200_000


@pytest.mark.parametrize("pattern, code", [
  (bytes(8), 0), (bytes([0, 0, 0, 1, 0, 0, 0, 0]), 0), (bytes([0x28, 1, 0, 0, 0, 0, 0, 0]), 65),
], ids=["zeros", "numbers", "headers but for the mac"])
def test_long_tail(local, pattern, code):
  """What nobody with a key wrote takes no command long: numbers alone cost nothing, and few macs are computed."""
  local.set("open", b"o", "--accessibility", "always")
  with local.vault.open("ab") as file:
    file.write(pattern * ((4 << 20) // len(pattern)))
  local.run("get", "open", "--deadline", "20s", code=code)


def test_pins_count_for_another_vault(team):
  """Anyone who knows a public key can make a vault for it, and a record of another vault says nothing of that one."""
  other = team.make_home()
  theirs = Team(other, team.make_home)
  key = team.carol.folder / "identity"
  public = team.carol.run("identity", "show", "identity", "--json").json["recipient"]
  other.run("slots", "add", "--recipient", public, "--may", "administer", *MINE)
  assert key.read_bytes().count(b"vault:") == 1
  theirs.give(team.carol)
  refused(team.carol, "get", "api", *MINE, words="another vault")
  refused(team.carol, "accept-restored", "--yes", *MINE, words="not pinned")


def test_dropped_page_keeps_intact_ones(local):
  """A flipped bit of a page, and an item that is newer than the page, of the name by which the page is called."""
  for number in range(5):
    local.set(f"{number}", b"x", *KEY)
  local.run("compact", *KEY)
  vault = opened(local.vault, key_file(local))
  first = min(vault.state[2])
  account = next(item.metadata.identity.parts[1] for item in vault.items if item.entry.id == first)
  (page,) = vault.log.index.pages[2]
  local.set(account, b"newer than the page", *KEY)
  data = bytearray(local.vault.read_bytes())
  data[page.place + 50] ^= 1
  local.vault.write_bytes(data)
  refused(local, "rekey", "--yes", *KEY, words="do not open")
  local.run("rekey", "--yes", "--drop-damaged", *KEY)
  assert local.get(account, *KEY) == b"newer than the page"
  local.run("verify", *KEY)
