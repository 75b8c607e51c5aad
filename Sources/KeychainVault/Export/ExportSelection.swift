internal import Foundation
package import KeychainCredentials
internal import KeychainVaultFormat
internal import PrephirencesFiles

/// Which items of a vault go into an export.
struct ExportSelection {
  /// The searches of which an item must match one; `nil` for every item.
  let queries: [CredentialQuery]?

  func contains(_ credential: Credential) -> Bool {
    queries?.contains { $0.matches(credential) } ?? true
  }

  /// How many items are selected, by accessibility, locked and device-bound ones included.
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

  /// The items that match, through both trees: one changed byte can make either miss an item.
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
  /// Returns how many items match one of several searches, by accessibility.
  ///
  /// Locked and device-bound items count. What unlocks the indexes may be asked for, where no device key
  /// opens them.
  ///
  /// - Parameter queries: The searches; `nil` for every item.
  /// - Returns: The numbers; what there is none of is left out.
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
  /// What must be unlocked to export the items that may leave the machine.
  package var requirementOfExport: Accessibility.UnlockRequirement {
    keys.filter { !$0.isThisDeviceOnly }.map(\.unlockRequirement).max() ?? .nothing
  }
}
