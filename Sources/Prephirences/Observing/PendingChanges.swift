/// Changes that wait for delivery, in the order in which their keys were first changed.
///
/// The changes of one key are merged, so there are never more changes than keys.
struct PendingChanges: PendingWork {
  private var keys: [PreferenceKey] = []
  private var told = 0
  private var changes: [PreferenceKey: PreferenceChange] = [:]

  mutating func add(_ change: PreferenceChange) {
    if let earlier = changes[change.key] {
      changes[change.key] = earlier.followed(by: change)
    } else {
      changes[change.key] = change
      keys.append(change.key)
    }
  }

  mutating func popFirst() -> PreferenceChange? {
    guard told < keys.count else { return nil }
    let change = changes.removeValue(forKey: keys[told])
    told += 1
    if told == keys.count {
      keys.removeAll(keepingCapacity: true)
      told = 0
    }
    return change
  }
}
