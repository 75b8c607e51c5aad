/// Returns the value in an optional of any depth that may be wrapped in an `Any`.
///
/// - Parameter value: A value, or an optional.
/// - Returns: The inner value; `nil` if there is none.
package func unwrapped(_ value: Any?) -> Any? {
  guard let value else { return nil }
  // The cast below searches conformances, which takes longer than most calls.
  if isKnownValue(value) { return value }
  guard let optional = value as? any AnyOptional else { return value }
  return unwrapped(optional.content)
}

/// Returns whether a value's type is known not to be an optional; `false` if it is not known.
func isKnownValue(_ value: Any) -> Bool {
  // The type of an opened existential is at hand; `type(of:)` calls the runtime for it.
  _openExistential(value, do: isNoOptional)
}

private func isNoOptional<Value>(_: Value) -> Bool {
  Value.self == String.self || Value.self == Int.self || Value.self == Bool.self
    || Value.self == Double.self || Value.self is AnyClass
}

private protocol AnyOptional {
  var content: Any? { get }
}

extension Optional: AnyOptional {
  fileprivate var content: Any? { map { $0 as Any } }
}

extension PreferencesDictionary {
  /// Returns the dictionary without keys whose value is a `nil` wrapped in an `Any`.
  package func droppingNil() -> PreferencesDictionary { compactMapValues { unwrapped($0) } }
}
