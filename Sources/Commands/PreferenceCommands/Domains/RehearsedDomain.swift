internal import PreferencesDurable
internal import PreferencesCore
internal import PrephirencesSystem

/// A domain whose changes are noted instead of made.
final class RehearsedDomain: DomainStore {
  private typealias Change = (key: String, value: Any?)

  private let store: any DomainStore

  /// The changes, by the bytes of their keys.
  private var changes: [[UInt8]: Change] = [:]

  init(_ store: any DomainStore) { self.store = store }

  /// Returns what the changes would do, in the order of the bytes of the keys, and why values that
  /// they would replace cannot be read.
  func differences() throws -> (differences: [ValueDifference], unreadable: [any Error]) {
    let old = try PreferenceDomain(named: "", in: store).contents()
    let values = Dictionary(old.values.map { (Array($0.key.utf8), $0.value) }) { $1 }
    let differences = ordered.compactMap { change -> ValueDifference? in
      let (old, new) = (values[Array(change.key.utf8)], change.value.flatMap(StoredValue.init))
      if old == nil && new == nil { return nil }
      if let old, let new, old.isSame(as: new) { return nil }
      return ValueDifference(key: change.key, old: old, new: new)
    }
    return (differences, old.unreadable.filter { isChanged($0.key) }.map(\.failure))
  }

  private var ordered: [Change] {
    changes.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
  }

  private func isChanged(_ key: String) -> Bool { changes[Array(key.utf8)] != nil }

  // MARK: - Domain

  func storedPath() throws -> String? { try store.storedPath() }

  func expectedPath() throws -> String { try store.expectedPath() }

  func value(forKey key: String) throws -> Any? {
    if let change = changes[Array(key.utf8)] { return change.value }
    return try store.value(forKey: key)
  }

  func pairs() throws -> ReadablePairs {
    var found = try store.pairs()
    found.pairs.removeAll { isChanged($0.key) }
    found.unreadable.removeAll { isChanged($0.key) }
    found.pairs += changes.values.compactMap { key, value in value.map { (key, $0) } }
    return found
  }

  func set(_ value: Any?, forKey key: String) { changes[Array(key.utf8)] = (key, value) }

  func change(_ kind: ChangeKind, _ body: (any DomainStore) throws -> Void) throws {
    try body(self)
    try store.rehearse(ordered, kind)
  }

  func observe(
    _ keys: [String], initial: Bool, until end: Deadline?, _ changes: PendingPreferenceChanges
  ) throws -> [PreferenceObservation] {
    try store.observe(keys, initial: initial, until: end, changes)
  }

  var failureOfImport: PreferencesError? { (try? store.pairs())?.importFailure }

  func synchronize() {}
}
