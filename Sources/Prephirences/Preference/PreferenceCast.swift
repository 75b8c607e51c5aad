internal import Foundation

/// Casts of stored values to the types that are asked for.
enum PreferenceCast {
  /// Returns a value as a type, or `nil` if it is none.
  ///
  /// What a plain cast loses is converted as `NSNumber` converts on Apple's systems: the integer 1
  /// is the number 1.0 and `true`, but 3.7 is no integer and 300 no `UInt8`.
  static func cast<T>(_ value: Any?, to type: T.Type = T.self) -> T? {
    guard let value else { return nil }
    if T.self == Any.self { return unwrapped(value) as? T }
    return value as? T
  }
}
