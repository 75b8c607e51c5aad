"""The keys of vault format 3, and their derivations."""

from __future__ import annotations

from functools import lru_cache

from argon2.low_level import Type, hash_secret_raw

from vault_notation import derive, digest, labelled_hash, sized, text, u8, u64

TIERS = (0, 1, 2)

ACCESSIBILITIES = (
  "whenUnlocked",
  "whenUnlockedThisDeviceOnly",
  "afterFirstUnlock",
  "afterFirstUnlockThisDeviceOnly",
  "always",
  "alwaysThisDeviceOnly",
  "whenPasscodeSetThisDeviceOnly",
)

TIER_OF_CLASS = (2, 2, 1, 1, 0, 0, 2)
DEVICE_CLASSES = frozenset({1, 3, 5, 6})
# What each kind of box under a key of T0 is derived with.
BOX_LABELS = {
  "members": "pk3/members", "commit": "pk3/commit", "index": "pk3/index", "spine": "pk3/spine",
  "page": "pk3/page"}


def tier_key(root: bytes, vault: bytes, epoch: int, tier: int) -> bytes:
  """The key of a tier, by the root key, the id of the vault and the epoch."""
  return derive(root, "pk3/tier", sized(vault) + u64(epoch) + u8(tier))


def tier_keys(root: bytes, vault: bytes, epoch: int) -> list[bytes]:
  return [tier_key(root, vault, epoch, tier) for tier in TIERS]


def tier_check(key: bytes) -> bytes:
  return derive(key, "pk3/check")[:16]


def box_key(open_key: bytes, kind: str) -> bytes:
  """The key of one kind of box, by T0."""
  return derive(open_key, BOX_LABELS[kind])


def names_key(key_of_tier: bytes) -> bytes:
  """The key of the inner half of a part."""
  return derive(key_of_tier, "pk3/names")


def administration_box_key(root: bytes) -> bytes:
  return derive(root, "pk3/admin")


def binding(vault: bytes, epoch: int, administration: bytes) -> bytes:
  """`B`: what a key belongs to."""
  return labelled_hash("pk3/binding", sized(vault) + u64(epoch) + sized(administration))


def vault_check(vault: bytes, administration: bytes) -> bytes:
  """What people compare, and identities are pinned to."""
  return labelled_hash("pk2/vault.check", sized(vault) + sized(administration))[:16]


def device_id(device_secret: bytes, vault: bytes) -> bytes:
  return derive(device_secret, "pk2/device.id", sized(vault))[:16]


def class_key(key_of_tier: bytes, item_class: int, device_secret: bytes | None = None) -> bytes:
  """The key of a class, by the key of its tier; ThisDeviceOnly classes need the device secret."""
  key = derive(key_of_tier, "pk3/class", u8(item_class))
  if item_class not in DEVICE_CLASSES:
    return key
  if device_secret is None:
    raise ValueError("the key of a ThisDeviceOnly class takes the device secret")
  return derive(key, "pk3/class.device", sized(device_secret))


def item_key(key_of_class: bytes, item_id: bytes, version: int) -> bytes:
  """The key of the box of one secret."""
  return derive(key_of_class, "pk3/item", item_id + u64(version))


def item_id(open_key: bytes, encoded_identity: bytes) -> bytes:
  return derive(open_key, "pk3/id", encoded_identity)


def service_mark(open_key: bytes, service: str) -> bytes:
  """What an entry has of its service or server."""
  return derive(open_key, "pk3/service", text(service))[:8]


@lru_cache
def passphrase_key(passphrase: bytes, salt: bytes, memory: int, passes: int) -> bytes:
  """The input key of a passphrase slot, kept, as tests hash the same one often."""
  return hash_secret_raw(
    passphrase, salt[:16], time_cost=passes, memory_cost=memory // 1024, parallelism=1,
    hash_len=32, type=Type.ID, version=19)


def key_file_key(contents: bytes) -> bytes:
  """The input key of a key-file slot."""
  if not 32 <= len(contents) <= 64 * 1024:
    raise ValueError("a key file has 32 bytes to 64 KiB")
  return digest(32, contents)
