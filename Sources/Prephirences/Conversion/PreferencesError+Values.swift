extension PreferencesError {
  static func unstorableValue(_ key: PreferenceKey, _ type: Any.Type) -> Self {
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

  static func unarchivable(_ key: PreferenceKey, _ type: Any.Type) -> Self {
    Self(
      .unstorable, "the value of the key '\(key)' is of type \(type), which cannot be archived")
  }
}
