"""The sums of the tokens, by which a search proves that it is complete."""

from __future__ import annotations

from collections.abc import Iterable

from vault_keys import token_term
from vault_notation import Cursor, u64
from vault_records import ItemRow

MODULUS = 1 << 256


def token_sum(open_key: bytes, token: bytes, items: Iterable[bytes]) -> bytes:
  """The sum of the terms of the items of a token."""
  terms = (int.from_bytes(token_term(open_key, token, item), "little") for item in items)
  return (sum(terms) % MODULUS).to_bytes(32, "little")


def token_entry(open_key: bytes, token: bytes, items: list[bytes]) -> bytes:
  """The value of a token in its tree."""
  return u64(len(items)) + token_sum(open_key, token, items)


def entry_count(entry: bytes) -> int:
  return Cursor(entry).u64()


def token_entries(open_key: bytes, rows: Iterable[ItemRow]) -> dict[bytes, bytes]:
  """The keys and values of the tree of tokens, by what the items list."""
  found: dict[bytes, list[bytes]] = {}
  for row in rows:
    for token in row.token_list():
      found.setdefault(token, []).append(row.id)
  return {token: token_entry(open_key, token, items) for token, items in found.items()}
