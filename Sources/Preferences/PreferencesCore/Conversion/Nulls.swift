internal import FoundationEssentials

/// Returns preferences without JSON's null values, at any depth.
///
/// A property list cannot hold a null, and one null must not prevent storing the other values.
package func withoutNulls(_ values: PreferencesDictionary) -> PreferencesDictionary {
  values.compactMapValues { hasNull($0, depth: 0) ? stripped($0, depth: 0) : $0 }
}

/// Returns whether a value contains a null.
///
/// A value without one keeps its type.
private func hasNull(_ value: Any, depth: Int) -> Bool {
  // Values of these types, and arrays and dictionaries of them, cannot contain a null.
  guard depth < PropertyListForm.maximumDepth, !(type(of: value) is any PlainPreferenceValue.Type)
  else { return false }
  return switch value {
  case is any BridgedNull: true
  case let array as [Any]: array.contains { hasNull($0, depth: depth + 1) }
  case let dictionary as PreferencesDictionary:
    dictionary.values.contains { hasNull($0, depth: depth + 1) }
  default: false
  }
}

private func stripped(_ value: Any, depth: Int) -> Any? {
  // Stores with a limit refuse deeper values because of their depth.
  guard depth < PropertyListForm.maximumDepth else { return value }
  return switch value {
  case is any BridgedNull: nil
  case let array as [Any]: array.compactMap { stripped($0, depth: depth + 1) }
  case let dictionary as PreferencesDictionary:
    dictionary.compactMapValues { stripped($0, depth: depth + 1) }
  default: value
  }
}
