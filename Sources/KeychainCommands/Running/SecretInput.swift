internal import Glibc
internal import KeychainCredentials
internal import KeychainSecrets

/// Gets the secret that is to be stored.
struct SecretInput {
  let trimsNewline: Bool
  let insecureValue: String?

  /// The secret from the command line if it was forced, else from what is piped in, else from
  /// the person.
  func secret(in session: Session) throws(KeychainError) -> SecretBytes {
    if let insecureValue {
      session.interface.hint(UserInterface.insecureValue)
      return try translating { () throws(SecretsError) in
        try SecretBytes(copying: insecureValue)
      }
    }
    guard isatty(STDIN_FILENO) == 0 else { return try session.askTwice(for: .secret) }
    return try piped(session.interface)
  }

  private func piped(_ interface: UserInterface) throws(KeychainError) -> SecretBytes {
    // A stream that was closed would read as an empty secret.
    guard !StandardDescriptors.wasClosed(STDIN_FILENO) else { throw .unreadable("standard input") }
    guard
      let secret = try SecretBytes.reading(
        STDIN_FILENO, named: "standard input", limit: Credential.maximumSecretCount)
    else { throw .secretTooLong }
    if trimsNewline {
      return try translating { () throws(SecretsError) in try secret.droppingTrailingNewline() }
    }
    if secret.trailingNewlineCount() > 0 { interface.hint(UserInterface.keptNewline) }
    if secret.count == 0 { interface.hint(UserInterface.emptySecret) }
    return secret
  }
}
