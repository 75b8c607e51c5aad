extension PreferencesError {
  package static func untransformable(_ key: PreferenceKey, _ type: Any.Type) -> Self {
    Self(
      .unstorable,
      "the value of the key '\(key)' is of type \(type), which its transformation does not accept")
  }

  package static func irreversible(_ key: PreferenceKey) -> Self {
    Self(
      .unstorable,
      "the value of the key '\(key)' could not be read back: its transformer is not reversible")
  }
}
