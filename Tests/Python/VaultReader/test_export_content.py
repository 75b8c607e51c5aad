"""Tests of what exports hold, and of the command that shows it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import sample_export
from export_content import MAXIMUM_TEXT_COUNT, Content, ExportedItem
from export_reader import read_export
from export_testing import ITEM, SMALL, error_code
from sample_export import PASSPHRASE, make_content, make_export
from sample_vault import generic
from vault_notation import Cursor, FormatError, i64, sized, u8, u32, u64
from vault_items import MAXIMUM_SECRET_COUNT
from vault_testing import FIXTURES, run_command


@pytest.mark.parametrize("content", [make_content(), SMALL, Content(-1, (1 << 64) - 1, ())])
def test_content_reads_what_it_writes(content):
  assert read_export(make_export(content.encoded()), PASSPHRASE) == content


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


def test_item_metadata_is_checked_as_in_vault():
  plain = ITEM.metadata.encoded()
  reserved = generic("s", "a", attributes=(("service", ""),)).encoded()
  wordy = generic("s", "a", comment="x" * MAXIMUM_TEXT_COUNT).encoded()
  nameless = generic("s", "a", attributes=(("", "value"),)).encoded()
  padded = sized(plain).ljust(256, b"\0")
  for metadata in (plain + b"\0", plain[:-1], b"", b"\2" + plain[1:], padded, reserved, nameless,
                   wordy):
    assert is_refused(content_of(u8(0) + sized(metadata) + sized(b"")))


@pytest.mark.parametrize("count", [(4 << 20) + 1, (1 << 32) - 1])
def test_longest_metadata(count):
  """The length is refused, not the early end of the content."""
  cursor = Cursor(content_of(u8(0) + u32(count), count=1)[24:])
  with pytest.raises(FormatError, match="too long"):
    ExportedItem.take(cursor)


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
  ("export1-python.pkexport", "test-passphrase", 78), ("test-device.key", "test-passphrase", 65),
  ("no-such-file", "test-passphrase", 74), ("export1-python.pkexport", "no-such-file", 74)])
def test_command_reports_the_reason(file, passphrase, status):
  result = run_command("export_reader.py", file, "--passphrase-file", passphrase)
  assert (result.returncode, result.stdout) == (status, "")
  assert result.stderr.startswith("export_reader: error: ")


def test_command_reports_damage(tmp_path):
  damaged = tmp_path / "damaged.pkexport"
  damaged.write_bytes((FIXTURES / "export1-python.pkexport").read_bytes() + b"\0")
  result = run_reader(str(damaged), "--json")
  assert (result.returncode, result.stdout) == (65, "")
