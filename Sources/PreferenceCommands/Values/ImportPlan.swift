/// What an import changes.
struct ImportPlan {
  /// A key with its value; keys are compared by their bytes, as the store does.
  typealias Entry = (key: String, value: StoredValue)

  /// The values of keys that have none yet.
  let added: [Entry]

  /// The values of keys that have another one.
  let changed: [Entry]

  /// The keys that are deleted.
  let removed: [String]
  let unchangedCount: Int

  /// Compares the values of a file with those of a domain.
  ///
  /// - Parameters:
  ///   - new: The values of the file.
  ///   - old: The values of the domain.
  ///   - replaces: Whether keys that the file doesn't have are deleted.
  init(_ new: [Entry], _ old: [Entry], replaces: Bool) {
    let existing = Dictionary(old.map { (Array($0.key.utf8), $0.value) }) { first, _ in first }
    added = new.filter { existing[Array($0.key.utf8)] == nil }
    changed = new.filter { entry in
      existing[Array(entry.key.utf8)].map { !$0.isSame(as: entry.value) } ?? false
    }
    let kept = Set(new.map { Array($0.key.utf8) })
    removed = replaces ? old.map(\.key).filter { !kept.contains(Array($0.utf8)) } : []
    unchangedCount = new.count - added.count - changed.count
  }
}
