"""Recovery codes and identities: `prefs` and the second reader of the format open each other's."""

from __future__ import annotations

import json

import pytest

from prefs_testing import FIXTURES, LOCKED_ITEMS, Home
from sample_vault import generic
from vault_codes import Keys, recovery_code, recovery_text
from vault_identity import IdentityFile
from vault_keys import vault_check
from vault_reader import Secrets, Vault
from vault_writer import VaultWriter

VECTORS = json.loads((FIXTURES.parent / "Vectors" / "codes2.json").read_text("ascii"))


def input_of(operation: str, name: str) -> bytes:
  """Returns an input that all vectors of an operation share."""
  return bytes.fromhex(next(
    case["inputs"]["hex"][name] for case in VECTORS if case["operation"] == operation))


CODE = input_of("recovery code", "code")
IDENTITY = Keys(input_of("identity", "seed"))


def cases(operation: str) -> dict[str, dict]:
  return {case["name"]: case for case in VECTORS if case["operation"] == operation}


@pytest.fixture
def copied(home) -> Home:
  """A vault of the second writer, which the code and the identity of the vectors open."""
  writer = VaultWriter("codes")
  writer.add_recovery_code(CODE)
  writer.add_recipient(IDENTITY.recipient())
  writer.put(generic("default", "item"), b"secret", 0)
  home.vault.parent.mkdir(mode=0o700)
  writer.write(home.vault)
  home.vault.chmod(0o600)
  return home


def opens(home: Home, option: str, contents: bytes) -> bool:
  """Returns whether a file opens the vault.

  It is refused as a wrong key or, for an unknown line, as a newer format, but never as damage.
  """
  found = home.run("get", "item", option, home.file("key", contents), code=None)
  assert (found.code, found.out) in ((0, b"secret"), (78, b""), (79, b"")), found
  return found.code == 0


def test_recovery_codes_of_the_vectors(copied):
  found = {
    name: opens(copied, "--recovery-code-file", case["inputs"]["text"]["written"].encode("utf-8"))
    for name, case in cases("decoded recovery code").items()}
  assert found == {
    name: case["expect"] == CODE.hex() for name, case in cases("decoded recovery code").items()}
  assert len(found) > 20 and len(set(found.values())) == 2


def test_identity_files_of_the_vectors(copied):
  check = vault_check(copied.head().vault, copied.head().administration).hex()
  pin = cases("decoded identity file")["decoded identity file: pin"]["expect"][64:]
  assert len(pin) == 32
  found = {
    name: opens(copied, "--identity", bytes.fromhex(case["inputs"]["hex"]["contents"]).replace(
      pin.encode("ascii"), check.encode("ascii")))
    for name, case in cases("decoded identity file").items()}
  assert found == {
    name: case["expect"] is not None for name, case in cases("decoded identity file").items()}
  assert len(found) > 20 and len(set(found.values())) == 2


def test_invalid_recipients_of_the_vectors_are_refused(copied):
  """Points of low order and second forms of keys among them, to which nothing may be sealed."""
  code = copied.file("key", recovery_text(CODE).encode("ascii"))
  refused = [case["inputs"]["text"]["written"]
             for case in cases("decoded recipient").values()
             if case["expect"] is None and "\0" not in case["inputs"]["text"]["written"]]
  assert len(refused) > 20
  for written in refused:
    found = copied.run(
      "slots", "add", "--recipient", written, "--recovery-code-file", code, code=None)
    assert (found.code, found.out) == (64, b""), (written, found)


def test_identity_that_is_pinned_to_another_vault(copied):
  file = copied.file("key", IdentityFile(IDENTITY.seed, (bytes(16),)).encoded())
  refused = copied.run("get", "item", "--identity", file, code=65)
  assert "another vault" in refused.error


def test_vault_of_an_attacker_under_the_pinned_id(home):
  """Id and recipient are public, so anyone can seal their own root key to a recipient."""
  pinned = VaultWriter("real")
  forger = VaultWriter("forger")
  forger.id = pinned.id
  forger._make_root()
  forger.add_recipient(IDENTITY.recipient())
  forger.put(generic("default", "item"), b"forged", 0)
  home.vault.parent.mkdir(mode=0o700)
  forger.write(home.vault)
  home.vault.chmod(0o600)
  file = home.file("key", IdentityFile(IDENTITY.seed, (pinned.check,)).encoded())
  refused = home.run("get", "item", "--identity", file, code=65)
  assert refused.out == b"" and "another vault" in refused.error


@pytest.mark.parametrize("option, name", [
  ("--recovery-code-file", "test-recovery-code.txt"), ("--identity", "test-identity"),
  ("--identity", "format3-python.identity")])
def test_checked_in_codes_open_the_checked_in_vault(home, option, name):
  home.vault.parent.mkdir(mode=0o700)
  home.file("data/keychain/vault", (FIXTURES / "format3-python.vault").read_bytes())
  file = home.file("key", (FIXTURES / name).read_bytes())
  found = home.run("get", "whenUnlocked", "--service", "class", option, file)
  assert found.out == b"secret of whenUnlocked"


def test_code_of_an_earlier_key_needs_the_check(home):
  """A former administrator may have made the vault, unless a record or a person vouches for it."""
  home.vault.parent.mkdir(mode=0o700)
  home.file("data/keychain/vault", (FIXTURES / "format3-python.vault").read_bytes())
  file = home.file("key", (FIXTURES / "test-old-recovery-code.txt").read_bytes())
  code = ("--service", "class", "--recovery-code-file", file)
  refused = home.run("get", "whenUnlocked", *code, code=65)
  assert refused.out == b"" and "--check" in refused.error
  expected = json.loads((FIXTURES / "format3-python.expected.json").read_text("utf-8"))
  home.run("unlock", "--check", expected["check"], *code[2:])
  assert home.run("get", "whenUnlocked", *code[:2]).out == b"secret of whenUnlocked"


def test_the_second_reader_opens_with_what_prefs_made(locked):
  unlock = locked.passphrase()
  locked.run("recovery", "create", "--code-file", "code", *unlock)
  recipient = locked.run("identity", "create", "identity").out.decode().strip()
  locked.run("slots", "add", "--recipient", recipient, *unlock)
  locked.run("identity", "pin", "identity", *unlock)
  identity = IdentityFile.decoded((locked.folder / "identity").read_bytes())
  assert identity.recipient() == recipient
  code = recovery_code((locked.folder / "code").read_text("utf-8"))
  for secrets in (Secrets(recovery_code=code), Secrets.of_identity(identity)):
    vault = Vault(locked.vault, secrets)
    assert vault.problems == [] and vault.root is not None
    assert {item.secret.decode() for item in vault.items} == set(LOCKED_ITEMS)
    assert identity.pins == (vault_check(vault.head.vault, vault.head.administration),)
