package import PreferencesDurable
package import Prephirences
internal import PrephirencesSystem

/// Reads and changes of a shared store that are sent together.
package final class DirectTransaction {
  /// A change, with the row that it replaces.
  struct Change {
    let key: PreferenceKey
    let value: PreferenceObject?
    let base: SharedRow?
  }

  private let store: DirectStore
  private let deadline: Deadline

  /// The rows that were read, by the bytes of their keys.
  private var rows: [[UInt8]: SharedRow?] = [:]
  private var hasAllRows = false

  /// The changes, in their order, by the bytes of their keys.
  private var changed: [[UInt8]: (key: PreferenceKey, value: PreferenceObject?)] = [:]
  private var order: [[UInt8]] = []

  init(_ store: DirectStore, _ deadline: Deadline) {
    self.store = store
    self.deadline = deadline
  }

  /// Returns the value of a key, as the transaction has it; `nil` if there is none.
  package func fetchObject(
    forKey key: PreferenceKey
  ) throws(PreferencesError) -> PreferenceObject? {
    if let changed = changed[Array(key.utf8)] { return changed.value }
    return try row(key)?.storedValue()
  }

  /// Returns all keys with their values that can be read, as the transaction has them, and why others
  /// cannot.
  package func fetchReadablePairs() throws(PreferencesError) -> ReadablePairs {
    if !hasAllRows {
      for row in try store.snapshot(deadline).rows {
        // What was read before is what the changes are based on.
        let bytes = Array(row.key.utf8)
        if rows[bytes] == nil { rows[bytes] = .some(row) }
      }
      hasAllRows = true
    }
    var found = ReadablePairs(rows.filter { changed[$0.key] == nil }.compactMap(\.value))
    for (key, value) in changed.values {
      if let value { found.pairs.append((key, value)) }
    }
    return found
  }

  /// Sets the value of a key; `nil` removes it.
  package func storeObject(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    let bytes = Array(key.utf8)
    if changed.updateValue((key, value), forKey: bytes) == nil { order.append(bytes) }
  }

  /// Returns what differs from the store, with the rows that it replaces.
  func changes() throws(PreferencesError) -> [Change] {
    var changes: [Change] = []
    for bytes in order {
      guard let (key, value) = changed[bytes] else { continue }
      let base = try row(key)
      if case .newer = base?.content { throw .newerRow(key) }
      if value == nil, base == nil { continue }
      if value == nil, case .removal = base?.content { continue }
      changes.append(Change(key: key, value: value, base: base))
    }
    return changes
  }

  /// Returns the row of a key, on which a change of it is based.
  func row(_ key: PreferenceKey) throws(PreferencesError) -> SharedRow? {
    let bytes = Array(key.utf8)
    if let row = rows[bytes] { return row }
    if hasAllRows { return nil }
    let row = try store.row(key, deadline)
    rows[bytes] = .some(row)
    return row
  }
}
