internal import Foundation
internal import KeychainCredentials

/// The row that tells which keys the vault has now.
struct VaultRow: Hashable, Sendable {
  let checks: VaultChecks
  let sum: Data

  init(checks: VaultChecks) throws(KeychainError) {
    self.checks = checks
    sum = try Derivation.hash(Data(Self.fields(checks)), count: 16)
  }

  /// A row as it was read; the sum is checked.
  init(check0: Data, check1: Data, check2: Data, sum: Data, path: String) throws(KeychainError) {
    try self.init(checks: VaultChecks(open: check0, first: check1, unlocked: check2))
    guard [check0, check1, check2].allSatisfy({ $0.count == 16 }), sum == self.sum else {
      throw .damagedVault(path, "its first row is damaged")
    }
  }

  /// What the sum and the state term cover.
  var fields: [UInt8] { Self.fields(checks) }

  private static func fields(_ checks: VaultChecks) -> [UInt8] {
    FieldWriter.fields {
      $0.integer(VaultSchema.version)
      for tier in Tier.allCases { $0.byteString(checks[tier]) }
    }
  }
}
