"""Vectors of slots."""

from __future__ import annotations

from dataclasses import replace

import vault_keys as keys
from vault_codes import Keys, public_key
from vault_notation import sealed_box
from vault_opening import granted_by, granted_to
from vault_signing import signing_public_key
from vault_slots import (
  INTERACTIVE, MODERATE, Cost, Granted, Slot, SlotKind, slot_commitment, slot_hash, slot_header,
  slot_private_key, slot_seed, slot_signing_fields)
from vector_cases import (
  ADMINISTRATION, BINDING, DEVICE, OPEN, RECOVERY_CODE, ROOT, SALT, TIERS, VAULT, Cases, pattern)

PASSPHRASE = "correct horse battery staple \u00e9"
KEY_FILE = pattern(0x80, 100)
IDENTITY = Keys(pattern(0x70, 32))
SENDER = pattern(0x90, 32)
COST = INTERACTIVE.parameters()
INPUT_KEYS = {
  SlotKind.PASSPHRASE: keys.passphrase_key(
    PASSPHRASE.encode("utf-8"), SALT, INTERACTIVE.memory, INTERACTIVE.passes),
  SlotKind.KEY_FILE: keys.key_file_key(KEY_FILE), SlotKind.DEVICE: DEVICE,
  SlotKind.RECOVERY_CODE: RECOVERY_CODE}
GRANTS = (
  (SlotKind.PASSPHRASE, Granted.ADMINISTERS), (SlotKind.KEY_FILE, Granted.ADMINISTERS),
  (SlotKind.DEVICE, Granted.ADMINISTERS), (SlotKind.DEVICE, Granted.OPEN_TIER),
  (SlotKind.RECOVERY_CODE, Granted.ADMINISTERS), (SlotKind.RECIPIENT, Granted.ADMINISTERS),
  (SlotKind.RECIPIENT, Granted.READS_AND_WRITES), (SlotKind.RECIPIENT, Granted.READS))
GRANTED_KEYS = {
  Granted.ADMINISTERS: ROOT, Granted.OPEN_TIER: OPEN, Granted.READS_AND_WRITES: b"".join(TIERS),
  Granted.READS: b"".join(TIERS)}


def slot_cases(cases: Cases) -> None:
  input_key_cases(cases)
  for number, (kind, granted) in enumerate(GRANTS, start=1):
    one_slot_cases(cases, number, kind, granted)
  shape_cases(cases)


def input_key_cases(cases: Cases) -> None:
  for variant, cost in {"64 MiB, 2 passes": INTERACTIVE, "256 MiB, 3 passes": MODERATE}.items():
    key = keys.passphrase_key(PASSPHRASE.encode("utf-8"), SALT, cost.memory, cost.passes)
    cases.add("passphrase input key", variant, key, passphrase=PASSPHRASE, salt=SALT,
              memory=cost.memory, passes=cost.passes)
    cases.add("passphrase parameters", variant, cost.parameters(),
              memory=cost.memory, passes=cost.passes)
  cases.add("key file input key", "", keys.key_file_key(KEY_FILE), contents=KEY_FILE)
  cases.add("key file input key", "32 bytes", keys.key_file_key(KEY_FILE[:32]),
            contents=KEY_FILE[:32])


def one_slot_cases(cases: Cases, number: int, kind: SlotKind, granted: Granted) -> None:
  variant = f"{kind.name.lower()}, {granted.name.lower()}"
  parameters, made = COST if kind == SlotKind.PASSPHRASE else b"", ADMINISTRATION
  given = {"vault": VAULT, "number": number, "kind": int(kind), "parameters": parameters,
           "salt": SALT, "made": made}
  header = slot_header(VAULT, number, kind, parameters, SALT, made)
  cases.add("slot header", variant, header, **given)
  key = INPUT_KEYS.get(kind, GRANTED_KEYS[granted][:32])
  commitment = slot_commitment(key, header)
  cases.add("slot commitment", variant, commitment, key=key, **given)
  private_key, opening = IDENTITY.private_key, {"seed": IDENTITY.seed}
  if kind != SlotKind.RECIPIENT:
    opening = {"inputKey": key}
    private_key = slot_private_key(key, header)
    seed = slot_seed(key, slot_signing_fields(VAULT, number, SALT))
    cases.add("slot private key", variant, private_key, **opening, **given)
    cases.add("slot public key", variant, public_key(private_key), **opening, **given)
    cases.add("slot signing seed", variant, seed, **opening, **given)
    cases.add("slot signing key", variant, signing_public_key(seed), **opening, **given)
  plain = GRANTED_KEYS[granted] + BINDING
  box = sealed_box(public_key(private_key), plain, SENDER)
  slot = Slot(number, int(kind), int(granted), parameters, SALT, made, commitment, box)
  encoding_cases(cases, variant, slot)
  opening_cases(cases, variant, slot, opening, plain)


def opening_cases(
  cases: Cases, variant: str, slot: Slot, opening: dict[str, bytes], plain: bytes,
) -> None:
  """What a slot gives, the granted keys and the binding; nothing if something was changed."""
  name, secret = next(iter(opening.items()))
  recipient = slot.kind == SlotKind.RECIPIENT
  key_of = public_key(Keys(secret).private_key) if recipient else public_key(
    slot_private_key(secret, slot.header(VAULT)))
  slots = {
    "": slot, "another salt": replace(slot, salt=bytes(32)), "another number":
    replace(slot, number=99), "another made": replace(slot, made=bytes(32)),
    "another commitment": replace(slot, commitment=bytes(32)),
    "box that was changed": replace(slot, box=slot.box[:-1] + bytes([slot.box[-1] ^ 1])),
    "box of fewer bytes": replace(slot, box=sealed_box(key_of, plain[:-1], SENDER)),
    "box of more bytes": replace(slot, box=sealed_box(key_of, plain + b"\0", SENDER))}
  given = {f"{variant}, {change}" if change else variant: (VAULT, secret, found)
           for change, found in slots.items()}
  bad = {name: one for name, one in given.items() if name != variant} | {
    f"{variant}, another vault": (bytes(16), secret, slot),
    f"{variant}, another secret": (VAULT, pattern(9, 32), slot)}

  def read(one: tuple[bytes, bytes, Slot]) -> bytes | None:
    vault, key, found = one[0], one[1], Slot.checked(one[2].encoded())
    return granted_to(vault, found, Keys(key)) if recipient else granted_by(vault, found, key)
  cases.read("opened slot", {variant: given[variant]}, bad, read, lambda one: {
    "vault": one[0], name: one[1], "slot": one[2].encoded()})


def encoding_cases(cases: Cases, variant: str, slot: Slot) -> None:
  given = {("grant" if name == "granted" else name): value for name, value in vars(slot).items()}
  cases.add("slot", variant, slot.encoded(), **given)
  cases.add("slot hash", variant, slot_hash(slot.encoded()), slot=slot.encoded())


def shape_cases(cases: Cases) -> None:
  """Slots that can be used, and others, which are passed over."""
  passphrase, recipient, device = (sample_slot(kind) for kind in (
    SlotKind.PASSPHRASE, SlotKind.RECIPIENT, SlotKind.DEVICE))
  costs = {
    "memory of 64 MiB, 3 passes": Cost(64 << 20, 3), "memory of 256 MiB, 2 passes":
    Cost(256 << 20, 2), "memory of 64 KiB": Cost(65536, 1), "memory of 1 TiB": Cost(1 << 40, 3),
    "no memory": Cost(0, 2), "no passes": Cost(64 << 20, 0)}
  good = {
    "64 MiB": passphrase, "256 MiB": replace(passphrase, parameters=MODERATE.parameters()),
    "device": device, "recipient that reads": replace(recipient, granted=4, box=bytes(176)),
    "greatest number": replace(device, number=(1 << 32) - 1)}
  bad = {variant: replace(passphrase, parameters=cost.parameters())
         for variant, cost in costs.items()} | {
    "parameters too long": replace(passphrase, parameters=COST + b"\0"),
    "parameters too short": replace(passphrase, parameters=COST[:-1]),
    "parameters of a device": replace(device, parameters=COST),
    "box too short": replace(device, box=bytes(111)), "box too long": replace(device, box=bytes(113)),
    "box of all tiers that grants the root key": replace(device, box=bytes(176)),
    "box of the root key that grants all tiers": replace(recipient, granted=3, box=bytes(112)),
    "number 0": replace(device, number=0), "kind 0": replace(device, kind=0),
    "kind 6": replace(device, kind=6), "grant 0": replace(device, granted=0),
    "grant 5": replace(device, granted=5)}
  encoded = device.encoded()
  cases.read(
    "checked slot", {variant: slot.encoded() for variant, slot in good.items()},
    {variant: slot.encoded() for variant, slot in bad.items()} | {
      "empty": b"", "a byte follows": encoded + b"\0", "a byte is missing": encoded[:-1]},
    lambda slot: Slot.checked(slot).encoded(), lambda slot: {"slot": slot})


def sample_slot(kind: SlotKind) -> Slot:
  parameters = COST if kind == SlotKind.PASSPHRASE else b""
  return Slot(5, int(kind), 1, parameters, SALT, ADMINISTRATION, pattern(1, 32), pattern(2, 112))
