package import KeychainCredentials
internal import KeychainVaultFormat

/// Selects the items of a vault for an export.
struct ExportSelection {
  /// The searches; an item must match one of them.
  ///
  /// `nil` selects every item.
  let queries: [CredentialQuery]?

  func contains(_ credential: Credential) -> Bool {
    queries?.contains { $0.matches(credential) } ?? true
  }

  /// Returns the number of selected items by accessibility, including items that are locked,
  /// damaged, or bound to another device: they may match.
  ///
  /// Items on damaged pages are not among them.
  func counts(
    _ contents: VaultContents, _ sealing: ItemSealing
  ) throws(KeychainError) -> [Accessibility: Int] {
    guard let queries else { return try contents.itemCounts(sealing.keys).known }
    var matchers: [ItemMatcher] = []
    for query in queries { matchers.append(try ItemMatcher(query, sealing)) }
    var counts: [Accessibility: Int] = [:]
    try contents.forEachItem(sealing.keys) { visited throws(KeychainError) in
      guard case .item(let item) = visited else { return }
      for matcher in matchers {
        if case .nothing = try matcher.match(item) { continue }
        counts[item.accessibility, default: 0] += 1
        return
      }
    }
    return counts
  }
}

extension Vault {
  /// Returns the number of items that match one of several searches, by accessibility.
  ///
  /// Locked and device-bound items count. If no key of this device is at hand, this may ask for what
  /// unlocks the vault.
  ///
  /// - Parameter queries: The searches; `nil` for every item.
  /// - Returns: The numbers, without entries of 0.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/noStore`` if there is no vault.
  package func itemCounts(
    matching queries: [CredentialQuery]?
  ) throws(KeychainError) -> [Accessibility: Int] {
    let selection = ExportSelection(queries: queries)
    return try existingSession().read(.nothing) { contents, sealing throws(KeychainError) in
      .done(try selection.counts(contents, sealing))
    }
  }
}

extension [Accessibility: Int] {
  /// The requirement that must be met to export the items that may leave the machine.
  package var requirementOfExport: Accessibility.UnlockRequirement {
    keys.filter { !$0.isThisDeviceOnly }.map(\.unlockRequirement).max() ?? .nothing
  }
}
