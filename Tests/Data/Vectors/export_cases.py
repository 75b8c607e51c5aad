"""Vectors of exports: the head, the keys, the content and whole files."""

from __future__ import annotations

from nacl.bindings import (
  crypto_secretstream_xchacha20poly1305_TAG_FINAL as FINAL,
  crypto_secretstream_xchacha20poly1305_TAG_MESSAGE as MESSAGE,
  crypto_secretstream_xchacha20poly1305_TAG_PUSH as PUSH)

from export_content import Content, ExportedItem
from export_reader import read_export
from export_stream import (
  MAGIC, Head, export_commitment, export_key, sealed_export, sealed_stream)
from vault_errors import VaultError
from vault_keys import passphrase_key
from vault_notation import i64, sized, u8, u32, u64
from vault_items import MAXIMUM_SECRET_COUNT, Identity, Metadata
from vault_slots import INTERACTIVE, MODERATE, Cost
from vector_cases import Cases, pattern, refuses

SALT = pattern(0x40, 32)
STREAM_HEADER = pattern(0x60, 24)
PASSPHRASE = "correct horse battery staple \u00e9"
TIME = 1_750_000_000_123_456
GENERIC = Metadata(
  Identity(0, "team", ("example\0service", "account \u00e9")), TIME, TIME + 1, "Label", "",
  "text/plain", -1, (("e\u0301", "decomposed"), ("\u00e9", "")))
INTERNET = Metadata(
  Identity(1, "", ("example.org", "https", 8443, "/a", "user", "realm", "httpBasic")), -1, 0)
OTHER = Metadata(Identity(0, "team", ("example\0service", "account e\u0301")), 0, 0)
ITEMS = (
  ExportedItem(0, GENERIC, b"a\0b\xff"), ExportedItem(2, INTERNET, b""),
  ExportedItem(4, OTHER, pattern(0, 300)))
CONTENTS = {"full": Content(TIME, 3, ITEMS), "empty": Content(-1, 0, ())}


def export_cases(cases: Cases) -> None:
  key_cases(cases)
  content_cases(cases)
  file_cases(cases)


def head_of(cost: Cost) -> Head:
  return Head(cost.memory, cost.passes, SALT)


def key_cases(cases: Cases) -> None:
  input_key = pattern(0x90, 32)
  for variant, cost in {"64 MiB, 2 passes": INTERACTIVE, "256 MiB, 3 passes": MODERATE}.items():
    head = head_of(cost).encoded()
    cases.add("export head", variant, head, memory=cost.memory, passes=cost.passes, salt=SALT)
    cases.add("export commitment", variant, export_commitment(input_key, head), inputKey=input_key,
              head=head)
    cases.add("export key", variant, export_key(input_key, head), inputKey=input_key, head=head)


def content_cases(cases: Cases) -> None:
  for item in ITEMS:
    cases.add("exported item", f"class {item.item_class}", item.encoded(),
              metadata=item.metadata.encoded(), secret=item.secret, **{"class": item.item_class})
  for variant, content in CONTENTS.items():
    encoded = content.encoded()
    items = {f"item{index}": item.encoded() for index, item in enumerate(content.items)}
    cases.add("export content", variant, encoded, time=content.time, leftOut=content.left_out,
              **items)
    cases.add("decoded export content", variant, encoded, content=encoded)
  for variant, content in refused_contents().items():
    assert refuses(Content.decoded, content), variant
    cases.add("decoded export content", variant, None, content=content)


def content_of(*items: bytes, count: int | None = None) -> bytes:
  return i64(0) + u64(len(items) if count is None else count) + u64(0) + b"".join(items)


def refused_contents() -> dict[str, bytes]:
  """Contents that every reader refuses."""
  good = ITEMS[0].encoded()
  metadata, secret = GENERIC.encoded(), sized(b"")
  relabelled = ExportedItem(4, Metadata(GENERIC.identity, 0, 0), b"").encoded()
  classes = {
    f"class {number}": content_of(u8(number) + good[1:]) for number in (1, 3, 5, 6, 7, 255)}
  return classes | {
    "no bytes": b"", "cut short in the numbers": content_of()[:-1],
    "a byte follows": content_of(good) + b"\0", "a byte is missing": content_of(good)[:-1],
    "an item more than counted": content_of(good, count=0),
    "an item fewer than counted": content_of(good, count=2),
    "greatest count": content_of(good, count=(1 << 64) - 1),
    "one identity twice": content_of(good, relabelled),
    "a byte follows the metadata": content_of(u8(0) + sized(metadata + b"\0") + secret),
    "metadata padded": content_of(u8(0) + sized(sized(metadata).ljust(256, b"\0")) + secret),
    "no metadata": content_of(u8(0) + sized(b"") + secret),
    "greatest length of metadata": content_of(u8(0) + u32((1 << 32) - 1) + metadata + secret),
    "greatest length of a secret": content_of(u8(0) + sized(metadata) + u32((1 << 32) - 1)),
    "secret longer than may be": content_of(
      u8(0) + sized(metadata) + u32(MAXIMUM_SECRET_COUNT + 1))}


def file_cases(cases: Cases) -> None:
  for variant, content in CONTENTS.items():
    file = sealed_export(
      content.encoded(), PASSPHRASE.encode("utf-8"), head_of(INTERACTIVE), STREAM_HEADER)
    cases.add("decoded export", variant, content.encoded(), passphrase=PASSPHRASE, file=file)
  for variant, file in refused_files().items():
    assert is_refused(file, PASSPHRASE), variant
    cases.add("decoded export", variant, None, passphrase=PASSPHRASE, file=file)
  other = PASSPHRASE.replace("\u00e9", "e\u0301")
  assert is_refused(stream_file((CONTENTS["empty"].encoded(), FINAL)), other)
  cases.add("decoded export", "passphrase normalised otherwise", None, passphrase=other,
            file=stream_file((CONTENTS["empty"].encoded(), FINAL)))


def is_refused(file: bytes, passphrase: str) -> bool:
  try:
    read_export(file, passphrase.encode("utf-8"))
  except VaultError:
    return True
  return False


def stream_file(
  *messages: tuple[bytes, int], data: bool = True, cost: Cost = INTERACTIVE, parameters: bytes = b"",
  salt: bytes = SALT,
) -> bytes:
  """Returns an export of these messages and tags; the commitment covers changes of the head."""
  input_key = passphrase_key(PASSPHRASE.encode("utf-8"), salt, cost.memory, cost.passes)
  head = MAGIC + sized(parameters or u64(cost.memory) + u32(cost.passes)) + sized(salt)
  before = head + sized(export_commitment(input_key, head)) + STREAM_HEADER
  # The stream of a file without additional data begins as if nothing were before its header.
  return before + sealed_stream(
    export_key(input_key, head), before if data else STREAM_HEADER, messages)


def refused_heads() -> dict[str, bytes]:
  """Files whose head is refused, for its cost or its lengths and not for its commitment."""
  whole = CONTENTS["empty"].encoded(), FINAL
  good = stream_file(whole)
  # Nobody shall have to compute what these ask for.
  costs = {"too much memory": (1 << 30, 10), "no memory": (0, 2), "no pass": (64 << 20, 0),
           "greatest cost": ((1 << 64) - 1, (1 << 32) - 1)}
  asked = {
    variant: MAGIC + sized(u64(memory) + u32(passes)) + good[26:]
    for variant, (memory, passes) in costs.items()}
  return asked | {
    "a cheaper cost": stream_file(whole, cost=Cost(64 << 10, 1)),
    "a pass more than a slot has": stream_file(whole, cost=Cost(64 << 20, 3)),
    "a pass less than a slot has": stream_file(whole, cost=Cost(256 << 20, 2)),
    "parameters too long": stream_file(whole, parameters=u64(64 << 20) + u32(2) + b"\0"),
    "parameters too short": stream_file(whole, parameters=u64(64 << 20)),
    "salt too short": stream_file(whole, salt=SALT[:31]),
    "salt too long": stream_file(whole, salt=SALT + b"\0"),
    "commitment too short": good[:62] + u32(31) + good[67:],
    "greatest length of the parameters": good[:10] + u32((1 << 32) - 1) + good[14:],
    "greatest length of the salt": good[:26] + u32((1 << 32) - 1) + good[30:],
    "greatest length of the commitment": good[:62] + u32((1 << 32) - 1) + good[66:]}


def refused_files() -> dict[str, bytes]:
  """Files that every reader refuses, each for one reason."""
  content = CONTENTS["empty"].encoded()
  good = stream_file((content, FINAL))
  return refused_heads() | {
    "no bytes": b"", "another format": MAGIC.replace(b"1", b"2") + good[10:],
    "format 01": MAGIC.replace(b"1", b"01") + good[10:],
    "format 11": MAGIC.replace(b"1", b"11") + good[10:],
    "no format": MAGIC.replace(b"1", b"") + good[10:],
    "only the head": good[:62], "no stream": good[:122], "cut short": good[:-1],
    "a byte follows": good + b"\0", "twice": good + good[122:],
    "salt changed": good[:30] + b"\xff" + good[31:],
    "commitment changed": good[:66] + bytes([good[66] ^ 1]) + good[67:],
    "stream header changed": good[:98] + b"\xff" + good[99:],
    "message changed": good[:-1] + bytes([good[-1] ^ 1]),
    "no additional data": stream_file((content, FINAL), data=False),
    "no final tag": stream_file((content, MESSAGE)), "another tag": stream_file((content, PUSH)),
    "no message": stream_file((b"", FINAL)),
    "messages cut otherwise": stream_file((content[:5], MESSAGE), (content[5:], FINAL)),
    "final tag twice": stream_file((content[:5], FINAL), (content[5:], FINAL)),
    "an empty message at the end": stream_file((content, MESSAGE), (b"", FINAL))}
