internal import KeychainVaultFormat
internal import Synchronization

/// What a handle itself has changed since the last scan of its observers, who heard of it at once.
final class OwnChanges: Sendable {
  /// What a commit left of an item: its version, or `nil` if it was removed.
  struct Change: Sendable {
    /// The number of the commit.
    let n: UInt64
    let version: UInt64?
  }

  /// `nil` if there are no observers.
  private let noted = Mutex<[ItemID: Change]?>(nil)

  /// Begins to note changes, or ends it.
  func keep(_ isKept: Bool) { noted.withLock { $0 = isKept ? [:] : nil } }

  /// Notes what a commit puts and removes.
  ///
  /// Call this under the vault's lock, before the commit is written: whoever sees the commit then finds
  /// the note.
  ///
  /// - Parameters:
  ///   - changes: The versions of the items that it puts; `nil` for those that it removes.
  ///   - n: The number of the commit, or of the base that it becomes.
  func note(_ changes: [ItemID: UInt64?], in n: UInt64) {
    noted.withLock { noted in
      guard noted != nil else { return }
      for (id, version) in changes { noted?[id] = Change(n: n, version: version) }
    }
  }

  /// Returns the newest version of each item that was changed in commits up to a number, and forgets
  /// it.
  func take(through n: UInt64) -> [ItemID: UInt64?] {
    noted.withLock { noted in
      let taken = (noted ?? [:]).filter { $0.value.n <= n }
      for id in taken.keys { noted?[id] = nil }
      return taken.mapValues(\.version)
    }
  }
}
