internal import Glibc
internal import KeychainCredentials
internal import KeychainSecrets

/// Gets the secret that is to be stored.
struct SecretInput {
  let trimsNewline: Bool
  let insecureValue: String?

  /// Whether an empty secret is allowed.
  ///
  /// Otherwise it is taken for a mistake, or for a command before the pipe that failed.
  let allowsEmpty: Bool

  /// The secret from the command line if it is given there, otherwise from a pipe, otherwise from the person.
  ///
  /// - Throws: ``KeychainError``, with ``KeychainError/Code/invalidArgument`` if it is empty and must not be.
  func secret(
    for identity: CredentialIdentity, in session: Session
  ) throws(KeychainError) -> SecretBytes {
    let secret = try givenSecret(for: identity, in: session)
    guard secret.count > 0 || allowsEmpty else { throw .emptySecret }
    return secret
  }

  private func givenSecret(
    for identity: CredentialIdentity, in session: Session
  ) throws(KeychainError) -> SecretBytes {
    if let insecureValue {
      session.interface.hint(SecretInput.insecureValue)
      return try translated(secrets: SecretBytes(copying: insecureValue))
    }
    guard isatty(STDIN_FILENO) == 0 else { return try session.askTwice(for: .secret(identity)) }
    return try piped()
  }

  /// What a person should know about a secret that was stored.
  func hint(about secret: borrowing SecretBytes) -> String? {
    if secret.count == 0 { return SecretInput.emptySecret }
    let mayBeTrimmed = insecureValue == nil && !trimsNewline
    return mayBeTrimmed && secret.trailingNewlineCount() > 0 ? SecretInput.keptNewline : nil
  }

  private func piped() throws(KeychainError) -> SecretBytes {
    // A stream that was closed would read as an empty secret.
    guard !StandardDescriptors.wasClosed(STDIN_FILENO) else {
      throw .inputClosed(.advice(SecretInput.secretOnInput))
    }
    guard
      let secret = try SecretBytes.reading(
        STDIN_FILENO, named: "standard input", limit: Credential.maximumSecretCount)
    else { throw .secretTooLong }
    guard trimsNewline else { return secret }
    return try translated(secrets: secret.droppingTrailingNewline())
  }
}

// What a person should know about a secret.
extension SecretInput {
  static let secretOnInput = "pipe the secret into it, or type it on a terminal"
  static let emptySecret = "the secret is empty"

  static let keptNewline =
    "the secret ends with a newline; use --trim-newline to remove it"

  static let insecureValue =
    "--insecure-value shows the secret to other processes and to the shell's history"
}
