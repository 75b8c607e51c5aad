internal import KeychainCredentials
internal import KeychainVaultFormat

extension SeenRecord {
  /// Returns why a state of the vault is refused; `nil` if it is not.
  func failure(of found: SeenState, at path: String) -> KeychainError? {
    switch relation(of: found) {
    case .sameOrNewer: nil
    case .older: .rolledBack(path, from: state.counter, to: found.counter)
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

  fileprivate static func rolledBack(_ path: String, from seen: UInt64, to found: UInt64) -> Self {
    Self(
      .rolledBack,
      "the vault \(path) was rolled back: it is at change \(found), and was at \(seen) before",
      recovery: otherFile("the newer file"))
  }

  fileprivate static func forked(_ path: String) -> Self {
    Self(
      .rolledBack,
      "the vault \(path) was forked: two copies of it were changed, and this is not the one "
        + "that was seen here before",
      recovery: otherFile("the other copy"))
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
