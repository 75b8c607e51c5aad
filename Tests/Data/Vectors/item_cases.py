"""Vectors of items: identities, metadata, padding, tokens, row hashes."""

from __future__ import annotations

import vault_keys as keys
from vault_notation import digest, i64, pad, padded_count, sized, text, u8, u32, unpad
from vault_items import GroupRow, Identity, ItemRow, Metadata
from vault_tokens import token_entry, token_sum
from vector_cases import DEVICE, OPEN, VAULT, Cases, pattern, refuses

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
  row_cases(cases)
  decoding_cases(cases)
  padding_cases(cases)
  hash_cases(cases)
  sum_cases(cases)


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
    cases.add("metadata", name, metadata.encoded(), **metadata_inputs(metadata))
    cases.add("all tokens", name, b"".join(metadata.tokens(OPEN)), tier0=OPEN,
              metadata=metadata.encoded())
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


def hash_cases(cases: Cases) -> None:
  item_id, secret = keys.item_id(OPEN, GENERIC.encoded()), pattern(1, 296)
  tokens = b"".join(METADATA["full"].tokens(OPEN))
  for variant, device, given in (
    ("no device", None, tokens), ("device", keys.device_id(DEVICE, VAULT), tokens),
    ("no tokens", None, b"")):
    row = ItemRow(
      item_id, 0 if device is None else 1, device, (1 << 63) - 1, given, digest(32, secret),
      pattern(0, 296), secret)
    inputs = {} if device is None else {"device": device}
    cases.add("item row hash", variant, row.row_hash(), id=row.id, version=row.version,
              tokens=given, hash=row.hash, metadata=row.metadata, **inputs,
              **{"class": row.item_class})
  cases.add("secret hash", "", digest(32, secret), secret=secret)
  group = GroupRow(keys.group_token(OPEN, "team"), 1, pattern(5, 296))
  cases.add("group key in the tree", "", group.key(), token=group.token,
            **{"class": group.item_class})
  cases.add("group row hash", "", digest(32, group.box), box=group.box)


def sum_cases(cases: Cases) -> None:
  token, items = pattern(3, 16), [digest(32, bytes([number])) for number in range(40)]
  cases.add("token term", "", keys.token_term(OPEN, token, items[0]), tier0=OPEN, token=token,
            id=items[0])
  for count in (0, 1, 2, 40):
    named = {f"id{number}": item for number, item in enumerate(items[:count])}
    total = token_sum(OPEN, token, items[:count])
    cases.add("token sum", f"{count} items", total, tier0=OPEN, token=token, **named)
    if count:
      cases.add("token entry", f"{count} items", token_entry(OPEN, token, items[:count]),
                tier0=OPEN, token=token, **named)
