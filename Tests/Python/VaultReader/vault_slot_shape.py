"""The shape of a slot's row, which is checked before anything is computed with it."""

from __future__ import annotations

from vault_notation import SEAL_OVERHEAD, FormatError
from vault_slots import SlotKind, SlotRow, check_cost, granted_count

BYTE_COLUMNS = (("parameters", None), ("salt", 32), ("made", 32), ("commitment", 32), ("box", None), ("sum", 16))
BINDING_COUNT = 32


def slot_of(row: tuple) -> SlotRow:
  """The slot of a row; raises `FormatError` if it is damaged."""
  slot = SlotRow(*row)
  limits = (("number", range(1, 1 << 32)), ("kind", range(256)), ("granted", range(256)))
  for column, limit in limits:
    value = getattr(slot, column)
    if not isinstance(value, int) or value not in limit:
      raise FormatError(f"the column {column} of a slot is out of range")
  for column, count in BYTE_COLUMNS:
    value = getattr(slot, column)
    if not isinstance(value, bytes) or count not in (None, len(value)):
      raise FormatError(f"the column {column} of a slot does not hold the bytes it should")
  if slot.is_known():
    check_known(slot)
  return slot


def check_known(slot: SlotRow) -> None:
  if len(slot.box) != SEAL_OVERHEAD + granted_count(slot.granted) + BINDING_COUNT:
    raise FormatError("the box of a slot has another length")
  if slot.kind == SlotKind.PASSPHRASE:
    check_cost(*slot.cost())
  elif slot.parameters:
    raise FormatError("a slot has parameters, and must not")
