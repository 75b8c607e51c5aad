"""Helpers of the tests of exports."""

from __future__ import annotations

from dataclasses import replace

import pytest

from export_content import Content, ExportedItem
from export_reader import read_export
from sample_export import PASSPHRASE
from sample_vault import generic
from vault_errors import VaultError

ITEM = ExportedItem(0, generic("s", "a"), b"secret")
SMALL = Content(1, 2, (ITEM, replace(ITEM, metadata=generic("s", "b"), item_class=4)))


def error_code(file: bytes, passphrase: bytes = PASSPHRASE) -> str:
  with pytest.raises(VaultError) as raised:
    read_export(file, passphrase)
  return raised.value.code
