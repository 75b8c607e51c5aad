"""Vectors of keys that people copy: recovery codes, recipients, identities, identity files."""

from __future__ import annotations

from collections.abc import Callable

from vault_codes import (
  PRIME, Keys, Recipient, identity_seed, identity_text, recovery_code, recovery_text, text32)
from vault_identity import IdentityFile
from vector_cases import Cases, pattern, refuses

CODE = pattern(0xA0, 16)
SEED = pattern(0x70, 32)
RECIPIENT = Keys(SEED).recipient()
RECIPIENT_KEYS = RECIPIENT.box_key + RECIPIENT.signing_key
IDENTITY = identity_text(SEED)
PINS = (pattern(0x10, 16), pattern(0xF0, 16))


def code_cases(cases: Cases) -> None:
  written_cases(cases)
  decoded_cases(cases)
  identity_file_cases(cases)


def written_cases(cases: Cases) -> None:
  """Texts are shown in hexadecimal, as every result is."""
  for variant, data, count in (
    ("16 bytes", CODE, 4), ("32 bytes", SEED, 3), ("64 bytes", RECIPIENT_KEYS, 6),
    ("zero", bytes(16), 4), ("ones", b"\xff" * 32, 3)):
    cases.add("text32", variant, text32(data, count).encode("ascii"), data=data, count=count)
  cases.add("recovery code", "", recovery_text(CODE).encode("ascii"), code=CODE)
  cases.add("recovery code", "zero", recovery_text(bytes(16)).encode("ascii"), code=bytes(16))
  cases.add("identity private key", "", Keys(SEED).private_key, seed=SEED)
  cases.add("identity signing seed", "", Keys(SEED).signing_seed, seed=SEED)
  cases.add("identity public keys", "", RECIPIENT_KEYS, seed=SEED)
  cases.add("identity", "", IDENTITY.encode("ascii"), seed=SEED)
  given = {"publicKey": RECIPIENT.box_key, "signingKey": RECIPIENT.signing_key}
  cases.add("recipient", "", RECIPIENT.text().encode("ascii"), **given)
  cases.add("fingerprint", "", RECIPIENT.fingerprint(), **given)


def recipient_keys(written: str) -> bytes:
  recipient = Recipient.decoded(written)
  return recipient.box_key + recipient.signing_key


def decoded_cases(cases: Cases) -> None:
  zeros = recovery_text(bytes(16))
  add_decoded(cases, "decoded recovery code", recovery_code, bytes(16), {
    "leading zeros": zeros, "leading zero left out": zeros[1:], "leading zero added": "0" + zeros})
  add_decoded(cases, "decoded recovery code", recovery_code, CODE, spellings(recovery_text(CODE)))
  for kind, prefix, written, read, key in (
    ("recipient", "pkpub2-", RECIPIENT.text(), recipient_keys, RECIPIENT_KEYS),
    ("identity", "pksec2-", IDENTITY, identity_seed, SEED)):
    letters = written[len(prefix) :]
    variants = {
      name: prefix + text for name, text in spellings(letters).items()
      if name != "white space around it"}
    other = "pksec2-" if kind == "recipient" else "pkpub2-"
    variants |= {
      "prefix in upper case": prefix.upper() + letters, "prefix of the other": other + letters,
      "no prefix": letters, "prefix of another version": prefix.replace("2", "1") + letters,
      "prefix of a later version": prefix.replace("2", "3") + letters,
      "prefix without its hyphen": prefix[:-1] + letters,
      "prefix with a Kelvin sign": prefix.replace("k", "\u212a") + letters,
      "prefix with white space": f"{prefix[:2]} {prefix[2:]}{letters}",
      "white space before it": f" \n{prefix}{letters}"}
    add_decoded(cases, f"decoded {kind}", read, key, variants)
  add_decoded(cases, "decoded recipient", recipient_keys, b"", {
    name: Recipient(*keys).text() for name, keys in no_public_keys().items()})


def no_public_keys() -> dict[str, tuple[bytes, bytes]]:
  """Public keys that must be refused: points of low order, and other forms of keys."""
  low = (
    0, 1, 0x00B8495F16056286FDB1329CEB8D09DA6AC49FF1FAE35616AEB8413B7C7AEBE0,
    0x57119FD0DD4E22D8868E1C58C45C44045BEF839C55B1D0B1248C50A3BC959C5F, PRIME - 1)
  numbers = {f"point {count} of low order": number for count, number in enumerate(low, start=1)}
  numbers |= {
    "prime": PRIME, "prime and nine": PRIME + 9, "ones": 2**256 - 1,
    "top bit set": int.from_bytes(RECIPIENT.box_key, "little") | 1 << 255}
  keys = {
    name: (number.to_bytes(32, "little"), RECIPIENT.signing_key)
    for name, number in numbers.items()}
  signing = {
    "zero": 0, "identity": 1, "point of order 2": PRIME - 1, "not reduced": PRIME + 1,
    "no point": 2, "ones": 2**256 - 1}
  return keys | {
    f"signing key: {name}": (RECIPIENT.box_key, number.to_bytes(32, "little"))
    for name, number in signing.items()}


def add_decoded(
  cases: Cases, operation: str, read: Callable[[str], bytes], key: bytes, variants: dict[str, str],
) -> None:
  for variant, written in variants.items():
    expect = None if refuses(read, written) else key
    assert expect is None or read(written) == key, variant
    cases.add(operation, variant, expect, written=written)


def spellings(text: str) -> dict[str, str]:
  """Ways to write a code, right and wrong."""
  plain = text.replace("-", "").upper()
  ambiguous = plain.replace("0", "O").replace("1", "I")
  wrong_check = plain[:-1] + ("2" if plain[-1] == "1" else "1")
  replaced = {
    "U": "U", "long s": "\u017f", "Kelvin sign": "\u212a", "dotless i": "\u0131",
    "full-width digit": "\uff11", "combining accent": plain[5] + "\u0301", "NUL": "\0",
    "equals sign": "=", "en dash": "\u2013"}
  return {
    "as written": text, "upper case": plain, "lower case": plain.lower(),
    "letters for digits": ambiguous, "small letters for digits": ambiguous.lower(),
    "L for 1": plain.replace("1", "L"), "small L for 1": plain.replace("1", "l"),
    "other hyphens": "-".join(plain), "spaces": plain[:3] + " " + plain[3:9] + "  " + plain[9:],
    "lines and tabs": plain[:8] + "\n" + plain[8:16] + "\r\n\t" + plain[16:],
    "white space around it": f" {text}\n",
    "empty": "", "one too few": plain[:-1], "one too many": plain + "0", "twice": plain + plain,
    "wrong check": wrong_check, "two characters swapped": plain[1] + plain[0] + plain[2:],
    **{f"other character: {name}": plain[:5] + character + plain[6:]
       for name, character in replaced.items()},
    "other character besides": plain[:5] + "\u2013" + plain[5:]}


def identity_file_cases(cases: Cases) -> None:
  pins = [f"vault: {pin.hex()}" for pin in PINS]
  files = {
    "identity alone": IDENTITY, "pin": f"{IDENTITY}\n{pins[0]}\n",
    "two pins": f"{pins[0]}\n{IDENTITY}\n{pins[1]}\n",
    "comments": f"# a\n\n  # b \u00e9\n{IDENTITY}\n#{IDENTITY}\n# {pins[0]}\n",
    "white space": f"\t {IDENTITY} \r\n \r\n {pins[0]}\t\r\n", "upper case": IDENTITY.upper(),
    "empty": "", "pin alone": pins[0], "two identities": f"{IDENTITY}\n{IDENTITY}\n",
    "recipient": RECIPIENT.text(), "identity mistyped": IDENTITY[:-1] + "u",
    "another line": f"{IDENTITY}\nhello\n", "identity of format 1": f"{IDENTITY.replace('2', '1', 1)}\n",
    "line of a later version": f"{IDENTITY}\nsigns: {PINS[0].hex()}\n", "comment behind": f"{IDENTITY} # comment\n",
    "byte order mark": f"\ufeff{IDENTITY}\n",
    "pin in upper case": f"{IDENTITY}\n{pins[1].replace('f', 'F')}\n",
    "pin too short": f"{IDENTITY}\n{pins[0][:-2]}\n", "pin too long": f"{IDENTITY}\n{pins[0]}00\n",
    "pin without space": f"{IDENTITY}\n{pins[0].replace(' ', '')}\n",
    "pin with two spaces": f"{IDENTITY}\n{pins[0].replace(' ', '  ')}\n",
    "prefix of a pin in upper case": f"{IDENTITY}\n{pins[0].replace('vault', 'VAULT')}\n"}
  contents = {name: text.encode("utf-8") for name, text in files.items()}
  contents["no UTF-8 in a comment"] = IDENTITY.encode("ascii") + b"\n# \xff\n"
  for variant, data in contents.items():
    add_identity_file(cases, variant, data)


def add_identity_file(cases: Cases, variant: str, data: bytes) -> None:
  """The result is the seed and then the pins, one after the other."""
  expect = None
  if not refuses(IdentityFile.decoded, data):
    identity = IdentityFile.decoded(data)
    expect = identity.seed + b"".join(identity.pins)
  cases.add("decoded identity file", variant, expect, contents=data)
