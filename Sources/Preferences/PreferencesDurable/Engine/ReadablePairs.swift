package import PreferencesCore

/// All values of preferences that can be read, and why the others cannot: a damaged value hides no
/// other one.
package struct ReadablePairs {
  package var pairs: [(key: PreferenceKey, value: PreferenceValue)] = []
  package var unreadable: [(key: PreferenceKey, failure: PreferencesError)] = []

  /// Why nothing is known of keys that are not listed: the values of `UserDefaults` are not imported, or
  /// changes that were made are missing.
  package var otherKeysFailure: PreferencesError?

  package init(
    pairs: [(key: PreferenceKey, value: PreferenceValue)] = [],
    unreadable: [(key: PreferenceKey, failure: PreferencesError)] = []
  ) {
    self.pairs = pairs
    self.unreadable = unreadable
  }

  /// Returns all values.
  package func complete() throws(PreferencesError) -> [(PreferenceKey, PreferenceValue)] {
    if let failure = unreadable.first?.failure ?? otherKeysFailure { throw failure }
    return pairs.map { ($0.key, $0.value) }
  }
}
