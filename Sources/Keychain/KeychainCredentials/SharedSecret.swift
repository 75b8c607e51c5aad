package import KeychainSecrets
package import SystemPackage

/// A secret with several owners; it is wiped when the last owner releases it.
package final class SharedSecret: Sendable {
  package let bytes: SecretBytes

  package init(_ bytes: consuming SecretBytes) { self.bytes = bytes }

  package convenience init(copying bytes: borrowing SecretBytes) throws(KeychainError) {
    self.init(try translated(secrets: bytes.copy()))
  }

  package func copy() throws(KeychainError) -> SecretBytes { try translated(secrets: bytes.copy()) }
}

extension SecretBytes {
  /// Writes the bytes to an open descriptor.
  package borrowing func write(to descriptor: FileDescriptor) throws(Errno) {
    do throws(SecretsError) {
      try write(toFileDescriptor: descriptor.rawValue)
    } catch { throw Errno(rawValue: error.systemError) }
  }
}
