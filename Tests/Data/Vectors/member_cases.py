"""Vectors of the list of members, and of successions."""

from __future__ import annotations

from dataclasses import replace

import vault_keys as keys
from vault_codes import Keys
from vault_members import (
  MAXIMUM_FIRST, MEMBERS_LABEL, SUCCESSION_LABEL, Member, MemberList, Succession, VaultKind,
  opened_list, successions_hash)
from vault_notation import FormatError, digest, open_box, seal, u32
from vault_signing import sign, signing_public_key
from vault_slots import Granted, SlotKind
from vector_cases import (
  ADMINISTRATION, ADMINISTRATION_SEED, EPOCH, NONCE, OPEN, ROOT, VAULT, Cases, changed, numbered,
  pattern, refuses)

# The sealed administration key, as far as the list is concerned.
COLUMN = b"administration"
BEFORE = pattern(0x50, 32)
NEW_SEED = pattern(0xD0, 32)
NEW = signing_public_key(NEW_SEED)
RECOVERY_SEED = pattern(0xE0, 32)
RECOVERY_KEY = signing_public_key(RECOVERY_SEED)


def keys_of(number: int) -> tuple[bytes, bytes]:
  """The two public keys of somebody."""
  return tuple(vars(Keys(pattern(number, 32)).recipient()).values())


def member(number: int, kind: int, granted: int = Granted.ADMINISTERS, name: str = "") -> Member:
  box_key, signing_key = keys_of(number)
  signs = kind in (SlotKind.RECOVERY_CODE, SlotKind.RECIPIENT)
  return Member(
    number, int(kind), int(granted), digest(32, u32(number)), box_key,
    signing_key if signs else None, name)


def member_list(kind: VaultKind, *members: Member, **fields) -> MemberList:
  plain = MemberList(
    VAULT, EPOCH, ADMINISTRATION, digest(32, COLUMN), 9, 7, 1000, BEFORE, 40, int(kind),
    successions_hash([]), members)
  return replace(plain, **fields)


DEVICE = member(3, SlotKind.DEVICE, Granted.OPEN_TIER, "this device")
LOCAL = member_list(
  VaultKind.LOCAL, member(1, SlotKind.PASSPHRASE, name="caf\u00e9"), member(2, SlotKind.KEY_FILE),
  DEVICE, member(5, SlotKind.RECOVERY_CODE), member(6, SlotKind.RECOVERY_CODE),
  member(9, SlotKind.RECIPIENT, name="alice"))
SERVER = member_list(VaultKind.LOCAL, member(1, SlotKind.DEVICE), serial=1, accepted=0, first=1, next_number=2)
OWNER = member(1, SlotKind.RECIPIENT, name="alice")
SHARED = member_list(
  VaultKind.SHARED, OWNER, member(2, SlotKind.RECOVERY_CODE),
  member(4, SlotKind.RECIPIENT, Granted.READS_AND_WRITES, "walter"),
  member(7, SlotKind.RECIPIENT, Granted.READS, "rita"))
LISTS = {"local": LOCAL, "server": SERVER, "shared": SHARED}


def member_cases(cases: Cases) -> None:
  list_cases(cases)
  signed_cases(cases)
  succession_cases(cases)


def list_cases(cases: Cases) -> None:
  for variant, found in {
    "server": SERVER, "shared": member_list(VaultKind.SHARED, OWNER)}.items():
    cases.add(
      "members", variant, found.encoded(), vault=VAULT, epoch=EPOCH, administration=ADMINISTRATION,
      administrationHash=found.administration_box, serial=found.serial, accepted=found.accepted,
      first=found.first, before=found.before, nextNumber=found.next_number, kindOfVault=found.kind,
      successions=found.successions, **member_inputs(found.members[0]))
  for variant, found in LISTS.items():
    cases.add("members hash", variant, found.hash(), members=found.encoded())
    cases.add("members signature", variant, found.signed(ADMINISTRATION_SEED)[-64:],
              seed=ADMINISTRATION_SEED, members=found.encoded())
  accepted = LISTS | {
    "unknown kind": member_list(VaultKind.LOCAL, *SERVER.members, replace(OWNER, number=5, kind=6)),
    "unknown grant": member_list(
      VaultKind.SHARED, OWNER, replace(OWNER, number=5, granted=5)),
    "name of 256 bytes": member_list(VaultKind.LOCAL, replace(OWNER, name="\u00e9" * 128)),
    "greatest numbers": member_list(
      VaultKind.LOCAL, replace(OWNER, number=(1 << 32) - 2), next_number=(1 << 32) - 1,
      serial=1 << 48, accepted=1 << 48,
      first=MAXIMUM_FIRST, epoch=1 << 31),
    "32 members": member_list(
      VaultKind.LOCAL, *(replace(OWNER, number=number) for number in range(1, 33)))}
  for variant, found in accepted.items():
    encoded = found.encoded()
    assert MemberList.decoded(encoded).encoded() == encoded, variant
    cases.add("decoded members", variant, encoded, members=encoded)
  for variant, encoded in refused_lists().items():
    assert refuses(MemberList.decoded, encoded), variant
    cases.add("decoded members", variant, None, members=encoded)


def member_inputs(one: Member) -> dict:
  given = {
    "number": one.number, "kind": one.kind, "grant": one.granted, "slotHash": one.slot,
    "boxKey": one.box_key, "signingKey": one.signing_key, "name": one.name}
  return {name: value for name, value in given.items() if value is not None}


def refused_lists() -> dict[str, bytes]:
  """Lists that every reader refuses, no matter who signed them."""
  local, shared = VaultKind.LOCAL, VaultKind.SHARED
  passphrase, root = member(1, SlotKind.PASSPHRASE), member(1, SlotKind.DEVICE)
  second = replace(OWNER, number=2)
  good = SHARED.encoded()
  lists = {
    "serial 0": replace(SHARED, serial=0), "serial above 2^48": replace(SHARED, serial=(1 << 48) + 1),
    "epoch 0": replace(SHARED, epoch=0), "epoch above 2^31": replace(SHARED, epoch=(1 << 31) + 1),
    "kind of vault 2": replace(SHARED, kind=2), "first 0": replace(SHARED, first=0),
    "first above 2^62": replace(SHARED, first=MAXIMUM_FIRST + 1),
    "accepted above the serial": replace(SHARED, accepted=10),
    "no members": member_list(local),
    "33 members": member_list(local, *(replace(OWNER, number=n) for n in range(1, 34))),
    "number 0": member_list(local, replace(OWNER, number=0)),
    "number twice": member_list(local, OWNER, OWNER),
    "out of order": member_list(local, second, OWNER),
    "next number that was used": member_list(local, OWNER, next_number=1),
    "recipient without a signing key": member_list(local, replace(OWNER, signing_key=None)),
    "recovery code without a signing key": member_list(
      local, replace(member(1, SlotKind.RECOVERY_CODE), signing_key=None)),
    "passphrase with a signing key": member_list(
      local, replace(passphrase, signing_key=OWNER.signing_key)),
    "name of 257 bytes": member_list(local, replace(OWNER, name="\u00e9" * 128 + "x")),
    "nobody administers a local vault": member_list(local, DEVICE),
    "nobody administers a shared vault": member_list(shared, *SHARED.members[2:]),
    "only an unknown kind administers": member_list(local, DEVICE, replace(OWNER, number=5, kind=6)),
    "device administers next to a passphrase": member_list(
      local, root, replace(passphrase, number=2)),
    "device administers next to a key file": member_list(
      local, root, member(2, SlotKind.KEY_FILE)),
    "passphrase of the open tier": member_list(local, OWNER, replace(passphrase, number=2, granted=2)),
    "recovery code of the open tier": member_list(
      local, OWNER, member(2, SlotKind.RECOVERY_CODE, Granted.OPEN_TIER)),
    "recipient of the open tier": member_list(local, OWNER, replace(second, granted=2)),
    "local recipient that reads": member_list(local, OWNER, replace(second, granted=4)),
    "local recipient that reads and writes": member_list(local, OWNER, replace(second, granted=3)),
    "shared passphrase": member_list(shared, OWNER, replace(passphrase, number=2)),
    "shared key file": member_list(shared, OWNER, member(2, SlotKind.KEY_FILE)),
    "shared device": member_list(shared, OWNER, DEVICE),
    "shared recipient of the open tier": member_list(shared, OWNER, replace(second, granted=2)),
    "shared recovery code that reads": member_list(
      shared, OWNER, member(2, SlotKind.RECOVERY_CODE, Granted.READS)),
    "two shared recovery codes": member_list(
      shared, OWNER, member(2, SlotKind.RECOVERY_CODE), member(3, SlotKind.RECOVERY_CODE))}
  found = {variant: one.encoded() for variant, one in lists.items()}
  return found | {
    "empty": b"", "a byte follows": good + b"\0", "a byte is missing": good[:-1],
    "a member more than there are": changed_count(LOCAL, 1),
    "a member fewer than there are": changed_count(LOCAL, -1),
    "name that is not UTF-8": member_list(
      local, replace(OWNER, name="\u00e9")).encoded()[:-1] + b"\xff"}


def changed_count(found: MemberList, by: int) -> bytes:
  plain, all_members = replace(found, members=()).encoded(), found.members
  count = len(all_members)
  return plain[:-4] + u32(count + by) + b"".join(one.encoded() for one in all_members)


def signed_cases(cases: Cases) -> None:
  """Boxes of lists with their signatures; the result is the list."""
  good, key = SHARED.signed(ADMINISTRATION_SEED), keys.box_key(OPEN, "members")
  encoded = SHARED.encoded()
  plain = {
    "right": good, "signed by another": SHARED.signed(ROOT), "last byte changed": changed(good),
    "no signature": encoded, "cut short": good[:-1], "a byte follows": good + b"\0",
    "63 bytes": bytes(63), "no list": sign(ADMINISTRATION_SEED, MEMBERS_LABEL, b""),
    "signed as a base": encoded + sign(ADMINISTRATION_SEED, "pk3/base", encoded),
    "signed without a label": encoded + sign(ADMINISTRATION_SEED, "", encoded),
    "another serial": replace(SHARED, serial=10).encoded() + good[-64:],
    "another vault": replace(SHARED, vault=bytes(16)).signed(ADMINISTRATION_SEED),
    "another epoch": replace(SHARED, epoch=2).signed(ADMINISTRATION_SEED),
    "another administration key": replace(SHARED, administration=NEW).signed(ADMINISTRATION_SEED),
    "another box of it": replace(SHARED, administration_box=bytes(32)).signed(ADMINISTRATION_SEED),
    "other successions": replace(SHARED, successions=bytes(32)).signed(ADMINISTRATION_SEED)}
  boxes = {variant: seal(key, data, NONCE) for variant, data in plain.items()}
  boxes |= {"box under another key": seal(ROOT, good, NONCE), "box of no bytes": b"",
            "box that is cut short": boxes["right"][:-1]}
  right = {"right": boxes.pop("right")}
  cases.read("opened members", right, boxes, opened, lambda box: {
    "tier0": OPEN, "vault": VAULT, "epoch": EPOCH, "administration": ADMINISTRATION,
    "administrationBox": COLUMN, "box": box})
  box_key = keys.administration_box_key(ROOT)
  for variant, box, expect in (
    ("right", seal(box_key, ADMINISTRATION_SEED, NONCE), ADMINISTRATION_SEED),
    ("of another", seal(box_key, NEW_SEED, NONCE), None),
    ("too short", seal(box_key, ADMINISTRATION_SEED[:31], NONCE), None),
    ("under another key", seal(ROOT, ADMINISTRATION_SEED, NONCE), None)):
    cases.add("opened administration key", variant, expect, root=ROOT,
              administration=ADMINISTRATION, box=box)


def opened(box: bytes) -> bytes:
  found = opened_list(open_box(keys.box_key(OPEN, "members"), box), ADMINISTRATION)
  named = (found.vault, found.epoch, found.administration)
  hashes = (found.administration_box, found.successions)
  if named != (VAULT, EPOCH, ADMINISTRATION) or hashes != (
      digest(32, COLUMN), successions_hash([])):
    raise FormatError("the list is not of this vault")
  return found.encoded()


def succession_cases(cases: Cases) -> None:
  one = succession()
  encoded = one.encoded()
  cases.add("succession", "", encoded, vault=VAULT, epoch=4, oldKey=one.old, newKey=one.new,
            listHash=one.list_hash, recoverySeed=RECOVERY_SEED)
  refused = {
    "epoch 0": replace(one, epoch=0).encoded(), "epoch above 2^31":
    replace(one, epoch=(1 << 31) + 1).encoded(), "another vault":
    replace(one, vault=bytes(16)).encoded(), "empty": b"", "a byte follows": encoded + b"\0",
    "a byte is missing": encoded[:-1]}
  accepted = {"": encoded, "signature wrong": changed(encoded)}
  cases.read("decoded succession", accepted, refused, decoded_succession, lambda record: {
    "vault": VAULT, "record": record})
  wrong = sign(ROOT, SUCCESSION_LABEL, one.body())
  other = Succession.made(VAULT, 4, ADMINISTRATION, NEW, one.list_hash, ROOT)
  unfollowed = {
    "signature wrong": (ADMINISTRATION, RECOVERY_KEY, replace(one, signature=wrong)),
    "signed by the old key": (ADMINISTRATION, RECOVERY_KEY, replace(
      one, signature=sign(ADMINISTRATION_SEED, SUCCESSION_LABEL, one.body()))),
    "signed as a list": (ADMINISTRATION, RECOVERY_KEY, replace(
      one, signature=sign(RECOVERY_SEED, MEMBERS_LABEL, one.body()))),
    "of another recovery code": (ADMINISTRATION, RECOVERY_KEY, other),
    "another old key is trusted": (NEW, RECOVERY_KEY, one),
    "no recovery code is trusted": (ADMINISTRATION, bytes(32), one),
    "body changed": (ADMINISTRATION, RECOVERY_KEY, replace(one, epoch=5))}
  cases.read(
    "followed succession", {"": (ADMINISTRATION, RECOVERY_KEY, one)}, unfollowed,
    lambda given: given[2].new if given[2].is_followed(*given[:2]) else None,
    lambda given: {"vault": VAULT, "trusted": given[0], "trustedRecoveryKey": given[1],
                   "record": given[2].encoded()})
  records = [encoded, other.encoded(), replace(one, epoch=5).encoded()]
  for count in range(4):
    cases.add("successions hash", str(count), successions_hash(records[:count]),
              **numbered("record", records[:count]))


def succession() -> Succession:
  return Succession.made(VAULT, 4, ADMINISTRATION, NEW, SHARED.hash(), RECOVERY_SEED)


def decoded_succession(record: bytes) -> bytes:
  found = Succession.decoded(record)
  if found.vault != VAULT:
    raise FormatError("a succession is of another vault")
  return found.encoded()
