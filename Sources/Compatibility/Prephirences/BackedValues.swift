internal import Foundation
internal import PrephirencesSystem
internal import Synchronization

extension BackedUserDefaults {
  var arguments: PreferencesDictionary {
    get { state.withLock(\.arguments) }
    set {
      state.withLock { $0.arguments = newValue }
      hasArguments.store(!newValue.isEmpty, ordering: .sequentiallyConsistent)
    }
  }

  /// Returns the visible value of a key.
  func fetch(_ key: PreferenceKey) throws -> Any? {
    beginNotifying()
    if let argument = argument(key) { return argument }
    // A failure is not an absent value, so it hides the suites and registered defaults.
    let own =
      try fallible.map { try $0.fetchObject(forKey: key) } ?? preferences.object(forKey: key)
    if let own { return readsCastableNumbers ? own : withCastableNumbers(own) }
    return valueBehind(key)
  }

  private func argument(_ key: PreferenceKey) -> Any? {
    guard hasArguments.load(ordering: .relaxed) else { return nil }
    return state.withLock { $0.arguments[key] }
  }

  /// Returns the value of a key that is not in ``preferences``.
  func valueBehind(_ key: PreferenceKey) -> Any? {
    for suite in state.withLock(\.suites) {
      if let value = suite.preferences.object(forKey: key) { return withCastableNumbers(value) }
    }
    return fallback(key).map { withCastableNumbers($0) }
  }

  /// Returns what observers see for a value of ``preferences``.
  func visibleValue(_ value: Any?, forKey key: PreferenceKey) -> Any? {
    argument(key) ?? value.map { withCastableNumbers($0) } ?? valueBehind(key)
  }

  func read(_ key: PreferenceKey) -> Any? {
    do {
      let value = try fetch(key)
      forgetReadFailure()
      return value
    } catch {
      recordReadFailure(error, forKey: key)
      return nil
    }
  }

  // An adapter, such as a keychain, may know the text or bytes of a value of another type.

  func readString(_ key: PreferenceKey) -> String? {
    let value = object(forKey: key)
    if let text = PreferenceText.of(value) { return text }
    guard value != nil, preferences is any PreferencesAdapter else { return nil }
    return preferences.string(forKey: key)
  }

  func readData(_ key: PreferenceKey) -> Data? {
    let value = object(forKey: key)
    if let data = value as? Data { return data }
    guard value != nil, preferences is any PreferencesAdapter else { return nil }
    return preferences.data(forKey: key)
  }

  func visibleValues(over registered: [String: Any]) -> [String: Any] {
    beginNotifying()
    var values = registered.mapValues { withCastableNumbers($0) }
    for suite in state.withLock(\.suites).reversed() {
      values.merge(suite.preferences.dictionary()) { $1 }
    }
    do {
      let own = try fallible?.fetchDictionary() ?? preferences.dictionary()
      values.merge(readsCastableNumbers ? own : own.mapValues { withCastableNumbers($0) }) { $1 }
      forgetReadFailure()
    } catch {
      record(.converting(error, "the values could not be read"))
    }
    return values.merging(arguments) { $1 }
  }
}

extension BackedUserDefaults {
  /// Sets or removes the values of several keys, and records a failure.
  func write(_ values: [(key: PreferenceKey, value: Any?)]) {
    recording { () throws(PreferencesError) in try storeAll(values) }
  }

  /// Sets or removes the values of several keys.
  func storeAll(_ values: [(key: PreferenceKey, value: Any?)]) throws(PreferencesError) {
    try changing(values.map(\.key)) { try Self.store(values, in: preferences, fallible) }
  }

  private static func store(
    _ values: [(key: PreferenceKey, value: Any?)], in preferences: any MutablePreferencesType,
    _ fallible: (any FalliblePreferencesType)?
  ) throws {
    let values = values.map { ($0.key, unwrapped($0.value).map(withoutObject)) }
    guard let fallible else { return try storeAccepted(values, in: preferences) }
    if values.count == 1, let (key, value) = values.first {
      try fallible.storeObject(value, forKey: key)
    } else {
      try fallible.storeObjects(values)
    }
  }

  /// Sets values in preferences that cannot report which values they refuse.
  private static func storeAccepted(
    _ values: [(PreferenceKey, Any?)], in preferences: any MutablePreferencesType
  ) throws(PreferencesError) {
    for (key, value) in values {
      if let value { _ = try PropertyListForm.encode(value, forKey: key) }
    }
    if values.count == 1, let (key, value) = values.first {
      preferences[key] = value
    } else {
      for (key, value) in values where value == nil { preferences.removeObject(forKey: key) }
      preferences.set(dictionary: values.reduce(into: [:]) { $0[$1.0] = $1.1 })
    }
  }

  func clear() {
    recording { () throws(PreferencesError) in
      try changing(nil) { try Self.removeAll(from: preferences) }
    }
  }

  private static func removeAll(from preferences: any MutablePreferencesType) throws {
    if let fallible = preferences as? any FalliblePreferencesType {
      try fallible.removeAllObjects()
    } else {
      preferences.clearAll()
    }
  }

  func replaceDomain(_ domain: any MutablePreferencesType, with values: [String: Any]) {
    let removed = domain.dictionary().keys.filter { values[$0] == nil }
    let changes = removed.map { ($0, nil) } + values.map { ($0.key, Optional($0.value)) }
    changingDomain(changes.map(\.0)) {
      try Self.store(changes, in: domain, domain as? any FalliblePreferencesType)
    }
  }

  func removeDomain(_ domain: any MutablePreferencesType) {
    changingDomain(nil) { try Self.removeAll(from: domain) }
  }

  /// Makes a change of a whole domain, which is reported once, even if nothing differs, as
  /// `UserDefaults` does.
  private func changingDomain(_ keys: [PreferenceKey]?, _ change: () throws -> Void) {
    beginNotifying()
    let count = postCount.load(ordering: .relaxed)
    recording { () throws(PreferencesError) in
      do {
        try withoutEcho(keys, change)
      } catch {
        throw .converting(error, "the domain could not be changed")
      }
    }
    if postCount.load(ordering: .relaxed) == count { postChange() }
  }

  /// Returns the forms of values for `UserDefaults` itself, which stops the program for others; a
  /// value without a form is left out, and recorded.
  func supportedForms(of values: [String: Any]) -> [String: Any] {
    var forms: [String: Any] = [:]
    for (key, value) in values {
      do throws(PreferencesError) {
        forms[key] = try PropertyListForm.encode(value, forKey: key).plain
      } catch {
        record(error)
      }
    }
    return forms
  }

  func synchronizePreferences() -> Bool {
    do {
      try (preferences as? any SynchronizingPreferences)?.synchronize()
      if let defaults = preferences as? UserDefaults, !defaults.synchronize() {
        throw PreferencesError(.inputOutput, "the user defaults could not be saved")
      }
      return true
    } catch {
      record(.converting(error, "the values could not be saved"))
      return false
    }
  }

  /// Makes a change of some keys, or of all if `nil`, and reports it.
  private func changing(
    _ keys: [PreferenceKey]?, _ change: () throws -> Void
  ) throws(PreferencesError) {
    beginNotifying()
    do {
      try withoutEcho(keys, change)
    } catch {
      throw .converting(
        error,
        keys?.first.map { "the key '\($0)' could not be changed" }
          ?? "the values could not be removed")
    }
    if reporting == nil { postChange() }
  }

  private func recording(_ body: () throws(PreferencesError) -> Void) {
    do throws(PreferencesError) {
      try body()
      record(nil)
    } catch {
      record(error)
    }
  }

  /// Returns the Swift value that a Swift program would have set instead of a Foundation object.
  private static func withoutObject(_ value: Any) -> Any {
    type(of: value) is AnyClass ? PropertyListForm.value(standingFor: value) ?? value : value
  }
}
