"""Tests of the reader and the writer: every way to open, the encodings, the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import generate
import sample_vault
import vault_keys as keys
from sample_vault import DEVICE, KEY_FILE, PASSPHRASE, RECIPIENT, RECOVERY_CODE
from vault_database import VaultError
from vault_notation import (
  BOX_OVERHEAD, FormatError, derive, is_padded_count, open_box, padded_count, u64)
from vault_reader import Secrets, opened_text, report
from vault_records import (
  MAXIMUM_METADATA_COUNT, MAXIMUM_SECRET_COUNT, MAXIMUM_TEXT_COUNT, Granted, Identity, Metadata,
  SeenRecord, SlotKind)
from vault_testing import ALL, FIXTURES, change, opened, problems, run_command
from vault_writer import INTERACTIVE, VaultWriter

VECTORS = Path(__file__).resolve().parents[2] / "Data" / "Vectors"
WAYS = {
  "passphrase": ALL, "key file": Secrets(key_file=KEY_FILE, device=DEVICE),
  "recovery code": Secrets(recovery_code=RECOVERY_CODE, device=DEVICE),
  "recipient": Secrets(recipient=RECIPIENT, device=DEVICE)}


# Opening.


@pytest.mark.parametrize("way", WAYS)
def test_each_secret_opens_everything(path, sample, way):
  vault = opened(path, WAYS[way])
  assert vault.problems == []
  assert vault.root == sample.writer.root
  assert report(vault, with_secrets=True)["items"] == sample.expected()


def test_device_slot_without_root_opens_only_open_tier(path):
  vault = opened(path, Secrets(device=DEVICE))
  assert vault.problems == [] and vault.root is None
  for item in vault.items:
    tier = keys.TIER_OF_CLASS[item.row.item_class]
    assert item.status == ("open" if tier == 0 else "locked")
  assert {item.row.item_class for item in vault.items if item.status == "open"} == {4, 5}


def test_without_the_device_secret_its_items_stay_closed(path):
  vault = opened(path, Secrets(passphrase=PASSPHRASE))
  assert vault.problems == []
  for item in vault.items:
    bound = item.row.item_class in keys.DEVICE_CLASSES
    assert item.status == ("other device" if bound else "open")


def test_server_vault_opens_with_its_device(tmp_path):
  sample = sample_vault.make_server_sample()
  sample.writer.write(tmp_path / "vault.db")
  vault = opened(tmp_path / "vault.db", Secrets(device=DEVICE))
  assert vault.problems == []
  assert report(vault, with_secrets=True)["items"] == sample.expected()


def test_empty_vault_opens(tmp_path):
  writer = VaultWriter("empty")
  writer.add_device(DEVICE, Granted.ROOT)
  writer.write(tmp_path / "vault.db")
  vault = opened(tmp_path / "vault.db", Secrets(device=DEVICE))
  assert (vault.problems, vault.items, vault.state.counter) == ([], [], 1)


def test_real_argon2_cost(tmp_path):
  writer = VaultWriter("cost")
  writer.add_passphrase(PASSPHRASE, INTERACTIVE)
  writer.write(tmp_path / "vault.db")
  assert opened(tmp_path / "vault.db").root == writer.root


@pytest.mark.parametrize("secrets", [
  Secrets(passphrase=PASSPHRASE + b"\n"), Secrets(key_file=KEY_FILE + b"\0"),
  Secrets(device=sample_vault.OTHER_DEVICE), Secrets(recovery_code=bytes(16)),
  Secrets(recipient=bytes([8] * 32))], ids=list(SlotKind.__members__))
def test_wrong_secret_is_not_damage(path, secrets):
  with pytest.raises(VaultError) as raised:
    opened(path, secrets)
  assert raised.value.code == "wrong-key"


@pytest.mark.parametrize("count, good", [(31, False), (32, True), (65536, True), (65537, False)])
def test_key_file_size(count, good):
  if good:
    assert len(keys.key_file_key(bytes(count))) == 32
  else:
    with pytest.raises(ValueError):
      keys.key_file_key(bytes(count))


def test_one_seed_makes_one_vault():
  first, second = sample_vault.make_sample(), sample_vault.make_sample()
  assert (first.writer.items, first.writer.slots) == (second.writer.items, second.writer.slots)
  assert sample_vault.make_sample("another").writer.items != first.writer.items


# Encodings.


def test_padded_counts_are_fixed_points():
  for count in list(range(5000)) + [65536, 1_000_000, 16 << 20]:
    padded = padded_count(count)
    assert padded >= count + 4 and padded <= max(256, (count + 4) * 1.12)
    assert is_padded_count(padded)
  assert not is_padded_count(257) and not is_padded_count(0)


@pytest.mark.parametrize("count", [0, 23, 24, 39, 40])
def test_box_too_short(count):
  with pytest.raises(FormatError):
    open_box(bytes(32), bytes(count))


@pytest.mark.parametrize("count, good", [(15, False), (16, True), (64, True), (65, False)])
def test_key_sizes(count, good):
  if good:
    assert len(derive(bytes(count), "pk1/check")) == 32
  else:
    with pytest.raises(ValueError, match="16 to 64"):
      derive(bytes(count), "pk1/check")


def test_device_classes_need_the_device_secret():
  for number in keys.DEVICE_CLASSES:
    with pytest.raises(ValueError):
      keys.class_key(bytes(32), number)


@pytest.mark.parametrize("name", generate.refused_metadata())
def test_refused_metadata(name):
  with pytest.raises(FormatError):
    Metadata.decoded(generate.refused_metadata()[name])


@pytest.mark.parametrize("metadata", generate.METADATA.values(), ids=generate.METADATA)
def test_metadata_cut_short_anywhere(metadata):
  encoded = metadata.encoded()
  assert Metadata.decoded(encoded).encoded() == encoded
  for count in range(len(encoded)):
    with pytest.raises(FormatError):
      Metadata.decoded(encoded[:count])


@pytest.mark.parametrize("excess", [0, 1])
@pytest.mark.parametrize("field", ["service", "group", "label", "comment", "content_type", "name", "value"])
def test_longest_texts(field, excess):
  """All texts count, and no length, number or time does."""
  filler = "\u00e9" * ((MAXIMUM_TEXT_COUNT - 100) // 2)
  texts = {"service": "s", "group": "g", "label": "l", "comment": "c", "content_type": "t",
           "name": "n", "value": "v"}
  rest = MAXIMUM_TEXT_COUNT + excess - sum(map(len, texts.values())) - 1 - 2 * len(filler)
  texts[field] += filler + "x" * rest
  attributes = ((texts.pop("name"), texts.pop("value")),)
  metadata = Metadata(
    Identity(1, texts.pop("group"), (texts.pop("service"), "", 65535, "", "a", "", "")), 0, 0,
    expires=0, attributes=attributes, **texts)
  if excess:
    with pytest.raises(FormatError, match="texts"):
      Metadata.decoded(metadata.encoded())
  else:
    assert Metadata.decoded(metadata.encoded()) == metadata


def test_metadata_of_short_names_fit_maximum_length():
  """As many attributes as the texts can name: those with short names first."""
  letters = [chr(code) for code in range(128)]
  names = letters + [chr(code) for code in range(128, 2048)] + [a + b for a in letters for b in letters]
  count = len("".join(names).encode("utf-8"))
  names += [f"{number:03x}"[:3] for number in range((MAXIMUM_TEXT_COUNT - count) // 3)]
  assert 8 * len(names) + MAXIMUM_TEXT_COUNT + 200 < MAXIMUM_METADATA_COUNT


def test_longest_boxes():
  counts = [BOX_OVERHEAD + padded_count(count)
            for count in (MAXIMUM_METADATA_COUNT, MAXIMUM_SECRET_COUNT)]
  assert counts == [4325416, 17301544]


def test_box_that_is_too_long_is_not_opened():
  with pytest.raises(FormatError, match="too long"):
    opened_text(bytes(32), bytes(BOX_OVERHEAD + 257), 100)


@pytest.mark.parametrize("record", [
  generate.summed(bytes([3]) + bytes(72)), generate.summed(bytes(73)),
  generate.summed(b"\1" + bytes(31) + b"\1" + bytes(40)),
  generate.summed(b"\1" + bytes(32) + u64((1 << 48) + 1) + bytes(32))])
def test_seen_record_of_no_known_form(record):
  with pytest.raises(FormatError):
    SeenRecord.decoded(record)


def test_vectors_are_those_of_this_reader():
  generated = generate.generated()
  written = {file.name: file.read_text("ascii") for file in VECTORS.glob("*.json")}
  assert written == generated, "run Tests/Data/Vectors/generate.py"
  for text in generated.values():
    names = [case["name"] for case in json.loads(text)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("excess, found", [(0, set()), (1, {"item-box"})])
def test_greatest_secret(tmp_path, excess, found):
  writer = VaultWriter("large")
  writer.add_device(DEVICE, Granted.ROOT)
  writer.put(sample_vault.generic("a", "b"), bytes(MAXIMUM_SECRET_COUNT + excess), 0)
  writer.write(tmp_path / "vault.db")
  assert problems(tmp_path / "vault.db", Secrets(device=DEVICE)) == found


# The checked-in vault and the command.


def test_checked_in_vault_is_the_sample(tmp_path):
  sample_vault.write_files(tmp_path, "format1-python", sample_vault.make_sample())
  for made in tmp_path.iterdir():
    if made.suffix != ".db":
      assert (FIXTURES / made.name).read_bytes() == made.read_bytes(), made.name
  checked_in, made = (opened(folder / "format1-python.db") for folder in (FIXTURES, tmp_path))
  assert checked_in.rows == made.rows
  assert checked_in.problems == []


def test_command_prints_what_is_expected():
  result = run_command(
    "vault_reader.py", "format1-python.db", "--json", "--passphrase-file", "test-passphrase",
    "--device-key", "test-device.key", "--seen", "format1-python.seen")
  expected = json.loads((FIXTURES / "format1-python.expected.json").read_text("utf-8"))
  shown = json.loads(result.stdout)
  assert (result.returncode, result.stderr) == (0, "")
  assert shown["items"] == expected["items"] and shown["counter"] == expected["counter"]


def test_command_prints_secrets_only_as_json():
  result = run_command("vault_reader.py", "format1-python.db", "--key-file", "test-key-file")
  assert result.returncode == 0 and "whenUnlocked" in result.stdout
  assert "secret" not in result.stdout


def test_command_reports_a_wrong_key():
  result = run_command(
    "vault_reader.py", "format1-python.db", "--passphrase-file", "test-key-file")
  assert (result.returncode, result.stdout) == (78, "")


def test_command_reports_damage(path):
  change(path, "DELETE FROM slot WHERE number = 4")
  result = run_command("vault_reader.py", str(path), "--passphrase-file", "test-passphrase")
  assert result.returncode == 65 and "state-sum" in result.stderr
