internal import CPrephirencesSystem
internal import Glibc
public import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesSystem

/// A file of variables, often named `.env`: lines `NAME=value`.
///
/// Programs read such files differently. A line that they would not all read alike is refused, with
/// its number:
///
/// - A line is empty, a comment that begins with `#`, or `NAME=value`, with or without `export`.
/// - A name consists of ASCII letters, digits and `_`, does not begin with a digit, and occurs
///   once.
/// - A value without quotes has no white space, no quotes, none of `$`, `` ` ``, `\`, `#`, `<`,
///   `>`, `|`, `&`, `;`, `(` and `)`, and no `~` at its beginning or after a `:`.
/// - A value in single quotes is taken as it is, and may have several lines.
/// - A value in double quotes is, too, but must not contain `$`, `` ` `` or `\`.
/// - Only white space and a comment may follow a value in quotes.
///
/// A file is UTF-8 without a byte order mark; its lines end with a newline, without a carriage
/// return.
///
/// Nothing is expanded. A value that begins with `keychain:` or `keychain+` must be a reference.
///
/// A file cannot set `PATH`, `LD_*`, `KEYCHAIN_*`, `CREDENTIALS_DIRECTORY`,
/// `DBUS_SESSION_BUS_ADDRESS`, `BASH_ENV`, `GCONV_PATH` and `GLIBC_TUNABLES`. It can set variables
/// that one interpreter obeys, such as `PYTHONPATH` and `NODE_OPTIONS`, and those of places, such
/// as `HOME`.
public struct EnvironmentFile: Sendable {
  /// A variable of the file.
  public struct Entry: Sendable {
    /// The name.
    public let name: String

    /// The value.
    public let value: EnvironmentPlan.Value

    /// The number of the line, from 1.
    public let line: Int
  }

  /// The name of the file in errors.
  public let name: String

  /// The variables, in the order of the file.
  public let entries: [Entry]

  /// Reads the text of a file, which errors call `name`.
  ///
  /// - Throws: ``/KeychainSecrets/KeychainError`` with `undecodable` if a line cannot be read,
  ///   or `refused` if it sets a variable that a file cannot set.
  public init(_ text: String, name: String) throws(KeychainError) {
    self.name = name
    var reader = EnvironmentFileReader(Array(text.utf8), name: name)
    entries = try reader.entries()
  }

  /// Reads a file.
  ///
  /// The file, which may be a pipe, must belong to the user or to root, and others must not be able
  /// to write to it. A group may if it is the process's own, as in a working copy that `umask 002`
  /// made, and if the file has no access list.
  ///
  /// - Parameter timeout: How long to wait for a pipe and the end of the file; `nil` to wait
  ///   without a limit.
  /// - Throws: ``/KeychainSecrets/KeychainError`` with `inputOutput`, `insecurePermissions`,
  ///   `tooLarge` above 1 MiB, `timedOut`, `undecodable` or `refused`.
  public init(path: String, timeout: Duration? = nil) throws(KeychainError) {
    let deadline = timeout.map(Deadline.init(after:))
    let descriptor = try WaitingFile.open(path, within: timeout) { .cannotRead(path, errno: $0) }
    defer { close(descriptor) }
    try Self.checkWriters(descriptor, path)
    let contents: SecretBytes?
    do throws(KeychainError) {
      contents = try SecretBytes.reading(fileDescriptor: descriptor, limit: 1 << 20) {
        deadline?.awaitInput($0) ?? true
      }
    } catch {
      if deadline?.hasPassed == true { throw KeychainError(FileError(.endless, path)) }
      guard let errno = error.systemError else { throw error }
      throw .cannotRead(path, errno: errno)
    }
    guard let contents else { throw .environmentFileTooLarge(path) }
    let text = contents.withBytes { bytes in
      bytes.withUnsafeBytes { String(validating: $0, as: UTF8.self) }
    }
    guard let text else { throw .environmentFileNotText(path) }
    try self.init(text, name: path)
  }

  private static func checkWriters(_ descriptor: Int32, _ path: String) throws(KeychainError) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .cannotRead(path, errno: errno) }
    guard status.st_mode & S_IFMT != S_IFDIR else { throw .cannotRead(path, errno: EISDIR) }
    let isOurs = status.st_uid == geteuid() || status.st_uid == 0
    // Only root creates devices, such as /dev/null.
    if isOurs, status.st_mode & S_IFMT == S_IFCHR { return }
    // With an access list, the group's bits are the maximum for every user of the list.
    let isGroupOurs = status.st_gid == getegid() && cinheritedfiles_has_access_list(descriptor) == 0
    guard isOurs, status.st_mode & S_IWOTH == 0, status.st_mode & S_IWGRP == 0 || isGroupOurs
    else { throw .environmentFileOfOthers(path) }
  }
}

extension KeychainError {
  static func cannotRead(_ path: String, errno code: Int32) -> Self {
    Self(
      .inputOutput, "'\(path)' cannot be read: " + words(of: code),
      underlying: .system(errno: code))
  }

  fileprivate static func environmentFileTooLarge(_ path: String) -> Self {
    Self(.tooLarge, "'\(path)' is longer than 1 MiB")
  }

  fileprivate static func environmentFileNotText(_ path: String) -> Self {
    Self(.undecodable, "'\(path)' is not valid UTF-8")
  }

  fileprivate static func environmentFileOfOthers(_ path: String) -> Self {
    Self(
      .insecurePermissions, "'\(path)' can be changed by other users, or belongs to one",
      recovery: "make it yours alone: chmod go-w \(ShellText.quoted(path))")
  }
}

/// Reads the lines of an ``EnvironmentFile``.
struct EnvironmentFileReader {
  private let bytes: [UInt8]
  let name: String
  private var position = 0
  private var line = 1

  init(_ bytes: [UInt8], name: String) {
    self.bytes = bytes
    self.name = name
  }

  mutating func entries() throws(KeychainError) -> [EnvironmentFile.Entry] {
    guard !bytes.starts(with: "\u{FEFF}".utf8) else {
      throw failure("the file begins with a byte order mark; save it as UTF-8 without one")
    }
    var entries: [EnvironmentFile.Entry] = []
    // Names are ASCII.
    var lines: [String: Int] = [:]
    while position < bytes.count {
      if let entry = try entry() {
        if let first = lines.updateValue(entry.line, forKey: entry.name) {
          throw failure("'\(entry.name)' is already set in line \(first)", at: entry.line)
        }
        entries.append(entry)
      }
    }
    return entries
  }

  /// Reads a line, or several if a value in quotes has newlines; `nil` if it sets nothing.
  private mutating func entry() throws(KeychainError) -> EnvironmentFile.Entry? {
    skipBlanks()
    guard let next, next != Self.newline, next != UInt8(ascii: "#"), next != Self.carriageReturn
    else {
      if next == UInt8(ascii: "#") { passComment() }
      try endLine()
      return nil
    }
    let start = line
    let name = try variableName()
    guard take(UInt8(ascii: "=")) else {
      throw failure("there is no '=' right after a name", at: start)
    }
    guard !VariableRules.isClosedToFiles(name) else {
      throw KeychainError(
        .refused, "'\(self.name)', line \(start): a file cannot set '\(name)'",
        recovery: "remove the line; set it yourself if it is needed")
    }
    let value = try value()
    try endLine()
    return EnvironmentFile.Entry(name: name, value: try meaning(of: value, at: start), line: start)
  }

  private mutating func variableName() throws(KeychainError) -> String {
    var word = self.word()
    if word.hasSameBytes(as: "export"), skipBlanks() { word = self.word() }
    guard word.isVariableName else {
      throw failure("a line is NAME=value, with ASCII letters, digits and '_' in the name")
    }
    return word
  }

  private mutating func word() -> String {
    let start = position
    while let next, next != UInt8(ascii: "="), !Self.isBlank(next), next != Self.newline {
      position += 1
    }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private mutating func value() throws(KeychainError) -> ArraySlice<UInt8> {
    guard let next, next == UInt8(ascii: "'") || next == UInt8(ascii: "\"") else {
      return try plainValue()
    }
    let start = line
    position += 1
    let first = position
    while let byte = self.next, byte != next {
      if byte == Self.carriageReturn || byte == 0 {
        throw failure("a value has a carriage return or NUL")
      }
      if next == UInt8(ascii: "\""), Self.isExpanded(byte) {
        throw failure(
          "nothing is expanded here, and other programs expand '$', '`' and '\\' in double quotes; "
            + "write the value out, or put these characters into single quotes")
      }
      if byte == Self.newline { line += 1 }
      position += 1
    }
    let value = bytes[first..<position]
    guard take(next) else { throw failure("a quote is not closed", at: start) }
    return value
  }

  private mutating func plainValue() throws(KeychainError) -> ArraySlice<UInt8> {
    let first = position
    while let next, !Self.isBlank(next), next != Self.newline, next != Self.carriageReturn {
      // A shell expands `~` at the beginning of a value, and after each `:`.
      let isHome =
        next == UInt8(ascii: "~") && (position == first || bytes[position - 1] == UInt8(ascii: ":"))
      guard !Self.isExpanded(next), !isHome else {
        throw failure(
          "nothing is expanded here, and other programs expand '$', '`', '\\' and '~'; write the "
            + "value out, or put these characters into single quotes")
      }
      guard !Self.endsWord(next) else {
        throw failure("programs read this value differently; put it into single quotes")
      }
      position += 1
    }
    return bytes[first..<position]
  }

  /// Reads the rest of a line, which may only have a comment.
  private mutating func endLine() throws(KeychainError) {
    let hasBlank = skipBlanks()
    if next == UInt8(ascii: "#") {
      guard hasBlank, !endsPlainValue else {
        throw failure(
          "programs take '#' and what follows for a comment or for a part of the value; put the "
            + "value into single quotes, and a comment after them")
      }
      passComment()
    }
    if next == Self.carriageReturn {
      throw failure(
        "a shell takes a carriage return for a part of the value; end lines with a newline")
    }
    guard next == nil || next == Self.newline else {
      throw failure("programs read this value differently; put it into single quotes")
    }
    position += 1
    line += 1
  }

  private mutating func passComment() { while let next, next != Self.newline { position += 1 } }

  /// Whether a value without quotes ends at the white space here.
  private var endsPlainValue: Bool {
    let before = bytes[..<position].last { !Self.isBlank($0) }
    guard let before, before != Self.newline else { return false }
    return before != UInt8(ascii: "'") && before != UInt8(ascii: "\"")
  }

  private func failure(_ text: String, at line: Int? = nil) -> KeychainError {
    KeychainError(.undecodable, "'\(name)', line \(line ?? self.line): \(text)")
  }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    position += 1
    return true
  }

  @discardableResult private mutating func skipBlanks() -> Bool {
    let start = position
    while let next, Self.isBlank(next) { position += 1 }
    return position > start
  }

  private static let newline = UInt8(ascii: "\n")
  private static let carriageReturn = UInt8(ascii: "\r")

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }

  /// Whether a shell ends a word here, or whether other programs begin a comment or quotes.
  private static func endsWord(_ byte: UInt8) -> Bool {
    byte == 0 || "#'\"<>|()&;".utf8.contains(byte)
  }

  private static func isExpanded(_ byte: UInt8) -> Bool {
    [UInt8(ascii: "$"), UInt8(ascii: "`"), UInt8(ascii: "\\")].contains(byte)
  }
}

extension EnvironmentFileReader {
  /// Returns the meaning of a line's value.
  func meaning(
    of value: ArraySlice<UInt8>, at line: Int
  ) throws(KeychainError) -> EnvironmentPlan.Value {
    let text = String(decoding: value, as: UTF8.self)
    guard CredentialReference.isReference(text) else {
      guard !Self.hasReference(text) else { throw referenceWithinText(at: line) }
      return .text(text)
    }
    do throws(KeychainError) {
      return .reference(try CredentialReference(text))
    } catch { throw error.located("'\(name)', line \(line)") }
  }

  /// Whether a longer text contains the beginning of a reference, which the program would get
  /// unresolved.
  private static func hasReference(_ text: String) -> Bool {
    let text = text.foldingASCIICase
    return ["keychain://", "keychain+http://", "keychain+https://"].contains {
      text.utf8.firstRange(of: $0.utf8) != nil
    }
  }

  private func referenceWithinText(at line: Int) -> KeychainError {
    KeychainError(
      .undecodable, "'\(name)', line \(line): a reference is the whole value, not a part of it",
      recovery: "store the whole value, such as a URL with its password, as one credential")
  }
}

/// Opens files for reading; they may be pipes that nobody ever writes to.
package enum WaitingFile {
  /// Opens a file for reading; its descriptor is closed when a program is started.
  ///
  /// - Parameters:
  ///   - timeout: How long to wait until a pipe has something to read; `nil` to wait without a
  ///     limit.
  ///   - failure: Makes an error of `errno`.
  /// - Throws: What `failure` returns, or ``/KeychainSecrets/KeychainError`` with `timedOut`.
  package static func open(
    _ path: String, within timeout: Duration?, failure: (Int32) -> KeychainError
  ) throws(KeychainError) -> Int32 {
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard descriptor >= 0 else { throw failure(errno) }
    do throws(KeychainError) {
      var status = stat()
      guard fstat(descriptor, &status) == 0 else { throw failure(errno) }
      if status.st_mode & S_IFMT == S_IFIFO, try !wait(for: descriptor, timeout, failure) {
        throw KeychainError(.timedOut, "nobody wrote to '\(path)' in time")
      }
      guard fcntl(descriptor, F_SETFL, 0) == 0 else { throw failure(errno) }
      return descriptor
    } catch {
      close(descriptor)
      throw error
    }
  }

  /// Returns whether there is something to read, or the end.
  private static func wait(
    for descriptor: Int32, _ timeout: Duration?, _ failure: (Int32) -> KeychainError
  ) throws(KeychainError) -> Bool {
    let end = timeout.map { ContinuousClock.now + $0 }
    while true {
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let left = end.map { max(ContinuousClock.now.duration(to: $0), .zero) / .milliseconds(1) }
      let count = poll(&entry, 1, left.map { Int32(min($0.rounded(.up), 1e9)) } ?? -1)
      if count >= 0 { return count > 0 }
      guard errno == EINTR else { throw failure(errno) }
    }
  }
}
