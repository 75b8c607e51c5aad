internal import Glibc
internal import KeychainCredentials
internal import KeychainSecrets

/// Writing secrets to files that only the user can read.
enum SecretFile {
  /// Writes a file in one step: whoever looks finds the old one, or all of the new one.
  ///
  /// - Parameters:
  ///   - path: Where; a regular file there is replaced, anything else is refused.
  ///   - write: Called with the descriptor, writes the contents.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/refused`` or
  ///   ``KeychainError/Code/inputOutput``; an old file is then as it was.
  static func replace(
    _ path: String, _ write: (Int32) throws(SecretsError) -> Void
  ) throws(KeychainError) {
    try checkReplaceable(path)
    let temporary = "\(path).\(UInt64.random(in: .min ... .max)).tmp"
    try create(temporary, named: path, write)
    guard rename(temporary, path) == 0 else {
      let code = errno
      unlink(temporary)
      throw .cannotWrite(path, errno: code)
    }
  }

  /// Makes a file that must not be there yet.
  ///
  /// - Parameters:
  ///   - path: Where.
  ///   - contents: What is written.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/alreadyExists`` or
  ///   ``KeychainError/Code/inputOutput``; no file is then left.
  static func create(_ path: String, contents: borrowing SecretBytes) throws(KeychainError) {
    try create(path, named: path) { descriptor throws(SecretsError) in
      try contents.write(toFileDescriptor: descriptor)
    }
  }

  private static func create(
    _ path: String, named name: String, _ write: (Int32) throws(SecretsError) -> Void
  ) throws(KeychainError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw errno == EEXIST ? .fileExists(name) : .cannotWrite(name, errno: errno)
    }
    var failure: Int32 = 0
    do throws(SecretsError) { try write(descriptor) } catch { failure = error.systemError }
    if failure == 0, fsync(descriptor) != 0 { failure = errno }
    if close(descriptor) != 0, failure == 0 { failure = errno }
    guard failure == 0 else {
      unlink(path)
      throw .cannotWrite(name, errno: failure)
    }
  }

  private static func checkReplaceable(_ path: String) throws(KeychainError) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notARegularFile(path) }
  }
}
