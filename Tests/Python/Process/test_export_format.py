"""Exports of `prefs` read by the second reader of the format, and the reverse."""

from __future__ import annotations

import json
import stat

import pytest

import sample_export
from export_content import Content, ExportedItem
from export_reader import read_export
from prefs_testing import FIXTURES, Home
from sample_vault import generic
from vault_keys import ACCESSIBILITIES, DEVICE_CLASSES
from vault_reader import Secrets, Vault

PASSPHRASE = sample_export.PASSPHRASE
VECTORS = json.loads((FIXTURES.parent / "Vectors" / "export1.json").read_text("ascii"))
FULL_MESSAGE = 65536


def items_of_vault(home: Home) -> list[tuple]:
  vault = Vault(home.vault, Secrets(device=(home.state / "device.key").read_bytes()))
  assert vault.problems == []
  return sorted((item.entry.item_class, item.metadata.encoded(), item.secret)
                for item in vault.items)


def items_of_export(content: Content) -> list[tuple]:
  return sorted((item.item_class, item.metadata.encoded(), item.secret) for item in content.items)


def passphrase_options(home: Home, passphrase: bytes = PASSPHRASE) -> tuple[str, str]:
  return "--export-passphrase-file", home.file("export-passphrase", passphrase)


def take(home: Home, file: bytes, passphrase: bytes = PASSPHRASE, code: int | None = 0):
  return home.run(
    "import", home.file("given.pkexport", file), *passphrase_options(home, passphrase), code=code)


@pytest.fixture
def filled(home) -> Home:
  """A vault that its device opens, with one item."""
  home.set("first", b"first")
  return home


def test_prefs_takes_what_the_second_reader_wrote(filled):
  before = items_of_vault(filled)
  take(filled, (FIXTURES / "export1-python.pkexport").read_bytes())
  after = items_of_vault(filled)
  assert [item for item in after if item not in before] == items_of_export(
    sample_export.make_content())
  filled.run("verify")


def test_the_second_reader_reads_what_prefs_wrote(filled):
  large = bytes(range(256)) * 800  # More than a message of the stream.
  # The last accessibility asks for a passphrase.
  for number, accessibility in enumerate(ACCESSIBILITIES[:6]):
    filled.set(accessibility, large[number:], "--accessibility", accessibility)
  filled.set("\u00e9", b"", "--allow-empty", "--access-group", "gr\u00fcppe", "--label", "L", "--attribute", "a=")
  filled.run("export", "made.pkexport", *passphrase_options(filled))
  made = filled.folder / "made.pkexport"
  assert stat.S_IMODE(made.stat().st_mode) == 0o600
  content = read_export(made.read_bytes(), PASSPHRASE)
  kept = [item for item in items_of_vault(filled) if item[0] not in DEVICE_CLASSES]
  assert items_of_export(content) == kept and len(kept) == 5
  assert content.left_out == 3


@pytest.mark.parametrize("excess", [-1, 0, 1])
def test_contents_that_fill_the_last_message(filled, excess):
  """The last message has all its bytes, one less, or one alone."""
  def content(count: int) -> Content:
    return Content(0, 0, (ExportedItem(0, generic("s", "large"), bytes(count)),))
  count = 2 * FULL_MESSAGE - len(content(0).encoded()) + excess
  encoded = content(count).encoded()
  assert len(encoded) == 2 * FULL_MESSAGE + excess
  take(filled, sample_export.make_export(encoded))
  assert filled.get("large", "--service", "s") == bytes(count)


def refused_exports() -> dict[str, tuple[bytes, bytes]]:
  """Files and the passphrases that are given for them."""
  refused = [case for case in VECTORS if case["expect"] is None]
  files = {}
  for case in refused:
    given = case["inputs"]
    if case["operation"] == "decoded export":
      files[case["name"]] = (
        bytes.fromhex(given["hex"]["file"]), given["text"]["passphrase"].encode("utf-8"))
    else:
      content = bytes.fromhex(given["hex"]["content"])
      files[case["name"]] = sample_export.make_export(content), PASSPHRASE
  return files


def test_prefs_refuses_what_the_second_reader_refuses(filled):
  before = filled.vault.read_bytes()
  files = refused_exports()
  assert len(files) > 40
  codes = {name: take(filled, *files[name], code=None).code for name in files}
  assert set(codes.values()) <= {65, 78, 79}
  assert {codes[f"decoded export: {name}"] for name in (
    "salt changed", "commitment changed", "passphrase normalised otherwise")} == {78}
  assert {code for name, code in codes.items() if "content" in name} == {65}
  assert filled.vault.read_bytes() == before
