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
    _ rows: any VaultRows, _ sealing: ItemSealing, _ proven: ProvenVault
  ) throws(KeychainError) -> [Accessibility: Int] {
    guard let queries else { return try rows.itemCounts() }
    var search = VaultSearch(rows: rows, sealing: sealing, proven: proven)
    var items: [Data: Accessibility] = [:]
    for query in queries {
      for (id, item) in try search.candidates(query) {
        guard let item else { throw .damagedItem(ItemRow.name(of: id)) }
        if try Self.isMatch(item, query, &search) { items[id] = item.accessibility }
      }
    }
    return items.values.reduce(into: [:]) { $0[$1, default: 0] += 1 }
  }

  /// Whether an item that has the tokens of a query matches it.
  ///
  /// A part of the identity that must be missing has no token. Items that cannot be opened count.
  private static func isMatch(
    _ item: ItemRow, _ query: CredentialQuery, _ search: inout VaultSearch
  ) throws(KeychainError) -> Bool {
    let sealing = search.sealing
    guard !query.pairs.allSatisfy(ItemSealing.hasToken), !sealing.isOfOtherDevice(item),
      sealing.keys.satisfies(item.accessibility.unlockRequirement)
    else { return true }
    return query.matches(try search.credential(of: item))
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
    return try session.read(.nothing) { rows, sealing, proven throws(KeychainError) in
      .done(try selection.counts(rows, sealing, proven))
    }
  }
}

extension [Accessibility: Int] {
  /// The requirement that must be met to export the items that may leave the machine.
  package var requirementOfExport: Accessibility.UnlockRequirement {
    keys.filter { !$0.isThisDeviceOnly }.map(\.unlockRequirement).max() ?? .nothing
  }
}
