import FaultTesting
import KeychainVaultTesting

extension Child {
  /// Starts a process of the writer tool on a vault.
  init(_ arguments: [String], on vault: TestVault) throws {
    try self.init(running: "VaultWriterTool", arguments, environment: vault.environment)
  }
}
