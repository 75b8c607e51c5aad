internal import Glibc
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault
internal import PrephirencesCommandLine
internal import PrephirencesSystem
internal import SystemPackage

/// The destination of a secret: the value of the option `--output`.
///
/// An existing regular file is kept unless overwriting was requested. A device, a named pipe and a
/// descriptor such as `/dev/stdout` receive the secret directly.
struct SecretOutput {
  let path: String
  let overwrites: Bool

  /// The paths of files that are never replaced, such as those of the vault, and of folders of such
  /// files.
  var keptPaths: [String] = []

  /// How long to wait for a reader of a named pipe.
  let timeout: Duration

  /// Who may be able to use the file if the file system has no modes.
  let readers: SecretFileReaders

  /// Returns the path in the option, or `nil` for standard output, which is `-`.
  static func path(named option: String?) -> String? { option == "-" ? nil : option }

  /// Writes a secret; a file appears in one step: a reader finds no file, the old one, or the
  /// complete new one.
  func write(_ secret: borrowing SecretBytes, addingNewline addsNewline: Bool) throws {
    // Opened by its path, a redirected file would be overwritten from its start, even after `>>`.
    if let descriptor = DescriptorPath.number(path) {
      guard StandardDescriptors.wasOpen(descriptor) else {
        throw KeychainError.cannotWrite(path, errno: EBADF)
      }
      return try write(secret, addsNewline, to: descriptor)
    }
    switch Self.fileType(at: path) {
    case nil where !overwrites: try create(secret, addsNewline)
    case S_IFREG where !overwrites: throw KeychainError.outputExists(path)
    case nil, S_IFREG:
      try replace(secret, addsNewline)
    case S_IFIFO, S_IFCHR:
      let descriptor = try openStream()
      defer { close(descriptor) }
      try write(secret, addsNewline, to: descriptor)
    default: throw KeychainError(CommandLineError.notARegularFile(path))
    }
  }

  /// Returns the type of the file at a path, without following a link, or `nil` if there is none.
  private static func fileType(at path: String) -> mode_t? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
  }

  /// Creates a file that appears when it is complete, and never replaces another one.
  private func create(_ secret: borrowing SecretBytes, _ addsNewline: Bool) throws {
    do throws(FileError) {
      try PrivateFile.create(path, openTo: readers.acceptedBits) { descriptor throws(Errno) in
        try Self.write(secret, addsNewline, to: descriptor)
      }
    } catch {
      throw KeychainError.ofWriting(path, error, ifExists: .outputExists(path))
    }
  }

  private func replace(_ secret: borrowing SecretBytes, _ addsNewline: Bool) throws {
    let folder = FilePath(path).removingLastComponent().string
    let replaced = [FileIdentity(path), FileIdentity(folder.isEmpty ? "." : folder)]
    if keptPaths.contains(where: { FileIdentity($0).map { replaced.contains($0) } ?? false }) {
      throw KeychainError.outputIsNeeded(path)
    }
    // A signal here would leave a second file with the secret until the next call.
    let signals = HeldSignals()
    defer { signals.release() }
    do throws(FileError) {
      try PrivateFile.replace(path, openTo: readers.acceptedBits) { descriptor throws(Errno) in
        try Self.write(secret, addsNewline, to: descriptor)
      }
    } catch {
      throw KeychainError.ofWriting(path, error)
    }
  }

  /// Opens a pipe or device; if a pipe has no reader, it retries until the timeout.
  private func openStream() throws -> Int32 {
    let deadline = Deadline(after: timeout)
    let flags = O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC
    while true {
      let descriptor = open(path, flags)
      if descriptor >= 0 { return try checked(descriptor) }
      // Only a pipe can lack a reader.
      let failure = errno
      guard failure == EINTR || failure == ENXIO && Self.fileType(at: path) == S_IFIFO else {
        throw KeychainError.cannotWrite(path, errno: failure)
      }
      guard !deadline.hasPassed else { throw KeychainError.nobodyReads(path) }
      Deadline.pause(upTo: 20)
    }
  }

  /// Checks that another user has not replaced the file with a pipe.
  private func checked(_ descriptor: Int32) throws -> Int32 {
    var status = stat()
    let isKnown = fstat(descriptor, &status) == 0
    let isStream = [S_IFIFO, S_IFCHR].contains(status.st_mode & S_IFMT)
    let isOurs = status.st_uid == geteuid() || status.st_uid == 0
    guard isKnown, isStream, isOurs, fcntl(descriptor, F_SETFL, 0) == 0 else {
      close(descriptor)
      guard isKnown, isStream else { throw KeychainError(CommandLineError.notARegularFile(path)) }
      throw KeychainError.outputOfOthers(path)
    }
    return descriptor
  }

  private func write(
    _ secret: borrowing SecretBytes, _ addsNewline: Bool, to descriptor: Int32
  ) throws {
    do throws(Errno) {
      try Self.write(secret, addsNewline, to: FileDescriptor(rawValue: descriptor))
    } catch {
      throw KeychainError.cannotWrite(path, errno: error.rawValue)
    }
  }

  private static func write(
    _ secret: borrowing SecretBytes, _ addsNewline: Bool, to descriptor: FileDescriptor
  ) throws(Errno) {
    try secret.write(to: descriptor)
    if addsNewline { try DescriptorIO.write([UInt8(ascii: "\n")], to: descriptor) }
  }
}

extension SecretBytes {
  /// Creates a file with the bytes, readable only by the user.
  borrowing func write(toNewFile path: String, readers: SecretFileReaders) throws(KeychainError) {
    do throws(FileError) {
      try PrivateFile.create(path, openTo: readers.acceptedBits) { descriptor throws(Errno) in
        try write(to: descriptor)
      }
    } catch {
      throw KeychainError.ofWriting(path, error, ifExists: .keyFileExists(path))
    }
  }
}

extension KeychainError {
  fileprivate static func ofWriting(
    _ path: String, _ error: FileError, ifExists: KeychainError? = nil
  ) -> Self {
    if error.kind == .alreadyExists, let ifExists { return ifExists }
    guard case .failed(_, let cause) = error.kind else {
      return KeychainError(ofNewSecretFile: error)
    }
    return .cannotWrite(path, errno: cause.rawValue)
  }
}

extension KeychainError {
  static func terminalAsSource(_ option: String) -> Self {
    Self(
      .invalidArgument, "\(option) names a terminal, which would show the passphrase or code",
      recovery: "leave the option out, and it is asked for without showing it")
  }

  static func notOpen(_ descriptor: Int32, option: String) -> Self {
    Self(.invalidArgument, "descriptor \(descriptor), given by \(option), is not open")
  }

  /// The error of input that did not end before the deadline.
  static func endless(_ source: String) -> Self {
    Self(
      .timedOut, "\(source) did not end in time",
      recovery: "end what writes it, or wait longer with --deadline")
  }

  static func passphraseTooLong(_ source: String) -> Self {
    Self(.tooLarge, "what \(source) gives is longer than 1 MiB")
  }

  static let secretTooLong = KeychainError(
    .tooLarge, "the secret is longer than \(Credential.maximumSecretCount) bytes")

  static func keyFileExists(_ path: String) -> Self {
    .fileExists(
      path, recovery: .nameNewFile + ", or use --with-key-file if this one is to open the vault")
  }

  /// Removes the new file that was to open the vault, and returns the error; the file stays if the
  /// vault may open with it.
  func removing(_ file: String) -> Self {
    guard code == .outcomeUnknown else {
      unlink(file)
      return self
    }
    let kept: Recovery = "'\(file)' is kept, since it may open the vault"
    return Self(
      code, message, recovery: [recovery, kept].compactMap(\.self).joined(separator: "; "),
      underlying: underlying)
  }

  static func openToOthers(_ path: String) -> Self {
    Self(
      .insecurePermissions, "'\(path)' can be read or changed by other users",
      recovery:
        "make it yours alone: chmod 600 \(ShellText.quoted(path)); if others may read it, as in a "
        + "container: \(.allowReaders(.group)) or \(.allowReaders(.others))")
  }

  static func outputExists(_ path: String) -> Self {
    .fileExists("'\(path)'", recovery: .nameNewFile + ", or replace this one with \(.overwrite)")
  }

  static func outputIsNeeded(_ path: String) -> Self {
    Self(
      .refused, "'\(path)' belongs to the keychain or unlocks it, and would be lost",
      recovery: .nameNewFile)
  }

  static func outputOfOthers(_ path: String) -> Self {
    Self(
      .insecurePermissions, "'\(path)' belongs to another user, who could read the secret",
      recovery: "name a file, pipe or device of your own")
  }

  static func nobodyReads(_ path: String) -> Self {
    Self(
      .timedOut, "nobody reads from '\(path)'",
      recovery: "start what reads it first, or wait longer with --deadline")
  }
}

/// Holds back the signals that end a command, for a moment.
struct HeldSignals {
  private var before = sigset_t()

  init() {
    var held = sigset_t()
    sigemptyset(&held)
    for number in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] { sigaddset(&held, number) }
    pthread_sigmask(SIG_BLOCK, &held, &before)
  }

  /// Lets the signals that arrived meanwhile take effect.
  func release() {
    var before = before
    pthread_sigmask(SIG_SETMASK, &before, nil)
  }
}
