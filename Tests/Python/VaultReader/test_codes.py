"""Tests of recovery codes, recipients, identities and identity files."""

from __future__ import annotations

import pytest
from nacl.bindings import crypto_box_keypair, crypto_scalarmult

import vault_codes as codes
from sample_vault import IDENTITY as SEED
from sample_vault import RECOVERY_CODE
from vault_identity import IdentityFile, UnknownLine
from vault_notation import FormatError, derive, digest

CODE = codes.recovery_text(RECOVERY_CODE)
PIN = bytes(range(16))
OTHER_PIN = bytes(range(16, 32))
IDENTITY = codes.identity_text(SEED)
RECIPIENT = codes.Keys(SEED).recipient()
RECIPIENT_TEXT = RECIPIENT.text()


def refused(decode, written) -> bool:
  try:
    decode(written)
  except FormatError:
    return True
  return False


# The letters.


def test_base32_is_that_of_crockford():
  """Five bits of 0, then of 1 and so on, make the alphabet."""
  every_value = bytes.fromhex("00443214c74254b635cf84653a56d7c675be77df")
  assert codes.base32(every_value) == "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
  assert codes.base32_bytes("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 20) == every_value
  assert codes.base32_bytes("0123456789abcdefghjkmnpqrstvwxyz", 20) == every_value
  assert codes.base32(b"\x80\0\0\0\0") == "G0000000"
  with pytest.raises(ValueError):
    codes.base32(b"\0")


@pytest.mark.parametrize("written, plain", [
  ("oOiIlL00", "00111100"), ("G-00 00\t0\n00\r", "G0000000"), ("--G0000000--", "G0000000"),
  ("\v\fG0000000", "G0000000")])
def test_other_spellings(written, plain):
  assert codes.base32_bytes(written, 5) == codes.base32_bytes(plain, 5)


@pytest.mark.parametrize("character", [
  "U", "u", "_", ".", "=", "\0", "\u00a0", "\u2010", "\u2013", "\u017f", "\u212a", "\u0131",
  "\uff11", "\u0661", "\ufffd"])
def test_other_characters_are_refused(character):
  """Also those that a careless upper case makes letters of ASCII, and the digits of others."""
  for written in (character + "0000000", "0000000" + character, "0000" + character + "0000"):
    assert refused(lambda text: codes.base32_bytes(text, 5), written)


@pytest.mark.parametrize("change", [
  lambda text: text[:-1], lambda text: text + "0", lambda text: "0" + text, lambda text: "",
  lambda text: text + text, lambda text: text[:16]])
def test_other_lengths_are_refused(change):
  assert refused(codes.recovery_code, change(CODE))
  assert refused(codes.identity_seed, codes.IDENTITY_PREFIX + change(IDENTITY[7:]))
  assert refused(codes.Recipient.decoded, codes.RECIPIENT_PREFIX + change(RECIPIENT_TEXT[7:]))


def test_leading_zeros_count():
  """As a number, a code without them is the same."""
  written = codes.recovery_text(bytes(16))
  assert written.startswith("0000-") and codes.recovery_code(written) == bytes(16)
  assert refused(codes.recovery_code, written[1:])
  assert refused(codes.recovery_code, "0" + written)


def test_mistyped_codes_are_refused():
  letters = CODE.replace("-", "")
  for place, letter in enumerate(letters):
    for other in codes.ALPHABET:
      assert other == letter or refused(
        codes.recovery_code, letters[:place] + other + letters[place + 1 :])
  for place in range(len(letters) - 1):
    left, right = letters[place : place + 2]
    swapped = letters[:place] + right + left + letters[place + 2 :]
    assert left == right or refused(codes.recovery_code, swapped)


# The three kinds.


def test_recovery_code():
  letters = codes.base32(RECOVERY_CODE + digest(16, RECOVERY_CODE)[:4])
  assert CODE.split("-") == [letters[first : first + 4] for first in range(0, 32, 4)]
  for written in (CODE, CODE.lower(), letters, f"  {CODE}\n", CODE.replace("-", " - ")):
    assert codes.recovery_code(written) == RECOVERY_CODE


@pytest.mark.parametrize("prefix, key, written, read", [
  ("pkpub2-", RECIPIENT, RECIPIENT_TEXT, codes.Recipient.decoded),
  ("pksec2-", SEED, IDENTITY, codes.identity_seed)])
def test_recipient_and_identity(prefix, key, written, read):
  letters = written[len(prefix) :]
  assert written == prefix + letters.lower() and len(letters) == (112 if key == RECIPIENT else 56)
  for spelled in (written, written.upper(), f" {written}\n", prefix + "-".join(letters),
                  prefix.title() + letters):
    assert read(spelled) == key
  others = {"pkpub2-", "pksec2-"} - {prefix}
  for wrong in ("", prefix[:-1], prefix[1:], prefix.replace("2", "1"), prefix.replace("2", "3"),
                prefix.replace("s", "\u017f").replace("k", "\u212a"), *others):
    assert refused(read, wrong + letters)


def test_recipient_text_has_both_keys():
  data = RECIPIENT.box_key + RECIPIENT.signing_key
  assert codes.base32_bytes(RECIPIENT_TEXT[7:], 70) == data + digest(16, data)[:6]


def test_one_seed_yields_both_keys():
  keys = codes.Keys(SEED)
  assert keys.private_key == derive(SEED, "pk2/ident.box")
  assert keys.signing_seed == derive(SEED, "pk2/ident.sign")
  other = codes.Recipient(RECIPIENT.box_key, codes.Keys(bytes(32)).recipient().signing_key)
  assert other.fingerprint() != RECIPIENT.fingerprint() and len(other.fingerprint()) == 16


def test_public_key_is_that_of_x25519():
  public, private = crypto_box_keypair()
  assert codes.public_key(private) == public


LOW_ORDER = (
  0, 1, codes.PRIME - 1,
  0x00B8495F16056286FDB1329CEB8D09DA6AC49FF1FAE35616AEB8413B7C7AEBE0,
  0x57119FD0DD4E22D8868E1C58C45C44045BEF839C55B1D0B1248C50A3BC959C5F)


@pytest.mark.parametrize("number", [*LOW_ORDER, codes.PRIME, codes.PRIME + 1, codes.PRIME + 9,
                                    2**255, 2**255 + 9, 2**256 - 1])
def test_invalid_public_keys(number):
  """Points of low order, which libsodium refuses too, and numbers beyond the prime."""
  data = number.to_bytes(32, "little")
  assert not codes.is_public_key(data)
  assert refused(
    codes.Recipient.decoded, codes.Recipient(data, RECIPIENT.signing_key).text())
  if number in LOW_ORDER:
    with pytest.raises(Exception, match="Unexpected library error"):
      crypto_scalarmult(SEED, data)


@pytest.mark.parametrize("number", [2, 9, codes.PRIME - 2, 2**254])
def test_public_keys(number):
  assert codes.is_public_key(number.to_bytes(32, "little"))


@pytest.mark.parametrize("number", [0, 1, 2, codes.PRIME - 1, codes.PRIME + 1, 2**256 - 1])
def test_invalid_signing_keys(number):
  recipient = codes.Recipient(RECIPIENT.box_key, number.to_bytes(32, "little"))
  assert refused(codes.Recipient.decoded, recipient.text())


# Identity files.


@pytest.mark.parametrize("pins", [(), (PIN,), (PIN, OTHER_PIN)])
def test_identity_file_reads_what_it_writes(pins):
  identity = IdentityFile(SEED, pins)
  assert IdentityFile.decoded(identity.encoded("Two\nlines")) == identity
  assert identity.recipient() == RECIPIENT_TEXT


@pytest.mark.parametrize("text, pins", [
  (IDENTITY, ()), (f"\n \t\n# comment\n  # indented\n#\n{IDENTITY}\n\n", ()),
  (f"  {IDENTITY}\t\r\n\tvault: {PIN.hex()} \r\n", (PIN,)), (IDENTITY.upper(), ()),
  (f"vault: {PIN.hex()}\n{IDENTITY}\nvault: {OTHER_PIN.hex()}", (PIN, OTHER_PIN)),
  (f"# {IDENTITY} \u2603\n{IDENTITY}\n# vault: {PIN.hex()}\n", ())])
def test_identity_files_of_other_shapes(text, pins):
  assert IdentityFile.decoded(text.encode("utf-8")) == IdentityFile(SEED, pins)


@pytest.mark.parametrize("text", [
  "", "# comment\n", f"vault: {PIN.hex()}\n", f"{IDENTITY}\n{IDENTITY}\n",
  f"{IDENTITY} {IDENTITY}\n", f"{IDENTITY}\nhello\n", f"{IDENTITY}\n\u00a0\n",
  f"\ufeff{IDENTITY}\n", f"{IDENTITY} # comment\n", f"{IDENTITY[:-1]}\n",
  f"{IDENTITY[:-1]}u\n", f"identity: {IDENTITY}\n", f"{RECIPIENT_TEXT}\n",
  f"{IDENTITY}\n{RECIPIENT_TEXT}\n", f"{IDENTITY}\rvault: {PIN.hex()}\n"])
def test_refused_identity_files(text):
  assert refused(IdentityFile.decoded, text.encode("utf-8"))


@pytest.mark.parametrize("line", [
  f"vault: {OTHER_PIN.hex().upper()}", f"vault: {PIN.hex()}00", f"vault: {PIN.hex()[:-2]}",
  f"vault:{PIN.hex()}", f"vault:  {PIN.hex()}", f"VAULT: {PIN.hex()}", "vault: ", "vault:",
  f"vault: {PIN.hex()} {PIN.hex()}", f"vault: {PIN.hex()[:-1]}g", f"vault: {PIN.hex(' ')}",
  "vault: " + "\u0661" * 32, PIN.hex()])
def test_refused_pins(line):
  assert refused(IdentityFile.decoded, f"{IDENTITY}\n{line}\n".encode("utf-8"))


@pytest.mark.parametrize("line", ["hello", "recipients: 2", "pksec1-", RECIPIENT_TEXT])
def test_unknown_line_may_be_of_a_newer_program(line):
  for text in (f"{IDENTITY}\n{line}\n", f"{line}\n{IDENTITY}"):
    with pytest.raises(UnknownLine):
      IdentityFile.decoded(text.encode("utf-8"))
  with pytest.raises(FormatError) as raised:
    IdentityFile.decoded(b"")
  assert not isinstance(raised.value, UnknownLine)


def test_identity_file_that_is_not_utf8():
  good = IDENTITY.encode("ascii") + b"\n# "
  assert IdentityFile.decoded(good + "\u00e9".encode("utf-8")) == IdentityFile(SEED)
  assert refused(IdentityFile.decoded, good + b"\xe9")


def test_size_of_an_identity_file():
  good = IDENTITY.encode("ascii") + b"\n"
  full = good.ljust(64 * 1024, b"#")
  assert IdentityFile.decoded(full) == IdentityFile(SEED)
  assert refused(IdentityFile.decoded, full + b"#")
