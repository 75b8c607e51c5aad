internal import Foundation
internal import Prephirences

/// Converts enumerations and other `RawRepresentable` values to what is stored and back.
enum RawForm {
  static func object<Value: RawRepresentable>(for value: Value) throws -> Any {
    try CollectionForm.object(for: value.rawValue)
  }

  /// Returns whether objects are raw values of a type, even if no value has them.
  static func areRawValues<Value: RawRepresentable>(_ objects: [Any], of type: Value.Type) -> Bool {
    objects.allSatisfy { object in
      let raw: Value.RawValue? = CollectionForm.value(of: object)
      return raw != nil
    }
  }

  static func value<Value: RawRepresentable>(of object: Any) -> Value? {
    if let raw: Value.RawValue = CollectionForm.value(of: object), let value = Value(rawValue: raw)
    {
      return value
    }
    return JSONForm.value(of: object)
  }
}
