internal import Prephirences

// The messages contain no value, and no error of an encoder, which could contain one.
extension PreferencesError {
  static func unencodable(_ key: String, _ type: Any.Type, _ error: any Error) -> Self {
    if let error = error as? PreferencesError {
      return Self(error.code, "the value of the key '\(key)' was not stored: \(error.message)")
    }
    return Self(
      .unstorable,
      "the value of the key '\(key)' is of type \(type), whose encoding failed, so it was not stored"
    )
  }

  static func unreadable(_ key: String, _ type: Any.Type) -> Self {
    Self(
      .typeMismatch,
      "the stored value of the key '\(key)' cannot be read as \(type): read it with its type, or set"
        + " a new value")
  }

  static func unchanged(_ key: String, _ error: any Error) -> Self {
    let (code, reason) =
      (error as? PreferencesError).map { ($0.code, $0.message) } ?? (.inputOutput, "\(error)")
    return Self(code, "the key '\(key)' could not be read, so it was not changed: \(reason)")
  }
}
