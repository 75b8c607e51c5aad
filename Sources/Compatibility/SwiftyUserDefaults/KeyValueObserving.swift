#if !canImport(ObjectiveC)
// Foundation has these only on Apple's systems.

/// What an observer receives.
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
  /// The bits.
  public let rawValue: UInt

  /// Creates options from their bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// The new value.
  public static let new = Self(rawValue: 1)

  /// The old value.
  public static let old = Self(rawValue: 2)

  /// An update with the present value when observation starts.
  public static let initial = Self(rawValue: 4)

  /// An additional update before that of a change.
  public static let prior = Self(rawValue: 8)
}

/// What an update reports.
public enum NSKeyValueChange: UInt, Sendable {
  /// A value was set or removed. Preferences report nothing else.
  case setting = 1

  /// Elements were inserted into a collection.
  case insertion = 2

  /// Elements were removed from a collection.
  case removal = 3

  /// Elements of a collection were replaced.
  case replacement = 4
}
#else
public import Foundation
#endif
