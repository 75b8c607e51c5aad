internal import Glibc
internal import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesFiles
internal import SystemPackage

/// Where a secret is written by the option `--output`.
///
/// An existing regular file is kept unless overwriting was asked for. A device, a named pipe and a
/// descriptor such as `/dev/stdout` get the secret as it is.
struct SecretOutput {
  let path: String
  let overwrites: Bool

  /// How long to wait for somebody who reads a named pipe.
  let timeout: Duration

  /// Writes a secret: to a file in one step, so that whoever looks finds nothing, the old file, or all of
  /// the new one.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/alreadyExists``, ``KeychainError/Code/refused``,
  ///   ``KeychainError/Code/insecurePermissions`` if another user could read it,
  ///   ``KeychainError/Code/timedOut`` if nobody reads a pipe, or ``KeychainError/Code/inputOutput``.
  func write(
    _ secret: borrowing SecretBytes, addingNewline addsNewline: Bool
  ) throws(KeychainError) {
    if let descriptor = Self.descriptor(namedBy: path) {
      guard StandardDescriptors.wasOpen(descriptor) else {
        throw .cannotWrite(path, errno: EBADF)
      }
      return try write(secret, addsNewline, to: descriptor)
    }
    switch Self.fileType(at: path) {
    case nil where !overwrites: try create(secret, addsNewline)
    case S_IFREG where !overwrites: throw .outputExists(path)
    case nil, S_IFREG:
      try replace(secret, addsNewline)
    case S_IFIFO, S_IFCHR:
      let descriptor = try openStream()
      defer { close(descriptor) }
      try write(secret, addsNewline, to: descriptor)
    default: throw .notARegularFile(path)
    }
  }

  /// The number of a descriptor that a path stands for.
  ///
  /// Opened by its path, a file would be written from its beginning, although `>>` asked for its end.
  static func descriptor(namedBy path: String) -> Int32? {
    switch path {
    case "/dev/stdout": return STDOUT_FILENO
    case "/dev/stderr": return STDERR_FILENO
    default: break
    }
    for folder in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(folder) {
      return Int32(path.dropFirst(folder.count))
    }
    return nil
  }

  /// The type of what lies at a path, a link included; `nil` if nothing does.
  private static func fileType(at path: String) -> mode_t? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
  }

  /// The file appears under its name when it is complete, and never in the place of another.
  private func create(
    _ secret: borrowing SecretBytes, _ addsNewline: Bool
  ) throws(KeychainError) {
    do throws(FileError) {
      try PrivateFile.create(path) { descriptor throws(Errno) in
        try Self.write(secret, addsNewline, to: descriptor)
      }
    } catch {
      throw error.kind == .alreadyExists ? .outputExists(path) : KeychainError(error)
    }
  }

  private func replace(
    _ secret: borrowing SecretBytes, _ addsNewline: Bool
  ) throws(KeychainError) {
    do throws(FileError) {
      try PrivateFile.replace(path) { descriptor throws(Errno) in
        try Self.write(secret, addsNewline, to: descriptor)
      }
    } catch {
      throw .cannotWrite(path, error)
    }
  }

  /// Opens a pipe or device; a pipe without a reader is tried until the time is over.
  private func openStream() throws(KeychainError) -> Int32 {
    let deadline = Deadline(after: timeout)
    let flags = O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC
    while true {
      let descriptor = open(path, flags)
      if descriptor >= 0 { return try checked(descriptor) }
      // A device that fails in this way has nobody to wait for.
      let failure = errno
      guard failure == EINTR || failure == ENXIO && Self.fileType(at: path) == S_IFIFO else {
        throw .cannotWrite(path, errno: failure)
      }
      guard !deadline.hasPassed else { throw .nobodyReads(path) }
      Deadline.pause(upTo: 20)
    }
  }

  /// Somebody may have put a pipe of theirs where a file was to be made.
  private func checked(_ descriptor: Int32) throws(KeychainError) -> Int32 {
    var status = stat()
    let isKnown = fstat(descriptor, &status) == 0
    let isStream = [S_IFIFO, S_IFCHR].contains(status.st_mode & S_IFMT)
    let isOurs = status.st_uid == geteuid() || status.st_uid == 0
    guard isKnown, isStream, isOurs, fcntl(descriptor, F_SETFL, 0) == 0 else {
      close(descriptor)
      throw isKnown && isStream ? .outputOfOthers(path) : .notARegularFile(path)
    }
    return descriptor
  }

  private func write(
    _ secret: borrowing SecretBytes, _ addsNewline: Bool, to descriptor: Int32
  ) throws(KeychainError) {
    do throws(Errno) {
      try Self.write(secret, addsNewline, to: FileDescriptor(rawValue: descriptor))
    } catch {
      throw .cannotWrite(path, errno: error.rawValue)
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
  /// Makes a file with the bytes, which only the user can read.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/alreadyExists`` or
  ///   ``KeychainError/Code/inputOutput``; no file is then left.
  borrowing func write(toNewFile path: String) throws(KeychainError) {
    do throws(FileError) {
      try PrivateFile.create(path) { descriptor throws(Errno) in try write(to: descriptor) }
    } catch {
      throw error.kind == .alreadyExists ? .keyFileExists(path) : .cannotWrite(path, error)
    }
  }
}

extension KeychainError {
  fileprivate static func cannotWrite(_ path: String, _ error: FileError) -> Self {
    .cannotWrite(path, errno: (error.systemError ?? .ioError).rawValue)
  }
}
