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
from vault_forging import change_byte
from vault_head import MAXIMUM_HEAD_COUNT
from vault_identity import IdentityFile
from vault_items import (
  MAXIMUM_METADATA_COUNT, MAXIMUM_SECRET_COUNT, MAXIMUM_TEXT_COUNT, Identity, Metadata)
from vault_notation import FormatError, derive, is_padded_count, open_box, padded_count
from vault_reader import Secrets, report
from vault_seen import SeenCommit
from vault_slots import Granted, SlotKind
from vault_state import Vault
from vault_testing import (
  ALL, CLASSES, FIXTURES, NAMES, T0_ALONE, damage, error_code, opened, run_command, sample,
  secret_of, small)
from vault_writer import VaultWriter

VECTORS = Path(__file__).resolve().parents[2] / "Data" / "Vectors"
WAYS = {
  "passphrase": Secrets(passphrase=PASSPHRASE, device=DEVICE),
  "key file": Secrets(key_file=KEY_FILE, device=DEVICE),
  "recovery code": Secrets(recovery_code=RECOVERY_CODE, device=DEVICE),
  "recipient": Secrets(identity=IDENTITY, device=DEVICE)}


# Opening.


@pytest.mark.parametrize("way", WAYS)
def test_each_secret_opens_everything(way):
  made = sample()
  vault = opened(made.writer.file(), WAYS[way], check=made.writer.check)
  assert (vault.problems, vault.notices) == ([], [])
  assert vault.root == made.writer.root
  assert report(vault, with_secrets=True)["items"] == made.expected()


def test_a_code_of_an_earlier_key_opens_everything_if_that_is_vouched_for():
  made = sample()
  code = Secrets(recovery_code=sample_vault.OLD_CODE, device=DEVICE)
  for options in ({"check": made.writer.check}, {"seen": made.writer.seen()}):
    vault = opened(made.writer.file(), code, **options)
    assert report(vault, with_secrets=True)["items"] == made.expected()
  assert error_code(made.writer.file(), code) == "rolled-back"


@pytest.mark.parametrize("seed", [
  IDENTITY, sample_vault.WRITING_IDENTITY, sample_vault.READING_IDENTITY])
def test_each_member_reads_a_shared_vault(seed):
  made = sample("shared")
  vault = opened(made.writer.file(), Secrets(identity=seed), check=made.writer.check)
  assert report(vault, with_secrets=True)["items"] == made.expected()
  assert vault.seen() == made.writer.seen()


@pytest.mark.parametrize("held", [(0,), (0, 1)])
def test_tiers_at_hand(held):
  """A device slot opens T0; the unlock cache may have T1, too."""
  writer = small()
  vault = opened(writer.file(), Secrets(tiers=tuple(writer.tiers[tier] for tier in held)))
  assert vault.problems == [] and vault.root is None
  for tier, metadata in enumerate(NAMES):
    assert secret_of(vault, metadata) == (b"second" if tier in held else "locked")
  assert secret_of(vault, generic("absent", "")) is None


def test_device_slot_opens_the_open_tier():
  vault = opened(sample().writer.file(), T0_ALONE)
  for item in vault.items:
    assert item.status == ("open" if item.entry.tier == 0 else "locked")
  assert {item.entry.item_class for item in vault.items if item.status == "open"} == {4, 5}


def test_without_the_device_secret_its_items_stay_closed():
  vault = opened(sample().writer.file(), Secrets(key_file=KEY_FILE))
  for item in vault.items:
    bound = item.entry.item_class in keys.DEVICE_CLASSES
    assert item.status == ("other device" if bound else "open")


def test_server_vault_opens_with_its_device():
  made = sample("server")
  vault = opened(made.writer.file(), T0_ALONE)
  assert report(vault, with_secrets=True)["items"] == made.expected()


def test_empty_vault_opens():
  writer = VaultWriter("empty")
  writer.add_device(DEVICE, Granted.ADMINISTERS)
  vault = opened(writer.file(), T0_ALONE)
  assert (vault.problems, vault.items, vault.log.last.number) == ([], [], 1)


@pytest.mark.parametrize("secrets", [
  Secrets(passphrase=PASSPHRASE + b"\n"), Secrets(key_file=KEY_FILE + b"\0"),
  Secrets(device=sample_vault.OTHER_DEVICE), Secrets(recovery_code=bytes(16)),
  Secrets(identity=sample_vault.OTHER_IDENTITY), Secrets(tiers=(bytes(32),)), Secrets()],
  ids=[*SlotKind.__members__, "tier", "nothing"])
def test_wrong_secret_is_not_damage(secrets):
  assert error_code(sample().writer.file(), secrets) == "wrong-key"


@pytest.mark.parametrize("data, code", [
  (b"", "foreign"), (b"PKVAULT", "foreign"), (b"PKVAULT\n", "other-format"),
  (b"PKVAULT\n\4\0\0\0", "other-format"), (b"PKVAULT\n\3\0\0\0", "damaged"),
  (b"SQLite format 3\0" + bytes(100), "other-format"), (bytes(1000), "foreign"),
  (b"PKVAULT\n\3\0\0\0" + b"\xff" * 100, "damaged")])
def test_other_files(data, code):
  assert error_code(data) == code


def test_head_that_is_too_long():
  head = opened(small().file()).head
  big = head.__class__(**(vars(head) | {"list": bytes(MAXIMUM_HEAD_COUNT)}))
  assert damage(big.encoded() + bytes(1 << 20)) == "head"


# Changes.


def test_every_change_leaves_a_whole_vault():
  """Items come, change and go, with members and new keys in between."""
  made = sample()
  writer, entries = made.writer, made.entries
  count = len(entries)

  def drop(left: int) -> None:
    with writer.transaction():
      for item in list(writer.plain)[left:]:
        writer.remove(item)
  steps = [
    lambda: writer.put(generic("size", "1"), b"newer", 4),
    lambda: writer.remove(writer.id_of(generic("all", "fields").identity)),
    lambda: writer.rekey(), lambda: writer.rekey(True), lambda: writer.compact(),
    lambda: writer.add_recipient(Keys(bytes(32)).recipient()), lambda: writer.present(2, keys.key_file_key(KEY_FILE)),
    lambda: drop(33), lambda: writer.compact(), lambda: writer.put(generic("x", "y", "z"), b"new", 0),
    lambda: writer.remove_slot(5), lambda: writer.present(2, keys.key_file_key(KEY_FILE)),
    lambda: writer.accept(40), lambda: drop(0)]
  assert count > 100
  for step in steps:
    number = writer.number
    step()
    vault = opened(writer.file(), check=writer.check)
    assert vault.problems == [] and len(vault.items) == len(writer.plain)
    assert vault.seen() == writer.seen() and vault.log.last.number == number + 1
  assert vault.items == [] and writer.epoch == 5 and writer.serial > 40


def test_items_move_between_tiers():
  writer = small()
  for item_class in (*CLASSES, *CLASSES[::-1]):
    for metadata in NAMES:
      writer.put(metadata, b"moved", item_class)
    vault = opened(writer.file())
    assert {item.entry.item_class for item in vault.items} == {item_class}
    assert vault.shadowed == [] and len(vault.items) == 3


def test_commits_are_followed_from_any_that_was_seen():
  writer = small()
  seen = writer.seen()
  for number in range(4):
    writer.put(generic("more", str(number)), b"x", 0)
    if number % 2:
      writer.compact()
    vault = opened(writer.file(), seen=seen)
    assert vault.notices == []
    seen = vault.seen()
  assert seen == writer.seen()


def test_a_record_is_raised_only_by_proofs_that_were_verified():
  writer = small()
  record = opened(writer.file(), T0_ALONE).seen()
  assert record.proved == (SeenCommit(1, 6, writer.digest), SeenCommit(), SeenCommit())
  writer.put(NAMES[0], b"third", 4)
  later = opened(writer.file(), T0_ALONE, seen=opened(small().file()).seen()).seen()
  assert [commit.number for commit in later.proved] == [7, 6, 6]


def test_versions_are_not_counted():
  """An item that was deleted and added again has another version, and so another key."""
  writer = small()
  versions = [one.version for one in writer.plain.values()]
  item = writer.put(generic("a", "b"), b"x", 0)
  first = writer.plain[item].version
  writer.remove(item)
  writer.put(generic("a", "b"), b"x", 0)
  assert len({*versions, first, writer.plain[item].version}) == len(versions) + 2


def test_device_ids_differ_by_vault():
  first, second = (VaultWriter(seed).id for seed in "ab")
  assert keys.device_id(DEVICE, first) != keys.device_id(DEVICE, second)


@pytest.mark.parametrize("count, good", [(31, False), (32, True), (65536, True), (65537, False)])
def test_key_file_size(count, good):
  if good:
    assert len(keys.key_file_key(bytes(count))) == 32
  else:
    with pytest.raises(ValueError):
      keys.key_file_key(bytes(count))


def test_one_seed_makes_one_vault():
  made = [sample_vault.make_server_sample(seed).writer.file() for seed in ("a", "a", "b")]
  assert made[0] == made[1] != made[2]


def test_pages_are_small_and_an_item_that_is_not_has_its_own():
  writer = small()
  with writer.transaction():
    for number in range(60):
      writer.put(generic("page", str(number), comment="x" * 20), b"x", 0)
    writer.put(generic("large", "", comment="x" * 60_000), b"x", 0)
  writer.compact()
  vault = opened(writer.file())
  pages = vault.log.index.pages[2]
  assert sum(page.count for page in pages) == 62 and len(pages) > 3
  large = [page for page in pages if page.length > 6000]
  assert [page.count for page in large] == [1] and vault.problems == []


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
    assert len(derive(bytes(count), "pk3/check")) == 32
  else:
    with pytest.raises(ValueError, match="16 to 64"):
      derive(bytes(count), "pk3/check")


def test_device_classes_need_the_device_secret():
  for number in keys.DEVICE_CLASSES:
    with pytest.raises(ValueError):
      keys.class_key(bytes(32), number)


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


def test_metadata_that_is_too_long():
  with pytest.raises(FormatError, match="too long"):
    Metadata.decoded(bytes(MAXIMUM_METADATA_COUNT + 1))


def test_vectors_are_those_of_this_reader():
  generated = generate.generated()
  written = {file.name: file.read_text("ascii") for file in VECTORS.glob("*.json")}
  assert written == generated, "run Tests/Data/Vectors/generate.py"
  for text in generated.values():
    names = [case["name"] for case in json.loads(text)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("excess", [0, 1])
def test_greatest_secret(excess):
  writer = VaultWriter("large")
  writer.add_device(DEVICE, Granted.ADMINISTERS)
  with writer.transaction():
    writer.put(generic("a", "b"), bytes(MAXIMUM_SECRET_COUNT + excess), 0)
  found = secret_of(opened(writer.file(), T0_ALONE), generic("a", "b"))
  assert found == ("damaged" if excess else bytes(MAXIMUM_SECRET_COUNT))


# The checked-in vault and the command.


@pytest.mark.parametrize("name, kind", [
  ("format3-python", "local"), ("format3-python-shared", "shared")])
def test_checked_in_vault_is_the_sample(tmp_path, name, kind):
  sample_vault.write_secrets(tmp_path)
  sample_vault.write_files(tmp_path, name, sample(kind))
  for made in tmp_path.iterdir():
    assert (FIXTURES / made.name).read_bytes() == made.read_bytes(), made.name


@pytest.mark.parametrize("name, options", [
  ("format3-python", ["--passphrase-file", "test-passphrase"]),
  ("format3-python", ["--key-file", "test-key-file"]),
  ("format3-python", ["--recovery-code-file", "test-recovery-code.txt"]),
  ("format3-python", ["--recovery-code-file", "test-old-recovery-code.txt"]),
  ("format3-python", ["--identity", "test-identity"]),
  ("format3-python", ["--identity", "format3-python.identity"]),
  ("format3-python-shared", ["--identity", "format3-python-shared.identity"]),
  ("format3-python-shared", ["--identity", "test-writing-identity"]),
  ("format3-python-shared", ["--identity", "test-reading-identity"])])
def test_command_prints_what_is_expected(name, options):
  result = run_command(
    "vault_reader.py", f"{name}.vault", "--json", "--device-key", "test-device.key", "--seen",
    f"{name}.seen", *options)
  expected = json.loads((FIXTURES / f"{name}.expected.json").read_text("utf-8"))
  shown = json.loads(result.stdout)
  assert (result.returncode, result.stderr) == (0, "")
  assert {key: shown[key] for key in ("items", "number", "witness", "epoch", "serial")} == {
    key: expected[key] for key in ("items", "number", "witness", "epoch", "serial")}


def test_command_prints_secrets_only_as_json():
  result = run_command("vault_reader.py", "format3-python.vault", "--key-file", "test-key-file")
  assert result.returncode == 0 and "whenUnlocked" in result.stdout
  assert "secret" not in result.stdout


def test_command_reports_damage(tmp_path):
  data = (FIXTURES / "format3-python.vault").read_bytes()
  page = Vault.of(data, ALL).log.index.pages[0][0]
  (tmp_path / "vault").write_bytes(change_byte(data, page.place + 30))
  result = run_command("vault_reader.py", str(tmp_path / "vault"), "--key-file", "test-key-file")
  assert result.returncode == 65 and "problem: page" in result.stderr


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
  ("--recovery-code-file", recovery_text(sample_vault.OLD_CODE), 65, "compare its check"),
  ("--identity", "", 78, "exactly one identity")])
def test_command_refuses(tmp_path, option, contents, status, message):
  (tmp_path / "key").write_text(contents, "utf-8")
  result = run_command("vault_reader.py", "format3-python.vault", option, str(tmp_path / "key"))
  assert (result.returncode, result.stdout) == (status, "")
  assert message in result.stderr


def test_largest_file_of_a_recovery_code(tmp_path):
  (tmp_path / "code").write_text(f"\r\n\t{recovery_text(RECOVERY_CODE)}\n".ljust(65536), "ascii")
  result = run_command(
    "vault_reader.py", "format3-python.vault", "--recovery-code-file", str(tmp_path / "code"))
  assert (result.returncode, result.stderr) == (0, "")


def test_command_refuses_invalid_utf8(tmp_path):
  (tmp_path / "code").write_bytes(recovery_text(RECOVERY_CODE).encode("ascii") + b"\xff")
  result = run_command(
    "vault_reader.py", "format3-python.vault", "--recovery-code-file", str(tmp_path / "code"))
  assert (result.returncode, result.stdout) == (78, "")
