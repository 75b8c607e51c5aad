package import Foundation
package import KeychainCredentials
package import KeychainSecrets

/// The row that shows which keys the vault has now.
package struct VaultRow: Hashable, Sendable {
  package let checks: VaultChecks
  package let sum: Data

  package init(checks: VaultChecks) throws(KeychainError) {
    self.checks = checks
    sum = try Derivation.hash(Data(Self.fields(checks)), count: 16)
  }

  /// Reads a row, and checks its sum.
  package init(check0: Data, check1: Data, check2: Data, sum: Data, path: String)
    throws(KeychainError)
  {
    try self.init(checks: VaultChecks(open: check0, first: check1, unlocked: check2))
    guard [check0, check1, check2].allSatisfy({ $0.count == 16 }), sum == self.sum else {
      throw .damagedVault(path, "its first row is damaged")
    }
  }

  /// The fields that the sum and the state term cover.
  package var fields: [UInt8] { Self.fields(checks) }

  private static func fields(_ checks: VaultChecks) -> [UInt8] {
    FieldWriter.fields {
      $0.integer(VaultSchema.version)
      for tier in Tier.allCases { $0.byteString(checks[tier]) }
    }
  }
}

// The one place that decides whether a key belongs to a vault.
//
// The row's sum has no key: whoever can write the file can put checks of another vault there. So
// every key is checked here first, whoever presents it.
// keys asks here first, whoever presents them.
extension VaultRow {
  /// Whether a key from a slot belongs to this vault: a root key must yield all three checks.
  package func owns(
    _ key: borrowing SecretBytes, _ grant: SlotGrant
  ) throws(KeychainError) -> Bool {
    switch grant {
    case .root: try TierKeys(root: key).checks == checks
    case .openTier: try owns(key, .open)
    }
  }

  /// Whether a key is the key of a tier of this vault.
  package func owns(_ key: borrowing SecretBytes, _ tier: Tier) throws(KeychainError) -> Bool {
    try VaultChecks.of(key) == checks[tier]
  }
}

extension KeychainError {
  /// Returns the error for a file that is damaged as a whole.
  package static func damagedVault(_ path: String, _ reason: String) -> Self {
    Self(.damaged, "the vault \(path) is damaged: \(reason)", recovery: .restoreBackup)
  }
}
