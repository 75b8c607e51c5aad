"""Tests that recovery codes and identities open vaults, and only the permitted ones."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from sample_vault import DEVICE, PASSPHRASE, RECIPIENT, RECOVERY_CODE
from vault_codes import public_key, recovery_text
from vault_identity import IdentityFile
from vault_notation import FormatError, u32, u64
from vault_reader import Secrets
from vault_records import MAXIMUM_COUNTER, MAXIMUM_SLOTS, State, VaultRow
from vault_testing import FIXTURES, error_code, opened, problems, replace_slot, run_command
from vault_writer import VaultWriter

OTHER_RECIPIENT = bytes([8] * 32)


def of_identity(*pins: bytes) -> Secrets:
  return Secrets.of_identity(IdentityFile(RECIPIENT, pins), device=DEVICE)


# Pins.


def test_pinned_vault_opens(path, sample):
  check = sample.writer.vault.checks[0]
  for pins in ((), (check,), (bytes(16), check)):
    assert opened(path, of_identity(*pins)).root == sample.writer.root
    assert problems(path, of_identity(*pins)) == set()


def test_vault_that_is_not_pinned_is_another_vault(path, sample):
  checks = sample.writer.vault.checks
  for pins in ((bytes(16),), checks[1:], (bytes(16), checks[2])):
    assert error_code(path, of_identity(*pins)) == "another-vault"


def test_vault_of_an_attacker_under_the_pinned_check(tmp_path, sample):
  """The check is public. Under it lies a root key of the attacker, sealed to a public key."""
  checks = sample.writer.vault.checks
  forger = VaultWriter("forger")
  forger.add_recipient(public_key(RECIPIENT))
  forger.vault = VaultRow(checks, VaultRow(checks, b"").computed_sum())
  forger.write(tmp_path / "forged.db")
  assert error_code(tmp_path / "forged.db", of_identity(checks[0])) == "damaged"
  assert error_code(tmp_path / "forged.db", of_identity()) == "damaged"


# Slots.


def test_each_recipient_opens_the_vault(tmp_path):
  writer = VaultWriter("shared")
  for private_key in (RECIPIENT, OTHER_RECIPIENT):
    writer.add_recipient(public_key(private_key))
  writer.write(tmp_path / "vault.db")
  for private_key in (RECIPIENT, OTHER_RECIPIENT):
    assert opened(tmp_path / "vault.db", Secrets(recipient=private_key)).root == writer.root


def test_slots_of_others_are_not_tried(path, sample):
  """A box that does not open damages the slot of its recipient alone."""
  spoiled = replace(sample.writer.slots[4], number=6, parameters=public_key(OTHER_RECIPIENT))
  replace_slot(path, spoiled, sample.writer.root, box=bytes(80))
  assert opened(path, of_identity()).root == sample.writer.root
  assert error_code(path, Secrets(recipient=OTHER_RECIPIENT)) == "damaged"


def test_header_is_part_of_a_recipient_commitment(path, sample):
  replace_slot(path, sample.writer.slots[4], sample.writer.root, salt=bytes(32))
  assert error_code(path, of_identity()) == "damaged"


def test_box_for_another_recipient_is_damage(path, sample):
  other = VaultWriter("other")
  other.add_recipient(public_key(OTHER_RECIPIENT))
  replace_slot(path, sample.writer.slots[4], sample.writer.root, box=other.slots[0].box)
  assert error_code(path, of_identity()) == "damaged"


# The state row.


@pytest.mark.parametrize("counter, slots, good", [
  (MAXIMUM_COUNTER, 0, True), (MAXIMUM_COUNTER + 1, 0, False), (1, MAXIMUM_SLOTS, True),
  (1, MAXIMUM_SLOTS + 1, False)])
def test_limits_of_the_state_row(counter, slots, good):
  encoded = u64(counter) + u64(0) + u32(slots) + bytes(32)
  if good:
    assert State.decoded(encoded).counter == counter
  else:
    with pytest.raises(FormatError):
      State.decoded(encoded)


# The command.


@pytest.mark.parametrize("option, file", [
  ("--recovery-code-file", "test-recovery-code.txt"), ("--identity", "test-identity"),
  ("--identity", "format1-python.identity")])
def test_command_opens_the_checked_in_vault(option, file):
  result = run_command(
    "vault_reader.py", "format1-python.db", "--json", option, file, "--device-key",
    "test-device.key")
  expected = json.loads((FIXTURES / "format1-python.expected.json").read_text("utf-8"))
  shown = json.loads(result.stdout)
  assert (result.returncode, result.stderr) == (0, "")
  assert shown["root"] and shown["items"] == expected["items"]


@pytest.mark.parametrize("option, contents, status, message", [
  ("--recovery-code-file", recovery_text(bytes(16)), 78, "no slot opens"),
  ("--recovery-code-file", recovery_text(RECOVERY_CODE)[:-1] + "0", 78, "mistyped"),
  ("--recovery-code-file", recovery_text(RECOVERY_CODE) + "0", 78, "too many"),
  ("--recovery-code-file", "\u00e9", 78, "no code"),
  ("--recovery-code-file", recovery_text(RECOVERY_CODE).ljust(65537), 78, "64 KiB"),
  ("--identity", IdentityFile(OTHER_RECIPIENT).encoded().decode(), 78, "no slot opens"),
  ("--identity", IdentityFile(RECIPIENT, (bytes(16),)).encoded().decode(), 65, "another vault"),
  ("--identity", "", 78, "exactly one identity")])
def test_command_refuses(tmp_path, option, contents, status, message):
  (tmp_path / "key").write_text(contents, "utf-8")
  result = run_command("vault_reader.py", "format1-python.db", option, str(tmp_path / "key"))
  assert (result.returncode, result.stdout) == (status, "")
  assert message in result.stderr


def test_largest_file_of_a_recovery_code(tmp_path):
  (tmp_path / "code").write_text(f"\r\n\t{recovery_text(RECOVERY_CODE)}\n".ljust(65536), "ascii")
  result = run_command(
    "vault_reader.py", "format1-python.db", "--recovery-code-file", str(tmp_path / "code"))
  assert (result.returncode, result.stderr) == (0, "")


def test_command_refuses_what_is_not_utf8(tmp_path):
  (tmp_path / "code").write_bytes(recovery_text(RECOVERY_CODE).encode("ascii") + b"\xff")
  result = run_command(
    "vault_reader.py", "format1-python.db", "--recovery-code-file", str(tmp_path / "code"))
  assert (result.returncode, result.stdout) == (78, "")
