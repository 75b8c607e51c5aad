/// Changes that wait for delivery, in the order in which their keys were first changed.
///
/// The changes of one key are merged, so there are never more changes than keys. Keys are compared by
/// their bytes, because some stores do: canonically equivalent keys have values of their own there.
struct PendingChanges: PendingWork {
  private var keys: [PreferenceKey] = []
  private var told = 0
  private var changes: [[UInt8]: PreferenceChange] = [:]

  mutating func add(_ change: PreferenceChange) {
    let bytes = Array(change.key.utf8)
    if let earlier = changes[bytes] {
      changes[bytes] = earlier.followed(by: change)
    } else {
      changes[bytes] = change
      keys.append(change.key)
    }
  }

  mutating func popFirst() -> PreferenceChange? {
    guard told < keys.count else { return nil }
    let change = changes.removeValue(forKey: Array(keys[told].utf8))
    told += 1
    if told == keys.count {
      keys.removeAll(keepingCapacity: true)
      told = 0
    }
    return change
  }
}
