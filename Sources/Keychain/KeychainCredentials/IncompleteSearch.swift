extension KeychainError {
  /// Creates the error for a search that may have missed credentials; `nil` if it looked at all of
  /// them.
  ///
  /// An item that could not be read may be the one that is missing, so a search that must find one
  /// credential, or all, throws this error. If there are several reasons, it gives the first of
  /// these: a store that could not be searched, damaged items, locked items, items of another
  /// device.
  package init?(
    incomplete result: CredentialSearchResult,
    unlocking: Recovery = "unlock the store that has them"
  ) {
    if let failure = result.failures.first {
      self = failure
    } else if !result.damaged.isEmpty {
      self = .damagedItems(result.damaged)
    } else if result.lockedCount > 0 {
      self.init(.locked, Self.number(result.lockedCount, "locked"), recovery: unlocking)
    } else if result.otherDeviceCount > 0 {
      self.init(.otherDevice, Self.number(result.otherDeviceCount, "bound to another device"))
    } else {
      return nil
    }
  }

  private static func number(_ count: Int, _ state: String) -> String {
    count == 1 ? "1 item that may match is \(state)" : "\(count) items that may match are \(state)"
  }

  /// Returns the error for damaged items.
  package static func damagedItems(_ names: [String]) -> Self {
    let subject = names.count == 1 ? "1 item is" : "\(names.count) items are"
    return Self(
      .damaged, "\(subject) damaged: " + names.joined(separator: "; "),
      recovery: .verify)
  }
}
