public import Foundation
internal import Synchronization

/// What all preferences of the process share: the instances that are found without passing them
/// around, and how values are archived and encoded.
///
/// ```swift
/// Prephirences.sharedInstance = UserDefaults.standard
/// Prephirences.register(preferences: fonts, forKey: "fonts")
/// let preferences = Prephirences.instance(forKey: "fonts")
/// ```
///
/// All of it may be used on any number of threads.
open class Prephirences {
  private static let coders = Mutex((decoder: JSONDecoder(), encoder: JSONEncoder()))
  private static let registered = Guarded<[InstanceName: any PreferencesType]>([:])
  private static let shared = Guarded<any PreferencesType>(MutableDictionaryPreferences())

  /// The preferences that are used where no others are given; in memory unless they are replaced.
  ///
  /// What was made before they are replaced keeps those that it has.
  public static var sharedInstance: any PreferencesType {
    get { shared.current }
    set { shared.current = newValue }
  }

  /// The preferences that are used where no others are given; `nil` if they cannot be changed.
  public static var sharedMutableInstance: (any MutablePreferencesType)? {
    sharedInstance as? any MutablePreferencesType
  }

  /// The decoder of values for which no other is given.
  public static var jsonDecoder: JSONDecoder {
    get { coders.withLock(\.decoder) }
    set { coders.withLock { $0.decoder = newValue } }
  }

  /// The encoder of values for which no other is given.
  public static var jsonEncoder: JSONEncoder {
    get { coders.withLock(\.encoder) }
    set { coders.withLock { $0.encoder = newValue } }
  }

  /// Returns the preferences that are registered for a key.
  ///
  /// - Parameters:
  ///   - key: The key; keys of different types are different.
  ///   - newOne: What to register if there are none.
  /// - Returns: The preferences; `nil` if there are none, and none to register.
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
  ///   - preferences: The preferences, in place of any that were registered for the key.
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
  ///   - preferences: The preferences, in place of any that were registered for the key.
  ///   - key: The key.
  open class func register<Key: Hashable>(
    preferences: any PreferencesType, forKey key: Key
  ) {
    registerInstance(preferences, forKey: key)
  }

  /// Forgets the preferences that are registered for a key.
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
  /// - Returns: A view of them, through which they can be registered, too.
  public static func instances<KeyType: Hashable>() -> PrephirencesForType<KeyType> {
    PrephirencesForType()
  }
}

private struct InstanceName: Hashable {
  // The type too: an `AnyHashable` of the integer 1 equals one of the number 1.0.
  let type: ObjectIdentifier
  let key: AnyHashable

  init<Key: Hashable>(_ key: Key) {
    type = ObjectIdentifier(Key.self)
    self.key = key
  }
}
