"""The outside of an export: its head, its keys, and the encrypted stream."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nacl.bindings import (
  crypto_secretstream_xchacha20poly1305_init_pull as init_pull,
  crypto_secretstream_xchacha20poly1305_pull as pull,
  crypto_secretstream_xchacha20poly1305_push as push,
  crypto_secretstream_xchacha20poly1305_state as StreamState,
  crypto_secretstream_xchacha20poly1305_TAG_FINAL as FINAL,
  crypto_secretstream_xchacha20poly1305_TAG_MESSAGE as MESSAGE)
from nacl.exceptions import CryptoError

from vault_errors import VaultError
from vault_keys import passphrase_key
from vault_notation import Cursor, FormatError, derive, equal, sized, u32, u64
from vault_slots import COSTS, Cost

MAGIC = b"PKEXPORT1\n"
ANY_MAGIC = re.compile(b"PKEXPORT[0-9]{1,10}\n")
PARAMETERS_COUNT = 12
SALT_COUNT = 32
COMMITMENT_COUNT = 32
STREAM_HEADER_COUNT = 24
MESSAGE_COUNT = 65536
CHUNK_OVERHEAD = 17


@dataclass(frozen=True)
class Head:
  """The parameters that derive the key from the passphrase."""

  memory: int
  passes: int
  salt: bytes

  def encoded(self) -> bytes:
    return MAGIC + sized(u64(self.memory) + u32(self.passes)) + sized(self.salt)

  def input_key(self, passphrase: bytes) -> bytes:
    return passphrase_key(passphrase, self.salt, self.memory, self.passes)

  @staticmethod
  def take(cursor: Cursor) -> Head:
    cursor.take(len(MAGIC))
    parameters = Cursor(sized_exactly(cursor, PARAMETERS_COUNT))
    head = Head(parameters.u64(), parameters.u32(), sized_exactly(cursor, SALT_COUNT))
    if Cost(head.memory, head.passes).parameters() not in COSTS:
      raise FormatError("the cost of the passphrase is none of a slot")
    return head


def sized_exactly(cursor: Cursor, count: int) -> bytes:
  """Reads `bytes` of a fixed length, which is checked first."""
  if cursor.u32() != count:
    raise FormatError("a field of an export has another length than it must")
  return cursor.take(count)


def export_commitment(input_key: bytes, head: bytes) -> bytes:
  return derive(input_key, "pk1/export.check", head)


def export_key(input_key: bytes, head: bytes) -> bytes:
  """The key of the stream."""
  return derive(input_key, "pk1/export.kek", head)


def sealed_export(content: bytes, passphrase: bytes, head: Head, stream_header: bytes) -> bytes:
  """An export of a content, with a stream header that is given, not random."""
  input_key, encoded = head.input_key(passphrase), head.encoded()
  before = encoded + sized(export_commitment(input_key, encoded)) + stream_header
  messages = split(content, MESSAGE_COUNT)
  tags = [MESSAGE] * (len(messages) - 1) + [FINAL]
  return before + sealed_stream(export_key(input_key, encoded), before, zip(messages, tags))


def sealed_stream(key: bytes, before: bytes, tagged_messages) -> bytes:
  """The chunks after `before`, which ends with the header of the stream."""
  state = StreamState()
  # Pushing begins with a random header; the state that pulling begins with is the same for both.
  init_pull(state, before[-STREAM_HEADER_COUNT:], key)
  chunks, data = [], before
  for message, tag in tagged_messages:
    chunks.append(push(state, message, data, tag))
    data = None
  return b"".join(chunks)


def opened_export(file: bytes, passphrase: bytes) -> bytes:
  """The content; raises `VaultError`, as foreign, newer-format, wrong-key or damaged."""
  if not ANY_MAGIC.match(file):
    raise VaultError("foreign", "the file is not an export")
  if not file.startswith(MAGIC):
    raise VaultError("newer-format", "the export is of a newer format")
  try:
    return content_of(file, passphrase)
  except FormatError as error:
    raise VaultError("damaged", f"the export is damaged: {error}") from None


def content_of(file: bytes, passphrase: bytes) -> bytes:
  cursor = Cursor(file)
  head = Head.take(cursor)
  commitment = sized_exactly(cursor, COMMITMENT_COUNT)
  stream_header = cursor.take(STREAM_HEADER_COUNT)
  encoded, input_key = head.encoded(), head.input_key(passphrase)
  if not equal(export_commitment(input_key, encoded), commitment):
    raise VaultError("wrong-key", "the passphrase is not that of the export")
  before = encoded + sized(commitment) + stream_header
  return opened_stream(export_key(input_key, encoded), before, cursor.rest())


def opened_stream(key: bytes, before: bytes, stream: bytes) -> bytes:
  """Returns the concatenated messages: all of them or none."""
  state = StreamState()
  init_pull(state, before[-STREAM_HEADER_COUNT:], key)
  chunks = split(stream, MESSAGE_COUNT + CHUNK_OVERHEAD)
  messages, data = [], before
  for index, chunk in enumerate(chunks, start=1):
    if len(chunk) <= CHUNK_OVERHEAD:
      raise FormatError("a chunk holds no message")
    try:
      message, tag = pull(state, chunk, data)
    except CryptoError:
      raise FormatError("a chunk does not open") from None
    if tag != (FINAL if index == len(chunks) else MESSAGE):
      raise FormatError("the stream ends too early or too late, or has an unknown tag")
    messages.append(message)
    data = None
  if not chunks:
    raise FormatError("there is no stream")
  return b"".join(messages)


def split(data: bytes, count: int) -> list[bytes]:
  return [data[first : first + count] for first in range(0, len(data), count)]
