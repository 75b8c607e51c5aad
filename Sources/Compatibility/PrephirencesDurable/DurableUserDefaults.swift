public import Foundation
public import PreferencesDurable
public import Prephirences

/// User defaults whose values are in durable preferences.
///
/// ```swift
/// let defaults = DurableUserDefaults.standard
/// defaults.set(8080, forKey: "port")  // survives the end of the process
/// ```
///
/// Any API that asks for a `UserDefaults` accepts it. It is not `Sendable`, because `UserDefaults` is
/// not; ``DurablePreferences`` is. See ``BackedUserDefaults`` for what differs from
/// `UserDefaults`.
open class DurableUserDefaults: BackedUserDefaults {
  // Never replaced, and used on every thread like `UserDefaults.standard`.
  nonisolated(unsafe) private static let shared = DurableUserDefaults(.standard)

  /// The user defaults of the program, over ``DurablePreferences/standard``.
  ///
  /// `UserDefaults.standard` is a different object, with different values.
  open override class var standard: UserDefaults { unsafe shared }

  /// The preferences that have the values.
  public final private(set) var durable: DurablePreferences

  /// Creates user defaults over the durable preferences of a suite, whose file is opened when it is
  /// first used.
  ///
  /// - Parameter suiteName: The name of the suite; `nil` for the one of the program. With a name
  ///   that no suite can have, each read and each change fails, and `lastPreferencesError` has the
  ///   reason.
  public override init?(suiteName: String?) {
    durable = suiteName.map(DurablePreferences.init(suiteName:)) ?? .standard
    super.init(suiteName: suiteName)
    back(with: durable)
  }

  /// Creates user defaults over durable preferences.
  ///
  /// - Parameter preferences: The preferences that have the values.
  public convenience init(_ preferences: DurablePreferences) {
    self.init()
    durable = preferences
    back(with: preferences)
  }

  private func back(with preferences: DurablePreferences) {
    back(
      with: preferences,
      domain: BackedDomain(name: preferences.suiteName) { DurablePreferences(suiteName: $0) })
  }
}

extension UserDefaults {
  /// Returns the user defaults that are any preferences, or that have their values in them.
  package static func over(_ preferences: any MutablePreferencesType) -> UserDefaults {
    switch preferences {
    case let defaults as UserDefaults: defaults
    case let durable as DurablePreferences: DurableUserDefaults(durable)
    default: BackedUserDefaults(preferences: preferences)
    }
  }
}
