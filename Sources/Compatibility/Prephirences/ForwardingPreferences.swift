public import FoundationEssentials
public import PreferencesCore

/// Preferences whose getters ask other preferences, or convert their own values; the base of those in
/// memory and of those that combine others.
open class ForwardingPreferences: PreferencesType, @unchecked Sendable {
  // Unchecked because subclasses guard their own state.

  init() {}

  /// Returns the preferences that answer for a key, with its name there; `nil` if these answer
  /// themselves.
  ///
  /// The others convert, because their getters may know more than the value shows.
  func resolve(_ key: PreferenceKey) -> (preferences: any PreferencesType, key: PreferenceKey)? {
    nil
  }

  private func answer<Value>(
    _ key: PreferenceKey, _ ask: (any PreferencesType, PreferenceKey) -> Value,
    _ convert: (PreferenceObject?) -> Value
  ) -> Value {
    guard let (preferences, key) = resolve(key) else { return convert(object(forKey: key)) }
    return ask(preferences, key)
  }

  /// Returns the value of a key.
  open func object(forKey key: PreferenceKey) -> PreferenceObject? {
    resolve(key).flatMap { $0.object(forKey: $1) }
  }

  /// No failure: these preferences record none.
  open var lastPreferencesError: PreferencesError? { nil }

  /// Returns all preferences.
  open func dictionary() -> PreferencesDictionary { [:] }

  /// The value of a key.
  open subscript(key: PreferenceKey) -> PreferenceObject? { object(forKey: key) }

  /// Returns whether a key has a value.
  open func hasObject(forKey key: PreferenceKey) -> Bool {
    answer(key, { $0.hasObject(forKey: $1) }, { $0 != nil })
  }

  /// Returns the text of a key.
  open func string(forKey key: PreferenceKey) -> String? {
    answer(key, { $0.string(forKey: $1) }, { PreferenceText.of($0) })
  }

  /// Returns the array of a key.
  open func array(forKey key: PreferenceKey) -> [PreferenceObject]? {
    answer(key, { $0.array(forKey: $1) }, { $0 as? [PreferenceObject] })
  }

  /// Returns the dictionary of a key.
  open func dictionary(forKey key: PreferenceKey) -> PreferencesDictionary? {
    answer(key, { $0.dictionary(forKey: $1) }, { $0 as? PreferencesDictionary })
  }

  /// Returns the array of strings of a key.
  open func stringArray(forKey key: PreferenceKey) -> [String]? {
    answer(key, { $0.stringArray(forKey: $1) }, { $0 as? [String] })
  }

  /// Returns the integer of a key.
  open func integer(forKey key: PreferenceKey) -> Int {
    answer(key, { $0.integer(forKey: $1) }, { PreferenceValue(reading: $0).integer })
  }

  /// Returns the number of a key, in single precision.
  open func float(forKey key: PreferenceKey) -> Float {
    answer(key, { $0.float(forKey: $1) }, { PreferenceValue(reading: $0).float })
  }

  /// Returns the number of a key.
  open func double(forKey key: PreferenceKey) -> Double {
    answer(key, { $0.double(forKey: $1) }, { PreferenceValue(reading: $0).double })
  }

  /// Returns the truth value of a key.
  open func bool(forKey key: PreferenceKey) -> Bool {
    answer(key, { $0.bool(forKey: $1) }, { PreferenceValue(reading: $0).bool })
  }

  /// Returns the bytes of a key.
  open func data(forKey key: PreferenceKey) -> Data? {
    answer(key, { $0.data(forKey: $1) }, { $0 as? Data })
  }

  /// Returns the URL of a key.
  open func url(forKey key: PreferenceKey) -> URL? {
    answer(key, { $0.url(forKey: $1) }, { PreferenceValue(reading: $0).url })
  }

  /// Returns the object whose archive is the value of a key.
  open func unarchiveObject(forKey key: PreferenceKey) -> PreferenceObject? {
    answer(key, { $0.unarchiveObject(forKey: $1) }) { [self] _ in
      data(forKey: key).flatMap(PreferenceArchive.unarchive)
    }
  }

  /// Starts notifying an observer of changes.
  open func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    ObjectObservers.shared.add(observer, of: self, object: self)
  }
}
