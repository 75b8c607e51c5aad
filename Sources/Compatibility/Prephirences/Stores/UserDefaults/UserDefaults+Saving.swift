public import Foundation

extension UserDefaults {
  /// Sets the values of several keys, and saves them.
  ///
  /// - Parameter values: The values by their keys.
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/unstorable`` for a value that a
  ///   property list cannot hold, before anything is changed; with
  ///   ``PreferencesError/Code/inputOutput`` if the values were set, but not saved.
  public func save(_ values: PreferencesDictionary) throws(PreferencesError) {
    try save(values.map { ($0.key, $0.value) })
  }

  func save(_ values: [(PreferenceKey, PreferenceObject?)]) throws(PreferencesError) {
    if let backed { return try backed.storeAll(values) }
    var forms: [(PreferenceKey, Any?)] = []
    for (key, value) in values {
      forms.append(
        (
          key,
          try unwrapped(value).map { value throws(PreferencesError) in
            try PropertyListForm.encode(value, forKey: key)
          }
        ))
    }
    replace(forms)
    defer { UserDefaultsObservers.shared.look(at: forms.map(\.0)) }
    guard UserDefaultsLock.withLock(synchronize) else {
      throw PreferencesError(.inputOutput, "the user defaults could not be saved")
    }
  }

  private func replace(_ forms: [(PreferenceKey, Any?)]) {
    // Performs all reads before the first write, because a read after a write collects all defaults
    // again.
    let dated = Set(
      forms.lazy.map { ExactDates.key(beside: $0.0) }.filter { self.object(forKey: $0) != nil })
    for (key, form) in forms {
      let beside = ExactDates.key(beside: key)
      guard let form else {
        removeObject(forKey: key)
        if dated.contains(beside) { removeObject(forKey: beside) }
        continue
      }
      // The value comes first: exact dates that do not match it are ignored.
      if let dates = ExactDates.list(of: form) {
        set(dates as Any?, forKey: beside)
      } else if dated.contains(beside) {
        removeObject(forKey: beside)
      }
      set(form as Any?, forKey: key)
    }
  }
}
