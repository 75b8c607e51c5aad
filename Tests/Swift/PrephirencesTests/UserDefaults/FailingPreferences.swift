internal import Prephirences
internal import Synchronization

/// Preferences in memory that fail on demand, like a locked keychain.
final class FailingPreferences: FalliblePreferencesType {
  struct Locked: PreferencesErrorConvertible {
    var preferencesError: PreferencesError { PreferencesError(.locked, "the store is locked") }
  }

  let values = MutableDictionaryPreferences()
  private let failing = Mutex(false)

  var isFailing: Bool {
    get { failing.withLock { $0 } }
    set { failing.withLock { $0 = newValue } }
  }

  func object(forKey key: PreferenceKey) -> PreferenceObject? {
    isFailing ? nil : values.object(forKey: key)
  }

  func dictionary() -> PreferencesDictionary { isFailing ? [:] : values.dictionary() }

  func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    if !isFailing { values[key] = value }
  }

  func removeObject(forKey key: PreferenceKey) { self[key] = nil }

  func fetchObject(forKey key: PreferenceKey) throws -> PreferenceObject? {
    if isFailing { throw Locked() }
    return values.object(forKey: key)
  }

  func fetchDictionary() throws -> PreferencesDictionary {
    if isFailing { throw Locked() }
    return values.dictionary()
  }

  func storeObject(_ value: PreferenceObject?, forKey key: PreferenceKey) throws {
    if isFailing { throw Locked() }
    values[key] = value
  }

  func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    values.addObserver(observer)
  }
}
