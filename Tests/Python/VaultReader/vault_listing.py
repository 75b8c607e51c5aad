"""Output of vaults and exports, and exit codes of the commands."""

from __future__ import annotations

import base64

from vault_errors import VaultError
from vault_items import IDENTITY_NAMES, Metadata
from vault_keys import ACCESSIBILITIES
from vault_notation import FormatError
from vault_state import Item

EXIT_CODES = {"wrong-key": 78, "refused": 79, "other-format": 79, "newer-format": 79}


def exit_code(error: VaultError | FormatError | OSError) -> int:
  if isinstance(error, OSError):
    return 74
  return EXIT_CODES.get(error.code, 65) if isinstance(error, VaultError) else 65


def described(item: Item, with_secret: bool) -> dict:
  """An item of a vault as JSON shows it."""
  entry = item.entry
  shown: dict = {
    "id": entry.id.hex(), "accessibility": ACCESSIBILITIES[entry.item_class],
    "version": entry.version, "status": item.status}
  if item.metadata is not None:
    shown |= described_metadata(item.metadata)
  return shown | described_secret(item.secret) if with_secret and item.secret is not None else shown


def described_metadata(metadata: Metadata) -> dict:
  """The metadata of an item as JSON shows it."""
  identity = metadata.identity
  return {
    "kind": identity.kind, "access-group": identity.group,
    **dict(zip(IDENTITY_NAMES[identity.kind], identity.parts, strict=True)),
    "label": metadata.label, "comment": metadata.comment, "content-type": metadata.content_type,
    "created": metadata.created, "modified": metadata.modified, "expires": metadata.expires,
    "attributes": [list(pair) for pair in metadata.ordered_attributes()]}


def described_secret(secret: bytes) -> dict:
  return {"secret": base64.b64encode(secret).decode("ascii")}


def print_items(items: list[dict]) -> None:
  for item in items:
    print("	".join(f"{name}={value!r}" for name, value in item.items() if value is not None))
