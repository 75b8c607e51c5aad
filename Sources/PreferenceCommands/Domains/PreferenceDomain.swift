internal import Prephirences
internal import PrephirencesCommandLine
internal import PrephirencesDurable

/// The preferences of a program, which are those of a suite.
struct PreferenceDomain {
  let name: String
  let preferences: DurablePreferences

  init(named name: String) {
    self.name = name
    preferences = DurablePreferences(suiteName: name)
  }

  /// Returns whether there is a file with its preferences; nothing is created.
  func exists() throws -> Bool { try preferences.storedPath() != nil }

  /// The file with its preferences, also one that is refused; empty if there is none.
  var path: String {
    do { return try preferences.storedPath() ?? "" } catch {
      return (try? preferences.expectedPath()) ?? ""
    }
  }

  /// Returns the value of a key; `nil` if there is none.
  func value(forKey key: String) throws -> StoredValue? {
    guard let object = try preferences.fetchObject(forKey: key) else { return nil }
    return try Self.value(object, key)
  }

  /// Returns all values, in the order of the bytes of their keys.
  func values() throws -> [(key: String, value: StoredValue)] {
    try preferences.fetchPairs()
      .sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }
      .map { ($0, try Self.value($1, $0)) }
  }

  /// Returns all keys, in the order of their bytes.
  func keys() throws -> [String] {
    try preferences.fetchPairs().map { $0.0 }
      .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Performs reads and changes as one, in which no other process comes in between.
  func change(_ body: (PreferenceDomain) throws -> Void) throws {
    try preferences.transaction { _ in try body(self) }
  }

  /// Sets the value of a key; `nil` removes it.
  func set(_ value: StoredValue?, forKey key: String) throws {
    try preferences.storeObject(value?.object, forKey: key)
  }

  /// Starts notifying of the changes of all processes.
  ///
  /// - Parameters:
  ///   - keys: The keys, which are compared by their bytes; all if there are none.
  ///   - initial: Whether to report the present values first.
  ///   - handler: Called with each change.
  /// - Returns: The observations, which end with the preferences.
  /// - Throws: The failure because of which nothing is observed, such as too many watches.
  func observe(
    _ keys: [String], initial: Bool, _ handler: @escaping @Sendable (PreferenceChange) -> Void
  ) throws -> [PreferenceObservation] {
    // A set would have one of two keys that are canonically equivalent.
    let several: [Set<String>?] = keys.isEmpty ? [nil] : keys.map { [$0] }
    return try several.map { keys in
      let observation = preferences.addObserver(
        PreferenceObserver(keys: keys, initial: initial, handler: handler))
      if let failure = preferences.lastError { throw failure }
      return observation
    }
  }

  /// Why values that `UserDefaults` has saved are not among the preferences, after a change; `nil` if
  /// they are.
  var failureOfImport: PreferencesError? {
    do throws(PreferencesError) {
      try preferences.open()
      return nil
    } catch {
      return error
    }
  }

  /// Waits until everything is on the disk.
  func synchronize() throws { try preferences.synchronize() }

  /// Returns every domain, in the order of the bytes of their names.
  static func all() throws -> [PreferenceDomain] {
    try DurablePreferences.storedSuiteNames().map(PreferenceDomain.init)
  }

  /// Returns the names of the domains; none if they cannot be found out.
  static func names() -> [String] { (try? DurablePreferences.storedSuiteNames()) ?? [] }

  private static func value(_ object: Any, _ key: String) throws -> StoredValue {
    guard let value = StoredValue(object) else { throw CommandLineError.unknownType(key) }
    return value
  }
}
