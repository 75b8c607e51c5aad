internal import Glibc
internal import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesCommandLine
internal import PrephirencesSystem
internal import Synchronization

/// A passphrase from a file descriptor, which can be read once.
final class PassphraseDescriptor: Sendable {
  /// A longer passphrase is a mistake, such as a wrong descriptor.
  static let limit = 1 << 20

  private let descriptor: Int32
  private let name: String
  private let deadline: Deadline?
  private let read = Mutex<SharedSecret?>(nil)

  /// Names a descriptor that this process opened.
  ///
  /// - Parameters:
  ///   - descriptor: An open descriptor.
  ///   - name: The option that led to it.
  ///   - deadline: When the passphrase must be complete; `nil` to wait for it.
  init(_ descriptor: Int32, name: String, by deadline: Deadline?) {
    self.descriptor = descriptor
    self.name = name
    self.deadline = deadline
  }

  /// Names a descriptor that this process inherited.
  ///
  /// - Parameters:
  ///   - descriptor: Its number.
  ///   - option: The option with the number.
  ///   - deadline: When the passphrase must be complete; `nil` to wait for it.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/invalidArgument`` if it was not open.
  convenience init(
    inherited descriptor: Int32, option: String, by deadline: Deadline?
  ) throws(KeychainError) {
    guard StandardDescriptors.wasOpen(descriptor) else {
      throw .notOpen(descriptor, option: option)
    }
    self.init(descriptor, name: option, by: deadline)
  }

  /// Returns the passphrase: everything up to the end, without one newline at the end.
  func passphrase() throws(KeychainError) -> SecretBytes {
    try read.withLock { read throws(KeychainError) in
      if read == nil { read = SharedSecret(try readToEnd()) }
      guard let read else { throw .unreadable(name) }
      return try read.copy()
    }
  }

  private func readToEnd() throws(KeychainError) -> SecretBytes {
    // A terminal would show what is typed; the prompt hides it.
    guard isatty(descriptor) == 0 else { throw .terminalAsSource(name) }
    guard
      let secret = try SecretBytes.reading(
        descriptor, named: name, limit: Self.limit, by: deadline)
    else { throw .passphraseTooLong(name) }
    return try translated(secrets: secret.droppingTrailingNewline())
  }
}
