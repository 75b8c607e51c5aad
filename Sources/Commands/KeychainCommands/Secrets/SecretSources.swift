internal import Glibc
internal import KeychainCredentials
internal import KeychainHelpers
internal import KeychainSecrets
internal import KeychainVault
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// A passphrase from a file descriptor, which can be read once.
final class PassphraseDescriptor: Sendable {
  /// A longer passphrase is a mistake, such as a wrong descriptor.
  static let limit = 1 << 20

  private let descriptor: Int32
  private let name: String
  private let deadline: Deadline?
  private let read = PosixMutex<SharedSecret?>(nil)

  /// Names a descriptor that this process opened.
  init(_ descriptor: Int32, name: String, by deadline: Deadline?) {
    self.descriptor = descriptor
    self.name = name
    self.deadline = deadline
  }

  /// Names a descriptor that this process inherited.
  convenience init(
    inherited descriptor: Int32, option: String, by deadline: Deadline?
  ) throws(KeychainError) {
    guard StandardDescriptors.wasOpen(descriptor) else {
      throw .notOpen(descriptor, option: option)
    }
    self.init(descriptor, name: option, by: deadline)
  }

  /// Returns the passphrase: everything, without a final newline.
  func passphrase() throws(KeychainError) -> SecretBytes {
    try read.withLock { read throws(KeychainError) in
      if read == nil { read = SharedSecret(try readToEnd()) }
      guard let read else { throw .unreadable(name) }
      return try read.copy()
    }
  }

  private func readToEnd() throws(KeychainError) -> SecretBytes {
    // A terminal would show the typed text; the prompt hides it.
    guard isatty(descriptor) == 0 else { throw .terminalAsSource(name) }
    guard
      let secret = try SecretBytes.reading(descriptor, named: name, limit: Self.limit, by: deadline)
    else { throw .passphraseTooLong(name) }
    return try secret.droppingTrailingNewline()
  }
}

/// A file with a passphrase that other users cannot read.
struct ProtectedFile: ~Copyable {
  private let descriptor: Int32
  private let deadline: Deadline?

  /// Opens the file, or a pipe, which shells create for `<(command)`.
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

  /// Returns the passphrase in the file, without a final newline.
  borrowing func passphrase(named name: String) throws(KeychainError) -> SecretBytes {
    try PassphraseDescriptor(descriptor, name: name, by: deadline).passphrase()
  }

  deinit { close(descriptor) }
}

extension SecretBytes {
  /// Reads a descriptor to its end; a failure names the source.
  ///
  /// Returns `nil` if there is more than the limit.
  static func reading(
    _ descriptor: Int32, named source: String, limit: Int, by deadline: Deadline?
  ) throws(KeychainError) -> SecretBytes? {
    do throws(KeychainError) {
      return try reading(fileDescriptor: descriptor, limit: limit) {
        deadline?.awaitInput($0) ?? true
      }
    } catch {
      if deadline?.hasPassed == true, error.systemError == ETIMEDOUT { throw .endless(source) }
      guard let errno = error.systemError else { throw error }
      throw .cannotRead(source, errno: errno)
    }
  }
}
