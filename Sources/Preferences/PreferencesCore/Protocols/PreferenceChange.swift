/// A change of one preference, as reported to observers.
///
/// It is `Sendable` because every thread can read preference values, which do not change in place
/// once set.
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
  ///   - key: The key.
  ///   - oldValue: The value before; `nil` if there was none.
  ///   - newValue: The value now; `nil` if it was removed.
  public init(
    _ key: PreferenceKey, from oldValue: PreferenceObject?, to newValue: PreferenceObject?
  ) {
    self.init(key: key, oldValue: oldValue, newValue: newValue, isInitial: false)
  }

  /// Creates a change whose previous value is unknown; for authors of stores.
  ///
  /// It is reported even if the value is the same as before.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - newValue: The value now; `nil` if it was removed.
  public init(_ key: PreferenceKey, to newValue: PreferenceObject?) {
    self.init(
      key: key, oldValue: nil, newValue: newValue, isInitial: false, isOldValueKnown: false)
  }

  /// Creates the change that reports a value at the start of an observation; for authors of stores.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - value: The value; `nil` if there is none.
  public init(initial key: PreferenceKey, value: PreferenceObject?) {
    self.init(key: key, oldValue: nil, newValue: value, isInitial: true)
  }

  /// Creates the same change for another key; for authors of preferences that rename the keys of
  /// others.
  ///
  /// - Parameters:
  ///   - change: The change.
  ///   - key: The key to report.
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

  /// Returns this change with converted values; for authors of preferences that store converted
  /// values in others.
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
