internal import KeychainVault

/// Copies that a migration has left in its target, while their services still use the source.
package struct UnfinishedCopies: Hashable, Sendable {
  /// Where the credentials were copied from; its collection is not known.
  package let source: StorePlace

  /// Where the copies are; its collection is not known.
  package let target: StorePlace

  /// How many were made; some may have been removed since.
  package let count: Int
}

extension AutomaticStore {
  /// Returns the copies of migrations whose services have not changed over; an empty array if the
  /// notes cannot be read.
  package func unfinishedCopies() -> [UnfinishedCopies] {
    let notes = (try? CopyNotes(state).all()) ?? []
    let counts = notes.reduce(into: [:]) { $0[$1.way, default: 0] += 1 }
    return counts.sorted { $0.key < $1.key }.compactMap { way, count in
      let places = way.split(separator: ":").compactMap { StorePlace(name: String($0)) }
      guard places.count == 2 else { return nil }
      return UnfinishedCopies(source: places[0], target: places[1], count: count)
    }
  }
}
