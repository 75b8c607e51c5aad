internal import PreferencesDurable
internal import Prephirences

/// Changes of other machines, of which neighbours with the same reason are one.
struct GroupedChanges {
  typealias Change = SharedPreferences.ExternalChange

  private var groups: [Group] = []

  /// One change as it grows: each key is looked up once, however many there are.
  private struct Group {
    let reason: Change.Reason
    var keys: [PreferenceKey] = []
    var known: Set<[UInt8]> = []
    var lostValues: [Change.LostValue] = []

    mutating func add(_ key: PreferenceKey) {
      if known.insert(Array(key.utf8)).inserted { keys.append(key) }
    }

    var change: Change { Change(reason: reason, keys: keys, lostValues: lostValues) }
  }

  /// The changes in their order.
  var all: [Change] { groups.map(\.change) }

  mutating func add(_ entries: [JournalEntry]) {
    // A decision is a change of this machine.
    for entry in entries where entry.reason != .decision {
      let index = group(Change.Reason(rawValue: entry.reason.rawValue) ?? .serverChange)
      groups[index].add(entry.key)
      guard entry.isConflict else { continue }
      groups[index].lostValues.append(
        Change.LostValue(key: entry.key, localValue: entry.old, sharedValue: entry.new))
    }
  }

  mutating func add(_ change: Change) {
    let index = group(change.reason)
    for key in change.keys { groups[index].add(key) }
    groups[index].lostValues += change.lostValues
  }

  /// Removes and returns the first change; `nil` if there is none.
  mutating func popFirst() -> Change? { groups.isEmpty ? nil : groups.removeFirst().change }

  /// Returns the index of the group to which a change of a reason belongs.
  private mutating func group(_ reason: Change.Reason) -> Int {
    if groups.last?.reason != reason { groups.append(Group(reason: reason)) }
    return groups.count - 1
  }
}
