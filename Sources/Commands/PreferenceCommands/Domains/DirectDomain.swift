internal import PreferencesDurable
internal import PreferencesShared
internal import PreferencesCore
internal import PrephirencesSystem

/// A shared store where the engine has it.
struct DirectDomain: DomainStore {
  let store: DirectStore
  let address: String

  /// This machine's copy, if changes go through it, which has rules of its own.
  var copy: FileDomain?

  func storedPath() throws -> String? { try store.exists() ? address : nil }

  func expectedPath() throws -> String { address }

  func value(forKey key: String) throws -> Any? { try store.fetchObject(forKey: key) }

  func pairs() throws -> ReadablePairs { try store.fetchReadablePairs() }

  func set(_ value: Any?, forKey key: String) throws {
    try store.change { $0.storeObject(value, forKey: key) }
  }

  func change(_ kind: ChangeKind, _ body: (any DomainStore) throws -> Void) throws {
    try store.change { try body(ChangingDomain(domain: self, transaction: $0)) }
  }

  func rehearse(_ changes: [(key: String, value: Any?)], _ kind: ChangeKind) throws {
    if kind != .conditional { try copy?.rehearse(changes, kind) }
    try store.change(isRehearsal: true) { transaction in
      // One call for the rows of all.
      if changes.count > 1 { _ = try transaction.fetchReadablePairs() }
      for (key, value) in changes { transaction.storeObject(value, forKey: key) }
    }
  }

  func observe(
    _ keys: [String], initial: Bool, until end: Deadline?, _ changes: PendingPreferenceChanges
  ) throws -> [PreferenceObservation] {
    let watch = try DirectWatch(
      store, keys: keys.isEmpty ? nil : keys, initial: initial, until: end,
      failed: changes.end, unreadable: changes.add(unreadable:_:)
    ) { changes.add($0) }
    return [PreferenceObservation { watch.cancel() }]
  }

  /// An engine has none.
  var failureOfImport: PreferencesError? { nil }

  /// A change that returns is where it belongs.
  func synchronize() {}
}

/// A shared store within a transaction.
private struct ChangingDomain: DomainStore {
  let domain: DirectDomain
  let transaction: DirectTransaction

  func storedPath() throws -> String? { try domain.storedPath() }

  func expectedPath() throws -> String { try domain.expectedPath() }

  func value(forKey key: String) throws -> Any? { try transaction.fetchObject(forKey: key) }

  func pairs() throws -> ReadablePairs { try transaction.fetchReadablePairs() }

  func set(_ value: Any?, forKey key: String) { transaction.storeObject(value, forKey: key) }

  func change(_ kind: ChangeKind, _ body: (any DomainStore) throws -> Void) throws {
    try body(self)
  }

  func observe(
    _ keys: [String], initial: Bool, until end: Deadline?, _ changes: PendingPreferenceChanges
  ) throws -> [PreferenceObservation] {
    try domain.observe(keys, initial: initial, until: end, changes)
  }

  var failureOfImport: PreferencesError? { nil }

  func synchronize() {}
}
