public import Prephirences

extension KeychainPreferences {
  /// Values cannot be written as members: a misspelt name would store a credential.
  ///
  /// Other kinds of preferences have this subscript, and code that is generic over
  /// ``MutablePreferencesType`` can read and set values of the keychain with it. On the keychain
  /// itself, the compiler rejects unknown members.
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
