internal import Foundation

/// Returns a value with each number as an `NSNumber`, which casts to every type that holds it.
///
/// Numbers in arrays and dictionaries are included. Truth values and all other values stay.
func withCastableNumbers(_ value: Any, depth: Int = 0) -> Any {
  let type = type(of: value)
  if type is AnyClass || type == String.self || type == Bool.self || type == Data.self
    || type == Date.self || type == [String].self || depth == PropertyListForm.maximumDepth
  {
    return value
  }
  return switch value {
  case let array as [Any?]:
    array.compactMap { $0.map { withCastableNumbers($0, depth: depth + 1) } }
  case let dictionary as [String: Any?]:
    dictionary.compactMapValues { $0.map { withCastableNumbers($0, depth: depth + 1) } }
  case let number as CGFloat: NSNumber(value: Double(number))
  case is any Numeric: PropertyListForm.number(value) ?? value
  default: unwrapped(value) ?? value
  }
}
