public import Prephirences

extension KeychainPreferences {
  /// No value can be written as a member: a name that is misspelt would store a credential.
  ///
  /// Preferences of other kinds have this subscript, and so has code that is generic over
  /// ``MutablePreferencesType``, which reads and sets values of the keychain by it. On the keychain itself
  /// the compiler refuses members that it does not have.
  ///
  /// - Parameter key: The key.
  public subscript(dynamicMember key: PreferenceKey) -> PreferenceObject? {
    @available(
      *, unavailable,
      message: "KeychainPreferences has no such member; a value is keychain[\"key\"]"
    )
    get { self[key] }
    @available(
      *, unavailable,
      message: "KeychainPreferences has no such member; a value is keychain[\"key\"]"
    )
    set { self[key] = newValue }
  }
}
