/// An observer of preference changes; for authors of stores.
///
/// Programs call ``PreferencesType/observe(forKey:initial:_:)`` and its siblings, which create one.
public struct PreferenceObserver: Sendable {
  /// The keys that are observed; `nil` for all.
  public let keys: Set<PreferenceKey>?

  /// Whether to report the values at the start of the observation.
  public let wantsInitialValues: Bool

  private let handler: @Sendable (PreferenceChange) -> Void
  private let end: @Sendable () -> Void

  /// Creates an observer.
  ///
  /// - Parameters:
  ///   - keys: The keys to observe; `nil` for all.
  ///   - initial: Whether to report the values at the start of the observation.
  ///   - end: Called when no more changes can follow, because the store was destroyed.
  ///   - handler: Called with each change, on any thread, one call at a time.
  public init(
    keys: Set<PreferenceKey>?, initial: Bool = false, end: @escaping @Sendable () -> Void = {},
    handler: @escaping @Sendable (PreferenceChange) -> Void
  ) {
    self.keys = keys
    wantsInitialValues = initial
    self.handler = handler
    self.end = end
  }

  /// Returns whether changes of a key are reported.
  ///
  /// - Parameter key: The key.
  /// - Returns: `true` if the key is observed.
  public func observes(_ key: PreferenceKey) -> Bool { keys?.contains(key) ?? true }

  /// Reports a change, unless the key is not observed or the values are equal.
  ///
  /// - Parameter change: The change.
  public func notify(_ change: PreferenceChange) {
    guard observes(change.key), change.isReportable else { return }
    handler(change)
  }

  /// Reports that no more changes follow.
  public func notifyEnd() { end() }

  /// Reports the present values, if the observer wants them.
  ///
  /// - Parameter preferences: The preferences.
  public func notifyInitialValues(of preferences: any PreferencesType) {
    guard wantsInitialValues else { return }
    for (key, value) in values(in: preferences) {
      notify(PreferenceChange(initial: key, value: value))
    }
  }

  /// Returns the values of all observed keys in key order, including listed keys without a value.
  func values(in preferences: any PreferencesType) -> [(PreferenceKey, PreferenceObject?)] {
    guard let keys else {
      if let preferences = preferences as? any ExactKeyPreferences {
        return preferences.pairs().sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }
      }
      return preferences.dictionary().sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
    return keys.sorted().map { ($0, preferences.object(forKey: $0)) }
  }
}
