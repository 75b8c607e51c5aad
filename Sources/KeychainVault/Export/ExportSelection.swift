internal import Foundation
package import KeychainCredentials
internal import KeychainVaultFormat
internal import PrephirencesFiles

/// Selects the items of a vault for an export.
struct ExportSelection {
  /// The searches; an item must match one of them.
  ///
  /// `nil` selects every item.
  let queries: [CredentialQuery]?

  func contains(_ credential: Credential) -> Bool {
    queries?.contains { $0.matches(credential) } ?? true
  }

  /// Returns the number of selected items by accessibility, including locked and device-bound
  /// items.
  func counts(
    _ rows: any VaultRows, _ sealing: ItemSealing
  ) throws(KeychainError) -> [Accessibility: Int] {
    guard let queries else { return try rows.itemCounts() }
    var ids: Set<Data> = []
    for query in queries { ids.formUnion(try Self.items(query, rows, sealing)) }
    var counts: [Accessibility: Int] = [:]
    for id in ids {
      guard let item = try rows.item(id) else { throw .damagedItem(ItemRow.name(of: id)) }
      counts[item.accessibility, default: 0] += 1
    }
    return counts
  }

  /// Returns the items that match, from both trees, because one changed byte can make either miss
  /// an item.
  private static func items(
    _ query: CredentialQuery, _ rows: any VaultRows, _ sealing: ItemSealing
  ) throws(KeychainError) -> Set<Data> {
    var tokens: Set<Data> = []
    for pair in query.pairs { tokens.insert(try sealing.token(of: pair)) }
    var found: Set<Data>?
    for token in tokens {
      let items = Set(try rows.items(withToken: token))
      found = found?.intersection(items) ?? items
    }
    if let found { return try found.union(rows.items(withAll: tokens)) }
    var all: Set<Data> = []
    try rows.forEachItem { id, _ throws(KeychainError) in all.insert(id) }
    return all
  }
}

extension Vault {
  /// Returns the number of items that match one of several searches, by accessibility.
  ///
  /// Locked and device-bound items count. If no device key opens the indexes, this may ask for what
  /// unlocks them.
  ///
  /// - Parameter queries: The searches; `nil` for every item.
  /// - Returns: The numbers, without entries of 0.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/noStore`` if there is no vault.
  package func itemCounts(
    matching queries: [CredentialQuery]?
  ) throws(KeychainError) -> [Accessibility: Int] {
    let session = try existingSession()
    guard queries != nil else {
      return try session.opened.storage.read(session.deadline) { rows throws(KeychainError) in
        try rows.itemCounts()
      }
    }
    let selection = ExportSelection(queries: queries)
    return try session.read(.nothing) { rows, sealing, _ throws(KeychainError) in
      .done(try selection.counts(rows, sealing))
    }
  }
}

extension [Accessibility: Int] {
  /// The requirement that must be met to export the items that may leave the machine.
  package var requirementOfExport: Accessibility.UnlockRequirement {
    keys.filter { !$0.isThisDeviceOnly }.map(\.unlockRequirement).max() ?? .nothing
  }
}
