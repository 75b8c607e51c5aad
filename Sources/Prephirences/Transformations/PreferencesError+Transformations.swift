extension PreferencesError {
  static func untransformable(_ key: PreferenceKey, _ type: Any.Type) -> Self {
    Self(
      .unstorable,
      "the value of the key '\(key)' is of type \(type), which its transformation does not accept")
  }

  static func irreversible(_ key: PreferenceKey) -> Self {
    Self(
      .unstorable,
      "the value of the key '\(key)' could not be read back: its transformer is not reversible")
  }

  static func unencodable(_ key: PreferenceKey, _ type: Any.Type, _ error: any Error) -> Self {
    Self(
      .unstorable,
      "the value of the key '\(key)' is of type \(type), which cannot be encoded"
        + place(of: error))
  }

  /// Returns where in a value its encoding failed, without any part of the value.
  private static func place(of error: any Error) -> String {
    guard case EncodingError.invalidValue(let value, let context) = error else { return "" }
    let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
      .joined(separator: ".")
    let isFinite = (value as? any FloatingPoint)?.isFinite ?? true
    return (path.isEmpty ? "" : " at '\(path)'")
      + (isFinite ? "" : ": JSON has only finite numbers")
  }
}
