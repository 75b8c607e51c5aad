internal import FoundationEssentials
internal import PrephirencesSystem

/// A change of one preference, as reported to observers.
///
/// It is `Sendable` because preference values do not change in place once set, so every thread can
/// read them.
public struct PreferenceChange: @unchecked Sendable {
  /// The key.
  public let key: PreferenceKey

  /// The previous value; `nil` if there was none, if the change is initial, or if the value is
  /// unknown, as for a keychain.
  public let oldValue: PreferenceObject?

  /// The new value; `nil` if it was removed.
  public let newValue: PreferenceObject?

  /// Whether this is a value at the start of the observation, not a change.
  public let isInitial: Bool

  package let isOldValueKnown: Bool

  /// Creates a change; for authors of stores.
  ///
  /// - Parameters:
  ///   - oldValue: The value before; `nil` if there was none.
  ///   - newValue: The value now; `nil` if it was removed.
  public init(
    _ key: PreferenceKey, from oldValue: PreferenceObject?, to newValue: PreferenceObject?
  ) {
    self.init(key: key, oldValue: oldValue, newValue: newValue, isInitial: false)
  }

  /// Creates a change whose previous value is unknown; for authors of stores.
  ///
  /// It is reported even if the value is the same as before. `newValue` is `nil` if it was removed.
  public init(_ key: PreferenceKey, to newValue: PreferenceObject?) {
    self.init(
      key: key, oldValue: nil, newValue: newValue, isInitial: false, isOldValueKnown: false)
  }

  /// Creates the change that reports a value at the start of an observation; for authors of stores.
  public init(initial key: PreferenceKey, value: PreferenceObject?) {
    self.init(key: key, oldValue: nil, newValue: value, isInitial: true)
  }

  /// Creates the same change for another key, for authors of preferences that rename keys.
  public init(_ change: PreferenceChange, forKey key: PreferenceKey) {
    self.init(
      key: key, oldValue: change.oldValue, newValue: change.newValue, isInitial: change.isInitial,
      isOldValueKnown: change.isOldValueKnown)
  }

  init(
    key: PreferenceKey, oldValue: PreferenceObject?, newValue: PreferenceObject?, isInitial: Bool,
    isOldValueKnown: Bool = true
  ) {
    self.key = key
    self.oldValue = unwrapped(oldValue)
    self.newValue = unwrapped(newValue)
    self.isInitial = isInitial
    self.isOldValueKnown = isOldValueKnown
  }

  /// Whether to report the change: the values differ or may differ, or it is initial.
  package var isReportable: Bool { isInitial || !isOldValueKnown || !areSame(oldValue, newValue) }

  /// Returns this change with converted values, for authors of preferences that store converted
  /// values.
  ///
  /// - Parameter transform: Receives a value, or `nil` if there is none, and returns the converted
  ///   one.
  /// - Returns: The change; an unknown previous value stays unknown.
  public func mapped(_ transform: (PreferenceObject?) -> PreferenceObject?) -> PreferenceChange {
    PreferenceChange(
      key: key, oldValue: isInitial || !isOldValueKnown ? nil : transform(oldValue),
      newValue: transform(newValue), isInitial: isInitial, isOldValueKnown: isOldValueKnown)
  }

  /// Merges this change and a later one of the same key.
  func followed(by later: PreferenceChange) -> PreferenceChange {
    PreferenceChange(
      key: key, oldValue: oldValue, newValue: later.newValue, isInitial: isInitial,
      isOldValueKnown: isOldValueKnown)
  }
}

/// Whether two preference values have the same type and are equal.
///
/// Compares text by bytes and numbers by bits, so values that are stored differently are different,
/// and not-a-number equals itself. Values that cannot be compared, or are too deep for a property
/// list, are different.
package func areSame(_ one: Any?, _ other: Any?, depth: Int = 0) -> Bool {
  switch (unwrapped(one), unwrapped(other)) {
  case (nil, nil): true
  case (let one?, let other?): areSameValues(one, other, depth)
  default: false
  }
}

private func areSameValues(_ one: Any, _ other: Any, _ depth: Int) -> Bool {
  guard type(of: one) == type(of: other), depth < PreferenceValue.maximumDepth else {
    return false
  }
  switch (one, other) {
  case (let one as String, let other as String): return one.utf8.elementsEqual(other.utf8)
  case (let one as Double, let other as Double): return one.bitPattern == other.bitPattern
  case (let one as Float, let other as Float): return one.bitPattern == other.bitPattern
  // Must precede the equality of arrays, which treats canonically equivalent texts as equal.
  case (let one as [Any], let other as [Any]):
    return one.count == other.count
      && zip(one, other).allSatisfy { areSame($0, $1, depth: depth + 1) }
  case (let one as [String: Any], let other as [String: Any]):
    return one.count == other.count && one.allSatisfy { areSame($1, other[$0], depth: depth + 1) }
  case (let one as any Equatable, _): return one.isEqual(to: other)
  default: return false
  }
}

extension Equatable {
  fileprivate func isEqual(to other: Any) -> Bool { other as? Self == self }
}

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

  /// Whether changes of a key are reported.
  public func observes(_ key: PreferenceKey) -> Bool { keys?.contains(key) ?? true }

  /// Reports a change, unless the key is not observed or the values are equal.
  public func notify(_ change: PreferenceChange) {
    guard observes(change.key), change.isReportable else { return }
    handler(change)
  }

  /// Reports that no more changes follow.
  public func notifyEnd() { end() }

  /// Reports the present values, if the observer wants them.
  public func notifyInitialValues(of preferences: any PreferencesType) {
    guard wantsInitialValues else { return }
    for (key, value) in values(in: preferences) {
      notify(PreferenceChange(initial: key, value: value))
    }
  }

  /// Returns the values of all observed keys in key order, including listed keys without a value.
  package func values(in preferences: any PreferencesType) -> [(PreferenceKey, PreferenceObject?)] {
    guard let keys else {
      if let preferences = preferences as? any ExactKeyPreferences {
        return preferences.pairs().sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }
      }
      return preferences.dictionary().sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
    return keys.sorted().map { ($0, preferences.object(forKey: $0)) }
  }
}

/// Keeps an observation of preferences alive; it ends when this object is destroyed or cancelled.
///
/// No call starts afterwards; a call that is running on another thread finishes.
public final class PreferenceObservation: Sendable {
  private let end: PosixMutex<(@Sendable () -> Void)?>

  /// Creates an observation; for authors of stores; `end` is called once, on any thread.
  public init(end: @escaping @Sendable () -> Void) {
    self.end = PosixMutex(end)
  }

  deinit { cancel() }

  /// Ends the observation; repeated calls do nothing.
  public func cancel() {
    let end = end.withLock { end in
      defer { end = nil }
      return end
    }
    end?()
  }
}
