internal import Foundation
public import Prephirences

/// Preferences in a file of their own, which several processes can use at the same time.
public final class DurablePreferences: FalliblePreferencesType, @unchecked Sendable {
  // Stub: values are in memory.
  private let values = MutableDictionaryPreferences(dictionary: [:])

  /// The preferences of the program: the suite with the name of its executable.
  public static let standard = DurablePreferences(suiteName: ProcessInfo.processInfo.processName)

  /// The name of the suite.
  public let suiteName: String

  /// Names the preferences of a suite; the file is opened when it is first used.
  public init(suiteName: String) { self.suiteName = suiteName }

  /// Opens the file now, and creates it if it is missing.
  public func open() throws(PreferencesError) {}

  /// The failure of the last call that does not throw; `nil` if it succeeded.
  public var lastError: PreferencesError? { nil }

  /// Returns the value of a key; a failure reads as `nil`.
  public func object(forKey key: PreferenceKey) -> PreferenceObject? { values.object(forKey: key) }

  /// Returns all values.
  public func dictionary() -> PreferencesDictionary { values.dictionary() }

  /// Sets the value of a key, and ignores a failure.
  public func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    values.set(value, forKey: key)
  }

  /// Removes a key.
  public func removeObject(forKey key: PreferenceKey) { values.removeObject(forKey: key) }

  /// Returns the value of a key.
  public func fetchObject(forKey key: PreferenceKey) throws(PreferencesError) -> PreferenceObject? {
    values.object(forKey: key)
  }

  /// Sets the value of a key.
  public func storeObject(
    _ value: PreferenceObject?, forKey key: PreferenceKey
  ) throws(PreferencesError) {
    values.set(value, forKey: key)
  }

  /// Waits until all values are on the disk, also those that other processes have set.
  public func synchronize() throws(PreferencesError) {}

  /// Starts notifying an observer of changes.
  public func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    values.addObserver(observer)
  }
}
