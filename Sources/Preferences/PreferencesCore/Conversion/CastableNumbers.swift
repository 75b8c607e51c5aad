internal import FoundationEssentials

/// Returns a value with each number as ``NumberBoxing`` returns it.
///
/// Numbers in arrays and dictionaries are included. Truth values and all other values stay.
package func withCastableNumbers(_ value: Any, depth: Int = 0) -> Any {
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
  case is any Numeric: NumberBoxing.boxed(value)
  default: unwrapped(value) ?? value
  }
}
