internal import Foundation

/// A structure or class whose stored properties are read-only preferences.
///
/// ```swift
/// struct Settings {
///   var color = "red"
///   var age: Int
/// }
///
/// extension Settings: ReflectingPreferences {}
///
/// Settings(age: 33)["color"] as? String   // "red"
/// ```
///
/// Properties of superclasses are included; a property that is `nil` has no value. A path such as
/// `address.city` reads a property of a property. Computed properties are not found.
public protocol ReflectingPreferences: PreferencesType {}

extension ReflectingPreferences {
  /// Returns the value of a property, or of a path to it; `nil` if it is `nil` or does not exist.
  public func object(forKey key: PreferenceKey) -> PreferenceObject? {
    ReflectedValue(value: self).value(at: key)
  }

  /// Returns the values of all properties that are not `nil`, by their names.
  public func dictionary() -> PreferencesDictionary { ReflectedValue(value: self).properties }
}

/// A class that lists the properties that are preferences, so that its objects can be wrapped in
/// ``KVCPreferences`` and ``MutableKVCPreferences``.
///
/// ```swift
/// extension Person: PreferenceKeyPaths {
///   static var preferenceKeyPaths: [AnyKeyPath] { [\Person.color, \Person.age] }
/// }
///
/// let preferences = MutableKVCPreferences(person)
/// ```
///
/// The keys are the names of the properties. They can be derived for stored properties of final
/// classes; in other classes, only for a property that is the only one of its type. For other
/// properties, use ``namedPreferenceKeyPaths``.
public protocol PreferenceKeyPaths: AnyObject {
  /// The properties; those with a writable key path can be set.
  static var preferenceKeyPaths: [AnyKeyPath] { get }

  /// The properties by their keys, which may differ from the names; empty if all names are derived.
  static var namedPreferenceKeyPaths: [PreferenceKey: AnyKeyPath] { get }
}

extension PreferenceKeyPaths {
  /// No properties other than the named ones.
  public static var preferenceKeyPaths: [AnyKeyPath] { [] }

  /// No properties other than those with derived names.
  public static var namedPreferenceKeyPaths: [PreferenceKey: AnyKeyPath] { [:] }
}

struct PropertyTable {
  /// The properties that a key path can read, and perhaps set.
  private(set) var keyPaths: [PreferenceKey: AnyKeyPath] = [:]

  /// Key paths whose names could not be derived.
  private(set) var nameless: [AnyKeyPath] = []

  init(named: [PreferenceKey: AnyKeyPath] = [:], _ paths: [AnyKeyPath] = [], of object: Any) {
    keyPaths = named
    var unnamed: [AnyKeyPath] = []
    for path in paths {
      if let name = Self.name(of: path) { keyPaths[name] = path } else { unnamed.append(path) }
    }
    for path in unnamed {
      if let name = onlyName(of: path, in: object) {
        keyPaths[name] = path
      } else {
        nameless.append(path)
      }
    }
  }

  /// Returns the name in a key path's description, such as `\Person.address.city`.
  ///
  /// If a function accesses the property, the description has an address instead.
  private static func name(of path: AnyKeyPath) -> PreferenceKey? {
    let description = path.debugDescription
    let root = "\\\(type(of: path).rootType)."
    let name = description.hasPrefix(root) ? description.dropFirst(root.count) : description[...]
    let isPath = name.split(separator: ".", omittingEmptySubsequences: false)
      .allSatisfy { part in
        !part.isEmpty && part.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
      }
    return isPath ? String(name) : nil
  }

  /// Returns the name of the only stored property of the type without a key path.
  private func onlyName(of path: AnyKeyPath, in object: Any) -> PreferenceKey? {
    let type = type(of: path).valueType
    let names = ReflectedValue(value: object).types
      .filter { $0.type == type && keyPaths[$0.name] == nil }
    return names.count == 1 ? names[0].name : nil
  }
}

/// Sets a property by a key path whose types are unknown at compile time.
enum PropertyAssignment {
  enum Outcome {
    case done
    case readOnly
    case typeMismatch(Any.Type)
  }

  /// Sets a property of an object.
  static func assign(
    _ value: Any?, to path: AnyKeyPath, of object: some AnyObject
  ) -> Outcome {
    func assign<Value>(_ type: Value.Type) -> Outcome {
      // The root may be a superclass, so its type is opened too.
      func assign<Root>(_ root: Root.Type) -> Outcome {
        guard let path = path as? ReferenceWritableKeyPath<Root, Value>,
          let object = object as? Root
        else { return .readOnly }
        guard let value = convert(value, to: Value.self) else { return .typeMismatch(Value.self) }
        object[keyPath: path] = value
        return .done
      }
      return _openExistential(Swift.type(of: path).rootType, do: assign)
    }
    return _openExistential(type(of: path).valueType, do: assign)
  }

  /// Whether a property of an object can be set.
  static func canAssign(to path: AnyKeyPath, of object: Any) -> Bool {
    func canAssign<Value>(_ type: Value.Type) -> Bool {
      func canAssign<Root>(_ root: Root.Type) -> Bool {
        path is ReferenceWritableKeyPath<Root, Value> && object is Root
      }
      return _openExistential(Swift.type(of: path).rootType, do: canAssign)
    }
    return _openExistential(type(of: path).valueType, do: canAssign)
  }

  /// Converts a value to a type: a number to any type that holds it, and a raw value to its
  /// enumeration value, as on Apple's systems.
  static func convert<Value>(_ value: Any?, to type: Value.Type) -> Value? {
    guard let value = unwrapped(value) else { return Any?.none as Any as? Value }
    if let value = PreferenceCast.cast(value, to: Value.self) { return value }
    if let optional = Value.self as? any OptionalProperty.Type {
      // Two steps are needed because a cast of `nil` to an optional succeeds.
      guard let converted = optional.converted(from: value) else { return nil }
      return converted as? Value
    }
    guard let raw = Value.self as? any RawRepresentable.Type else { return nil }
    return represented(value, as: raw) as? Value
  }

  private static func represented<Value: RawRepresentable>(
    _ rawValue: Any, as type: Value.Type
  ) -> Value? {
    PreferenceCast.cast(rawValue, to: Value.RawValue.self).flatMap(Value.init(rawValue:))
  }
}

private protocol OptionalProperty {
  static func converted(from value: Any) -> Any?
}

extension Optional: OptionalProperty {
  fileprivate static func converted(from value: Any) -> Any? {
    PropertyAssignment.convert(value, to: Wrapped.self)
  }
}

/// A value of any type, represented by its stored properties.
struct ReflectedValue {
  let value: Any

  /// The stored properties by their names, including those of superclasses and excluding those that
  /// are `nil`.
  var properties: PreferencesDictionary {
    var properties: PreferencesDictionary = [:]
    for (name, value) in labelled where properties[name] == nil {
      properties[name] = unwrapped(value)
    }
    return properties
  }

  /// Returns the value of a property; a path such as `address.city` goes through several.
  ///
  /// A property whose name equals the whole path is preferred.
  func value(at path: String) -> Any? {
    if let value = property(path) { return value }
    guard let dot = path.firstIndex(of: "."),
      let value = property(String(path[..<dot]))
    else { return nil }
    return ReflectedValue(value: value).value(at: String(path[path.index(after: dot)...]))
  }

  /// Returns the type of a property, even if its value is `nil`, or `nil` if there is no such
  /// property.
  func type(of name: String) -> Any.Type? {
    labelled.first { $0.0 == name }.map { Swift.type(of: $0.1) }
  }

  /// The names and types of the stored properties.
  var types: [(name: String, type: Any.Type)] { labelled.map { ($0.0, Swift.type(of: $0.1)) } }

  private func property(_ name: String) -> Any? {
    if let dictionary = value as? PreferencesDictionary { return unwrapped(dictionary[name]) }
    return labelled.first { $0.0 == name }.flatMap { unwrapped($0.1) }
  }

  private var labelled: [(String, Any)] {
    var all: [(String, Any)] = []
    var mirror: Mirror? = Mirror(reflecting: value)
    while let current = mirror {
      all += current.children.compactMap { child in child.label.map { ($0, child.value) } }
      mirror = current.superclassMirror
    }
    return all
  }
}
