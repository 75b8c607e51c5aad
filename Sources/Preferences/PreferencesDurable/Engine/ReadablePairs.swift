package import PreferencesCore

/// The readable values of preferences, and why others cannot be read.
package struct ReadablePairs {
  package var pairs: [(key: PreferenceKey, value: PreferenceValue)] = []
  package var unreadable: [(key: PreferenceKey, failure: PreferencesError)] = []

  /// Why other keys are unknown: the values of `UserDefaults` are not imported, or committed
  /// changes are missing.
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
