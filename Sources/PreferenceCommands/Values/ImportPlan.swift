/// What an import changes.
struct ImportPlan {
  /// The keys that have no value yet.
  let added: [String]

  /// The keys that have another value.
  let changed: [String]

  /// The keys that are deleted.
  let removed: [String]
  let unchangedCount: Int

  /// Compares the values of a file with those of a domain.
  ///
  /// - Parameters:
  ///   - new: The values of the file.
  ///   - old: The values of the domain.
  ///   - replaces: Whether keys that the file doesn't have are deleted.
  init(
    _ new: [String: StoredValue], _ old: [(key: String, value: StoredValue)], replaces: Bool
  ) {
    let existing = Dictionary(old.map { ($0.key, $0.value) }) { first, _ in first }
    added = new.keys.filter { existing[$0] == nil }.sorted()
    changed = new.filter { key, value in existing[key].map { !$0.isSame(as: value) } ?? false }
      .keys.sorted()
    removed = replaces ? existing.keys.filter { new[$0] == nil }.sorted() : []
    unchangedCount = new.count - added.count - changed.count
  }
}
