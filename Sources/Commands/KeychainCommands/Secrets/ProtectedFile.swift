internal import Glibc
internal import KeychainCredentials
internal import KeychainHelpers
internal import KeychainSecrets
internal import KeychainVault
internal import PrephirencesSystem

/// A file with a passphrase that other users cannot read.
struct ProtectedFile: ~Copyable {
  private let descriptor: Int32
  private let deadline: Deadline?

  /// Opens the file.
  ///
  /// A pipe is accepted too, because shells create one for `<(command)`.
  init(
    path: String, readers: SecretFileReaders = .owner, by deadline: Deadline?
  ) throws(KeychainError) {
    let opened = try WaitingFile.open(path, within: deadline?.left) {
      .cannotOpen(path, errno: $0)
    }
    do throws(KeychainError) {
      try Self.check(opened, path, readers)
    } catch {
      close(opened)
      throw error
    }
    (descriptor, self.deadline) = (opened, deadline)
  }

  private static func check(
    _ descriptor: Int32, _ path: String, _ readers: SecretFileReaders
  ) throws(KeychainError) {
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
    try PassphraseDescriptor(descriptor, name: name, by: deadline).passphrase()
  }

  deinit { close(descriptor) }
}
