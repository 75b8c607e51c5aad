public import KeychainCredentials
public import KeychainSecrets

/// A user of a registry with the secret, as docker's credential helpers exchange it.
public struct DockerCredential: ~Copyable, Sendable {
  /// The registry as the client names it: usually a host with a port, such as
  /// `registry.example.com:5000`; Docker Hub is `https://index.docker.io/v1/`.
  public let server: String

  /// The user; `<token>` if the secret is an identity token.
  public let username: String

  /// The password or token.
  public let secret: SecretBytes

  /// Creates a credential.
  ///
  /// - Parameters:
  ///   - server: The registry, as the client names it.
  ///   - username: The user.
  ///   - secret: The password or token.
  public init(server: String, username: String, secret: consuming SecretBytes) {
    self.server = server
    self.username = username
    self.secret = secret
  }
}

extension DockerCredential {
  private static let serverName = "ServerURL"
  private static let usernameName = "Username"
  private static let secretName = "Secret"

  /// Reads the JSON object that a client sends with `store`.
  ///
  /// The secret is parsed in guarded memory. Members that are not known are ignored; of one that is
  /// repeated the last counts. A missing one counts as empty.
  ///
  /// - Parameter json: The object.
  /// - Throws: ``/KeychainCredentials/KeychainError`` with
  ///   ``/KeychainCredentials/KeychainError/Code/invalidArgument`` if it is not valid JSON, or has
  ///   another value than a text in one of the three members; the error does not repeat any of it.
  public init(json: borrowing SecretBytes) throws(KeychainError) {
    var server = ""
    var username = ""
    var secret = try translated(secrets: SecretBytes(copying: ""))
    try json.withBytes { bytes throws(KeychainError) in
      var scanner = JSONScanner()
      try scanner.readObject(in: bytes) { scanner, name throws(KeychainError) in
        if name.isText(Self.serverName) {
          server = try scanner.readString(in: bytes).text()
        } else if name.isText(Self.usernameName) {
          username = try scanner.readString(in: bytes).text()
        } else if name.isText(Self.secretName) {
          secret = try scanner.readString(in: bytes)
        } else {
          try scanner.skipValue(in: bytes)
        }
      }
    }
    self.init(server: server, username: username, secret: secret)
  }

  /// The JSON object that answers `get`, with a newline.
  ///
  /// - Throws: ``/KeychainCredentials/KeychainError`` with
  ///   ``/KeychainCredentials/KeychainError/Code/undecodable`` if the secret is not text in UTF-8,
  ///   which JSON cannot have.
  public borrowing func json() throws(KeychainError) -> SecretBytes {
    let isText = secret.withBytes { (try? UTF8Span(validating: Span<UInt8>(_bytes: $0))) != nil }
    guard isText else { throw .secretIsNoText(server) }
    do throws(SecretsError) {
      var text = try SecretBuffer()
      try text.append("{\"\(Self.serverName)\":")
      try text.appendJSON(server)
      try text.append(",\"\(Self.usernameName)\":")
      try text.appendJSON(username)
      try text.append(",\"\(Self.secretName)\":")
      try secret.withBytes { bytes throws(SecretsError) in try text.appendJSON(bytes) }
      try text.append("}\n")
      return try text.finish()
    } catch {
      throw KeychainError(error)
    }
  }
}

extension KeychainError {
  fileprivate static func secretIsNoText(_ server: String) -> Self {
    Self(
      .undecodable, "the secret for '\(server)' is not text in UTF-8, which clients of docker need",
      recovery: "store it again with the client's login")
  }
}
