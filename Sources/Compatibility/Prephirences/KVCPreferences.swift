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
  // read these preferences.
  let lock = NSRecursiveLock()
  let target: Any
  let table: PropertyTable

  init(_ target: Any, table: PropertyTable) {
    self.target = target
    self.table = table
  }

  /// Wraps an object, or a copy of a structure.
  ///
  /// If its class conforms to ``PreferenceKeyPaths``, only the listed properties are used.
  public convenience init(_ object: Any) {
    self.init(object, table: PropertyTable(listedBy: object))
  }

  /// Wraps listed properties of an object.
  ///
  /// - Parameter keyPaths: The properties; their names are the keys. A name can be derived for
  ///   stored properties of final classes; in other classes, only for a property that is the only
  ///   one of its type. A property whose name cannot be derived is left out, see
  ///   ``namelessKeyPaths``.
  public convenience init<Object: AnyObject>(
    _ object: Object, _ keyPaths: [PartialKeyPath<Object>]
  ) {
    self.init(object, table: PropertyTable(keyPaths, of: object))
  }

  /// Wraps properties of an object, with the given keys.
  public convenience init<Object: AnyObject>(
    _ object: Object, _ keyPaths: [PreferenceKey: PartialKeyPath<Object>]
  ) {
    self.init(object, table: PropertyTable(named: keyPaths, of: object))
  }

  /// No failure: reading properties doesn't fail.
  open var lastPreferencesError: PreferencesError? { nil }

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

/// The properties of an object as preferences.
///
/// ```swift
/// let preferences = MutableKVCPreferences(person, [\.color, \.age])
/// preferences["color"] = "blue"   // person.color is "blue"
/// ```
///
/// Listed properties with a writable key path can be set; ``readOnlyKeys`` are the others. A number
/// is converted to any type that holds it, text to the number or truth value that it contains, and
/// a raw value to its enumeration value; `nil` is accepted only by optional properties. A refused
/// value changes nothing, and ``lastPreferencesError`` has the reason.
open class MutableKVCPreferences: KVCPreferences, MutablePreferencesType, @unchecked Sendable {
  private var failure: PreferencesError?

  /// Why the last setter changed nothing, or not everything; `nil` if it succeeded.
  public final override var lastPreferencesError: PreferencesError? { lock.withLock { failure } }

  /// The keys that are read-only: those of constants, and of properties without a visible setter;
  /// all keys without a list.
  public final var readOnlyKeys: [PreferenceKey] {
    guard type(of: target) is AnyClass, !table.keyPaths.isEmpty else { return keys().sorted() }
    return table.keyPaths.filter { !PropertyAssignment.canAssign(to: $0.value, of: target) }
      .map(\.key).sorted()
  }

  /// Sets a property; `nil` is accepted only by an optional one.
  ///
  /// - Parameter key: The name of the property, or a listed path.
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/readOnly`` if the property is
  ///   read-only, ``PreferencesError/Code/unknownKey`` if the property does not exist,
  ///   ``PreferencesError/Code/typeMismatch`` if it has another type.
  open func assign(_ value: PreferenceObject?, forKey key: PreferenceKey) throws(PreferencesError) {
    let observers = observers
    defer { observers?.deliverPending() }
    lock.lock()
    defer { lock.unlock() }
    let (object, path) = try property(key)
    let oldValue = observers.flatMap { _ in self.object(forKey: key) }
    switch PropertyAssignment.assign(value, to: path, of: object) {
    case .done:
      let newValue = observers.flatMap { _ in self.object(forKey: key) }
      observers?.post([PreferenceChange(key, from: oldValue, to: newValue)])
    case .readOnly: throw Self.readOnly(key, "its key path is not writable")
    case .typeMismatch(let type):
      throw PreferencesError(.typeMismatch, "the property '\(key)' is of type \(type)")
    }
  }

  /// Finds a property of the object, or of the object at the end of a path.
  private func property(
    _ key: PreferenceKey
  ) throws(PreferencesError) -> (AnyObject, AnyKeyPath) {
    if type(of: target) is AnyClass, let path = table.keyPaths[key] {
      return (target as AnyObject, path)
    }
    guard let dot = key.lastIndex(of: "."),
      let owner = object(forKey: String(key[..<dot])) as? any PreferenceKeyPaths,
      let path = PropertyTable(listedBy: owner).keyPaths[String(key[key.index(after: dot)...])]
    else { throw unsettable(key) }
    return (owner, path)
  }

  private func unsettable(_ key: PreferenceKey) -> PreferencesError {
    guard object(forKey: key) != nil else {
      return PreferencesError(.unknownKey, "there is no settable property '\(key)'")
    }
    return type(of: target) is AnyClass
      ? Self.readOnly(
        key, "no list of key paths contains it; make the class conform to PreferenceKeyPaths")
      : Self.readOnly(key, "it is a property of a copied structure")
  }

  private static func readOnly(_ key: PreferenceKey, _ reason: String) -> PreferencesError {
    PreferencesError(.readOnly, "the property '\(key)' is read-only: \(reason)")
  }

  /// Sets a property.
  open func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    do throws(PreferencesError) {
      try assign(value, forKey: key)
      lock.withLock { failure = nil }
    } catch {
      lock.withLock { failure = error }
    }
  }

  /// Sets several properties; ``lastPreferencesError`` has the first failure.
  open func set(dictionary: PreferencesDictionary) {
    var first: PreferencesError?
    for (key, value) in withoutNulls(dictionary).sorted(by: { $0.key < $1.key }) {
      do throws(PreferencesError) {
        try assign(value, forKey: key)
      } catch {
        first = first ?? error
      }
    }
    lock.withLock { failure = first }
  }

  /// Records a value that a transformation refused, as ``lastPreferencesError``.
  open func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) {
    lock.withLock { failure = error }
  }

  /// Sets an optional property to `nil`.
  open func removeObject(forKey key: PreferenceKey) { set(nil as PreferenceObject?, forKey: key) }

  /// Sets all optional properties to `nil`; others do not change.
  open func clearAll() {
    for key in keys() { try? assign(nil, forKey: key) }
  }
}

extension KVCPreferences {
  /// Starts notifying an observer of changes made through preferences of the same object.
  ///
  /// Changes that the program makes to the object itself are not noticed.
  public func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    ObjectObservers.shared.add(observer, of: self, object: observed)
  }

  /// The observers of the object, or `nil`.
  var observers: PreferenceObservers? { ObjectObservers.shared.observers(of: observed) }

  /// The object, or these preferences if they wrap a copy of a structure, which nobody else uses.
  private var observed: AnyObject { type(of: target) is AnyClass ? target as AnyObject : self }
}
