"""Just before an export or import ends, its memory has no copy of a secret, passphrase or key."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest

from export_stream import Head, export_key
from test_memory import PASSPHRASE, all_keys, at_exit, copies, protected
from vault_notation import Cursor

__all__ = ["protected"]

EXPORT_PASSPHRASE = secrets.token_hex(24).encode()


def keys_of(path: Path) -> dict[str, bytes]:
  head = Head.take(Cursor(path.read_bytes()))
  key = head.input_key(EXPORT_PASSPHRASE)
  return {"hash of the export": key, "key of the export": export_key(key, head.encoded())}


@pytest.mark.parametrize("size", [64, 5000, 300_000])
def test_export_and_import(protected, size, tracing):
  secret = secrets.token_bytes(size)
  parts = {f"secret at {at}": secret[at:at + 32] for at in range(0, size - 31, 9973)}
  options = [*protected.passphrase(PASSPHRASE),
             *("--export-passphrase-file", protected.file("pass", EXPORT_PASSPHRASE))]
  protected.set("alice", secret, *options[:2])
  values = parts | {"passphrase": PASSPHRASE, "of the export": EXPORT_PASSPHRASE}
  _, found = at_exit(protected, "export", "x.export", *options)
  made = keys_of(protected.folder / "x.export")
  assert copies(found, values | made | all_keys(protected)) == []
  old = secrets.token_bytes(64)
  protected.set("alice", old, *options[:2])
  _, found = at_exit(protected, "import", "x.export", "--overwrite", *options)
  assert protected.get("alice", *options[:2]) == secret
  assert copies(found, values | made | {"old": old} | all_keys(protected)) == []
