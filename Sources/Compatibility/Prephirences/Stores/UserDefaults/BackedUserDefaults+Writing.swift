internal import Foundation
internal import PrephirencesSystem

extension BackedUserDefaults {
  /// Sets or removes the values of several keys, and records a failure.
  func write(_ values: [(key: PreferenceKey, value: Any?)]) {
    recording { () throws(PreferencesError) in try storeAll(values) }
  }

  /// Sets or removes the values of several keys.
  func storeAll(_ values: [(key: PreferenceKey, value: Any?)]) throws(PreferencesError) {
    let values = values.map { ($0.key, unwrapped($0.value).map(Self.withoutObject)) }
    try changing(values.map(\.0)) {
      guard let fallible else { return try storeAccepted(values) }
      if values.count == 1, let (key, value) = values.first {
        try fallible.storeObject(value, forKey: key)
      } else {
        try fallible.storeObjects(values)
      }
    }
  }

  /// Sets values in preferences that cannot report which values they refuse.
  private func storeAccepted(_ values: [(PreferenceKey, Any?)]) throws(PreferencesError) {
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
      try changing(nil) {
        if let fallible { try fallible.removeAllObjects() } else { preferences.clearAll() }
      }
    }
  }

  func replaceOwnDomain(with values: [String: Any]) {
    recording { () throws(PreferencesError) in
      let removed = preferences.dictionary().keys.filter { values[$0] == nil }
      try storeAll(removed.map { ($0, nil) } + values.map { ($0.key, $0.value) })
    }
  }

  /// Returns the forms of values for `UserDefaults` itself, which stops the program if it gets others;
  /// a value without a form is left out, and recorded.
  func supportedForms(of values: [String: Any]) -> [String: Any] {
    var forms: [String: Any] = [:]
    for (key, value) in values {
      do throws(PreferencesError) {
        forms[key] = try PropertyListForm.encode(value, forKey: key)
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

  /// Returns a Foundation object as the Swift value that a Swift program would have set.
  private static func withoutObject(_ value: Any) -> Any {
    type(of: value) is AnyClass ? PropertyListForm.value(bridging: value) ?? value : value
  }
}
