internal import Glibc
internal import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// Reads the secret to store.
struct SecretInput {
  let trimsNewline: Bool
  let insecureValue: String?

  /// Whether an empty secret is allowed.
  ///
  /// Usually it is a mistake, or comes from a failed command before the pipe.
  let allowsEmpty: Bool

  /// Returns the secret from the command line, or else from a pipe, or else from the person.
  func secret(for identity: CredentialIdentity, in session: Session) throws -> SecretBytes {
    let secret = try givenSecret(for: identity, in: session)
    guard secret.count > 0 || allowsEmpty else { throw KeychainError.emptySecret }
    return secret
  }

  private func givenSecret(
    for identity: CredentialIdentity, in session: Session
  ) throws -> SecretBytes {
    if let insecureValue {
      session.interface.hint(SecretInput.insecureValue)
      return try SecretBytes(copying: insecureValue)
    }
    guard !session.console.input.isTerminal else {
      return try session.askTwice(for: .secret(identity))
    }
    return try piped(in: session)
  }

  func hint(about secret: borrowing SecretBytes) -> String? {
    if secret.count == 0 { return SecretInput.emptySecret }
    if secret.hasByteOrderMark { return SecretInput.byteOrderMark }
    // A text of several lines, such as an SSH key, needs its final newline.
    let mayBeTrimmed = insecureValue == nil && !trimsNewline && secret.isOneLine
    return mayBeTrimmed && secret.trailingNewlineCount() > 0 ? SecretInput.keptNewline : nil
  }

  private func piped(in session: Session) throws -> SecretBytes {
    // A closed stream would look like an empty secret.
    guard !session.console.input.wasClosed else {
      throw CommandLineError.inputClosed(SecretInput.secretOnInput)
    }
    guard
      let secret = try SecretBytes.reading(
        session.console.input.descriptor, named: "standard input",
        limit: Credential.maximumSecretCount,
        by: session.asking.deadline)
    else { throw KeychainError.secretTooLong }
    guard trimsNewline else { return secret }
    return try secret.droppingTrailingNewline()
  }
}

// Hints about a secret.
extension SecretInput {
  static let secretOnInput = "pipe the secret into it, or type it on a terminal"
  static let emptySecret = "the secret is empty"

  static let byteOrderMark =
    "the secret begins with a byte order mark, the bytes EF BB BF, as some editors write; it is "
    + "kept"

  static let keptNewline =
    "the secret ends with a newline; use --trim-newline to remove it"

  static let insecureValue =
    "--insecure-value shows the secret to other processes and to the shell's history"
}

extension SecretBytes {
  /// Whether only the end is a newline.
  fileprivate var isOneLine: Bool {
    withBytes { bytes in
      (0..<max(0, bytes.byteCount - 1)).allSatisfy { bytes.byte(at: $0) != UInt8(ascii: "\n") }
    }
  }
}
