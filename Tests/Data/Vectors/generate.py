#!/usr/bin/env python3
"""Writes the test vectors: a known answer for each derivation and encoding of the formats.

The keys are fixed, and plainly no secrets. Run it again after a change of a format; the test of
the reader fails while a file differs from what this makes.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Python" / "VaultReader"))

import vault_keys as keys
from code_cases import code_cases
from export_cases import export_cases
from vault_notation import (
  derive, digest, i64, optional, pad, padded_count, seal, sized, text, u8, u32, u64,
  unpad)
from vault_records import (
  Granted, GroupRow, Identity, ItemRow, Metadata, SeenRecord, SlotKind, SlotRow, State, VaultRow,
  box_hash, cache_name, cache_payload, seen_name, slot_commitment, slot_header, slot_key, state_sum)
from vault_writer import CHEAP, INTERACTIVE, finished_slot
from vector_cases import Cases, pattern, refuses


ROOT = pattern(0x00, 32)
DEVICE = pattern(0x20, 32)
SALT = pattern(0x40, 32)
NONCE = pattern(0x60, 24)
PASSPHRASE = "correct horse battery staple \u00e9"
KEY_FILE = pattern(0x80, 100)
RECOVERY_CODE = pattern(0xA0, 16)
RECIPIENT_PUBLIC = pattern(0xC0, 32)
TIERS = [keys.tier_key(ROOT, tier) for tier in keys.TIERS]
CHECKS = tuple(keys.tier_check(key) for key in TIERS)
OPEN = TIERS[0]

GENERIC = Identity(0, "team", ("example service", "account \u00e9"))
INTERNET = Identity(
  1, "", ("example.org", "https", 8443, "/a", "user", "realm", "httpBasic"))
EMPTY_GENERIC = Identity(0, "", ("", ""))
EMPTY_INTERNET = Identity(1, "", ("", "", 0, "", "", "", ""))
IDENTITIES = {
  "generic": GENERIC, "internet": INTERNET, "generic, nothing given": EMPTY_GENERIC,
  "internet, nothing given": EMPTY_INTERNET}
METADATA = {
  "full": Metadata(
    GENERIC, 1_750_000_000_123_456, 1_750_000_001_000_000, "Label", "", "text/plain",
    1_800_000_000_000_000, (("e\u0301", "decomposed"), ("env", "production"), ("\u00e9", ""))),
  "bare": Metadata(INTERNET, -1, 4_000_000_000_123_456)}


RESERVED = (
  "", "access-group", "service", "account", "server", "protocol", "port", "path", "security-domain",
  "authentication-type", "username", "accessibility", "xdg:schema")
# Not all names with a meaning are reserved, and no reserved one in other letters is.
FREE = ("label", "comment", "kind", "group", "user", "Service", "port ", " ", "\0", "\uff50ort")


def notation_cases(cases: Cases) -> None:
  for variant, value in {"empty": "", "composed": "\u00e9", "decomposed": "e\u0301",
                         "NUL": "a\0b"}.items():
    cases.add("text", variant, text(value), value=value)
  cases.add("optional text", "absent", optional(None))
  cases.add("optional text", "present", optional(text("a")), value="a")
  cases.add("derive", "no fields", derive(ROOT, "pk1/check"), key=ROOT, fields=b"",
            label="pk1/check")
  cases.add(
    "derive", "label of 16 bytes", derive(ROOT, "pk1/class.device", b"abc"), key=ROOT,
    fields=b"abc", label="pk1/class.device")
  cases.add("derive", "key of 16 bytes", derive(RECOVERY_CODE, "item", b"abc"),
            key=RECOVERY_CODE, fields=b"abc", label="item")
  cases.add("hash", "16", digest(16, b"abc"), data=b"abc", count=16)
  cases.add("hash", "32", digest(32, b"abc"), data=b"abc", count=32)
  cases.add("box", "", seal(ROOT, b"message", NONCE), key=ROOT, nonce=NONCE, message=b"message")


def key_cases(cases: Cases) -> None:
  for tier in keys.TIERS:
    cases.add("tier", str(tier), TIERS[tier], root=ROOT, tier=tier)
    cases.add("check", str(tier), CHECKS[tier], tierKey=TIERS[tier])
  cases.add("device id", "", keys.device_id(DEVICE), device=DEVICE)
  for number, name in enumerate(keys.ACCESSIBILITIES):
    tier = TIERS[keys.TIER_OF_CLASS[number]]
    bound = {"device": DEVICE} if number in keys.DEVICE_CLASSES else {}
    cases.add("class key", name, keys.class_key(tier, number, DEVICE), tierKey=tier, **bound,
              **{"class": number})
  class_key = keys.class_key(TIERS[2], 0)
  for group in ("", "team", "e\u0301"):
    cases.add("group key", repr(group), keys.group_key(class_key, group), classKey=class_key,
              group=group)
    token = keys.group_token(OPEN, group)
    for number in (0, 1, 2, 4):
      tier = TIERS[keys.TIER_OF_CLASS[number]]
      cases.add("group name key", f"{group!r}, class {number}",
                keys.group_name_key(tier, number, token), tierKey=tier, groupToken=token,
                **{"class": number})
  group_key, item_id = keys.group_key(class_key, "team"), keys.item_id(OPEN, GENERIC.encoded())
  for part in (0, 1):
    for version in (1, (1 << 63) - 1):
      cases.add("item key", f"part {part}, version {version}",
                keys.item_key(group_key, part, item_id, version), groupKey=group_key, id=item_id,
                part=part, version=version)


def row_cases(cases: Cases) -> None:
  for name, identity in IDENTITIES.items():
    encoded = identity.encoded()
    named = dict(identity_inputs(identity))
    cases.add("identity", name, encoded, **named)
    cases.add("id", name, keys.item_id(OPEN, encoded), tier0=OPEN, identity=encoded)
    for pair, value in identity.pairs():
      cases.add("token", f"{name}, {pair}", keys.attribute_token(OPEN, pair, value), tier0=OPEN,
                name=pair, value=value)
  for name, metadata in METADATA.items():
    item_id = keys.item_id(OPEN, metadata.identity.encoded())
    cases.add("metadata", name, metadata.encoded(), **metadata_inputs(metadata))
    cases.add("all tokens", name, b"".join(metadata.tokens(OPEN, item_id)), tier0=OPEN,
              metadata=metadata.encoded(), id=item_id)
  cases.add("token", "user attribute", keys.attribute_token(OPEN, "e\u0301", ""), tier0=OPEN,
            name="e\u0301", value="")


def identity_inputs(identity: Identity) -> list[tuple[str, str | int]]:
  names = (
    ("service", "account") if identity.kind == 0 else
    ("server", "protocol", "port", "path", "account", "securityDomain", "authenticationType"))
  return [("kind", identity.kind), ("group", identity.group), *zip(names, identity.parts)]


def metadata_inputs(metadata: Metadata) -> dict:
  given = {
    "label": metadata.label, "comment": metadata.comment, "contentType": metadata.content_type,
    "created": metadata.created, "modified": metadata.modified, "expires": metadata.expires,
    "identity": metadata.identity.encoded()}
  given |= {f"attribute {name}": value for name, value in metadata.attributes}
  return {name: value for name, value in given.items() if value is not None}


def refused_metadata() -> dict[str, bytes]:
  """Encodings of metadata that every reader refuses."""
  good = METADATA["bare"].encoded()
  identity, times = EMPTY_GENERIC.encoded(), i64(0) + i64(0)
  pair = text("b") + text("")
  before = identity + bytes(3) + times
  rest = before[5:] + bytes(5)
  port = EMPTY_INTERNET.encoded()[:13]
  return {
    "a byte follows": good + b"\0", "a byte is missing": good[:-1], "empty": b"",
    "unknown kind": b"\2" + good[1:],
    "text that is not UTF-8": u8(0) + sized(b"\xff") + rest,
    "encoded surrogate": u8(0) + sized(b"\xed\xa0\x80") + rest,
    "length beyond the end": u8(0) + u32(0xFFFFFFFF) + good[5:],
    "optional that begins with 2": identity + b"\2" + text("") + bytes(2) + times + bytes(5),
    "port above 65535": port + u32(65536) + bytes(16) + before[len(identity) :] + bytes(5),
    "count beyond the end": before + b"\0" + u32(0xFFFFFFFF),
    "attributes out of order": before + b"\0" + u32(2) + pair + text("a") + text(""),
    "attribute name twice": before + b"\0" + u32(2) + pair + pair} | {
      f"attribute name {name!r}": named_attribute(name) for name in RESERVED}


def named_attribute(name: str) -> bytes:
  """Metadata of nothing but an attribute."""
  return Metadata(EMPTY_GENERIC, 0, 0, attributes=((name, ""),)).encoded()


def decoding_cases(cases: Cases) -> None:
  for name, metadata in METADATA.items():
    cases.add("decoded metadata", name, metadata.encoded(), metadata=metadata.encoded())
  for name in FREE:
    data = named_attribute(name)
    assert Metadata.decoded(data).encoded() == data
    cases.add("decoded metadata", f"attribute name {name!r}", data, metadata=data)
  for name, data in refused_metadata().items():
    assert refuses(Metadata.decoded, data), name
    cases.add("decoded metadata", name, None, metadata=data)


def padding_cases(cases: Cases) -> None:
  sizes = (0, 1, 251, 252, 253, 508, 509, 1000, 65536, 1_000_000, (16 << 20) - 4, 16 << 20)
  for size in sizes:
    cases.add("padded length", str(size), u32(padded_count(size)), count=size)
  for size in (0, 5, 252, 253):
    cases.add("padded", str(size), pad(pattern(1, size)), data=pattern(1, size))
    cases.add("unpadded", str(size), pattern(1, size), padded=pad(pattern(1, size)))
  wrong = {
    "last byte of the padding not zero": pad(b"abc")[:-1] + b"\1",
    "first byte of the padding not zero": u32(3) + b"abc\1" + bytes(248),
    "shorter than 256": sized(b"abc") + bytes(200),
    "longer than its Padmé length": pad(b"abc") + bytes(16),
    "length beyond the end": u32(253) + bytes(252),
    "greatest length": u32(0xFFFFFFFF) + bytes(252),
    "empty": b"", "no whole length": b"\0\0\0"}
  for variant, padded in wrong.items():
    assert refuses(unpad, padded), variant
    cases.add("unpadded", variant, None, padded=padded)


def argon_cases(cases: Cases) -> None:
  for variant, cost in {"64 KiB, 1 pass": CHEAP, "64 MiB, 2 passes": INTERACTIVE}.items():
    key = keys.passphrase_key(PASSPHRASE.encode("utf-8"), SALT, cost.memory, cost.passes)
    cases.add("passphrase input key", variant, key, passphrase=PASSPHRASE, salt=SALT,
              memory=cost.memory, passes=cost.passes)
  cases.add("key file input key", "", keys.key_file_key(KEY_FILE), contents=KEY_FILE)


def slot_cases(cases: Cases) -> None:
  cost = u64(CHEAP.memory) + u32(CHEAP.passes)
  passphrase = keys.passphrase_key(
    PASSPHRASE.encode("utf-8"), SALT, CHEAP.memory, CHEAP.passes)
  kinds = [
    (SlotKind.PASSPHRASE, Granted.ROOT, cost, passphrase),
    (SlotKind.KEY_FILE, Granted.ROOT, b"", keys.key_file_key(KEY_FILE)),
    (SlotKind.DEVICE, Granted.ROOT, b"", DEVICE), (SlotKind.DEVICE, Granted.OPEN_TIER, b"", DEVICE),
    (SlotKind.RECOVERY_CODE, Granted.ROOT, b"", RECOVERY_CODE),
    (SlotKind.RECIPIENT, Granted.ROOT, RECIPIENT_PUBLIC, ROOT)]
  for number, (kind, granted, parameters, key) in enumerate(kinds, start=1):
    variant = f"{kind.name.lower()}, grants {granted.name.lower()}"
    one_slot_cases(cases, variant, (number, kind, granted, parameters, key))


def one_slot_cases(cases: Cases, variant: str, given: tuple) -> None:
  number, kind, granted, parameters, key = given
  header = slot_header(kind, granted, parameters, SALT)
  cases.add("slot header", variant, header, kind=int(kind), granted=int(granted),
            parameters=parameters, salt=SALT)
  commitment = slot_commitment(key, header)
  cases.add("slot commitment", variant, commitment, key=key, header=header)
  # A recipient's box is made with a random key; any 80 bytes serve to hash a row.
  box = pattern(0xE0, 80)
  if kind != SlotKind.RECIPIENT:
    kek, grants = slot_key(key, header), ROOT if granted == Granted.ROOT else OPEN
    cases.add("slot key", variant, kek, inputKey=key, header=header)
    box = seal(kek, grants, NONCE)
    cases.add("slot box", variant, box, slotKey=kek, nonce=NONCE, grantedKey=grants)
  slot = finished_slot((number, int(kind), int(granted), parameters, SALT, commitment, box), ROOT)
  slot_row_cases(cases, variant, slot)


def slot_row_cases(cases: Cases, variant: str, slot: SlotRow) -> None:
  columns = {"parameters": slot.parameters, "salt": slot.salt, "commitment": slot.commitment,
             "box": slot.box, "number": slot.number, "kind": slot.kind, "granted": slot.granted}
  cases.add("slot row", variant, slot.row(), **columns)
  cases.add("slot mac", variant, slot.mac, root=ROOT, row=slot.row())
  cases.add("slot sum", variant, slot.sum, row=slot.row(), mac=slot.mac)
  cases.add("slot term", variant, slot.term(OPEN), tier0=OPEN, row=slot.row(), mac=slot.mac)


def state_cases(cases: Cases) -> None:
  vault = VaultRow(CHECKS, b"")
  checks = {f"check{tier}": check for tier, check in enumerate(CHECKS)}
  cases.add("vault sum", "", vault.computed_sum(), **checks)
  cases.add("vault term", "", vault.term(OPEN), tier0=OPEN, **checks)
  cases.add("state box key", "", keys.state_box_key(OPEN), tier0=OPEN)
  cases.add("state row key", "", keys.state_row_key(OPEN), tier0=OPEN)
  terms = [vault.term(OPEN)]
  for variant, device in {"no device": None, "device": keys.device_id(DEVICE)}.items():
    item = ItemRow(digest(32, b"id"), 0 if device is None else 1, device, 7, pattern(0, 300),
                   pattern(1, 300))
    tokens = [pattern(3, 16), pattern(2, 16), pattern(1, 16)]
    terms.append(item.term(OPEN, tokens))
    given = {} if device is None else {"device": device}
    cases.add("item term", variant, terms[-1], tier0=OPEN, id=item.id, metadata=item.metadata,
              secret=item.secret, version=7, token0=tokens[0], token1=tokens[1],
              token2=tokens[2], **given, **{"class": item.item_class})
  group = GroupRow(keys.group_token(OPEN, "team"), 1, pattern(5, 296))
  terms.append(group.term(OPEN))
  cases.add("group term", "", terms[-1], tier0=OPEN, token=group.token, box=group.box,
            **{"class": group.item_class})
  total = state_sum(terms)
  cases.add("state sum", "", total, term0=terms[0], term1=terms[1], term2=terms[2],
            term3=terms[3])
  state = State(8, 2, 0, total).encoded()
  cases.add("state contents", "", state, counter=8, items=2, slots=0, sum=total)
  cases.add("state box", "", seal(keys.state_box_key(OPEN), state, NONCE), tier0=OPEN,
            contents=state, nonce=NONCE)


def file_cases(cases: Cases) -> None:
  other = keys.tier_check(keys.tier_key(pattern(0xF0, 32), 0))
  state = pattern(0x30, 32)
  cases.add("seen record", "one check", SeenRecord((CHECKS[0],), 42, state).encoded(),
            check=CHECKS[0], counter=42, boxHash=state)
  cases.add("seen record", "two checks", SeenRecord((CHECKS[0], other), 43, state).encoded(),
            check=CHECKS[0], secondCheck=other, counter=43, boxHash=state)
  cases.add("box hash", "", box_hash(pattern(0, 92)), box=pattern(0, 92))
  good = SeenRecord((CHECKS[0],), 42, state).encoded()
  refused = {
    "damaged": good[:-1] + bytes([good[-1] ^ 1]), "cut short": good[:-1], "too long": good + b"\0",
    "three checks": summed(b"\3" + good[1:73]), "no check": summed(b"\0" + good[1:73]),
    "one check and more": summed(good[:17] + bytes(15) + b"\1" + good[33:73]),
    "too many changes": summed(good[:33] + u64((1 << 48) + 1) + state)}
  for variant, data in refused.items():
    assert refuses(SeenRecord.decoded, data), variant
    cases.add("decoded seen record", variant, None, record=data)
  cases.add("decoded seen record", "good", good, record=good)
  for path in ("/home/user/.local/share/keychain/vault.db", "/srv/\u00e9/vault.db"):
    name = seen_name(path.encode("utf-8"))
    cases.add("seen name", path, bytes.fromhex(name), path=path)
  for tier in keys.TIERS:
    cases.add("cache name", str(tier), cache_name(tier, CHECKS[0]), check0=CHECKS[0], tier=tier)
  checks = {f"check{tier}": check for tier, check in enumerate(CHECKS)}
  for variant, limit, key in (
      ("no limit", (1 << 64) - 1, OPEN), ("prolonged", 43_200_000_000_000, TIERS[2]),
      ("fixed", 43_200_000_000_001, TIERS[2])):
    cases.add("cache payload", variant, cache_payload(limit, CHECKS, key), limit=u64(limit),
              tierKey=key, **checks)


def summed(before: bytes) -> bytes:
  return before + digest(16, before)


def generated() -> dict[str, str]:
  """The text of each file, by its name."""
  families = {
    "format1.json": (
      notation_cases, key_cases, row_cases, decoding_cases, padding_cases, argon_cases, slot_cases,
      state_cases, file_cases),
    "codes1.json": (code_cases,), "export1.json": (export_cases,)}
  texts = {}
  for name, adders in families.items():
    cases = Cases()
    for add in adders:
      add(cases)
    texts[name] = cases.written()
  return texts


if __name__ == "__main__":
  for name, written in generated().items():
    (Path(__file__).resolve().parent / name).write_text(written, "ascii")
