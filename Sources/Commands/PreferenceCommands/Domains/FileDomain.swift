internal import PreferencesDurable
internal import PreferencesCore
internal import PrephirencesSystem

/// The preferences of a domain in a file of this machine.
struct FileDomain: DomainStore {
  let preferences: DurablePreferences

  init(named name: String) { preferences = DurablePreferences(suiteName: name) }

  func storedPath() throws -> String? { try preferences.storedPath() }

  func expectedPath() throws -> String { try preferences.expectedPath() }

  func isWithoutFile() throws -> Bool { try storedPath() != expectedPath() }

  func value(forKey key: String) throws -> Any? { try preferences.fetchObject(forKey: key) }

  func pairs() throws -> ReadablePairs { try preferences.fetchReadablePairs() }

  func set(_ value: Any?, forKey key: String) throws {
    try preferences.storeObject(value, forKey: key)
  }

  func removeDamagedKeys() throws { try preferences.removeDamagedKeys() }

  func change(_ kind: ChangeKind, _ body: (any DomainStore) throws -> Void) throws {
    switch kind {
    case .asOne, .conditional: try preferences.transaction { _ in try body(self) }
    case .inPieces: try preferences.transactionInPieces { _ in try body(self) }
    }
  }

  func rehearse(_ changes: [(key: String, value: Any?)], _ kind: ChangeKind) throws {
    try preferences.rehearse(changes, inPieces: kind == .inPieces)
  }

  func observe(
    _ keys: [String], initial: Bool, until end: Deadline?, _ changes: PendingPreferenceChanges
  ) throws -> [PreferenceObservation] {
    let watched = keys.isEmpty ? nil : Set(keys.map { Array($0.utf8) })
    let findUnreadable: @Sendable () throws -> Void = { [preferences] in
      let pairs = try preferences.fetchReadablePairs()
      if let failure = pairs.importFailure { throw failure }
      for (key, failure) in pairs.unreadable
      where watched?.contains(Array(key.utf8)) ?? true {
        changes.add(unreadable: key, failure)
      }
    }
    // The first reading fails if watching would.
    if try storedPath() != nil { try findUnreadable() }
    // A set would have one of two keys that are canonically equivalent.
    let several: [Set<String>?] = keys.isEmpty ? [nil] : keys.map { [$0] }
    let observations = try several.map { keys in
      try preferences.startObserving(
        PreferenceObserver(keys: keys, initial: initial) { changes.add($0) })
    }
    return observations + [
      preferences.observeFailures { failure in
        // A value that was damaged ends nothing.
        guard failure.code == .damaged, (try? findUnreadable()) != nil else {
          return changes.end(with: failure)
        }
      }
    ]
  }

  var failureOfImport: PreferencesError? {
    do throws(PreferencesError) {
      try preferences.open()
      return nil
    } catch {
      return error
    }
  }

  func synchronize() throws {
    do throws(PreferencesError) {
      try preferences.synchronize()
    } catch {
      guard error.code != .outcomeUnknown else { throw error }
      throw PreferencesError(
        .outcomeUnknown,
        "the change was made, but it is not known whether it is on the disk: \(error.message)",
        systemCode: error.systemCode)
    }
  }
}
