"""Ed25519 as vault format 3 uses it: signatures with a label, and which public keys are ones."""

from __future__ import annotations

from nacl.bindings import (
  crypto_core_ed25519_is_valid_point, crypto_sign, crypto_sign_open, crypto_sign_seed_keypair)
from nacl.exceptions import CryptoError

from vault_notation import FormatError

SIGNATURE_COUNT = 64
LABEL_COUNT = 16


def signing_public_key(seed: bytes) -> bytes:
  """The public key of the key pair of a seed."""
  return crypto_sign_seed_keypair(seed)[0]


def sign(seed: bytes, label: str, message: bytes) -> bytes:
  """`Sign(seed, label, message)`."""
  _, private_key = crypto_sign_seed_keypair(seed)
  return crypto_sign(labelled(label, message), private_key)[:SIGNATURE_COUNT]


def is_signed(public_key: bytes, label: str, message: bytes, signature: bytes) -> bool:
  """Whether a signature holds."""
  if len(signature) != SIGNATURE_COUNT or len(public_key) != 32:
    return False
  try:
    crypto_sign_open(signature + labelled(label, message), public_key)
  except CryptoError:
    return False
  return True


def check_signed(public_key: bytes, label: str, message: bytes, signature: bytes) -> None:
  if not is_signed(public_key, label, message, signature):
    raise FormatError(f"a signature of {label} does not hold")


def is_signing_key(data: bytes) -> bool:
  """Whether 32 bytes are a point of the main subgroup in its only form."""
  return len(data) == 32 and crypto_core_ed25519_is_valid_point(data)


def labelled(label: str, message: bytes) -> bytes:
  return label.encode("ascii").ljust(LABEL_COUNT, b"\0") + message
