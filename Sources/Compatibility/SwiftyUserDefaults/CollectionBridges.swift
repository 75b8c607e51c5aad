public import Foundation
internal import Prephirences

/// Stores an array as an array of a property list, and reads JSON as well.
public typealias DefaultsArrayBridge<T: Collection> = DefaultsObjectBridge<T>

/// Stores an array whose elements are stored by their own bridge: an array of arrays, of sets or of
/// optional values.
public struct DefaultsNestedArrayBridge<Element: DefaultsSerializable>: DefaultsSerializingBridge {
  /// The type of the values.
  public typealias T = [Element.T]

  /// Creates a bridge.
  @inlinable public init() {}

  /// Returns the array of the elements' objects.
  ///
  /// - Throws: The error of the elements' bridge.
  public func serialize(_ value: [Element.T]) throws -> Any {
    let bridge = Element._defaults
    return try value.compactMap { try bridge._object(for: $0) }
  }

  /// Returns the array; JSON and an archive of the array are also read.
  public func deserialize(_ object: Any) -> [Element.T]? {
    let object = (object as? Data).flatMap(PreferenceArchive.unarchive) ?? object
    guard let objects = object as? [Any] else { return EncodedForm.value(of: object) }
    let bridge = Element._defaults
    var values: [Element.T] = []
    for object in objects {
      guard let value = bridge.deserialize(object) else { return nil }
      values.append(value)
    }
    return values
  }
}

/// Stores a set as an array.
public struct DefaultsSetBridge<Element: DefaultsSerializable & Hashable>:
  DefaultsSerializingBridge
{
  /// The type of the values.
  public typealias T = Set<Element>

  /// Creates a bridge.
  @inlinable public init() {}

  /// Returns the object of the array of the elements.
  ///
  /// - Throws: The error of the elements' bridge.
  public func serialize(_ value: Set<Element>) throws -> Any {
    try Self.object(of: Array(value), Element._defaultsArray) ?? [Any]()
  }

  private static func object<Bridge: DefaultsBridge>(of array: Any, _ bridge: Bridge) throws -> Any?
  {
    try (array as? Bridge.T).flatMap(bridge._object)
  }

  /// Returns the set of the elements of an array.
  public func deserialize(_ object: Any) -> Set<Element>? {
    (Element._defaultsArray.deserialize(object) as? [Element]).map { Set($0) }
  }
}

/// Stores an array of raw values, and also reads JSON if the type is `Decodable`.
///
/// Unknown raw values are left out.
public struct DefaultsRawRepresentableArrayBridge<T: Collection>: DefaultsSerializingBridge
where T.Element: RawRepresentable {
  /// Creates a bridge.
  public init() {}

  /// Returns the array of the raw values' objects.
  ///
  /// - Throws: The error of the raw values' encoder.
  public func serialize(_ value: T) throws -> Any { try value.map { try RawForm.object(for: $0) } }

  /// Returns the values with the raw values of an array.
  public func deserialize(_ object: Any) -> T? {
    guard let objects = object as? [Any] else { return EncodedForm.value(of: object) }
    let values = objects.compactMap { object -> T.Element? in RawForm.value(of: object) }
    // If elements have another type, they are not removed cases.
    guard values.count == objects.count || RawForm.areRawValues(objects, of: T.Element.self) else {
      return nil
    }
    return values as? T
  }
}

/// Stores an optional value with the bridge of its value; `nil` removes the key.
public struct DefaultsOptionalBridge<Bridge: DefaultsBridge>: DefaultsBridge {
  /// The type of the values.
  public typealias T = Bridge.T?

  @usableFromInline let bridge: Bridge

  @inlinable init(bridge: Bridge) { self.bridge = bridge }

  /// Returns the value of a key.
  public func get(key: String, userDefaults: UserDefaults) -> T? {
    bridge.get(key: key, userDefaults: userDefaults)
  }

  /// Sets the value of a key; `nil` removes the key.
  @inlinable public func save(key: String, value: T?, userDefaults: UserDefaults) {
    bridge.save(key: key, value: value ?? nil, userDefaults: userDefaults)
  }

  /// Returns the value that an object of a property list represents.
  public func deserialize(_ object: Any) -> T? { bridge.deserialize(object) }

  /// Reads a key with the bridge of the value.
  @inlinable public func _read(key: String, userDefaults: UserDefaults) -> DefaultsReading<T> {
    switch bridge._read(key: key, userDefaults: userDefaults) {
    case .absent: .absent
    case .value(let value): .value(value)
    case .unreadable: .unreadable
    }
  }

  /// Sets a key with the bridge of the value.
  @inlinable public func _write(key: String, value: T?, userDefaults: UserDefaults) {
    bridge._write(key: key, value: value ?? nil, userDefaults: userDefaults)
  }

  /// Returns the object of the value; `nil` if there is none.
  public func _object(for value: T) throws -> Any? { try value.flatMap(bridge._object) }
}

/// The same as ``DefaultsOptionalBridge``, which the library uses.
public typealias DefaultsOptionalArrayBridge<Bridge: DefaultsBridge> =
  DefaultsOptionalBridge<Bridge>
