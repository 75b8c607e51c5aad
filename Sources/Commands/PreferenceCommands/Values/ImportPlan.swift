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
  ///   - old: The values of the domain; one that cannot be read is another one.
  ///   - replaces: Whether keys that the file doesn't have are deleted.
  init(_ new: [Entry], _ old: DomainContents, replaces: Bool) {
    let existing = Dictionary(
      old.values.map { (Array($0.key.utf8), Optional($0.value)) }
        + old.unreadable.map { (Array($0.key.utf8), nil) }
    ) { first, _ in first }
    added = new.filter { existing[Array($0.key.utf8)] == nil }
    changed = new.filter { entry in
      existing[Array(entry.key.utf8)].map { $0?.isSame(as: entry.value) != true } ?? false
    }
    let kept = Set(new.map { Array($0.key.utf8) })
    let keys = old.values.map(\.key) + old.unreadable.map(\.key)
    removed = replaces ? keys.filter { !kept.contains(Array($0.utf8)) } : []
    unchangedCount = new.count - added.count - changed.count
  }
}
