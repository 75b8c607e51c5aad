internal import Foundation

/// Returns preferences without what JSON has in place of a value, at any depth.
///
/// No property list can hold it, and one among many must not keep the others from being stored.
package func withoutNulls(_ values: PreferencesDictionary) -> PreferencesDictionary {
  values.compactMapValues { hasNull($0, depth: 0) ? stripped($0, depth: 0) : $0 }
}

/// Whether there is a null in a value: one that has none keeps its type.
private func hasNull(_ value: Any, depth: Int) -> Bool {
  // Of these types, and arrays and dictionaries of them, nothing can be null.
  guard depth < PropertyListForm.maximumDepth, !(type(of: value) is any PlainPreferenceValue.Type)
  else { return false }
  return switch value {
  case is NSNull: true
  case let array as [Any]: array.contains { hasNull($0, depth: depth + 1) }
  case let dictionary as PreferencesDictionary:
    dictionary.values.contains { hasNull($0, depth: depth + 1) }
  default: false
  }
}

private func stripped(_ value: Any, depth: Int) -> Any? {
  // What is deeper is refused for its depth by stores that have a limit.
  guard depth < PropertyListForm.maximumDepth else { return value }
  return switch value {
  case is NSNull: nil
  case let array as [Any]: array.compactMap { stripped($0, depth: depth + 1) }
  case let dictionary as PreferencesDictionary:
    dictionary.compactMapValues { stripped($0, depth: depth + 1) }
  default: value
  }
}
