/// A change of one preference, as observers are told it.
///
/// It is `Sendable` because values of preferences are handed to every thread that reads them, and
/// are not changed in place once they are set.
public struct PreferenceChange: @unchecked Sendable {
  /// The key.
  public let key: PreferenceKey

  /// The value before; `nil` if there was none, if the change is initial, and if it is not known, as
  /// that of a keychain.
  public let oldValue: PreferenceObject?

  /// The value now; `nil` if it was removed.
  public let newValue: PreferenceObject?

  /// Whether this tells the value at the beginning of the observation, and nothing has changed.
  public let isInitial: Bool

  private let isOldValueKnown: Bool

  /// Describes a change; for authors of stores.
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

  /// Describes a change for which the value before is not known; for authors of stores.
  ///
  /// It is told even if the value is the same as before.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - newValue: The value now; `nil` if it was removed.
  public init(_ key: PreferenceKey, to newValue: PreferenceObject?) {
    self.init(
      key: key, oldValue: nil, newValue: newValue, isInitial: false, isOldValueKnown: false)
  }

  /// Describes the value with which an observation begins; for authors of stores.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - value: The value; `nil` if there is none.
  public init(initial key: PreferenceKey, value: PreferenceObject?) {
    self.init(key: key, oldValue: nil, newValue: value, isInitial: true)
  }

  /// Describes the same change of another key; for authors of preferences that rename the keys of
  /// others.
  ///
  /// - Parameters:
  ///   - change: The change.
  ///   - key: The key to tell.
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

  /// Whether the values differ, or may differ, or are to be told all the same.
  var isWorthTelling: Bool { isInitial || !isOldValueKnown || !areSame(oldValue, newValue) }

  /// Returns this change with other values, as a transformation makes them; for authors of preferences
  /// that store what they are given in others.
  ///
  /// - Parameter transform: Is given a value, or `nil` for none, and returns the other one.
  /// - Returns: The change; an old value that is not known stays so.
  public func mapped(_ transform: (PreferenceObject?) -> PreferenceObject?) -> PreferenceChange {
    PreferenceChange(
      key: key, oldValue: isInitial || !isOldValueKnown ? nil : transform(oldValue),
      newValue: transform(newValue), isInitial: isInitial, isOldValueKnown: isOldValueKnown)
  }

  /// This change and a later one of the same key as one.
  func followed(by later: PreferenceChange) -> PreferenceChange {
    PreferenceChange(
      key: key, oldValue: oldValue, newValue: later.newValue, isInitial: isInitial,
      isOldValueKnown: isOldValueKnown)
  }
}
