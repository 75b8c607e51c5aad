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
/// It can be used wherever a `UserDefaults` is expected. It is not `Sendable`, because
/// `UserDefaults` is not; ``DurablePreferences`` is. See ``BackedUserDefaults`` for the differences
/// from `UserDefaults`.
open class DurableUserDefaults: BackedUserDefaults {
  // Never replaced, and used on every thread like `UserDefaults.standard`.
  nonisolated(unsafe) private static let shared = DurableUserDefaults(.standard)

  /// The user defaults of the program, over ``DurablePreferences/standard``.
  ///
  /// `UserDefaults.standard` is a different object, with different values.
  open override class var standard: UserDefaults { unsafe shared }

  /// The preferences that hold the values.
  public final private(set) var durable: DurablePreferences

  /// Creates user defaults over a suite's durable preferences; the first use opens the file.
  ///
  /// - Parameter suiteName: The name of the suite; `nil` for the program's. With an invalid name,
  ///   each read and each change fails, and `lastPreferencesError` has the reason.
  public override init?(suiteName: String?) {
    durable = suiteName.map(DurablePreferences.init(suiteName:)) ?? .standard
    super.init(suiteName: suiteName)
    back(with: durable)
  }

  /// Creates user defaults over durable preferences.
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
  /// Returns preferences that are user defaults, or user defaults over the preferences.
  package static func over(_ preferences: any MutablePreferencesType) -> UserDefaults {
    switch preferences {
    case let defaults as UserDefaults: defaults
    case let durable as DurablePreferences: DurableUserDefaults(durable)
    default: BackedUserDefaults(preferences: preferences)
    }
  }
}
