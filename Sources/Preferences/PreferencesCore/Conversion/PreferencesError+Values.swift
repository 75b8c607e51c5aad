extension PreferencesError {
  package static func unstorableValue(_ key: PreferenceKey, _ type: Any.Type) -> Self {
    Self(
      .unstorable,
      "the value of the key '\(key)' is of type \(type), which cannot be stored"
        + (remedy(for: type).map { ": \($0)" } ?? ""))
  }

  /// Returns what to do with a value of a type that property lists do not support.
  private static func remedy(for type: Any.Type) -> String? {
    if type is any PlainPreferenceValue.Type { return nil }
    if type is any RawRepresentable.Type { return "set its rawValue" }
    if type is any Encodable.Type { return "use set(encodable:forKey:) or Preference<\(type)>" }
    return nil
  }

  package static func unarchivable(_ key: PreferenceKey, _ type: Any.Type) -> Self {
    Self(
      .unstorable, "the value of the key '\(key)' is of type \(type), which cannot be archived")
  }

  package static func unencodable(_ key: PreferenceKey, _ type: Any.Type, _ error: any Error)
    -> Self
  {
    var reason = ""
    if case EncodingError.invalidValue(let value, let context) = error {
      let isFinite = (value as? any FloatingPoint)?.isFinite ?? true
      reason = place(context.codingPath) + (isFinite ? "" : ": JSON has only finite numbers")
    }
    return Self(
      .unstorable,
      "the value of the key '\(key)' is of type \(type), which cannot be encoded\(reason)")
  }

  static func undecodable(_ key: PreferenceKey, _ type: Any.Type, _ error: any Error) -> Self {
    let reason =
      switch error as? DecodingError {
      case .typeMismatch(_, let context), .valueNotFound(_, let context):
        "\(place(context.codingPath)): another type is stored"
      case .keyNotFound(let missing, let context):
        "\(place(context.codingPath)): '\(missing.stringValue)' is missing"
      case .dataCorrupted(let context): place(context.codingPath)
      default: ""
      }
    return Self(
      .typeMismatch,
      "the value of the key '\(key)' cannot be decoded as \(type)\(reason)")
  }

  /// The error of a stored value that is of another type.
  package static func unreadable(_ key: PreferenceKey, _ type: Any.Type) -> Self {
    Self(
      .typeMismatch,
      "the value of the key '\(key)' cannot be read as \(type): read it as its type, or set it")
  }

  /// The error of a change in place of an array that was read without some of its elements.
  package static func shortened(_ key: PreferenceKey) -> Self {
    Self(
      .typeMismatch,
      "the key '\(key)' was not changed, because elements of its array could not be read: set the "
        + "whole array to replace them")
  }

  /// Returns the words for a place in a value; nothing for the value itself.
  private static func place(_ codingPath: [any CodingKey]) -> String {
    let path = codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
      .joined(separator: ".")
    return path.isEmpty ? "" : " at '\(path)'"
  }
}
