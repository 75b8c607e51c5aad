"""Tests of exports: what they hold, and that a reader tells every change of one."""

from __future__ import annotations

import json
import secrets
from dataclasses import replace

import pytest
from nacl.bindings import (
  crypto_secretstream_xchacha20poly1305_init_push as init_push,
  crypto_secretstream_xchacha20poly1305_TAG_FINAL as FINAL,
  crypto_secretstream_xchacha20poly1305_TAG_MESSAGE as MESSAGE,
  crypto_secretstream_xchacha20poly1305_TAG_PUSH as PUSH,
  crypto_secretstream_xchacha20poly1305_TAG_REKEY as REKEY)

import export_stream
import sample_export
from export_content import Content, ExportedItem
from export_reader import read_export
from export_stream import Head, opened_export
from sample_export import PASSPHRASE, make_content, make_export
from sample_vault import generic
from vault_database import VaultError
from vault_notation import FormatError, i64, sized, u8, u32, u64
from vault_records import MAXIMUM_SECRET_COUNT
from vault_testing import FIXTURES, run_command
from vault_writer import CHEAP, INTERACTIVE

HEAD = Head(CHEAP.memory, CHEAP.passes, bytes(32))
STREAM_HEADER = bytes(range(24))
FULL = export_stream.MESSAGE_COUNT
CHUNK = FULL + export_stream.CHUNK_OVERHEAD
ITEM = ExportedItem(0, generic("s", "a"), b"secret")
SMALL = Content(1, 2, (ITEM, replace(ITEM, metadata=generic("s", "b"), item_class=4)))


def error_code(file: bytes, passphrase: bytes = PASSPHRASE) -> str:
  with pytest.raises(VaultError) as raised:
    read_export(file, passphrase)
  return raised.value.code


def key_and_before(head: Head = HEAD) -> tuple[bytes, bytes]:
  encoded = head.encoded()
  input_key = head.input_key(PASSPHRASE)
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


@pytest.mark.parametrize("content", [make_content(), SMALL, Content(-1, (1 << 64) - 1, ())])
def test_content_reads_what_it_writes(content):
  assert read_export(make_export(content.encoded()), PASSPHRASE) == content


def test_real_argon2_cost():
  assert read_export(make_export(SMALL.encoded(), cost=INTERACTIVE), PASSPHRASE) == SMALL


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
  for file in (b"", b"PKEXPORT2\n" + bytes(100), b"pkexport1\n", b" " + make_export(b"x")):
    assert error_code(file) == "foreign"


@pytest.mark.parametrize("parameters, salt", [
  (u64(1 << 40) + u32(3), bytes(32)), (u64((1 << 30) + 1024) + u32(3), bytes(32)),
  (u64(64 << 10) + u32(11), bytes(32)), (u64(64 << 10) + u32(0), bytes(32)),
  (u64(7168) + u32(1), bytes(32)), (u64(0) + u32(1), bytes(32)), (u64(8193) + u32(1), bytes(32)),
  (u64((1 << 64) - 1) + u32((1 << 32) - 1), bytes(32)), (b"", bytes(32)),
  (u64(64 << 10) + u32(1) + b"\0", bytes(32)), (u64(64 << 10) + u32(1), bytes(31)),
  (u64(64 << 10) + u32(1), bytes(33)), (u64(64 << 10) + u32(1), b"")])
def test_limits_are_checked_before_anything_is_computed(monkeypatch, parameters, salt):
  monkeypatch.setattr(export_stream, "passphrase_key", None)
  file = export_stream.MAGIC + sized(parameters) + sized(salt) + sized(bytes(32)) + bytes(200)
  assert error_code(file) == "damaged"


def test_least_and_greatest_cost_are_within_the_limits(monkeypatch):
  monkeypatch.setattr(export_stream, "passphrase_key", lambda *_: secrets.token_bytes(32))
  for memory, passes in ((8 << 10, 1), (1 << 30, 10)):
    file = Head(memory, passes, bytes(32)).encoded() + sized(bytes(32)) + bytes(200)
    assert error_code(file) == "wrong-key"


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
    [(content, MESSAGE)], [(content, PUSH)], [(content, REKEY)], [],
    [(first, MESSAGE), (rest, FINAL)], [(long, PUSH), (b"x", FINAL)],
    [(long, REKEY), (b"x", FINAL)], [(long, FINAL), (b"x", FINAL)], [(long, FINAL), (b"x", MESSAGE)],
    [(long, MESSAGE), (b"", FINAL)], [(b"", FINAL)], [(long, MESSAGE)],
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


def test_additional_data_of_a_later_chunk_is_none():
  key, before = key_and_before()
  state = export_stream.StreamState()
  export_stream.init_pull(state, STREAM_HEADER, key)
  stream = (export_stream.push(state, bytes(FULL), before, MESSAGE)
            + export_stream.push(state, b"x", before, FINAL))
  assert error_code(before + stream) == "damaged"


# The content.


def content_of(*items: bytes, count: int | None = None) -> bytes:
  return (
    i64(0) + u64(len(items) if count is None else count) + u64(0) + b"".join(items))


def is_refused(content: bytes) -> bool:
  try:
    Content.decoded(content)
  except FormatError:
    return error_code(make_export(content)) == "damaged"
  return False


def test_content_cut_short_anywhere():
  encoded = SMALL.encoded()
  assert Content.decoded(encoded) == SMALL
  for count in range(len(encoded)):
    with pytest.raises(FormatError):
      Content.decoded(encoded[:count])


@pytest.mark.parametrize("count", [0, 2, 1 << 31, (1 << 64) - 1])
def test_count_of_items(count):
  assert not is_refused(content_of(ITEM.encoded()))
  assert is_refused(content_of(ITEM.encoded(), count=count))


def test_nothing_follows():
  assert is_refused(SMALL.encoded() + b"\0")


@pytest.mark.parametrize("number", range(9))
def test_classes(number):
  encoded = content_of(u8(number) + ITEM.encoded()[1:])
  assert is_refused(encoded) == (number not in (0, 2, 4))


def test_same_identity_twice():
  other = replace(ITEM, item_class=2, secret=b"", metadata=generic("s", "a", label="another"))
  assert is_refused(content_of(ITEM.encoded(), other.encoded()))
  grouped = replace(ITEM, metadata=generic("s", "a", "group"))
  composed, decomposed = (
    replace(ITEM, metadata=generic("s", name)) for name in ("\u00e9", "e\u0301"))
  assert not is_refused(
    content_of(*(item.encoded() for item in (ITEM, grouped, composed, decomposed))))


def test_metadata_of_an_item_is_checked_as_in_a_vault():
  plain = ITEM.metadata.encoded()
  reserved = generic("s", "a", attributes=(("service", ""),)).encoded()
  nameless = generic("s", "a", attributes=(("", "value"),)).encoded()
  padded = sized(plain).ljust(256, b"\0")
  for metadata in (plain + b"\0", plain[:-1], b"", b"\2" + plain[1:], padded, reserved, nameless):
    assert is_refused(content_of(u8(0) + sized(metadata) + sized(b"")))


@pytest.mark.parametrize("excess", [0, 1])
def test_greatest_secret(excess):
  item = replace(ITEM, secret=bytes(MAXIMUM_SECRET_COUNT + excess))
  try:
    found = Content.decoded(content_of(item.encoded())).items
  except FormatError:
    found = None
  assert found == (None if excess else (item,))


# The checked-in export and the command.


def test_checked_in_export_is_the_sample(tmp_path):
  sample_export.write_files(tmp_path)
  made = sorted(tmp_path.iterdir())
  assert len(made) == 3
  for file in made:
    assert (FIXTURES / file.name).read_bytes() == file.read_bytes(), file.name


def run_reader(file: str, *arguments: str):
  return run_command(
    "export_reader.py", file, "--passphrase-file", "test-export-passphrase", *arguments)


def test_command_prints_what_is_expected():
  result = run_reader("export1-python.pkexport", "--json")
  expected = json.loads((FIXTURES / "export1-python.expected.json").read_text("ascii"))
  assert (result.returncode, result.stderr) == (0, "")
  assert json.loads(result.stdout) == expected
  assert expected["left-out"] == 8 and len(expected["items"]) == 20


def test_command_prints_secrets_only_as_json():
  shown = run_reader("export1-python.pkexport").stdout
  assert "example.org" in shown and "secret=" not in shown and "all seven names" not in shown


@pytest.mark.parametrize("file, passphrase, status", [
  ("export1-python.pkexport", "test-passphrase", 78), ("format1-python.db", "test-passphrase", 65),
  ("no-such-file", "test-passphrase", 74), ("export1-python.pkexport", "no-such-file", 74)])
def test_command_tells_why_not(file, passphrase, status):
  result = run_command("export_reader.py", file, "--passphrase-file", passphrase)
  assert (result.returncode, result.stdout) == (status, "")
  assert result.stderr.startswith("export_reader: error: ")


def test_command_tells_damage(tmp_path):
  damaged = tmp_path / "damaged.pkexport"
  damaged.write_bytes((FIXTURES / "export1-python.pkexport").read_bytes() + b"\0")
  result = run_reader(str(damaged), "--json")
  assert (result.returncode, result.stdout) == (65, "")
