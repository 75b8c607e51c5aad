public import KeychainCredentials
public import KeychainSecrets
internal import PrephirencesSystem

// What a helper reads from standard input, and writes to standard output. Clients compare some of
// the texts; these are written with exit code 1.
extension DockerCredentialHelper {
  /// The text for a client if there is no login, which asks the person then.
  public static let absent = "credentials not found in native keychain"

  /// The text for a client that names no registry.
  public static let serverMissing = "no credentials server URL"

  /// The text for a client that names no user.
  public static let usernameMissing = "no credentials username"

  /// Returns the text for a client if an operation fails, which shows it in backquotes.
  ///
  /// An expired login counts as none: the person must log in again, and one expired login must not
  /// disturb a client that reads all of them.
  ///
  /// - Parameter failure: What the operation throws.
  /// - Returns: One line, without a secret.
  public static func text(for failure: KeychainError) -> String {
    switch failure {
    case .noDockerServer: serverMissing
    case .noDockerUsername: usernameMissing
    case _ where failure.code == .expired: absent
    default: failure.message.visible
    }
  }

  /// Returns the registry that a request names: the text without white space around it.
  ///
  /// - Parameter request: What the client sends with `get` or `erase`.
  /// - Returns: The name.
  /// - Throws: ``/KeychainCredentials/KeychainError`` with
  ///   ``/KeychainCredentials/KeychainError/Code/invalidArgument`` if it names none, or is not text
  ///   in UTF-8.
  public static func server(in request: borrowing SecretBytes) throws(KeychainError) -> String {
    let text = request.withBytes { bytes in
      let space: [UInt8] = [0x20, 0x09, 0x0A, 0x0B, 0x0C, 0x0D]
      var range = 0..<bytes.byteCount
      while let first = range.first, space.contains(bytes.byte(at: first)) {
        range = range.dropFirst()
      }
      while let last = range.last, space.contains(bytes.byte(at: last)) { range = range.dropLast() }
      return bytes.extracting(range).text
    }
    guard let text else {
      throw KeychainError(.invalidArgument, "the name of the registry is not text in UTF-8")
    }
    guard !text.isEmpty else { throw .noDockerServer }
    return text
  }

  /// Returns the JSON object that answers `list`, with a newline.
  ///
  /// - Parameter logins: The registries with their users.
  /// - Returns: An object with a member for each registry.
  /// - Throws: ``/KeychainCredentials/KeychainError`` with
  ///   ``/KeychainCredentials/KeychainError/Code/insufficientMemory``.
  public static func json(
    _ logins: [(server: String, username: String)]
  ) throws(KeychainError) -> SecretBytes {
    do throws(SecretsError) {
      var text = try SecretBuffer()
      try text.append("{")
      for (index, login) in logins.enumerated() {
        if index > 0 { try text.append(",") }
        try text.appendJSON(login.server)
        try text.append(":")
        try text.appendJSON(login.username)
      }
      try text.append("}\n")
      return try text.finish()
    } catch {
      throw KeychainError(error)
    }
  }
}
