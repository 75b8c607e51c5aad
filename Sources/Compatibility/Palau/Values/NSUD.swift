public import Foundation
public import Prephirences

/// The user defaults that entries read and write.
public typealias NSUD = UserDefaults

// Documents of Palau for Swift 2 use these names, in types that read and write themselves.
extension UserDefaults {
  /// The old name of `object(forKey:)`.
  @available(*, deprecated, renamed: "object(forKey:)")
  public func objectForKey(_ key: PreferenceKey) -> PreferenceObject? { object(forKey: key) }

  /// The old name of `set(_:forKey:)`; `nil` removes the key.
  @available(*, deprecated, renamed: "set(_:forKey:)")
  public func setObject(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    // Outside Apple's systems, a `nil` that was cast to an object is `NSNull`.
    setPreference(value is NSNull ? nil : value, forKey: key)
  }

  /// The old name of `removeObject(forKey:)`.
  @available(*, deprecated, renamed: "removeObject(forKey:)")
  public func removeObjectForKey(_ key: PreferenceKey) { removePreference(forKey: key) }
}
