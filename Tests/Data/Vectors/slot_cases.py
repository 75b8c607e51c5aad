"""Vectors of the head and of slots."""

from __future__ import annotations

from dataclasses import replace

import vault_keys as keys
from vault_codes import Keys, public_key
from vault_notation import FormatError, sealed_box, text, u32
from vault_items import NO_FEATURES, Head, features
from vault_signing import signing_public_key
from vault_slots import (
  Granted, SlotKind, SlotRow, cost_parameters, slot_commitment, slot_header, slot_private_key,
  slot_seed)
from vault_slot_shape import slot_of
from vault_writer import CHEAP, INTERACTIVE, finished_head
from vector_cases import (
  ADMINISTRATION, BINDING, CHECKS, DEVICE, EPOCH, OPEN, RECOVERY_CODE, ROOT, SALT, TIERS, VAULT,
  Cases, pattern, refuses)

PASSPHRASE = "correct horse battery staple \u00e9"
KEY_FILE = pattern(0x80, 100)
IDENTITY = Keys(pattern(0x70, 32))
SENDER = pattern(0x90, 32)
COST = cost_parameters(CHEAP.memory, CHEAP.passes)
INPUT_KEYS = {
  SlotKind.PASSPHRASE: keys.passphrase_key(
    PASSPHRASE.encode("utf-8"), SALT, CHEAP.memory, CHEAP.passes),
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
  head_cases(cases)
  input_key_cases(cases)
  for number, (kind, granted) in enumerate(GRANTS, start=1):
    one_slot_cases(cases, number, kind, granted)
  shape_cases(cases)


def head_cases(cases: Cases) -> None:
  for generation in (1, 1 << 32):
    head = finished_head(
      Head(VAULT, EPOCH, CHECKS, NO_FEATURES, ADMINISTRATION, generation=generation), TIERS)
    given = {"root": ROOT, "vault": VAULT, "epoch": EPOCH, "administration": ADMINISTRATION,
             "generation": generation}
    cases.add("head macs", f"generation {generation}", b"".join(head.macs), **given)
    cases.add("head sum", f"generation {generation}", head.sum, **given)
  parameters = {
    "none": NO_FEATURES, "a feature": u32(1) + text("generations"), "two features":
    u32(2) + text("a") + text("b"), "no bytes": b"", "a byte follows": NO_FEATURES + b"\0",
    "count beyond the end": u32(1), "feature that is not UTF-8": u32(1) + u32(1) + b"\xff"}
  for variant, data in parameters.items():
    known = not refuses(features, data) and features(data) == []
    assert known == (variant == "none")
    cases.add("checked features", variant, data if known else None, parameters=data)


def input_key_cases(cases: Cases) -> None:
  for variant, cost in {"64 KiB, 1 pass": CHEAP, "64 MiB, 2 passes": INTERACTIVE}.items():
    key = keys.passphrase_key(PASSPHRASE.encode("utf-8"), SALT, cost.memory, cost.passes)
    cases.add("passphrase input key", variant, key, passphrase=PASSPHRASE, salt=SALT,
              memory=cost.memory, passes=cost.passes)
    cases.add("passphrase parameters", variant, cost_parameters(cost.memory, cost.passes),
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
    private_key, seed = slot_private_key(key, header), slot_seed(key, header)
    cases.add("slot private key", variant, private_key, **opening, **given)
    cases.add("slot public key", variant, public_key(private_key), **opening, **given)
    cases.add("slot signing seed", variant, seed, **opening, **given)
    cases.add("slot signing key", variant, signing_public_key(seed), **opening, **given)
  plain = GRANTED_KEYS[granted] + BINDING
  box = sealed_box(public_key(private_key), plain, SENDER)
  slot = SlotRow(number, int(kind), int(granted), parameters, SALT, made, commitment, box)
  row_cases(cases, variant, slot)
  opening_cases(cases, variant, slot, opening, plain)


def opening_cases(
  cases: Cases, variant: str, slot: SlotRow, opening: dict[str, bytes], plain: bytes,
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
    "box that is cut short": replace(slot, box=slot.box[:-1]),
    "box of no bytes": replace(slot, box=b""),
    "box that was changed": replace(slot, box=slot.box[:-1] + bytes([slot.box[-1] ^ 1])),
    "box of fewer bytes": replace(slot, box=sealed_box(key_of, plain[:-1], SENDER)),
    "box of more bytes": replace(slot, box=sealed_box(key_of, plain + b"\0", SENDER))}
  for change, row in slots.items():
    columns = {column: value for column, value in vars(row).items() if column != "sum"}
    given = f"{variant}, {change}" if change else variant
    cases.add("opened slot", given, None if change else plain, vault=VAULT, **opening, **columns)
  columns = {column: value for column, value in vars(slot).items() if column != "sum"}
  cases.add("opened slot", f"{variant}, another vault", None, vault=bytes(16), **opening, **columns)
  cases.add("opened slot", f"{variant}, another secret", None, vault=VAULT, **{name: pattern(9, 32)},
            **columns)


def row_cases(cases: Cases, variant: str, slot: SlotRow) -> None:
  given = {name: value for name, value in vars(slot).items() if name != "sum"}
  cases.add("slot row", variant, slot.fields(), **given)
  cases.add("slot row hash", variant, slot.row_hash(), **given)
  cases.add("slot sum", variant, slot.computed_sum(), **given)


def shape_cases(cases: Cases) -> None:
  """Rows of slots, right and wrong; the sum of each is right, unless that is what is wrong."""
  passphrase, recipient, device = (sample_slot(kind) for kind in (
    SlotKind.PASSPHRASE, SlotKind.RECIPIENT, SlotKind.DEVICE))
  costs = {
    "memory of 8 KiB": (8192, 1), "memory of 1 GiB": (1 << 30, 10), "memory of 7 KiB": (7168, 1),
    "memory above 1 GiB": ((1 << 30) + 1024, 1), "memory of 1 TiB": (1 << 40, 3),
    "memory not of whole KiB": (8193, 1), "no memory": (0, 1), "no passes": (65536, 0),
    "11 passes": (65536, 11)}
  rows = {variant: replace(passphrase, parameters=cost_parameters(*cost))
          for variant, cost in costs.items()}
  rows |= {
    "right": passphrase, "another sum": replace(passphrase, sum=bytes(16)),
    "parameters too long": replace(passphrase, parameters=COST + b"\0"),
    "parameters too short": replace(passphrase, parameters=COST[:-1]),
    "parameters of a device": replace(device, parameters=COST),
    "salt too short": replace(device, salt=bytes(31)), "made too long": replace(device, made=bytes(33)),
    "commitment too short": replace(device, commitment=bytes(31)),
    "box too short": replace(device, box=bytes(111)), "box too long": replace(device, box=bytes(113)),
    "box of all tiers that grants the root key": replace(device, box=bytes(176)),
    "box of the root key that grants all tiers": replace(recipient, granted=3, box=bytes(112)),
    "recipient that reads": replace(recipient, granted=4, box=bytes(176)),
    "number 0": replace(device, number=0), "greatest number": replace(device, number=(1 << 32) - 1)}
  for variant, row in rows.items():
    row = row if row.sum else row.finished()
    good = is_intact(row)
    cases.add("checked slot", variant, row.fields() if good else None, **vars(row))


def sample_slot(kind: SlotKind) -> SlotRow:
  parameters = COST if kind == SlotKind.PASSPHRASE else b""
  return SlotRow(5, int(kind), 1, parameters, SALT, ADMINISTRATION, pattern(1, 32), pattern(2, 112))


def is_intact(row: SlotRow) -> bool:
  try:
    return slot_of(row.columns()).computed_sum() == row.sum
  except FormatError:
    return False
