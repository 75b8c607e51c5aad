"""Vectors of items: identities, metadata, padding, entries, parts, boxes of secrets."""

from __future__ import annotations

from dataclasses import replace

import vault_keys as keys
from vault_items import (
  MAXIMUM_TEXT_COUNT, Entry, Identity, Metadata, Part, inner_half, opened_secret, secret_key)
from vault_notation import (
  BOX_OVERHEAD, digest, i64, pad, padded_count, seal, sized, text, u8, u32, unpad)
from vector_cases import (
  DEVICE, NONCE, OPEN, TIERS, VAULT, Cases, changed, numbered, pattern, refuses)

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


def item_cases(cases: Cases) -> None:
  identity_cases(cases)
  decoding_cases(cases)
  padding_cases(cases)
  entry_cases(cases)
  inner_cases(cases)
  part_cases(cases)
  secret_cases(cases)


def identity_cases(cases: Cases) -> None:
  for name, identity in IDENTITIES.items():
    encoded = identity.encoded()
    named = dict(identity_inputs(identity))
    cases.add("identity", name, encoded, **named)
    cases.add("id", name, keys.item_id(OPEN, encoded), tier0=OPEN, identity=encoded)
  for name, metadata in METADATA.items():
    cases.add("metadata", name, metadata.encoded(), **metadata_inputs(metadata))


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
    "attribute name twice": before + b"\0" + u32(2) + pair + pair,
    "texts too long": with_texts(MAXIMUM_TEXT_COUNT + 1)} | {
      f"attribute name {name!r}": named_attribute(name) for name in RESERVED}


def with_texts(count: int) -> bytes:
  """Metadata whose texts have this length."""
  return Metadata(EMPTY_GENERIC, 0, 0, comment="x" * count).encoded()


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


ID = keys.item_id(OPEN, GENERIC.encoded())
SECRET = b"a secret of an example"
SECRET_BOX = seal(secret_key(TIERS[2], ID, 0, 5, None), pad(SECRET), NONCE)
SERVICE = keys.service_mark(OPEN, "example service")
DEVICE_ID = keys.device_id(DEVICE, VAULT)


def entry(item_id: bytes = ID, item_class: int = 0, **fields) -> Entry:
  device = DEVICE_ID if item_class in keys.DEVICE_CLASSES else None
  plain = Entry(
    item_id, item_class, device, 5, len(SECRET_BOX), digest(32, SECRET_BOX), SERVICE)
  return replace(plain, **fields)


def entry_cases(cases: Cases) -> None:
  for variant, one in {
    "": entry(), "device": entry(item_class=1), "always": entry(item_class=4),
    "greatest version": entry(version=(1 << 63) - 1)}.items():
    given = {} if one.device is None else {"device": one.device}
    cases.add("entry", variant, one.encoded(), id=one.id, version=one.version,
              boxCount=one.box_count, boxHash=one.box_hash, service=one.service, **given,
              **{"class": one.item_class})


def inner_cases(cases: Cases) -> None:
  metadata = [one.encoded() for one in METADATA.values()]
  for count in range(3):
    cases.add("inner", f"{count} items", inner_half(TIERS[2], metadata[:count], NONCE),
              tierKey=TIERS[2], nonce=NONCE, **numbered("metadata", metadata[:count]))
  two, key = inner_half(TIERS[2], metadata, NONCE), keys.names_key(TIERS[2])
  plain = b"".join(map(sized, metadata))
  good = {
    "2 items": (2, two), "1 item": (1, inner_half(TIERS[2], metadata[:1], NONCE)),
    "metadata that breaks a rule": (1, seal(key, pad(sized(b"no metadata")), NONCE))}
  bad = {
    "an item more than counted": (1, two), "an item fewer than counted": (3, two),
    "a byte follows": (2, seal(key, pad(plain + b"\0"), NONCE)),
    "a byte is missing": (2, seal(key, pad(plain[:-1]), NONCE)),
    "not padded": (2, seal(key, plain, NONCE)), "changed": (2, changed(two)), "cut short":
    (2, two[:-1]), "of another tier": (2, inner_half(TIERS[1], metadata, NONCE)),
    "no bytes": (1, b"")}
  cases.read(
    "opened inner", good, bad, lambda given: b"".join(map(sized, Part(
      tuple(entry() for _ in range(given[0])), given[1]).metadata(TIERS[2]))),
    lambda given: {"tierKey": TIERS[2], "count": given[0], "inner": given[1]})


def part_cases(cases: Cases) -> None:
  low, high = bytes(32), b"\xff" * 32
  inner = pattern(0, 296)
  parts = {
    "empty": Part(), "removal": Part((low,)), "entry": Part((entry(),), inner),
    "both": Part((low, entry(), high), inner),
    "classes": Part((entry(low), entry(item_class=1), entry(high, 6)), inner)}
  for variant, part in parts.items():
    changes = [
      b"\0" + one if isinstance(one, bytes) else b"\1" + one.encoded() for one in part.changes]
    cases.add("part", variant, part.encoded(), inner=part.inner, **numbered("change", changes))
  tiers = {tier: Part((entry(item_class=number),), inner) for tier, number in ((0, 4), (1, 2))}
  good = {variant: (2, part.encoded()) for variant, part in parts.items()} | {
    f"tier {tier}": (tier, part.encoded()) for tier, part in tiers.items()}
  both = parts["both"].encoded()
  longest = BOX_OVERHEAD + padded_count(16 << 20)
  wrong = {
    "class of a lower tier": Part((entry(item_class=4),), inner),
    "class of no tier": Part((entry(item_class=7),), inner),
    "version 0": Part((entry(version=0),), inner),
    "version of 2^63": Part((entry(version=1 << 63),), inner),
    "no device": Part((entry(item_class=1, device=None),), inner),
    "device that must not be": Part((entry(device=DEVICE_ID),), inner),
    "id twice": Part((low, low)), "removed and put": Part((ID, entry()), inner),
    "ids out of order": Part((entry(), low), inner), "inner half of nothing": Part((), inner),
    "box too short": Part((entry(box_count=295),), inner),
    "box too long": Part((entry(box_count=longest + 1),), inner)}
  bad = {variant: (2, part.encoded()) for variant, part in wrong.items()} | {
    "class of a higher tier": (0, parts["entry"].encoded()), "empty bytes": (2, b""),
    "a byte follows": (2, both + b"\0"), "a byte is missing": (2, both[:-1]),
    "greatest count": (2, b"\xff" * 4 + both[4:]), "change of no kind": (2, u32(1) + b"\2" + low + u32(0))}
  cases.read(
    "decoded part", good, bad, lambda given: Part.decoded(given[1], given[0]).encoded(),
    lambda given: {"tier": given[0], "part": given[1]})


def secret_cases(cases: Cases) -> None:
  for number in (0, 1, 4):
    bound = {"device": DEVICE} if number in keys.DEVICE_CLASSES else {}
    tier = TIERS[keys.TIER_OF_CLASS[number]]
    key = secret_key(tier, ID, number, 5, DEVICE)
    given = {"tierKey": tier, "class": number, "id": ID, "version": 5, **bound}
    box = seal(key, pad(SECRET), NONCE)
    cases.add("secret box", f"class {number}", box, nonce=NONCE, secret=SECRET, **given)
    good = {f"class {number}": (5, box)}
    bad = {
      f"class {number}, {variant}": changed for variant, changed in {
        "another version": (6, box), "changed": (5, changed(box)), "cut short": (5, box[:-1]),
        "not padded": (5, seal(key, SECRET, NONCE)), "no bytes": (5, b"")}.items()}
    cases.read(
      "opened secret", good, bad,
      lambda found: opened_secret(secret_key(tier, ID, number, found[0], DEVICE), found[1]),
      lambda found: {**given, "version": found[0], "box": found[1]})
