"""Tests of the frame of exports: every change of the head and the stream is detected."""

from __future__ import annotations

import pytest
from nacl.bindings import (
  crypto_secretstream_xchacha20poly1305_init_push as init_push,
  crypto_secretstream_xchacha20poly1305_TAG_FINAL as FINAL,
  crypto_secretstream_xchacha20poly1305_TAG_MESSAGE as MESSAGE,
  crypto_secretstream_xchacha20poly1305_TAG_PUSH as PUSH,
  crypto_secretstream_xchacha20poly1305_TAG_REKEY as REKEY)

import export_stream
from export_reader import read_export
from export_stream import Head, opened_export
from export_testing import SMALL, error_code
from sample_export import PASSPHRASE, make_export
from vault_errors import VaultError
from vault_notation import sized, u32, u64
from vault_slots import INTERACTIVE, MODERATE

HEAD = Head(INTERACTIVE.memory, INTERACTIVE.passes, bytes(32))
STREAM_HEADER = bytes(range(24))
FULL = export_stream.MESSAGE_COUNT
CHUNK = FULL + export_stream.CHUNK_OVERHEAD


def key_and_before() -> tuple[bytes, bytes]:
  encoded, input_key = HEAD.encoded(), HEAD.input_key(PASSPHRASE)
  commitment = export_stream.export_commitment(input_key, encoded)
  return (export_stream.export_key(input_key, encoded),
          encoded + sized(commitment) + STREAM_HEADER)


def of_messages(*tagged: tuple[bytes, int]) -> bytes:
  """An export whose messages are cut and marked otherwise than they should be."""
  key, before = key_and_before()
  return before + export_stream.sealed_stream(key, before, tagged)


# What is written is read.


@pytest.mark.parametrize("count", [
  1, FULL - 1, FULL, FULL + 1, 2 * FULL - 1, 2 * FULL, 3 * FULL + 7])
def test_streams_of_every_length(count):
  content = (bytes(range(251)) * (count // 251 + 1))[:count]
  file = make_export(content)
  assert opened_export(file, PASSPHRASE) == content
  assert len(file) == 122 + count + 17 * -(-count // FULL)


def test_greater_cost():
  assert read_export(make_export(SMALL.encoded(), cost=MODERATE), PASSPHRASE) == SMALL


def test_stream_is_that_of_libsodium():
  """A stream that libsodium begins, with a header of its own, opens."""
  state = export_stream.StreamState()
  key, before = key_and_before()
  before = before[:-24] + init_push(state, key)
  first = export_stream.push(state, SMALL.encoded(), before, FINAL)
  assert read_export(before + first, PASSPHRASE) == SMALL


# The outside.


def test_wrong_passphrase_is_not_damage():
  file = make_export(SMALL.encoded())
  assert error_code(file, PASSPHRASE + b"\n") == "wrong-key"
  assert error_code(file, b"") == "wrong-key"


def test_every_byte_counts():
  file = make_export(SMALL.encoded())
  codes = {}
  for place in range(len(file)):
    changed = bytearray(file)
    changed[place] ^= 0x80
    codes[place] = error_code(bytes(changed))
  assert {codes[place] for place in range(10)} == {"foreign"}
  assert {codes[place] for place in range(30, 62)} == {"wrong-key"}  # The salt.
  assert {codes[place] for place in range(66, 98)} == {"wrong-key"}  # The commitment.
  assert {codes[place] for place in range(98, len(file))} == {"damaged"}


def test_file_that_is_cut_short_anywhere():
  file = make_export(SMALL.encoded())
  assert {error_code(file[:count]) for count in range(10)} == {"foreign"}
  assert {error_code(file[:count]) for count in range(10, len(file))} == {"damaged"}


def test_foreign_files():
  for start in (b"", b"pkexport1\n", b" PKEXPORT1\n", b"PKEXPORT\n", b"PKEXPORT1", b"PKEXPORT1\r\n",
                b"PKEXPORT2", b"PKEXPORT2 \n", b"PKEXPORTx\n", b"PKEXPORT-1\n", b"PKEXPORT12345678901\n",
                "PKEXPORT\u0662\n".encode("utf-8")):
    assert error_code(start) == error_code(start + bytes(200)) == "foreign"


@pytest.mark.parametrize("version", ["0", "2", "9", "01", "10", "11", "1234567890"])
def test_export_of_a_newer_format(version):
  start = f"PKEXPORT{version}\n".encode("ascii")
  assert error_code(start) == error_code(start + bytes(200)) == "newer-format"


@pytest.mark.parametrize("parameters, salt", [
  (u64(1 << 40) + u32(3), bytes(32)), (u64(1 << 30) + u32(10), bytes(32)),
  (u64(64 << 20) + u32(3), bytes(32)), (u64(256 << 20) + u32(2), bytes(32)),
  (u64(64 << 10) + u32(1), bytes(32)), (u64(0) + u32(2), bytes(32)),
  (u64((1 << 64) - 1) + u32((1 << 32) - 1), bytes(32)), (b"", bytes(32)),
  (u64(64 << 20) + u32(2) + b"\0", bytes(32)), (u64(64 << 20) + u32(2), bytes(31)),
  (u64(64 << 20) + u32(2), bytes(33)), (u64(64 << 20) + u32(2), b"")])
def test_costs_and_lengths_are_checked_before_anything_is_computed(monkeypatch, parameters, salt):
  monkeypatch.setattr(export_stream, "passphrase_key", None)
  file = export_stream.MAGIC + sized(parameters) + sized(salt) + sized(bytes(32)) + bytes(200)
  assert error_code(file) == "damaged"


@pytest.mark.parametrize("place", [10, 26, 62])
def test_length_of_a_field_that_has_one_length(place):
  file = make_export(SMALL.encoded())
  for count in (0, 31, 33, (1 << 32) - 1):
    assert error_code(file[:place] + u32(count) + file[place + 4 :]) == "damaged"


# The stream.


def test_stream_of_other_messages():
  content = SMALL.encoded()
  first, rest = content[:20], content[20:]
  long = bytes(FULL)
  assert read_export(of_messages((content, FINAL)), PASSPHRASE) == SMALL
  assert opened_export(of_messages((long, MESSAGE), (b"x", FINAL)), PASSPHRASE) == long + b"x"
  for messages in (
    [(content, MESSAGE)], [(content, PUSH)], [(content, REKEY)], [], [(long, MESSAGE)],
    [(first, MESSAGE), (rest, FINAL)], [(long, PUSH), (b"x", FINAL)],
    [(long, REKEY), (b"x", FINAL)], [(long, FINAL), (b"x", FINAL)],
    [(long, FINAL), (b"x", MESSAGE)], [(long, MESSAGE), (b"", FINAL)], [(b"", FINAL)],
    [(long + b"x", FINAL)]):
    with pytest.raises(VaultError) as raised:
      opened_export(of_messages(*messages), PASSPHRASE)
    assert raised.value.code == "damaged"


def test_chunks_lost_moved_or_added():
  file = make_export(bytes(3 * FULL))
  before, stream = file[:-3 * CHUNK], file[-3 * CHUNK :]
  one, two, three = export_stream.split(stream, CHUNK)
  for chunks in ([one, two], [two, three], [one, three], [two, one, three], [one, one, two, three],
                 [one, two, three, three], [one, two, three, b"\0"], [one, two, three, bytes(18)],
                 [three], []):
    with pytest.raises(VaultError) as raised:
      opened_export(before + b"".join(chunks), PASSPHRASE)
    assert raised.value.code == "damaged"


def test_additional_data():
  """It is all before the first chunk, and that of the first chunk alone."""
  key, before = key_and_before()
  for data in ([None], [before[:-24]], [before[10:]], [before, b""]):
    state = export_stream.StreamState()
    export_stream.init_pull(state, STREAM_HEADER, key)
    count = len(data)
    messages = [bytes(FULL)] * (count - 1) + [b"x"]
    tags = [MESSAGE] * (count - 1) + [FINAL]
    stream = b"".join(map(export_stream.push, [state] * count, messages, data, tags))
    if count == 2:
      assert opened_export(before + stream, PASSPHRASE) == bytes(FULL) + b"x"
    else:
      assert error_code(before + stream) == "damaged"


def test_later_chunks_have_no_additional_data():
  key, before = key_and_before()
  state = export_stream.StreamState()
  export_stream.init_pull(state, STREAM_HEADER, key)
  stream = (export_stream.push(state, bytes(FULL), before, MESSAGE)
            + export_stream.push(state, b"x", before, FINAL))
  assert error_code(before + stream) == "damaged"
