internal import KeychainVault

/// Copies that a migration has left in its target, while their services still have the source.
package struct UnfinishedCopies: Hashable, Sendable {
  /// Where the credentials were copied from.
  package let source: StoreKind

  /// Where the copies are.
  package let target: StoreKind

  /// How many were made; some may have been removed since.
  package let count: Int
}

extension MigrationNotes {
  /// What the notes say of each way; nothing where they cannot be read.
  static func unfinished(_ vault: Vault) -> [UnfinishedCopies] {
    let notes = (try? vault.copyNotes().all()) ?? []
    let counts = notes.reduce(into: [:]) { $0[$1.way, default: 0] += 1 }
    return counts.sorted { $0.key < $1.key }.compactMap { way, count in
      let kinds = way.split(separator: ":").compactMap { StoreKind(rawValue: String($0)) }
      guard kinds.count == 2 else { return nil }
      return UnfinishedCopies(source: kinds[0], target: kinds[1], count: count)
    }
  }
}
