public import PreferencesCore

/// Preferences in a file on this machine: ``DurablePreferences``, or others that keep such a file
/// in step with other machines.
///
/// Both have the same methods for reading and writing. Methods that throw report each failure as
/// ``PreferencesError``.
public protocol DurablePreferencesType: FalliblePreferencesType, SynchronizingPreferences {
  /// The preferences that have the values.
  var durable: DurablePreferences { get }

  /// The failure of the last call that does not throw; `nil` if there was none.
  var lastError: PreferencesError? { get }
}

extension DurablePreferencesType {
  /// Values cannot be written as members: a misspelt name would be another key.
  ///
  /// Other kinds of preferences have this subscript, and code that is generic over
  /// ``MutablePreferencesType`` can read and set values with it.
  public subscript(dynamicMember key: PreferenceKey) -> PreferenceObject? {
    @available(*, unavailable, message: "there is no such member; a value is settings[\"key\"]")
    get { self[key] }
    @available(*, unavailable, message: "there is no such member; a value is settings[\"key\"]")
    nonmutating set { self[key] = newValue }
  }

  /// An alias of ``lastError``.
  public var lastPreferencesError: PreferencesError? { lastError }

  /// Returns the value of a key, or `nil` if there is none, or if it cannot be read: then
  /// ``DurablePreferences/lastError`` has the reason.
  public func object(forKey key: PreferenceKey) -> PreferenceObject? {
    value(forKey: key)?.object
  }

  private func value(forKey key: PreferenceKey) -> PreferenceValue? {
    durable.recorded { try fetchValue(forKey: key) } ?? nil
  }

  /// Whether a key has a value.
  public func hasObject(forKey key: PreferenceKey) -> Bool { value(forKey: key) != nil }

  /// Returns the value of a key as an integer, or 0.
  public func integer(forKey key: PreferenceKey) -> Int { value(forKey: key).integer }

  /// Returns the value of a key as a number in single precision, or 0.
  public func float(forKey key: PreferenceKey) -> Float { value(forKey: key).float }

  /// Returns the value of a key as a number, or 0.
  public func double(forKey key: PreferenceKey) -> Double { value(forKey: key).double }

  /// Returns the value of a key as a truth value, or `false`.
  public func bool(forKey key: PreferenceKey) -> Bool { value(forKey: key).bool }

  /// Returns the readable values by their keys; ``DurablePreferences/lastError`` says why others
  /// are missing.
  ///
  /// Canonically equivalent keys are one key of a dictionary.
  public func dictionary() -> PreferencesDictionary {
    PreferencesDictionary(durable.readablePairs.map { ($0.key, $0.value.object) }) { _, last in last
    }
  }

  /// Returns the value of a key, or `nil` if there is none.
  ///
  /// - Throws: ``PreferencesError`` if the value cannot be read.
  public func fetchValue(forKey key: PreferenceKey) throws(PreferencesError) -> PreferenceValue? {
    try durable.typed { try durable.engine().fetch(key) }
  }

  /// Returns the value of a key as an object; see ``fetchValue(forKey:)``.
  public func fetchObject(forKey key: PreferenceKey) throws(PreferencesError) -> PreferenceObject? {
    try fetchValue(forKey: key)?.object
  }

  /// Returns all values by their keys.
  ///
  /// - Throws: ``PreferencesError`` if a value cannot be read.
  public func fetchAllObjects() throws(PreferencesError) -> PreferencesDictionary {
    PreferencesDictionary(try durable.fetchPairs().map { ($0, $1.object) }) { _, last in last }
  }

  /// Returns all values, as ``fetchAllObjects()``, and throws the same errors.
  public func fetchDictionary() throws(PreferencesError) -> PreferencesDictionary {
    try fetchAllObjects()
  }

  /// Waits until the values of all processes are on this machine's disk; it sends nothing to
  /// others.
  ///
  /// - Throws: ``PreferencesError``.
  public func synchronize() throws(PreferencesError) {
    try durable.typed { try durable.engine().synchronize() }
  }

  /// Records a value that was refused before it reached the file.
  public func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) {
    durable.failures.record(error)
  }
}
