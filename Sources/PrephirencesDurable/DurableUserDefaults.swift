public import Foundation
public import Prephirences

/// User defaults whose values are in durable preferences.
open class DurableUserDefaults: BackedUserDefaults {
  nonisolated(unsafe) private static let shared = DurableUserDefaults(.standard)

  /// The user defaults of the program, over ``DurablePreferences/standard``.
  open override class var standard: UserDefaults { unsafe shared }

  /// Creates user defaults over durable preferences.
  public init(_ preferences: DurablePreferences) { super.init(preferences: preferences) }

  /// Creates user defaults over the durable preferences of a suite.
  public convenience init?(suiteName: String?) {
    self.init(suiteName.map(DurablePreferences.init(suiteName:)) ?? .standard)
  }
}
