internal import Foundation
internal import KeychainVaultFormat

/// What a vault is once a transaction is committed.
struct FinishedWrite {
  let proven: ProvenVault

  /// The box of the new state; `nil` if nothing was changed.
  let stateBox: Data?

  /// What the seen record must say.
  var record: SeenRecord { proven.record }
}
