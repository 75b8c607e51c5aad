internal import Foundation
internal import KeychainCredentials
internal import KeychainVaultFormat

extension SeenRecord {
  /// Returns why a vault with this head is refused; `nil` if it is not.
  func failure(
    of head: HeadRow, _ successions: [SuccessionRow], at path: String
  ) throws(KeychainError) -> KeychainError? {
    guard id == head.id else { return .anotherVault(path) }
    if trusts(head.administration) { return nil }
    let leads = try Succession.lead(
      from: trusts, in: successions, to: head, trustingRecovery: recoveryKey)
    if leads { return nil }
    if head.epoch < state.epoch { return .olderList(path) }
    return head.epoch == state.epoch
      ? .forked(path) : .anotherAdministration(path, try head.check())
  }

  /// Returns why a state of the vault is refused; `nil` if it is not.
  func failure(of found: SeenState, at path: String) -> KeychainError? {
    switch relation(of: found) {
    case .same, .newer: nil
    case .olderList: .olderList(path)
    case .older: .olderState(path, from: state.counter, to: found.counter)
    case .forked: .forked(path)
    case .tooFarAhead: .tooFarAhead(path, found.counter, seen: state.counter)
    }
  }
}

/// Errors about a vault that does not match its seen record.
extension KeychainError {
  static func anotherVault(_ path: String) -> Self {
    Self(
      .rolledBack, "another vault is at \(path) than the one seen here before",
      recovery: otherFile("the right one")
    )
  }

  static func anotherAdministration(_ path: String, _ check: VaultCheck) -> Self {
    Self(
      .rolledBack,
      "the vault \(path) has another administration key than the one seen here before, and "
        + "nothing that is trusted here says that it changed; its check is \(check)",
      recovery: "ask who administers the vault; if \(.status) shows this check there, pin your "
        + "identity to it with \(.pinIdentity(check: "\(check)")), and accept the vault with "
        + "\(.acceptRestored); or put the right file back")
  }

  static func olderList(_ path: String) -> Self {
    Self(
      .rolledBack,
      "the vault \(path) was rolled back: its list of what opens it is older than the one seen "
        + "here before",
      recovery: otherFile("the newer file"))
  }

  static func olderState(_ path: String, from seen: UInt64, to found: UInt64) -> Self {
    Self(
      .rolledBack,
      "the vault \(path) was rolled back: it is at change \(found), and was at \(seen) before",
      recovery: otherFile("the newer file"))
  }

  static func forked(_ path: String) -> Self {
    Self(
      .rolledBack,
      "the vault \(path) was forked: two copies of it were changed, and this is not the one "
        + "that was seen here before",
      recovery: otherFile("the other copy"))
  }

  static let damagedChain = Self(
    .damaged, "the chain of the vault's last states is damaged: it does not lead to its state",
    recovery: .verify)

  static func tooManyChanges(_ path: String, _ found: UInt64) -> Self {
    Self(
      .rolledBack,
      "the vault \(path) counts \(found) changes, and was never seen here: no vault has so many, "
        + "so the file is forged",
      recovery: otherFile("a file that you trust"))
  }

  fileprivate static func tooFarAhead(_ path: String, _ found: UInt64, seen: UInt64) -> Self {
    Self(
      .rolledBack,
      "the vault \(path) counts \(found) changes, and \(seen) were seen before: there cannot have "
        + "been so many since, so the file is forged",
      recovery: otherFile("a file that you trust"))
  }

  private static func otherFile(_ name: String) -> Recovery {
    "put \(name) back, or accept this one with \(.acceptRestored)"
  }
}
