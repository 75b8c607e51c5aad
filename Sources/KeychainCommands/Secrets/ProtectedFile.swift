internal import Glibc
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault

/// A file with a passphrase that other users cannot read.
struct ProtectedFile: ~Copyable {
  private let descriptor: Int32

  /// Opens the file.
  ///
  /// A pipe is accepted too, because shells create one for `<(command)`.
  init(path: String, readers: SecretFileReaders = .owner) throws(KeychainError) {
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { throw .cannotOpen(path, errno: errno) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .cannotOpen(path, errno: errno) }
    let isRegular = status.st_mode & S_IFMT == S_IFREG
    let isOurs = status.st_uid == geteuid() || status.st_uid == 0
    guard !isRegular || (isOurs && status.st_mode & readers.forbiddenBits == 0) else {
      throw .openToOthers(path)
    }
  }

  /// Returns the passphrase in the file, without one newline at the end.
  borrowing func passphrase(named name: String) throws(KeychainError) -> SecretBytes {
    try PassphraseDescriptor(descriptor, name: name).passphrase()
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }
}
