package import Prephirences

/// All values of preferences that can be read, and why the others cannot: a damaged value hides no
/// other one.
package struct ReadablePairs {
  package var pairs: [(key: PreferenceKey, value: PreferenceObject)] = []
  package var unreadable: [(key: PreferenceKey, failure: PreferencesError)] = []

  /// Why nothing is known of keys that are not listed: the values of `UserDefaults` are not imported.
  package var importFailure: PreferencesError?

  package init(
    pairs: [(key: PreferenceKey, value: PreferenceObject)] = [],
    unreadable: [(key: PreferenceKey, failure: PreferencesError)] = []
  ) {
    self.pairs = pairs
    self.unreadable = unreadable
  }

  /// Returns all values.
  ///
  /// - Throws: The failure of the first that cannot be read.
  package func complete() throws(PreferencesError) -> [(PreferenceKey, PreferenceObject)] {
    if let failure = unreadable.first?.failure ?? importFailure { throw failure }
    return pairs.map { ($0.key, $0.value) }
  }
}
