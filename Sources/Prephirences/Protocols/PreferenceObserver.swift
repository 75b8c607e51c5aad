/// Who is to be told about changes of preferences; for authors of stores.
///
/// Programs that observe call ``PreferencesType/observe(forKey:initial:_:)`` and its siblings, which
/// make one.
public struct PreferenceObserver: Sendable {
  /// The keys that are observed; `nil` for all.
  public let keys: Set<PreferenceKey>?

  /// Whether the values at the beginning are to be told, too.
  public let wantsInitialValues: Bool

  private let handler: @Sendable (PreferenceChange) -> Void
  private let end: @Sendable () -> Void

  /// Makes an observer.
  ///
  /// - Parameters:
  ///   - keys: The keys to observe; `nil` for all.
  ///   - initial: Whether the values at the beginning are to be told, too.
  ///   - end: Called when there will be no changes any more, as the store is gone.
  ///   - handler: Called with each change, on any thread, never on two at a time.
  public init(
    keys: Set<PreferenceKey>?, initial: Bool = false, end: @escaping @Sendable () -> Void = {},
    handler: @escaping @Sendable (PreferenceChange) -> Void
  ) {
    self.keys = keys
    wantsInitialValues = initial
    self.handler = handler
    self.end = end
  }

  /// Returns whether changes of a key are to be told.
  ///
  /// - Parameter key: The key.
  /// - Returns: `true` if it is observed.
  public func observes(_ key: PreferenceKey) -> Bool { keys?.contains(key) ?? true }

  /// Tells a change, unless key or values say that there is nothing to tell.
  ///
  /// - Parameter change: The change.
  public func tell(_ change: PreferenceChange) {
    guard observes(change.key), change.isWorthTelling else { return }
    handler(change)
  }

  /// Tells that there will be no changes any more.
  public func tellEnd() { end() }

  /// Tells the values that preferences have now, if they are wanted.
  ///
  /// - Parameter preferences: The preferences.
  public func tellInitialValues(of preferences: any PreferencesType) {
    guard wantsInitialValues else { return }
    for (key, value) in values(in: preferences) {
      tell(PreferenceChange(initial: key, value: value))
    }
  }

  /// The values of all observed keys, ordered by key; of single keys also those that have none.
  func values(in preferences: any PreferencesType) -> [(PreferenceKey, PreferenceObject?)] {
    guard let keys else {
      return preferences.dictionary().sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
    return keys.sorted().map { ($0, preferences.object(forKey: $0)) }
  }
}
