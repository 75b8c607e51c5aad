public import Foundation
internal import PreferencesCore

/// The process-wide preferences: instances that are found without passing them around, and the
/// coders for values.
///
/// ```swift
/// Prephirences.sharedInstance = UserDefaults.standard
/// Prephirences.register(preferences: fonts, forKey: "fonts")
/// let preferences = Prephirences.instance(forKey: "fonts")
/// ```
///
/// It is safe to use from several threads.
open class Prephirences {
  private static let registered = Guarded<[InstanceName: any PreferencesType]>([:])
  private static let shared = Guarded<any PreferencesType>(MutableDictionaryPreferences())

  /// The default preferences; in memory unless they are replaced.
  ///
  /// Objects created before a replacement continue to use the previous preferences.
  public static var sharedInstance: any PreferencesType {
    get { shared.current }
    set { shared.current = newValue }
  }

  /// The default preferences; `nil` if they are read-only.
  public static var sharedMutableInstance: (any MutablePreferencesType)? {
    sharedInstance as? any MutablePreferencesType
  }

  /// The default decoder of values.
  public static var jsonDecoder: JSONDecoder {
    get { PreferenceCoders.jsonDecoder }
    set { PreferenceCoders.jsonDecoder = newValue }
  }

  /// The default encoder of values.
  public static var jsonEncoder: JSONEncoder {
    get { PreferenceCoders.jsonEncoder }
    set { PreferenceCoders.jsonEncoder = newValue }
  }

  /// Returns the preferences that are registered for a key.
  ///
  /// - Parameters:
  ///   - key: The key; keys of different types are different.
  ///   - newOne: The preferences to register if there are none.
  /// - Returns: The preferences; `nil` if none are registered and `newOne` is `nil`.
  open class func instance<Key: Hashable>(
    forKey key: Key, orRegister newOne: (any PreferencesType)? = nil
  ) -> (any PreferencesType)? {
    let name = InstanceName(key)
    return registered.withLock { registered in
      if let found = registered[name] { return found }
      registered[name] = newOne
      return newOne
    }
  }

  /// Registers preferences for a key.
  ///
  /// - Parameters:
  ///   - preferences: The preferences, which replace any that are registered for the key.
  ///   - key: The key.
  open class func registerInstance<Key: Hashable>(
    _ preferences: any PreferencesType, forKey key: Key
  ) {
    let name = InstanceName(key)
    _ = registered.withLock { $0.updateValue(preferences, forKey: name) }
  }

  /// Registers preferences for a key; another spelling of ``registerInstance(_:forKey:)``.
  ///
  /// - Parameters:
  ///   - preferences: The preferences, which replace any that are registered for the key.
  ///   - key: The key.
  open class func register<Key: Hashable>(
    preferences: any PreferencesType, forKey key: Key
  ) {
    registerInstance(preferences, forKey: key)
  }

  /// Removes the preferences that are registered for a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The preferences that were registered; `nil` if there were none.
  @discardableResult
  open class func unregisterInstance<Key: Hashable>(forKey key: Key) -> (any PreferencesType)? {
    let name = InstanceName(key)
    return registered.withLock { $0.removeValue(forKey: name) }
  }

  /// Returns all preferences that are registered for keys of one type.
  ///
  /// ```swift
  /// Prephirences.instances()["myKey"] = preferences
  /// ```
  ///
  /// - Returns: A view of them, which can also register preferences.
  public static func instances<KeyType: Hashable>() -> PrephirencesForType<KeyType> {
    PrephirencesForType()
  }
}

private struct InstanceName: Hashable {
  // Includes the type, because an `AnyHashable` of the integer 1 equals one of the number 1.0.
  let type: ObjectIdentifier
  let key: AnyHashable

  init<Key: Hashable>(_ key: Key) {
    type = ObjectIdentifier(Key.self)
    self.key = key
  }
}
