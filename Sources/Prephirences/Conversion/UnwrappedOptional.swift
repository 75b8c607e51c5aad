/// Returns the value in an optional of any depth that may be wrapped in an `Any`.
///
/// - Parameter value: A value, or an optional.
/// - Returns: The inner value; `nil` if there is none.
package func unwrapped(_ value: Any?) -> Any? {
  guard let value else { return nil }
  // The cast below searches conformances, which takes longer than most calls.
  let type = type(of: value)
  if type == String.self || type == Int.self || type == Bool.self || type == Double.self
    || type is AnyClass
  {
    return value
  }
  guard let optional = value as? any AnyOptional else { return value }
  return unwrapped(optional.content)
}

private protocol AnyOptional {
  var content: Any? { get }
}

extension Optional: AnyOptional {
  fileprivate var content: Any? { map { $0 as Any } }
}

extension PreferencesDictionary {
  /// Returns the dictionary without keys whose value is a `nil` wrapped in an `Any`.
  func droppingNil() -> PreferencesDictionary { compactMapValues { unwrapped($0) } }
}
