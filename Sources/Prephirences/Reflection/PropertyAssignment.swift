internal import Foundation

/// Sets a property by a key path of which no type is known when the program is compiled.
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
      // The root may be a superclass, so it is opened, too.
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

  /// The value as one of a type: a number becomes any that holds it, as on Apple's systems.
  static func convert<Value>(_ value: Any?, to type: Value.Type) -> Value? {
    let value = unwrapped(value)
    if let exact = value.map({ $0 as? Value }) ?? (Any?.none as Any as? Value) { return exact }
    guard let value, let number = PropertyListForm.number(value) else { return nil }
    return number as? Value
  }
}
