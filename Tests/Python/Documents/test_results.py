"""Compiler warnings for unused results."""

from __future__ import annotations

from compiling import typecheck

CALLS = """import Keychain

func copy(_ vault: Vault, passphrase: borrowing SecretBytes) throws {
  try vault.export(to: "a", passphrase: passphrase)
  try vault.export(toFileDescriptor: 1, passphrase: passphrase)
  try vault.importItems(from: "a", passphrase: passphrase)
  try vault.importItems(fromFileDescriptor: 0, passphrase: passphrase)
  try vault.backup(to: "b", replacing: true)
}
"""


def test_discardable_results_may_be_ignored(tmp_path):
  source = tmp_path / "main.swift"
  source.write_text(CALLS)
  outcome = typecheck(source, options=("-warnings-as-errors",))
  assert outcome.returncode == 0, outcome.stderr


def test_ignored_main_result_is_noticed(tmp_path):
  """The check itself finds a known warning."""
  source = tmp_path / "main.swift"
  source.write_text("import Keychain\nfunc look(_ vault: Vault) throws { try vault.status() }\n")
  assert "unused" in typecheck(source, options=("-warnings-as-errors",)).stderr
