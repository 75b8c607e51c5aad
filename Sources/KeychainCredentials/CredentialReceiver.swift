package import KeychainSecrets

/// A store that can take credentials from another store, with the dates that they have there.
package protocol CredentialReceiver: CredentialStore {
  /// Whether an item that shall stay on this machine does so here: a copy of the store alone does
  /// not open it elsewhere.
  var bindsToDevice: Bool { get }

  /// Stores a credential as ``CredentialStore/store(_:secret:mode:)`` does, with its own dates.
  ///
  /// - Parameters:
  ///   - credential: The credential, as the other store returned it; its version is set anew.
  ///   - secret: Its secret.
  ///   - mode: Whether there must or must not be one of this identity already.
  /// - Returns: The credential as it was stored.
  /// - Throws: As ``CredentialStore/store(_:secret:mode:)``.
  @discardableResult
  func receive(
    _ credential: Credential, secret: borrowing SecretBytes, mode: StoreMode
  ) throws(KeychainError) -> Credential
}
