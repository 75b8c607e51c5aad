internal import CPrephirencesSystem
internal import Glibc
public import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesSystem

/// A file of variables, often named `.env`: lines `NAME=value`.
///
/// Programs read such files differently. Lines that they do not all read alike are refused, with the
/// number of the line:
///
/// - A line is empty, a comment that begins with `#`, or `NAME=value`, also after `export`.
/// - A name has ASCII letters, digits and `_`, and no digit first. It occurs once.
/// - Without quotes, a value has no white space inside, no quotes, and none of `$`, `` ` ``, `\`, `#`, `<`,
///   `>`, `|`, `&`, `;`, `(` and `)`, nor a `~` at its beginning or after a `:`.
/// - In single quotes, a value is taken as it is, also over several lines.
/// - In double quotes, too, but it must not have `$`, `` ` `` and `\`.
/// - After a value in quotes, only white space and a comment may follow.
///
/// A file is UTF-8 without a byte order mark, and its lines end with a newline, without a carriage return.
///
/// Nothing is expanded. A value that begins with `keychain:` or `keychain+` must be a reference.
///
/// A file cannot set `PATH`, `LD_*`, `KEYCHAIN_*`, `CREDENTIALS_DIRECTORY`, `DBUS_SESSION_BUS_ADDRESS`,
/// `BASH_ENV`, `GCONV_PATH` and `GLIBC_TUNABLES`. It can set variables that one interpreter obeys, such
/// as `PYTHONPATH` and `NODE_OPTIONS`, and those of places, such as `HOME`.
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

  /// Reads the text of a file.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - name: The name of the file in errors.
  /// - Throws: ``/KeychainCredentials/KeychainError`` with `undecodable` if a line cannot be read, or
  ///   `refused` if it sets a variable that a file cannot set.
  public init(_ text: String, name: String) throws(KeychainError) {
    self.name = name
    var reader = EnvironmentFileReader(Array(text.utf8), name: name)
    entries = try reader.entries()
  }

  /// Reads a file.
  ///
  /// The file, which may be a pipe, must belong to the user or to root, and nobody else may be able to
  /// write it: others never, and a group only if it is the process's own, as in a working copy that
  /// `umask 002` made, and the file has no access list.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - timeout: How long to wait for a pipe and the end of the file; `nil` to wait for ever.
  /// - Throws: ``/KeychainCredentials/KeychainError`` with `inputOutput`, `insecurePermissions`,
  ///   `tooLarge` above 1 MiB, `timedOut`, `undecodable` or `refused`.
  public init(path: String, timeout: Duration? = nil) throws(KeychainError) {
    let deadline = timeout.map(Deadline.init(after:))
    let descriptor = try WaitingFile.open(path, within: timeout) { .cannotRead(path, errno: $0) }
    defer { close(descriptor) }
    try Self.checkWriters(descriptor, path)
    let contents: SecretBytes?
    do throws(SecretsError) {
      contents = try SecretBytes.reading(fileDescriptor: descriptor, limit: 1 << 20) {
        deadline?.awaitInput($0) ?? true
      }
    } catch {
      if deadline?.hasPassed == true { throw KeychainError(FileError(.endless, path)) }
      guard error.code == .inputOutput else { throw KeychainError(error) }
      throw .cannotRead(path, errno: error.systemError)
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
    // Only root makes devices, such as /dev/null.
    if isOurs, status.st_mode & S_IFMT == S_IFCHR { return }
    // With an access list, the bits of the group are the most that any user of the list may do.
    let isGroupOurs =
      status.st_gid == getegid() && cinheritedfiles_has_access_list(descriptor) == 0
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
      recovery: "make it yours alone: chmod go-w '\(path)'")
  }
}
