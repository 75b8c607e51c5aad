"""Vectors of keys that people copy: recovery codes, recipients, identities, identity files."""

from __future__ import annotations

from collections.abc import Callable

from nacl.bindings import crypto_box_seal_open
from nacl.exceptions import CryptoError

from vault_codes import (
  PRIME, identity_key, identity_text, public_key, recipient_key, recipient_text, recovery_code,
  recovery_text, text32)
from vault_identity import IdentityFile
from vault_writer import VaultWriter
from vector_cases import Cases, pattern, refuses

CODE = pattern(0xA0, 16)
PRIVATE_KEY = pattern(0x70, 32)
PUBLIC_KEY = public_key(PRIVATE_KEY)
IDENTITY = identity_text(PRIVATE_KEY)
PINS = (pattern(0x10, 16), pattern(0xF0, 16))


def code_cases(cases: Cases) -> None:
  written_cases(cases)
  decoded_cases(cases)
  identity_file_cases(cases)
  box_cases(cases)


def written_cases(cases: Cases) -> None:
  """Texts are shown in hexadecimal, as every result is."""
  for variant, data, count in (
    ("16 bytes", CODE, 4), ("32 bytes", PUBLIC_KEY, 3), ("zero", bytes(16), 4),
    ("ones", b"\xff" * 32, 3)):
    cases.add("text32", variant, text32(data, count).encode("ascii"), data=data, count=count)
  cases.add("recovery code", "", recovery_text(CODE).encode("ascii"), code=CODE)
  cases.add("recovery code", "zero", recovery_text(bytes(16)).encode("ascii"), code=bytes(16))
  cases.add("public key", "", PUBLIC_KEY, privateKey=PRIVATE_KEY)
  cases.add("recipient", "", recipient_text(PUBLIC_KEY).encode("ascii"), publicKey=PUBLIC_KEY)
  cases.add("identity", "", IDENTITY.encode("ascii"), privateKey=PRIVATE_KEY)


def decoded_cases(cases: Cases) -> None:
  zeros = recovery_text(bytes(16))
  add_decoded(cases, "decoded recovery code", recovery_code, bytes(16), {
    "leading zeros": zeros, "leading zero left out": zeros[1:], "leading zero added": "0" + zeros})
  add_decoded(cases, "decoded recovery code", recovery_code, CODE, spellings(recovery_text(CODE)))
  for kind, prefix, write, read in (
    ("recipient", "pkpub1-", recipient_text, recipient_key),
    ("identity", "pksec1-", identity_text, identity_key)):
    key = PUBLIC_KEY if kind == "recipient" else PRIVATE_KEY
    letters = write(key)[len(prefix) :]
    variants = {
      name: prefix + text for name, text in spellings(letters).items()
      if name != "white space around it"}
    other = "pksec1-" if kind == "recipient" else "pkpub1-"
    variants |= {
      "prefix in upper case": prefix.upper() + letters, "prefix of the other": other + letters,
      "no prefix": letters, "prefix of another version": prefix.replace("1", "2") + letters,
      "prefix with a letter for 1": prefix.replace("1", "l") + letters,
      "prefix without its hyphen": prefix[:-1] + letters,
      "prefix with a Kelvin sign": prefix.replace("k", "\u212a") + letters}
    add_decoded(cases, f"decoded {kind}", read, key, variants)
  add_decoded(cases, "decoded recipient", recipient_key, b"", {
    name: recipient_text(data) for name, data in no_public_keys().items()})


def no_public_keys() -> dict[str, bytes]:
  """Public keys that must be refused: points of low order, and other forms of keys."""
  low = (
    0, 1, 0x00B8495F16056286FDB1329CEB8D09DA6AC49FF1FAE35616AEB8413B7C7AEBE0,
    0x57119FD0DD4E22D8868E1C58C45C44045BEF839C55B1D0B1248C50A3BC959C5F, PRIME - 1)
  numbers = {f"point {count} of low order": number for count, number in enumerate(low, start=1)}
  numbers |= {
    "prime": PRIME, "prime and nine": PRIME + 9, "ones": 2**256 - 1,
    "top bit set": int.from_bytes(PUBLIC_KEY, "little") | 1 << 255}
  return {name: number.to_bytes(32, "little") for name, number in numbers.items()}


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
    "recipient": recipient_text(PUBLIC_KEY), "identity mistyped": IDENTITY[:-1] + "u",
    "another line": f"{IDENTITY}\nhello\n", "comment behind": f"{IDENTITY} # comment\n",
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
  """The result is the private key and then the pins, one after the other."""
  expect = None
  if not refuses(IdentityFile.decoded, data):
    identity = IdentityFile.decoded(data)
    expect = identity.private_key + b"".join(identity.pins)
  cases.add("decoded identity file", variant, expect, contents=data)


def box_cases(cases: Cases) -> None:
  writer = VaultWriter("vectors")
  writer.add_recipient(PUBLIC_KEY)
  box = writer.slots[0].box
  boxes = {
    "opens": box, "last byte changed": box[:-1] + bytes([box[-1] ^ 1]),
    "first byte changed": bytes([box[0] ^ 1]) + box[1:], "cut short": box[:-1]}
  for variant, changed in boxes.items():
    cases.add("recipient box", variant, opened(changed), privateKey=PRIVATE_KEY, box=changed)


def opened(box: bytes) -> bytes | None:
  try:
    return crypto_box_seal_open(box, PUBLIC_KEY, PRIVATE_KEY)
  except CryptoError:
    return None
