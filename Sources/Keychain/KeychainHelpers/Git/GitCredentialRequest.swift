public import FoundationEssentials
internal import KeychainCredentials
public import KeychainSecrets
internal import PrephirencesSystem

/// The credential that git needs, has used, or wants to remove.
///
/// git sends it as lines `key=value`, see git-credential(1). Its secrets are kept in guarded memory
/// and have no public property.
public struct GitCredentialRequest: Sendable {
  /// The protocol, such as `https`; `nil` if it is missing or empty.
  public internal(set) var `protocol`: String?

  /// The host name with the port, such as `example.com:8443`; `nil` if it is missing or empty.
  public internal(set) var host: String?

  /// The path on the server; `nil` if it is missing.
  ///
  /// git sends it only with `credential.useHttpPath`.
  public internal(set) var path: String?

  /// The user name, which may be empty; `nil` if it is missing.
  public internal(set) var username: String?

  /// The scheme of ``credential``, such as `Bearer`; `nil` for a password.
  public internal(set) var authenticationType: String?

  /// The end of the password's validity; `nil` if it is missing.
  public internal(set) var expires: Date?

  /// Whether the credential must not be stored.
  public internal(set) var isEphemeral = false

  /// Whether git understands credentials that are not passwords.
  public internal(set) var understandsAuthenticationTypes = false

  var password: SharedSecret?

  /// The text after the scheme in the header `Authorization`.
  var credential: SharedSecret?

  /// The token with which another helper can renew the password.
  var refreshToken: SharedSecret?

  /// Creates an empty request.
  public init() {}
}

extension GitCredentialRequest {
  /// The maximum number of bytes in a line, as in git.
  static let lineLimit = 65_535

  /// Parses a request.
  ///
  /// It ends at an empty line or with the input. The last of repeated keys counts; a key that ends
  /// with `[]` begins a list, and its empty value empties the list. Unknown keys are ignored.
  ///
  /// - Throws: ``/KeychainSecrets/KeychainError`` with
  ///   ``/KeychainSecrets/KeychainError/Code/invalidArgument`` for a line without `=` or of
  ///   more than 65,535 bytes, a value with a carriage return or NUL, or a name that is not UTF-8;
  ///   or with ``/KeychainSecrets/KeychainError/Code/insufficientMemory``. The message repeats
  ///   no value.
  public init(parsing bytes: borrowing SecretBytes) throws(KeychainError) {
    var request = GitCredentialRequest()
    try bytes.withBytes { bytes throws(KeychainError) in
      var start = 0
      while start < bytes.byteCount {
        let end = bytes.index(of: UInt8(ascii: "\n"), from: start) ?? bytes.byteCount
        guard end > start else { break }
        try request.take(line: bytes.extracting(start..<end))
        start = end + 1
      }
    }
    self = request
  }

  private mutating func take(line: RawSpan) throws(KeychainError) {
    guard line.byteCount <= Self.lineLimit else { throw .gitLineTooLong }
    guard let sign = line.index(of: UInt8(ascii: "="), from: 0), sign > 0 else {
      throw .gitLineWithoutValue
    }
    let value = line.extracting((sign + 1)..<line.byteCount)
    guard value.index(of: UInt8(ascii: "\r"), from: 0) == nil, value.index(of: 0, from: 0) == nil
    else { throw .gitValueWithControl }
    guard let key = line.extracting(0..<sign).text else { return }
    try set(key, to: value)
  }

  private mutating func set(_ key: String, to value: RawSpan) throws(KeychainError) {
    switch key {
    case "protocol": self.protocol = try Self.name(value)
    case "host": host = try Self.name(value)
    case "path": path = try Self.text(value)
    case "username": username = try Self.text(value)
    case "authtype": authenticationType = try Self.name(value)
    case "password": password = try SharedSecret(copying: value)
    case "credential": credential = try SharedSecret(copying: value)
    case "oauth_refresh_token": refreshToken = try SharedSecret(copying: value)
    case "password_expiry_utc": expires = GitExpiry.date(value.text)
    case "ephemeral": isEphemeral = !["", "0", "false"].contains(value.text ?? "")
    case "capability[]": takeCapability(value.text ?? "")
    default: break
    }
  }

  private mutating func takeCapability(_ name: String) {
    if name.isEmpty { understandsAuthenticationTypes = false }
    if name.hasSameBytes(as: "authtype") { understandsAuthenticationTypes = true }
  }

  /// Returns a text; `nil` if it is empty.
  private static func name(_ value: RawSpan) throws(KeychainError) -> String? {
    let text = try text(value)
    return text.isEmpty ? nil : text
  }

  private static func text(_ value: RawSpan) throws(KeychainError) -> String {
    guard let text = value.text else { throw .gitNameNotText }
    return text
  }
}

extension SharedSecret {
  convenience init(copying bytes: RawSpan) throws(KeychainError) {
    self.init(try SecretBytes(copying: bytes))
  }
}

extension RawSpan {
  /// Returns the position of the first byte of this value, beginning at a position.
  func index(of byte: UInt8, from start: Int) -> Int? {
    var position = start
    while position < byteCount {
      if self.byte(at: position) == byte { return position }
      position += 1
    }
    return nil
  }
}

/// The time in `password_expiry_utc`: seconds since 1970.
enum GitExpiry {
  /// Returns the date of a text; `nil` if it cannot be stored.
  static func date(_ text: String?) -> Date? {
    guard let text, let seconds = Int64(text), (1...latest).contains(seconds) else { return nil }
    return Date(timeIntervalSince1970: Double(seconds))
  }

  /// Returns the seconds of a date, rounded down.
  static func seconds(_ date: Date) -> Int64 {
    Int64(date.timeIntervalSince1970.rounded(.down).clamped(to: Double(-latest)...Double(latest)))
  }

  /// The end of the year 9999.
  private static let latest: Int64 = 253_402_300_799
}

extension Double {
  fileprivate func clamped(to range: ClosedRange<Double>) -> Double {
    min(max(self, range.lowerBound), range.upperBound)
  }
}

/// The server of a request.
struct GitServer {
  /// The parts that must be equal.
  let origin: ServerOrigin

  /// The host in small letters, without the port; an IPv6 address is in brackets.
  var host: String { origin.host }

  /// The host as git sent it.
  let writtenHost: String

  /// The port that git sent; 0 without one.
  let port: UInt16

  /// Reads the server of a request; `nil` if there is none.
  init?(_ request: GitCredentialRequest) throws(KeychainError) {
    guard let protocolName = request.protocol, let address = request.host else { return nil }
    var host = address[...]
    var port: UInt16 = 0
    // An IPv6 address has colons, too, and is in brackets if it has a port.
    let tail = address.lastIndex(of: "]").map { address[$0...].dropFirst() } ?? address[...]
    if let colon = tail.lastIndex(of: ":"), tail.firstIndex(of: ":") == colon {
      host = address[..<colon]
      port = try Self.port(address[colon...].dropFirst())
    }
    guard !host.isEmpty else { return nil }
    writtenHost = String(host)
    self.port = port
    origin = ServerOrigin(protocol: protocolName, host: writtenHost, port: port)
  }

  private static func port(_ text: Substring) throws(KeychainError) -> UInt16 {
    let isNumber = text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
    guard isNumber, let port = UInt16(text), port > 0 else { throw .gitHostInvalid }
    return port
  }

  /// The spellings under which a credential may be stored.
  var searchedHosts: [String] {
    let hosts = origin.storedHosts
    return hosts.contains { $0.hasSameBytes(as: writtenHost) } ? hosts : hosts + [writtenHost]
  }

  func isServer(of password: InternetPassword) -> Bool {
    origin
      == ServerOrigin(protocol: password.protocol, host: password.server, port: password.port)
  }
}

// Errors of requests.
extension KeychainError {
  static let gitLineTooLong = invalidGitRequest("has a line of more than 65535 bytes")
  static let gitLineWithoutValue = invalidGitRequest("has a line without '='")
  static let gitValueWithControl = invalidGitRequest("has a value with a carriage return or a NUL")
  static let gitNameNotText = invalidGitRequest("has a name that is not UTF-8")
  static let gitHostInvalid = invalidGitRequest("has an invalid host or port")
  static let gitServerMissing = invalidGitRequest("names no protocol and host")

  private static func invalidGitRequest(_ fault: String) -> Self {
    Self(.invalidArgument, "the request \(fault)", recovery: "look at the URL of the repository")
  }

  // Errors of stored credentials.
  static func ambiguousForGit(_ identities: [CredentialIdentity]) -> Self {
    let names = identities.map(\.description).joined(separator: "; ")
    return Self(
      .ambiguous, "\(identities.count) credentials match: \(names)",
      recovery: "put the user name into the URL, as in https://NAME@HOST/, or set "
        + "credential.https://HOST.username; for paths, set credential.useHttpPath")
  }

  static func notForGit(_ identity: CredentialIdentity) -> Self {
    Self(
      .undecodable, "the secret of \(identity) has a line break or a NUL, which git does not take",
      recovery: "store it again, without the newline at its end")
  }

  static func schemeNotForGit(_ identity: CredentialIdentity) -> Self {
    Self(
      .undecodable, "the authentication type of \(identity) has white space or a line break",
      recovery: "store it again with one word, such as Bearer")
  }

  static func expiredForGit(_ identity: CredentialIdentity) -> Self {
    Self(.expired, "the password of \(identity) has expired", recovery: "store a new one")
  }

  static func forOthersToo(_ credential: Credential) -> Self {
    stays(
      credential, "it is for every user or path",
      recovery: "check the user's name and the path, or run ")
  }

  static func ofOtherProgram(_ credential: Credential) -> Self {
    stays(credential, "another program stored it", recovery: "to remove it, run ")
  }

  private static func stays(
    _ credential: Credential, _ reason: String, recovery: Recovery
  ) -> Self {
    Self(
      .refused,
      "the server rejected the password of \(credential.identity), which stays, as \(reason)",
      recovery: recovery
        + "\(.deleteItem(credential.identity, ofOtherProgram: credential.isOfOtherProgram))")
  }

  static func nameNotForGit(_ identity: CredentialIdentity) -> Self {
    Self(
      .undecodable, "the account of \(identity) has a line break or a NUL, which git does not take",
      recovery: "rename it")
  }
}
