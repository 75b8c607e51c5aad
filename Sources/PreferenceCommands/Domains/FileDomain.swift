internal import Prephirences
internal import PrephirencesDurable
internal import PrephirencesFiles

/// The preferences of a domain in a file of this machine.
struct FileDomain: DomainStore {
  let preferences: DurablePreferences

  init(named name: String) { preferences = DurablePreferences(suiteName: name) }

  func storedPath() throws -> String? { try preferences.storedPath() }

  func expectedPath() throws -> String { try preferences.expectedPath() }

  func value(forKey key: String) throws -> Any? { try preferences.fetchObject(forKey: key) }

  func pairs() throws -> [(String, Any)] { try preferences.fetchPairs() }

  func set(_ value: Any?, forKey key: String) throws {
    try preferences.storeObject(value, forKey: key)
  }

  func change(_ kind: ChangeKind, _ body: (any DomainStore) throws -> Void) throws {
    switch kind {
    case .asOne, .conditional: try preferences.transaction { _ in try body(self) }
    case .inPieces: try preferences.transactionInPieces { _ in try body(self) }
    }
  }

  func observe(
    _ keys: [String], initial: Bool, until end: Deadline?, _ changes: PendingPreferenceChanges
  ) throws -> [PreferenceObservation] {
    // The first reading fails if watching would.
    if try storedPath() != nil { _ = try value(forKey: keys.first ?? "") }
    // A set would have one of two keys that are canonically equivalent.
    let several: [Set<String>?] = keys.isEmpty ? [nil] : keys.map { [$0] }
    let observations = try several.map { keys in
      let observation = preferences.addObserver(
        PreferenceObserver(keys: keys, initial: initial) { changes.add($0) })
      if let failure = preferences.lastError { throw failure }
      return observation
    }
    return observations + [preferences.observeFailures(changes.end)]
  }

  var failureOfImport: PreferencesError? {
    do throws(PreferencesError) {
      try preferences.open()
      return nil
    } catch {
      return error
    }
  }

  func synchronize() throws { try preferences.synchronize() }
}
