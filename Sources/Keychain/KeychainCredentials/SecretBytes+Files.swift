package import KeychainSecrets
package import SystemPackage

extension SecretBytes {
  /// Writes the bytes to an open descriptor.
  package borrowing func write(to descriptor: FileDescriptor) throws(Errno) {
    do throws(SecretsError) {
      try write(toFileDescriptor: descriptor.rawValue)
    } catch {
      throw Errno(rawValue: error.systemError)
    }
  }
}
