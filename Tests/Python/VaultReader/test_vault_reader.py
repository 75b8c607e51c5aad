"""Tests of the reader and the writer: every way to open, the encodings, the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import generate
import item_cases
import sample_vault
import vault_keys as keys
from sample_vault import DEVICE, IDENTITY, KEY_FILE, PASSPHRASE, RECOVERY_CODE, generic
from vault_codes import Keys, recovery_text
from vault_identity import IdentityFile
from vault_items import opened_text
from vault_members import Reason
from vault_notation import (
  BOX_OVERHEAD, FormatError, derive, is_padded_count, open_box, padded_count)
from vault_reader import Secrets, report
from vault_records import (
  MAXIMUM_METADATA_COUNT, MAXIMUM_SECRET_COUNT, MAXIMUM_TEXT_COUNT, Identity, Metadata)
from vault_rows import change
from vault_slots import Granted, SlotKind
from vault_testing import FIXTURES, OF_SLOT, error_code, opened, problems, run_command
from vault_tree import Tree
from vault_writer import INTERACTIVE, VaultWriter

VECTORS = Path(__file__).resolve().parents[2] / "Data" / "Vectors"
WAYS = {
  "passphrase": Secrets(passphrase=PASSPHRASE, device=DEVICE),
  "key file": Secrets(key_file=KEY_FILE, device=DEVICE),
  "recovery code": Secrets(recovery_code=RECOVERY_CODE, device=DEVICE),
  "recipient": Secrets(identity=IDENTITY, device=DEVICE)}


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
  writer.add_device(DEVICE, Granted.ADMINISTERS)
  writer.write(tmp_path / "vault.db")
  vault = opened(tmp_path / "vault.db", Secrets(device=DEVICE))
  assert (vault.problems, vault.items, vault.state.counter) == ([], [], 1)


def test_real_argon2_cost(tmp_path):
  writer = VaultWriter("cost")
  writer.add_passphrase(PASSPHRASE, INTERACTIVE)
  writer.write(tmp_path / "vault.db")
  assert opened(tmp_path / "vault.db", OF_SLOT[1]).root == writer.root


@pytest.mark.parametrize("secrets", [
  Secrets(passphrase=PASSPHRASE + b"\n"), Secrets(key_file=KEY_FILE + b"\0"),
  Secrets(device=sample_vault.OTHER_DEVICE), Secrets(recovery_code=bytes(16)),
  Secrets(identity=sample_vault.OTHER_IDENTITY)], ids=list(SlotKind.__members__))
def test_wrong_secret_is_not_damage(path, secrets):
  assert error_code(path, secrets) == "wrong-key"


# Changes.


def test_every_change_leaves_a_whole_vault(tmp_path, sample):
  """Items come, change and go over the limit of a leaf, with members and new keys in between."""
  writer = sample.writer
  steps = [
    lambda: writer.put(generic("size", "1"), b"newer", 4),
    lambda: writer.remove(writer.id_of(generic("all", "fields").identity)),
    lambda: writer.rekey(),
    lambda: writer.rekey(Reason.ON_REQUEST),
    lambda: writer.add_recipient(Keys(bytes(32)).recipient()),
    lambda: [writer.remove(item_id) for item_id in list(writer.items)[:-33]],
    lambda: writer.remove(next(iter(writer.items))),
    lambda: writer.put(generic("x", "y", "z"), b"over the limit again", 0),
    lambda: writer.remove_slot(5),
    lambda: [writer.remove(item_id) for item_id in list(writer.items)]]
  seen = writer.seen()
  for number, step in enumerate(steps):
    step()
    writer.write(tmp_path / f"{number}.db")
    vault = opened(tmp_path / f"{number}.db")
    assert vault.problems == [] and len(vault.items) == len(writer.items)
    assert vault.seen() == writer.seen()
  assert writer.epoch == 5 and writer.counter > seen.counter + len(steps)
  assert vault.items == [] and vault.value(Tree.ITEMS, bytes(32)) is None


def test_versions_are_not_counted(writer):
  """An item that was deleted and added again has another version, and so other keys."""
  versions = [row.version for row in writer.items.values()]
  assert len(set(versions)) == len(versions) and min(versions) > 1 << 40
  item_id = writer.put(generic("a", "b"), b"x", 0)
  first = writer.items[item_id]
  writer.remove(item_id)
  writer.put(generic("a", "b"), b"x", 0)
  assert writer.items[item_id].version != first.version


def test_device_ids_differ_by_vault():
  first, second = (VaultWriter(seed).id for seed in "ab")
  assert keys.device_id(DEVICE, first) != keys.device_id(DEVICE, second)


def test_parts_that_are_not_given_have_no_token():
  empty = Metadata(Identity(1, "", ("", "", 0, "", "", "", "")), 0, 0)
  assert empty.tokens(bytes(32)) == []
  assert len(generic("s", "a").tokens(bytes(32))) == 2
  assert len(generic("", "", "g", attributes=(("empty", ""),)).tokens(bytes(32))) == 2


@pytest.mark.parametrize("count, good", [(31, False), (32, True), (65536, True), (65537, False)])
def test_key_file_size(count, good):
  if good:
    assert len(keys.key_file_key(bytes(count))) == 32
  else:
    with pytest.raises(ValueError):
      keys.key_file_key(bytes(count))


def test_one_seed_makes_one_vault():
  for make in sample_vault.SAMPLES.values():
    assert make().writer.tables() == make().writer.tables() != make("another").writer.tables()


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
    assert len(derive(bytes(count), "pk2/check")) == 32
  else:
    with pytest.raises(ValueError, match="16 to 64"):
      derive(bytes(count), "pk2/check")


def test_device_classes_need_the_device_secret():
  for number in keys.DEVICE_CLASSES:
    with pytest.raises(ValueError):
      keys.class_key(bytes(32), number)


@pytest.mark.parametrize("name", item_cases.refused_metadata())
def test_refused_metadata(name):
  with pytest.raises(FormatError):
    Metadata.decoded(item_cases.refused_metadata()[name])


@pytest.mark.parametrize("metadata", item_cases.METADATA.values(), ids=item_cases.METADATA)
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


def test_vectors_are_those_of_this_reader():
  generated = generate.generated()
  written = {file.name: file.read_text("ascii") for file in VECTORS.glob("*.json")}
  assert written == generated, "run Tests/Data/Vectors/generate.py"
  for text in generated.values():
    names = [case["name"] for case in json.loads(text)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("excess, found", [(0, set()), (1, {"item"})])
def test_greatest_secret(tmp_path, excess, found):
  writer = VaultWriter("large")
  writer.add_device(DEVICE, Granted.ADMINISTERS)
  writer.put(generic("a", "b"), bytes(MAXIMUM_SECRET_COUNT + excess), 0)
  writer.write(tmp_path / "vault.db")
  assert problems(tmp_path / "vault.db", Secrets(device=DEVICE)) == found


# The checked-in vault and the command.


@pytest.mark.parametrize("name, kind", [
  ("format2-python", "local"), ("format2-python-shared", "shared")])
def test_checked_in_vault_is_the_sample(tmp_path, name, kind):
  sample_vault.write_secrets(tmp_path)
  sample_vault.write_files(tmp_path, name, sample_vault.SAMPLES[kind]())
  for made in tmp_path.iterdir():
    if made.suffix != ".db":
      assert (FIXTURES / made.name).read_bytes() == made.read_bytes(), made.name
  secrets = Secrets(identity=IDENTITY, device=DEVICE)
  checked_in, made = (opened(folder / f"{name}.db", secrets) for folder in (FIXTURES, tmp_path))
  assert checked_in.rows == made.rows
  assert checked_in.problems == []


@pytest.mark.parametrize("name, options", [
  ("format2-python", ["--passphrase-file", "test-passphrase"]),
  ("format2-python", ["--key-file", "test-key-file"]),
  ("format2-python", ["--recovery-code-file", "test-recovery-code.txt"]),
  ("format2-python", ["--identity", "test-identity"]),
  ("format2-python", ["--identity", "format2-python.identity"]),
  ("format2-python-shared", ["--identity", "format2-python-shared.identity"]),
  ("format2-python-shared", ["--identity", "test-writing-identity"]),
  ("format2-python-shared", ["--identity", "test-reading-identity"])])
def test_command_prints_what_is_expected(name, options):
  result = run_command(
    "vault_reader.py", f"{name}.db", "--json", "--device-key", "test-device.key", "--seen",
    f"{name}.seen", *options)
  expected = json.loads((FIXTURES / f"{name}.expected.json").read_text("utf-8"))
  shown = json.loads(result.stdout)
  assert (result.returncode, result.stderr) == (0, "")
  assert {key: shown[key] for key in ("items", "counter", "epoch", "serial")} == {
    key: expected[key] for key in ("items", "counter", "epoch", "serial")}


def test_command_prints_secrets_only_as_json():
  result = run_command("vault_reader.py", "format2-python.db", "--key-file", "test-key-file")
  assert result.returncode == 0 and "whenUnlocked" in result.stdout
  assert "secret" not in result.stdout


def test_command_reports_damage(path):
  change(path, "DELETE FROM slot WHERE number = 4")
  result = run_command("vault_reader.py", str(path), "--passphrase-file", "test-passphrase")
  assert result.returncode == 65 and "slot-missing" in result.stderr


@pytest.mark.parametrize("version, status", [(1, 79), (3, 79), (0, 65)])
def test_command_refuses_other_formats(path, version, status):
  change(path, f"PRAGMA user_version = {version}")
  result = run_command("vault_reader.py", str(path), "--key-file", "test-key-file")
  assert (result.returncode, result.stdout) == (status, "")
  assert "development" in result.stderr if version == 1 else f"format {version}" in result.stderr


OTHER = IdentityFile(sample_vault.OTHER_IDENTITY).encoded().decode()


@pytest.mark.parametrize("option, contents, status, message", [
  ("--passphrase-file", "wrong", 78, "no slot opens"),
  ("--recovery-code-file", recovery_text(bytes(16)), 78, "no slot opens"),
  ("--recovery-code-file", recovery_text(RECOVERY_CODE)[:-1] + "0", 78, "mistyped"),
  ("--recovery-code-file", recovery_text(RECOVERY_CODE) + "0", 78, "too many"),
  ("--recovery-code-file", "\u00e9", 78, "no code"),
  ("--recovery-code-file", recovery_text(RECOVERY_CODE).ljust(65537), 78, "64 KiB"),
  ("--identity", OTHER, 78, "no slot opens"),
  ("--identity", OTHER + "signs: nothing\n", 79, "no known form"),
  ("--identity", IdentityFile(IDENTITY, (bytes(16),)).encoded().decode(), 65, "another vault"),
  ("--identity", "", 78, "exactly one identity")])
def test_command_refuses(tmp_path, option, contents, status, message):
  (tmp_path / "key").write_text(contents, "utf-8")
  result = run_command("vault_reader.py", "format2-python.db", option, str(tmp_path / "key"))
  assert (result.returncode, result.stdout) == (status, "")
  assert message in result.stderr


def test_largest_file_of_a_recovery_code(tmp_path):
  (tmp_path / "code").write_text(f"\r\n\t{recovery_text(RECOVERY_CODE)}\n".ljust(65536), "ascii")
  result = run_command(
    "vault_reader.py", "format2-python.db", "--recovery-code-file", str(tmp_path / "code"))
  assert (result.returncode, result.stderr) == (0, "")


def test_command_refuses_what_is_not_utf8(tmp_path):
  (tmp_path / "code").write_bytes(recovery_text(RECOVERY_CODE).encode("ascii") + b"\xff")
  result = run_command(
    "vault_reader.py", "format2-python.db", "--recovery-code-file", str(tmp_path / "code"))
  assert (result.returncode, result.stdout) == (78, "")
