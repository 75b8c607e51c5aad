internal import Foundation

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

  /// Returns whether a property of an object can be set.
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
