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

  /// Returns the preferences that are registered for a key, or `nil`.
  ///
  /// Keys of different types are different. If there are none, `newOne` is registered and returned.
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

  /// Registers preferences for a key, replacing any others.
  open class func registerInstance<Key: Hashable>(
    _ preferences: any PreferencesType, forKey key: Key
  ) {
    let name = InstanceName(key)
    _ = registered.withLock { $0.updateValue(preferences, forKey: name) }
  }

  /// An alias of ``registerInstance(_:forKey:)``.
  open class func register<Key: Hashable>(
    preferences: any PreferencesType, forKey key: Key
  ) {
    registerInstance(preferences, forKey: key)
  }

  /// Removes the preferences that are registered for a key, and returns them, or `nil`.
  @discardableResult
  open class func unregisterInstance<Key: Hashable>(forKey key: Key) -> (any PreferencesType)? {
    let name = InstanceName(key)
    return registered.withLock { $0.removeValue(forKey: name) }
  }

  /// Returns a view of the preferences for keys of one type, which can also register preferences.
  ///
  /// ```swift
  /// Prephirences.instances()["myKey"] = preferences
  /// ```
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

extension Prephirences {
  /// Returns the enumeration value of a raw value, or `nil` if there is none.
  public static func unraw<T: RawRepresentable>(_ rawValue: T.RawValue?) -> T? {
    rawValue.flatMap(T.init(rawValue:))
  }

  /// Returns the raw value of a value, or `nil` if there is no value.
  public static func raw<T: RawRepresentable>(_ value: T?) -> T.RawValue? { value?.rawValue }

  /// Returns the object whose archive is the value of a key, or `nil` if the value is not an
  /// archive.
  public static func unarchive(
    fromPreferences preferences: any PreferencesType, forKey key: PreferenceKey
  ) -> PreferenceObject? {
    preferences.unarchiveObject(forKey: key)
  }

  /// Sets the value of a key to the archive of an object; `nil` removes the key.
  ///
  /// An object that cannot be archived changes nothing.
  public static func archive(
    object: PreferenceObject?, intoPreferences preferences: any MutablePreferencesType,
    forKey key: PreferenceKey
  ) {
    preferences.set(objectToArchive: object, forKey: key)
  }

  /// Returns the object of an archive, or `nil` if the data is not an archive.
  public static func unarchive(_ data: Data) -> PreferenceObject? {
    PreferenceArchive.unarchive(data)
  }

  /// Returns the archive of an object, or empty data if it cannot be archived.
  public static func archive(_ object: PreferenceObject) -> Data {
    PreferenceArchive.archive(object) ?? Data()
  }
}

/// The preferences that are registered for keys of one type; see ``Prephirences``.
open class PrephirencesForType<Key: Hashable> {
  init() {}

  /// The preferences of a key; setting `nil` removes them from the registry.
  open subscript(key: Key) -> (any PreferencesType)? {
    get { Prephirences.instance(forKey: key) }
    set {
      if let newValue {
        Prephirences.registerInstance(newValue, forKey: key)
      } else {
        Prephirences.unregisterInstance(forKey: key)
      }
    }
  }
}

/// A type that has its own preferences, under a prefix in those of the process.
///
/// ```swift
/// enum Editor: Prephirencable {
///   enum Font: Prephirencable {
///     static var parent: any PreferencesType { Editor.instance }
///   }
/// }
///
/// Editor.Font.mutableInstance?["size"] = 12  // the key is "editor.font.size"
/// ```
public protocol Prephirencable {
  /// The prefix. The default is the type's name with a lower-case first letter, followed by a dot.
  static var key: String { get }

  /// The preferences that contain these; by default ``Prephirences/sharedInstance``.
  static var parent: any PreferencesType { get }
}

extension Prephirencable {
  /// The prefix: the type's name with a lower-case first letter, followed by a dot.
  public static var key: String {
    let name = String(describing: self)
    return name.prefix(1).lowercased() + name.dropFirst() + "."
  }

  /// The preferences that contain these: ``Prephirences/sharedInstance``.
  public static var parent: any PreferencesType { Prephirences.sharedInstance }

  /// The preferences of the type.
  ///
  /// They can be changed if the parent can, so that nested types can also be changed.
  public static var instance: any PreferencesType {
    mutableInstance ?? ProxyPreferences(preferences: parent, key: key)
  }

  /// The preferences of the type; `nil` if the parent cannot be changed.
  public static var mutableInstance: (any MutablePreferencesType)? {
    (parent as? any MutablePreferencesType).map {
      MutableProxyPreferences(preferences: $0, key: key)
    }
  }
}
