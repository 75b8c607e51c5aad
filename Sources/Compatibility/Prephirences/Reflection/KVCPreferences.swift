internal import Foundation

/// The properties of an object or a structure as read-only preferences.
///
/// ```swift
/// KVCPreferences(settings)["color"]                  // of a structure, all stored properties
/// KVCPreferences(person, [\.color, \.age])           // of an object, those in a list
/// KVCPreferences(person)                             // the same, of a class with a list
/// ```
///
/// Without a list, all stored properties are found. A path such as `address.city` reads a property
/// of a property. It is safe to use from several threads at the same time, as long as the
/// properties are accessed only through this object.
open class KVCPreferences: PreferencesAdapter, @unchecked Sendable {
  // Unchecked because the lock guards access to the object. It is recursive because properties may
  // read these preferences themselves.
  let lock = NSRecursiveLock()
  let target: Any
  let table: PropertyTable

  init(_ target: Any, table: PropertyTable) {
    self.target = target
    self.table = table
  }

  /// Wraps an object, or a copy of a structure.
  ///
  /// - Parameter object: The object; if its class conforms to ``PreferenceKeyPaths``, only the
  ///   listed properties are used.
  public convenience init(_ object: Any) {
    self.init(object, table: PropertyTable(listedBy: object))
  }

  /// Wraps listed properties of an object.
  ///
  /// - Parameters:
  ///   - object: The object.
  ///   - keyPaths: The properties; their names are the keys. A name can be derived for stored
  ///     properties of final classes; in other classes, only for a property that is the only one of
  ///     its type. A property whose name cannot be derived is left out, see ``namelessKeyPaths``.
  public convenience init<Object: AnyObject>(
    _ object: Object, _ keyPaths: [PartialKeyPath<Object>]
  ) {
    self.init(object, table: PropertyTable(keyPaths, of: object))
  }

  /// Wraps properties of an object, with the given keys.
  ///
  /// - Parameters:
  ///   - object: The object.
  ///   - keyPaths: The properties by their keys.
  public convenience init<Object: AnyObject>(
    _ object: Object, _ keyPaths: [PreferenceKey: PartialKeyPath<Object>]
  ) {
    self.init(object, table: PropertyTable(named: keyPaths, of: object))
  }

  /// The listed key paths whose names could not be derived.
  public final var namelessKeyPaths: [AnyKeyPath] { table.nameless }

  /// Returns the value of a property.
  open func object(forKey key: PreferenceKey) -> PreferenceObject? {
    lock.withLock {
      guard let path = table.keyPaths[key] else { return reflectedObject(forKey: key) }
      return unwrapped(target[keyPath: path])
    }
  }

  /// Uses reflection: without a list for all properties, with a list for those below a listed one.
  private func reflectedObject(forKey key: PreferenceKey) -> PreferenceObject? {
    if table.keyPaths.isEmpty { return ReflectedValue(value: target).value(at: key) }
    guard let dot = key.firstIndex(of: "."), let path = table.keyPaths[String(key[..<dot])],
      let value = unwrapped(target[keyPath: path])
    else { return nil }
    return ReflectedValue(value: value).value(at: String(key[key.index(after: dot)...]))
  }

  /// Returns the names of the properties that are not `nil`.
  open func keys() -> [String] {
    lock.withLock {
      if table.keyPaths.isEmpty { return Array(ReflectedValue(value: target).properties.keys) }
      return table.keyPaths.filter { unwrapped(target[keyPath: $0.value]) != nil }.map(\.key)
    }
  }
}

extension PropertyTable {
  /// Returns the properties that an object's class lists.
  init(listedBy object: Any) {
    if let object = object as? any PreferenceKeyPaths {
      let type = type(of: object)
      self.init(named: type.namedPreferenceKeyPaths, type.preferenceKeyPaths, of: object)
    } else {
      self.init(of: object)
    }
  }
}
