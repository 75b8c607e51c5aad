package import KeychainSecrets

/// A store that can receive credentials from another store, and keep their dates.
package protocol CredentialReceiver: CredentialStore {
  /// Whether items that must stay on this machine do so in this store.
  ///
  /// Then a copy of the store alone does not open elsewhere.
  var bindsToDevice: Bool { get }

  /// Stores a credential as ``CredentialStore/store(_:secret:mode:)`` does, but keeps its dates.
  ///
  /// - Parameters:
  ///   - credential: The credential, as the other store returned it. It gets a new version.
  ///   - secret: Its secret.
  ///   - mode: Whether there must or must not be one of this identity already.
  /// - Returns: The stored credential.
  /// - Throws: As ``CredentialStore/store(_:secret:mode:)``.
  @discardableResult
  func receive(
    _ credential: Credential, secret: borrowing SecretBytes, mode: StoreMode
  ) throws(KeychainError) -> Credential
}
