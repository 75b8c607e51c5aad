public import KeychainCredentials
public import KeychainSecrets
internal import PrephirencesSystem

/// A netrc file, as programs such as curl, Python and SwiftPM read it.
///
/// ```swift
/// let text = try SecretBytes(copying: "machine example.com login alice password hunter2")
/// let file = try NetrcFile(text)
/// for entry in file.entries {
///   if case .machine(let host) = entry.subject { print(host, entry.login ?? "") }
/// }
/// ```
///
/// Words are separated by white space. A value in double quotes may contain blanks, and `\"` and
/// `\\` for a quote and a backslash. A word that begins with `#` in place of a keyword starts a
/// comment, which ends with its line. A macro ends with an empty line. Keywords are read in any
/// case. A word in place of a keyword that only some programs know, such as `port`, belongs to the
/// entry before it.
public struct NetrcFile: ~Copyable, Sendable {
  /// The text, which contains passwords.
  public let text: SecretBytes

  /// The entries and the definitions of macros, in the order of the file.
  public let entries: [NetrcEntry]

  /// The maximum number of bytes of a text: 1 MiB.
  public static let maximumCount = 1 << 20

  /// Reads a text, which may be empty.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/undecodable`` if the format is wrong.
  ///   The error names the line, but none of its words, which may be passwords.
  public init(_ text: consuming SecretBytes) throws(KeychainError) {
    entries = try text.withBytes { bytes throws(KeychainError) in
      var parser = NetrcParser()
      return try parser.entries(in: bytes)
    }
    self.text = text
  }

  /// Returns the password of an entry of this file, without quotes; `nil` if it has none.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/insufficientMemory``.
  public borrowing func password(of entry: NetrcEntry) throws(KeychainError) -> SecretBytes? {
    guard let word = entry.password else { return nil }
    return try text.withBytes { bytes throws(KeychainError) in try word.value(in: bytes) }
  }

  /// Returns the text without some of this file's entries.
  ///
  /// Every other byte stays, also comments within the entries. A line that becomes empty is
  /// removed.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/insufficientMemory``.
  public borrowing func text(without removed: [NetrcEntry]) throws(KeychainError) -> SecretBytes {
    try text.withBytes { bytes throws(KeychainError) in
      var rest = try SecretBuffer()
      var position = 0
      for piece in removed.flatMap(\.pieces).sorted(by: { $0.lowerBound < $1.lowerBound }) {
        let hole = bytes.netrcHole(of: piece)
        if position < hole.lowerBound {
          try rest.append(bytes.extracting(position..<hole.lowerBound))
        }
        position = max(position, hole.upperBound)
      }
      try rest.append(bytes.extracting(position..<bytes.byteCount))
      return try rest.finish()
    }
  }
}

extension RawSpan {
  /// Returns the range to remove with a piece of an entry: the blanks after it, and its line if
  /// nothing else is on it.
  fileprivate func netrcHole(of piece: Range<Int>) -> Range<Int> {
    let blanks: Set = [UInt8(ascii: " "), UInt8(ascii: "\t")]
    var (start, end) = (piece.lowerBound, piece.upperBound)
    while end < byteCount, blanks.contains(byte(at: end)) { end += 1 }
    while start > 0, blanks.contains(byte(at: start - 1)) { start -= 1 }
    guard start == 0 || byte(at: start - 1) == UInt8(ascii: "\n") else {
      return piece.lowerBound..<end
    }
    if end < byteCount, byte(at: end) == UInt8(ascii: "\r") { end += 1 }
    if end < byteCount, byte(at: end) == UInt8(ascii: "\n") { return start..<end + 1 }
    return (end == byteCount ? start : piece.lowerBound)..<end
  }
}

/// An entry of a ``NetrcFile`` without its password, or the definition of a macro.
public struct NetrcEntry: Sendable {
  /// The subject of an entry.
  @frozen public enum Subject: Sendable {
    /// A host, as it is written.
    case machine(String)

    /// All hosts that have no entry.
    case `default`

    /// A macro of ftp.
    case macro
  }

  /// The subject.
  public internal(set) var subject: Subject

  /// The account, if there is one; some services expect a token in its place.
  public internal(set) var login: String?

  /// Whether it has a password for ftp's command `ACCT`.
  public internal(set) var hasAccount = false

  /// The line on which it begins, counted from 1.
  public let line: Int

  /// Whether there is a password.
  public var hasPassword: Bool { password != nil }

  var password: NetrcWord?

  /// Whether it has a word that netrc does not define.
  var hasUnknownWord = false

  /// Whether programs read one of its values differently.
  var isUnclear = false

  /// The ranges of its words, without comments between them.
  var pieces: [Range<Int>]

  init(_ subject: Subject, at word: NetrcWord) {
    self.subject = subject
    line = word.line
    pieces = [word.range]
  }

  mutating func extend(by word: NetrcWord) {
    if word.followsComment {
      pieces.append(word.range)
    } else if let last = pieces.popLast() {
      pieces.append(last.lowerBound..<word.range.upperBound)
    }
  }
}

extension NetrcFile {
  /// Returns a netrc file with one entry for each selection, for a program that reads its passwords
  /// from such a file.
  ///
  /// The entry of a host gets the only internet password of the host and port. A password of
  /// `https` precedes one without a protocol, and one for the whole host precedes one for a path. A
  /// selection without a port means the usual one of `https`. Passwords of other protocols and
  /// ports, and logins that docker stored, are never used.
  ///
  /// Only values that curl, Python and SwiftPM read alike are written: those with quotes,
  /// backslashes, control characters, or white space other than the blank are refused.
  ///
  /// - Parameters:
  ///   - selections: The servers.
  ///   - store: The store of the passwords.
  ///   - accessGroup: The access group of the passwords; empty for the unnamed one.
  ///   - unlock: Unlocks the stores of a query whose search found only locked items, or throws.
  /// - Throws: ``KeychainError``, with ``KeychainError/Code/notFound`` if a host has no password,
  ///   ``KeychainError/Code/ambiguous`` if it has several of the same rank,
  ///   ``KeychainError/Code/expired``, ``KeychainError/Code/refused`` if a value cannot be written,
  ///   ``KeychainError/Code/invalidArgument`` if a host is selected twice, or as the store.
  public static func contents(
    for selections: [NetrcSelection], in store: any CredentialStore, accessGroup: String = "",
    unlock: @escaping (CredentialQuery) throws(KeychainError) -> Void = { _ in }
  ) throws(KeychainError) -> SecretBytes {
    for (index, selection) in selections.enumerated() {
      let isRepeated = selections[..<index].contains { $0.host.hasSameBytes(as: selection.host) }
      guard !isRepeated else { throw .repeatedInNetrc(selection.host) }
    }
    let finder = NetrcItemFinder(store: store, accessGroup: accessGroup, unlock: unlock)
    var writer = try NetrcWriter()
    for selection in selections {
      let stored = try finder.secret(for: selection)
      try writer.append(
        host: selection.host, login: stored.credential.identity.account, password: stored.secret)
    }
    return try writer.finish()
  }
}

// Errors of selections.
extension KeychainError {
  // The text is not repeated, because it may contain a password.
  static let invalidNetrcSelection = Self(
    .invalidArgument, "a selection for a netrc file names no host",
    recovery: "write [ACCOUNT@]HOST[:PORT], without a protocol, a password and a path")

  static let invalidNetrcAccount = Self(
    .invalidArgument, "a selection for a netrc file has something else than an account before @",
    recovery: "write [ACCOUNT@]HOST[:PORT], without a password, and : in an account as %3A")

  static func repeatedInNetrc(_ host: String) -> Self {
    Self(
      .invalidArgument, "'\(host)' is selected twice, and a netrc file has one entry for a host",
      recovery: "leave one of them out, or run the program once for each")
  }

  static func nothingForNetrc(_ selection: NetrcSelection) -> Self {
    let account = selection.account.map { "'\($0)' " } ?? ""
    let port = selection.port.map { ", port \($0)" } ?? ""
    return Self(
      .notFound, "there is no internet password \(account)of server '\(selection.host)'\(port)",
      recovery: "store one for this server\(port), with the protocol https"
        + (selection.port == nil
          ? "; if it is stored with a port, name \(selection.address("PORT"))" : ""))
  }

  static func ambiguousForNetrc(
    _ selection: NetrcSelection, _ identities: [CredentialIdentity]
  ) -> Self {
    let names = identities.map(\.description).joined(separator: "; ")
    let first = identities.first?.account ?? ""
    let differByAccount = !identities.allSatisfy { $0.account.hasSameBytes(as: first) }
    return Self(
      .ambiguous, "\(identities.count) passwords match '\(selection)': \(names)",
      recovery: differByAccount
        ? "choose one by its account: ACCOUNT@\(selection.address)"
        : "a netrc file knows hosts only; remove the others, or hand this one over by its reference"
    )
  }

  static func expiredForNetrc(_ identity: CredentialIdentity) -> Self {
    Self(.expired, "\(identity) has expired", recovery: "store a new password")
  }

  // Errors of writing.
  static func noLoginForNetrc(_ host: String) -> Self {
    Self(
      .refused, "the password of '\(host)' has no account, which a netrc file needs",
      recovery: "store it with an account; for a token of SwiftPM, with the account 'token'")
  }

  static func unwritableInNetrc(_ part: String, host: String, _ reason: String) -> Self {
    Self(
      .refused, "the \(part) of '\(host)' \(reason), and programs read that differently in netrc",
      recovery: "choose another \(part), or hand it over in another way")
  }

  // Errors of reading.
  static func unreadableNetrc(_ line: Int, _ reason: String) -> Self {
    Self(
      .undecodable, "line \(line) of the netrc file \(reason)",
      recovery: "correct the line, or leave it out")
  }
}

/// Writes netrc text that curl, Python and SwiftPM read alike.
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
  public init() throws(KeychainError) { buffer = try SecretBuffer() }

  /// Appends the entry of a host.
  ///
  /// Append one entry for each host, because readers disagree about which of two counts.
  ///
  /// - Parameter login: The account; `token` for a token of SwiftPM.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/refused`` if a value is empty, too long
  ///   or not UTF-8, or has quotes, backslashes, control characters, or white space other than the
  ///   blank. The error names the host, not the value. Nothing was appended then.
  public mutating func append(
    host: String, login: String, password: borrowing SecretBytes
  ) throws(KeychainError) {
    let login = try SecretBytes(copying: login)
    guard login.count > 0 else { throw .noLoginForNetrc(host) }
    guard let address = NetrcAddress(host), address.port == nil else {
      throw .unwritableInNetrc("name", host: host, "is not a host")
    }
    let forms = (login: NetrcForm(of: login), password: NetrcForm(of: password))
    if case .unwritable(let reason) = forms.login {
      throw .unwritableInNetrc("account", host: host, reason)
    }
    if case .unwritable(let reason) = forms.password {
      throw .unwritableInNetrc("password", host: host, reason)
    }
    try buffer.append("machine \(address.host)\n  login ")
    try append(login, forms.login)
    try buffer.append("\n  password ")
    try append(password, forms.password)
    try buffer.append("\n")
  }

  /// Returns the text, with a newline at its end unless it is empty.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/insufficientMemory``.
  public consuming func finish() throws(KeychainError) -> SecretBytes {
    try buffer.finish()
  }

  private mutating func append(
    _ value: borrowing SecretBytes, _ form: NetrcForm
  ) throws(KeychainError) {
    if case .quoted = form { try buffer.append("\"") }
    try buffer.append(value)
    if case .quoted = form { try buffer.append("\"") }
  }
}

/// The form of a value that curl, Python and SwiftPM read alike.
enum NetrcForm {
  case plain
  case quoted

  /// Readers disagree about the value; the reason continues "the password of HOST".
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
    // Without quotes, curl and SwiftPM read it as a comment.
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
