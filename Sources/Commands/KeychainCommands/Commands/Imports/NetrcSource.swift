internal import Glibc
internal import KeychainCredentials
internal import KeychainHelpers
internal import KeychainSecrets
internal import PrephirencesCommandLine
internal import PrephirencesSystem
internal import SystemPackage

/// A netrc file on disk, as it was when it was read.
struct NetrcSource: ~Copyable {
  /// The path that was given.
  let path: String

  /// The contents.
  let text: SecretBytes

  /// The path of the file itself, which a link may have led to.
  private let file: String

  private let status: Stat

  /// Opens and reads the file.
  init(_ path: String) throws(KeychainError) {
    guard let resolved = realpath(path, nil) else { throw .cannotOpen(path, errno: errno) }
    defer { free(resolved) }
    let descriptor = open(resolved, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard descriptor >= 0 else { throw .cannotOpen(path, errno: errno) }
    defer { close(descriptor) }
    let status: Stat
    do { status = try Stat(FileDescriptor(rawValue: descriptor)) } catch {
      throw .cannotOpen(path, errno: EIO)
    }
    guard status.type == .regular else { throw .netrcIsNoFile(path) }
    let text = try SecretBytes.readingNetrc(descriptor, named: path, by: nil)
    self = Self(path: path, text: text, file: String(cString: resolved), status: status)
  }

  private init(path: String, text: consuming SecretBytes, file: String, status: Stat) {
    self.path = path
    self.text = text
    self.file = file
    self.status = status
  }

  /// Whether other users can read it.
  var isOpenToOthers: Bool { status.permissions.rawValue & 0o077 != 0 }

  /// Replaces the file by what is left of it, unless another program has changed it.
  ///
  /// - Parameter rest: The new text; if it is blank, the file is removed, but what a link leads to
  ///   stays, empty.
  /// - Returns: Whether the file was removed.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/refused`` if it belongs to another user or has
  ///   other names, ``KeychainError/Code/busy`` if it was changed, or
  ///   ``KeychainError/Code/inputOutput``. Then it is as it was.
  borrowing func replace(by rest: borrowing SecretBytes) throws(KeychainError) -> Bool {
    try requireReplaceable()
    try requireUnchanged()
    let isLink = try translated(try PrivateFile.look(path))?.type == .symbolicLink
    if rest.isBlank, !isLink {
      guard unlink(file) == 0 else { throw .cannotWrite(path, errno: errno) }
      return true
    }
    // It becomes as open as it was where the file system has no modes.
    let replacement = try translated(
      try FileReplacement(of: file, openTo: status.permissions.rawValue & PrivateFile.everybody))
    try translated(
      try replacement.write { descriptor throws(Errno) in try rest.write(to: descriptor) })
    try translated(try replacement.sync())
    // Again, because writing to the disk may take long.
    try requireUnchanged()
    do { try replacement.publishSynced() } catch { throw KeychainError(error) }
    return false
  }

  /// Checks that replacing the file would lose nothing.
  borrowing func requireReplaceable() throws(KeychainError) {
    guard status.userID.rawValue == geteuid() else { throw .netrcOfOther(path) }
    guard status.linkCount == 1 else { throw .netrcHasOtherNames(path) }
  }

  private borrowing func requireUnchanged() throws(KeychainError) {
    let now = try NetrcSource(path)
    guard now.status.identity == status.identity, now.text.isEqual(to: text) else {
      throw .netrcChanged(path)
    }
  }
}

extension SecretBytes {
  /// Reads the text of a netrc file to its end.
  static func readingNetrc(
    _ descriptor: Int32, named name: String, by deadline: Deadline?
  ) throws(KeychainError) -> SecretBytes {
    guard
      let text = try reading(
        descriptor, named: name, limit: NetrcFile.maximumCount, by: deadline)
    else { throw .netrcTooLarge(name) }
    return text
  }

  fileprivate var isBlank: Bool {
    withBytes { bytes in
      (0..<bytes.byteCount).allSatisfy { index in
        bytes.byte(at: index) == UInt8(ascii: " ") || (0x09...0x0D).contains(bytes.byte(at: index))
      }
    }
  }
}
