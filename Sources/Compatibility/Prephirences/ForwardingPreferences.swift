public import FoundationEssentials
public import PreferencesCore

/// The base of preferences in memory and of combinations: getters ask other preferences, or convert
/// own values.
open class ForwardingPreferences: PreferencesType, @unchecked Sendable {
  // Unchecked because subclasses guard their own state.

  init() {}

  /// Returns the preferences that answer for a key, with its name there, or `nil` if these answer
  /// themselves.
  ///
  /// The other preferences convert, because their getters may know more than the value shows.
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

  open func object(forKey key: PreferenceKey) -> PreferenceObject? {
    resolve(key).flatMap { $0.object(forKey: $1) }
  }

  /// No failure: these preferences do not record failures.
  open var lastPreferencesError: PreferencesError? { nil }

  open func dictionary() -> PreferencesDictionary { [:] }

  open subscript(key: PreferenceKey) -> PreferenceObject? { object(forKey: key) }

  open func hasObject(forKey key: PreferenceKey) -> Bool {
    answer(key, { $0.hasObject(forKey: $1) }, { $0 != nil })
  }

  open func string(forKey key: PreferenceKey) -> String? {
    answer(key, { $0.string(forKey: $1) }, { PreferenceText.of($0) })
  }

  open func array(forKey key: PreferenceKey) -> [PreferenceObject]? {
    answer(key, { $0.array(forKey: $1) }, { $0 as? [PreferenceObject] })
  }

  open func dictionary(forKey key: PreferenceKey) -> PreferencesDictionary? {
    answer(key, { $0.dictionary(forKey: $1) }, { $0 as? PreferencesDictionary })
  }

  open func stringArray(forKey key: PreferenceKey) -> [String]? {
    answer(key, { $0.stringArray(forKey: $1) }, { $0 as? [String] })
  }

  open func integer(forKey key: PreferenceKey) -> Int {
    answer(key, { $0.integer(forKey: $1) }, { PreferenceValue(reading: $0).integer })
  }

  open func float(forKey key: PreferenceKey) -> Float {
    answer(key, { $0.float(forKey: $1) }, { PreferenceValue(reading: $0).float })
  }

  open func double(forKey key: PreferenceKey) -> Double {
    answer(key, { $0.double(forKey: $1) }, { PreferenceValue(reading: $0).double })
  }

  open func bool(forKey key: PreferenceKey) -> Bool {
    answer(key, { $0.bool(forKey: $1) }, { PreferenceValue(reading: $0).bool })
  }

  open func data(forKey key: PreferenceKey) -> Data? {
    answer(key, { $0.data(forKey: $1) }, { $0 as? Data })
  }

  open func url(forKey key: PreferenceKey) -> URL? {
    answer(key, { $0.url(forKey: $1) }, { PreferenceValue(reading: $0).url })
  }

  open func unarchiveObject(forKey key: PreferenceKey) -> PreferenceObject? {
    answer(key, { $0.unarchiveObject(forKey: $1) }) { [self] _ in
      data(forKey: key).flatMap(PreferenceArchive.unarchive)
    }
  }

  open func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    ObjectObservers.shared.add(observer, of: self, object: self)
  }
}
