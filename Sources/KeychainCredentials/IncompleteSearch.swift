extension KeychainError {
  /// The reason why more credentials may match than a search found; `nil` if it looked at all of them.
  ///
  /// What could not be looked at is no absence, so a search that must find one credential, or all, throws
  /// this. Of several reasons, the first of these counts: a store that could not be searched, damaged
  /// items, locked items, items of another device.
  ///
  /// - Parameter result: What the search found.
  package init?(incomplete result: CredentialSearchResult) {
    if let failure = result.failures.first {
      self = failure
    } else if !result.damaged.isEmpty {
      self = .damagedItems(result.damaged)
    } else if result.lockedCount > 0 {
      self.init(
        .locked, Self.number(result.lockedCount, "locked"),
        recovery: "unlock the store that has them")
    } else if result.otherDeviceCount > 0 {
      self.init(.otherDevice, Self.number(result.otherDeviceCount, "bound to another device"))
    } else {
      return nil
    }
  }

  private static func number(_ count: Int, _ state: String) -> String {
    count == 1 ? "1 item that may match is \(state)" : "\(count) items that may match are \(state)"
  }

  /// That items are damaged.
  package static func damagedItems(_ names: [String]) -> Self {
    let subject = names.count == 1 ? "1 item is" : "\(names.count) items are"
    return Self(
      .damaged, "\(subject) damaged: " + names.joined(separator: "; "),
      recovery: .verify)
  }
}
