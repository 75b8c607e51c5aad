public import KeychainCredentials
public import KeychainSecrets
internal import PrephirencesSystem

/// Writes the netrc text that curl, Python and SwiftPM read alike.
///
/// ```swift
/// var writer = try NetrcWriter()
/// try writer.append(
///   host: "packages.example.com", login: "token", password: SecretBytes(copying: "hunter2"))
/// let text = try writer.finish()
/// print(text.count)
/// ```
public struct NetrcWriter: ~Copyable {
  private var buffer: SecretBuffer

  /// Creates an empty text.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/insufficientMemory``.
  public init() throws(KeychainError) { buffer = try translated(secrets: try SecretBuffer()) }

  /// Appends the entry of a host.
  ///
  /// Readers disagree about which of two entries of a host counts: append one for each.
  ///
  /// - Parameters:
  ///   - host: The host.
  ///   - login: The account; `token` for a token of SwiftPM.
  ///   - password: The password.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/refused`` if a value is empty or too long,
  ///   is not UTF-8, or has quotes, backslashes, control characters, or white space other than the
  ///   blank. The error names the host and not the value. Nothing was appended then.
  public mutating func append(
    host: String, login: String, password: borrowing SecretBytes
  ) throws(KeychainError) {
    let login = try translated(secrets: try SecretBytes(copying: login))
    guard login.count > 0 else { throw .noLoginForNetrc(host) }
    guard let address = NetrcAddress(host), address.port == nil else {
      throw .unwritableInNetrc("name", host: host, "is no host")
    }
    let forms = (login: NetrcForm(of: login), password: NetrcForm(of: password))
    if case .unwritable(let reason) = forms.login {
      throw .unwritableInNetrc("account", host: host, reason)
    }
    if case .unwritable(let reason) = forms.password {
      throw .unwritableInNetrc("password", host: host, reason)
    }
    try translating { () throws(SecretsError) in
      try append("machine \(address.host)\n  login ")
      try append(login, forms.login)
      try append("\n  password ")
      try append(password, forms.password)
      try append("\n")
    }
  }

  /// Returns the text.
  ///
  /// - Returns: The text, with a newline at its end unless it is empty.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/insufficientMemory``.
  public consuming func finish() throws(KeychainError) -> SecretBytes {
    do { return try buffer.finish() } catch { throw KeychainError(error) }
  }

  private mutating func append(_ words: String) throws(SecretsError) {
    for byte in words.utf8 { try buffer.append(byte) }
  }

  private mutating func append(
    _ value: borrowing SecretBytes, _ form: NetrcForm
  ) throws(SecretsError) {
    if case .quoted = form { try append("\"") }
    try value.withBytes { bytes throws(SecretsError) in try buffer.append(bytes) }
    if case .quoted = form { try append("\"") }
  }
}

/// How a value is written, so that curl, Python and SwiftPM read the same.
enum NetrcForm {
  case plain
  case quoted

  /// Readers disagree about it; the reason continues "the password of HOST".
  case unwritable(String)

  /// The longest line that curl reads is 4,095 bytes long.
  static let maximumCount = 4000

  init(of value: borrowing SecretBytes) { self = value.withBytes { Self(of: $0) } }

  private init(of bytes: RawSpan) {
    guard bytes.byteCount > 0 else {
      self = .unwritable("is empty")
      return
    }
    guard bytes.byteCount <= Self.maximumCount else {
      self = .unwritable("has more than \(Self.maximumCount) bytes")
      return
    }
    guard let text = try? UTF8Span(validating: Span(_bytes: bytes)) else {
      self = .unwritable("is not UTF-8")
      return
    }
    var scalars = text.makeUnicodeScalarIterator()
    // Without quotes, curl and SwiftPM take it for a comment.
    var needsQuotes = bytes.byte(at: 0) == UInt8(ascii: "#")
    while let scalar = scalars.next() {
      if let reason = Self.objection(to: scalar) {
        self = .unwritable(reason)
        return
      }
      if scalar == " " { needsQuotes = true }
    }
    self = needsQuotes ? .quoted : .plain
  }

  private static func objection(to scalar: Unicode.Scalar) -> String? {
    switch scalar {
    case "\n", "\r": "has a line break"
    case "\"": "has a quote"
    case "\\": "has a backslash"
    case " ": nil
    default:
      switch scalar.properties.generalCategory {
      case .control: "has a control character"
      case _ where scalar.properties.isWhitespace: "has white space other than the blank"
      default: nil
      }
    }
  }
}
