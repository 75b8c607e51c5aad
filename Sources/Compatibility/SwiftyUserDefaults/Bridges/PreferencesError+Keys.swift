internal import Prephirences

// The messages contain no value.
extension PreferencesError {
  /// Names the key of an error that a bridge has thrown.
  static func refused(_ key: String, _ type: Any.Type, _ error: any Error) -> Self {
    guard let error = error as? PreferencesError else { return .unencodable(key, type, error) }
    return Self(error.code, "the value of the key '\(key)' was not stored: \(error.message)")
  }

  static func unchanged(_ key: String, _ error: any Error) -> Self {
    let known = error as? PreferencesError
    return Self(
      known?.code ?? .inputOutput,
      "the key '\(key)' was not changed, because it could not be read: "
        + (known?.message ?? String(describing: error)))
  }
}
