public import KeychainSecrets
internal import PrephirencesSystem

/// The user and the secret for a registry, as docker's credential helpers exchange them.
public struct DockerCredential: ~Copyable, Sendable {
  /// The registry in the client's spelling, usually a host with a port, such as
  /// `registry.example.com:5000`.
  ///
  /// Docker Hub is `https://index.docker.io/v1/`.
  public let server: String

  /// The user; `<token>` if the secret is an identity token.
  public let username: String

  /// The password or token.
  public let secret: SecretBytes

  /// Creates a credential.
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
  /// The secret is parsed in guarded memory. Unknown members are ignored, the last of repeated
  /// members counts, and a missing member is empty.
  ///
  /// - Throws: ``/KeychainSecrets/KeychainError`` with
  ///   ``/KeychainSecrets/KeychainError/Code/invalidArgument`` if it is not valid JSON, or if
  ///   one of the three members is not text. The error repeats none of the contents.
  public init(json: borrowing SecretBytes) throws(KeychainError) {
    var server = ""
    var username = ""
    var secret = try SecretBytes(copying: "")
    try readObject(json) { name, scanner, bytes in
      if name.isText(Self.serverName) {
        server = try scanner.secret(in: bytes).text()
      } else if name.isText(Self.usernameName) {
        username = try scanner.secret(in: bytes).text()
      } else if name.isText(Self.secretName) {
        secret = try scanner.secret(in: bytes)
      } else {
        try scanner.skipValue(in: bytes)
      }
    }
    self.init(server: server, username: username, secret: secret)
  }

  /// The JSON object that answers `get`, with a newline.
  ///
  /// - Throws: ``/KeychainSecrets/KeychainError`` with
  ///   ``/KeychainSecrets/KeychainError/Code/undecodable`` if the secret is not UTF-8, as JSON
  ///   needs.
  public borrowing func json() throws(KeychainError) -> SecretBytes {
    let isText = secret.withBytes { (try? UTF8Span(validating: Span<UInt8>(_bytes: $0))) != nil }
    guard isText else { throw .secretIsNoText(server) }
    var text = try SecretBuffer()
    try text.append("{\"\(Self.serverName)\":")
    try text.appendJSON(server)
    try text.append(",\"\(Self.usernameName)\":")
    try text.appendJSON(username)
    try text.append(",\"\(Self.secretName)\":")
    try secret.withBytes { bytes throws(KeychainError) in try text.appendJSON(bytes) }
    try text.append("}\n")
    return try text.finish()
  }
}

extension KeychainError {
  fileprivate static func secretIsNoText(_ server: String) -> Self {
    Self(
      .undecodable, "the secret for '\(server)' is not text in UTF-8, which clients of docker need",
      recovery: "store it again with the client's login")
  }
}

/// The name of a registry in the client's spelling.
struct DockerServer {
  /// A longer name is a mistake or an attack: host names have at most 253 bytes.
  static let maximumCount = 4096

  let name: String

  init(_ name: String) throws(KeychainError) {
    guard name.utf8.count <= Self.maximumCount else {
      throw KeychainError(
        .invalidArgument, "the name of the registry is longer than \(Self.maximumCount) bytes")
    }
    guard name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      throw KeychainError(
        .invalidArgument, "the name of the registry has control characters, which no registry has")
    }
    self.name = name
  }

  /// The names to look for, in this order: the name as it is, without the final slash, without
  /// `https://`, without both.
  ///
  /// No other host, port, path or case is the same registry. A name without a scheme means https,
  /// because its login must not be sent in clear text.
  var spellings: [String] {
    var spellings = [name]
    for spelling in [
      Self.withoutSlash(name), Self.withoutScheme(name),
      Self.withoutSlash(Self.withoutScheme(name)),
    ] where !spelling.isEmpty && !spellings.contains(where: { $0.hasSameBytes(as: spelling) }) {
      spellings.append(spelling)
    }
    return spellings
  }

  private static func withoutSlash(_ name: String) -> String {
    name.utf8.last == UInt8(ascii: "/")
      ? String(decoding: name.utf8.dropLast(), as: UTF8.self) : name
  }

  private static func withoutScheme(_ name: String) -> String {
    let scheme = "https://"
    guard name.foldingASCIICase.utf8.starts(with: scheme.utf8) else { return name }
    return String(decoding: name.utf8.dropFirst(scheme.utf8.count), as: UTF8.self)
  }
}

/// What docker's `config.json` says about helpers.
package struct DockerSettings: Sendable {
  package let helpers: [String]

  /// Reads the file as strictly as docker does; it may contain passwords.
  package init(json: borrowing SecretBytes) throws(KeychainError) {
    var helpers: [String] = []
    try readObject(json) { name, scanner, bytes in
      if name.isText("credsStore") {
        if let helper = try scanner.textIfAny(in: bytes) { helpers.append(helper) }
      } else if name.isText("credHelpers") {
        try scanner.object(in: bytes) { scanner in
          try scanner.text(in: bytes) { _ in }
          try scanner.colon(in: bytes)
          if let helper = try scanner.textIfAny(in: bytes) { helpers.append(helper) }
        }
      } else {
        try scanner.skipValue(in: bytes)
      }
    }
    self.helpers = helpers
  }
}
