"""Vectors of the notation, the primitives, and the keys."""

from __future__ import annotations

import vault_keys as keys
from item_cases import GENERIC
from vault_codes import base32, public_key
from vault_notation import (
  FormatError, derive, digest, labelled_hash, open_sealed_box, optional, seal, sealed_box, text)
from vault_signing import (
  is_signed, is_signing_key, labelled, sign, signing_public_key)
from vector_cases import (
  ADMINISTRATION, ADMINISTRATION_SEED, CHECKS, DEVICE, EPOCH, NONCE, OPEN, RECOVERY_CODE, ROOT,
  TIERS, VAULT, Cases, pattern)

PRIVATE_KEY = pattern(0x70, 32)
SENDER = pattern(0x90, 32)
ORDER = 2**252 + 27742317777372353535851937790883648493


def notation_cases(cases: Cases) -> None:
  for variant, value in {"empty": "", "composed": "\u00e9", "decomposed": "e\u0301",
                         "NUL": "a\0b"}.items():
    cases.add("text", variant, text(value), value=value)
  cases.add("optional text", "absent", optional(None))
  cases.add("optional text", "present", optional(text("a")), value="a")
  cases.add("derive", "no fields", derive(ROOT, "pk3/check"), key=ROOT, fields=b"",
            label="pk3/check")
  cases.add(
    "derive", "label of 16 bytes", derive(ROOT, "pk3/class.device", b"abc"), key=ROOT,
    fields=b"abc", label="pk3/class.device")
  cases.add("derive", "key of 16 bytes", derive(RECOVERY_CODE, "item", b"abc"),
            key=RECOVERY_CODE, fields=b"abc", label="item")
  cases.add("hash", "16", digest(16, b"abc"), data=b"abc", count=16)
  cases.add("hash", "32", digest(32, b"abc"), data=b"abc", count=32)
  cases.add("box", "", seal(ROOT, b"message", NONCE), key=ROOT, nonce=NONCE, message=b"message")
  cases.add("labelled hash", "no bytes", labelled_hash("pk3/page", b""), label="pk3/page", data=b"")
  cases.add("labelled hash", "label of 16 bytes", labelled_hash("pk3/class.device", b"abc"),
            label="pk3/class.device", data=b"abc")
  sealed_cases(cases)
  signature_cases(cases)


def sealed_cases(cases: Cases) -> None:
  """Boxes are opened: the sender's key of a box is always random."""
  box = sealed_box(public_key(PRIVATE_KEY), b"message", SENDER)
  boxes = {
    "opens": box, "last byte changed": box[:-1] + bytes([box[-1] ^ 1]),
    "first byte changed": bytes([box[0] ^ 1]) + box[1:], "cut short": box[:-1],
    "shorter than a box": box[:47], "for another": sealed_box(public_key(SENDER), b"message", ROOT)}
  for variant, changed in boxes.items():
    cases.add("opened sealed box", variant, opened(changed), privateKey=PRIVATE_KEY, box=changed)


def opened(box: bytes) -> bytes | None:
  try:
    return open_sealed_box(PRIVATE_KEY, box)
  except FormatError:
    return None


def signature_cases(cases: Cases) -> None:
  seed, label, message = ADMINISTRATION_SEED, "pk3/members", b"message"
  key, good = signing_public_key(seed), sign(seed, label, message)
  cases.add("signing public key", "", key, seed=seed)
  for variant, signed in (("", b"message"), ("no message", b"")):
    cases.add("signature", variant, sign(seed, label, signed), seed=seed, label=label,
              message=signed)
  cases.add("signature", "label of 14 bytes", sign(seed, "pk3/succession", message), seed=seed,
            label="pk3/succession", message=message)
  scalar = int.from_bytes(good[32:], "little") + ORDER
  identity_point = b"\1" + bytes(31)
  forged = {
    "right": (key, label, message, good), "another message": (key, label, b"massage", good),
    "another label": (key, "pk3/commit", message, good),
    "another key": (signing_public_key(ROOT), label, message, good),
    "first byte changed": (key, label, message, bytes([good[0] ^ 1]) + good[1:]),
    "last byte changed": (key, label, message, good[:-1] + bytes([good[-1] ^ 1])),
    "label within the message": (key, "", labelled(label, message), good),
    "not reduced": (key, label, message, good[:32] + scalar.to_bytes(32, "little")),
    "key of low order": (identity_point, label, message, identity_point + bytes(32)),
    "zero": (key, label, message, bytes(64))}
  for variant, (public, name, signed, signature) in forged.items():
    holds = is_signed(public, name, signed, signature)
    assert holds == (variant == "right"), variant
    cases.add("checked signature", variant, signed if holds else None, publicKey=public,
              label=name, message=signed, signature=signature)
  points = {
    "right": key, "identity": identity_point, "zero": bytes(32),
    "point of order 2": (2**255 - 20).to_bytes(32, "little"),
    "not reduced": (2**255 - 18).to_bytes(32, "little"), "no point": b"\2" + bytes(31),
    "ones": b"\xff" * 32, "top bit of the identity set": b"\1" + bytes(30) + b"\x80"}
  for variant, point in points.items():
    assert is_signing_key(point) == (variant == "right"), variant
    cases.add("checked signing key", variant, point if is_signing_key(point) else None,
              publicKey=point)


def key_cases(cases: Cases) -> None:
  vault_cases(cases)
  for number, name in enumerate(keys.ACCESSIBILITIES):
    tier = TIERS[keys.TIER_OF_CLASS[number]]
    bound = {"device": DEVICE} if number in keys.DEVICE_CLASSES else {}
    cases.add("class key", name, keys.class_key(tier, number, DEVICE), tierKey=tier, **bound,
              **{"class": number})
  class_key, item_id = keys.class_key(TIERS[2], 0), keys.item_id(OPEN, GENERIC.encoded())
  for version in (1, (1 << 63) - 1):
    cases.add("item key", f"version {version}", keys.item_key(class_key, item_id, version),
              classKey=class_key, id=item_id, version=version)
  for service in ("", "example.org", "e\u0301"):
    cases.add("service", repr(service), keys.service_mark(OPEN, service), tier0=OPEN,
              value=service)


def vault_cases(cases: Cases) -> None:
  """What depends on the vault, its epoch and its administration key."""
  for tier in keys.TIERS:
    for epoch in (1, EPOCH, 1 << 31):
      key = keys.tier_key(ROOT, VAULT, epoch, tier)
      cases.add("tier", f"{tier}, epoch {epoch}", key, root=ROOT, vault=VAULT, epoch=epoch, tier=tier)
    cases.add("check", str(tier), CHECKS[tier], tierKey=TIERS[tier])
    cases.add("names key", str(tier), keys.names_key(TIERS[tier]), tierKey=TIERS[tier])
  cases.add("binding", "", keys.binding(VAULT, EPOCH, ADMINISTRATION), vault=VAULT, epoch=EPOCH,
            administration=ADMINISTRATION)
  cases.add("vault check", "", keys.vault_check(VAULT, ADMINISTRATION), vault=VAULT,
            administration=ADMINISTRATION)
  cases.add("device id", "", keys.device_id(DEVICE, VAULT), device=DEVICE, vault=VAULT)
  for kind in keys.BOX_LABELS:
    cases.add(f"{kind} box key", "", keys.box_key(OPEN, kind), tier0=OPEN)
  cases.add("administration box key", "", keys.administration_box_key(ROOT), root=ROOT)
  for variant, digest_given in (("", pattern(0x31, 32)), ("zero", bytes(32))):
    cases.add("witness", variant, base32(digest_given[:20]).encode("ascii"), digest=digest_given)
