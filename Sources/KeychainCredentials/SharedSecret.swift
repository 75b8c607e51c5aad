package import KeychainSecrets

/// A secret with several owners; it is wiped when the last owner releases it.
package final class SharedSecret: Sendable {
  package let bytes: SecretBytes

  package init(_ bytes: consuming SecretBytes) {
    self.bytes = bytes
  }

  package convenience init(copying bytes: borrowing SecretBytes) throws(KeychainError) {
    do throws(SecretsError) {
      self.init(try bytes.copy())
    } catch {
      throw KeychainError(error)
    }
  }

  package func copy() throws(KeychainError) -> SecretBytes {
    do throws(SecretsError) {
      return try bytes.copy()
    } catch {
      throw KeychainError(error)
    }
  }
}

extension KeychainError {
  /// Creates the error for a failure of memory or cryptography that only the machine can have
  /// caused.
  package init(_ error: SecretsError) {
    switch error.code {
    case .outOfMemory:
      self.init(.insufficientMemory, "there is not enough memory to hold a secret")
    case .inputOutput:
      self.init(
        .inputOutput, error.description, underlying: .system(errno: error.systemError))
    default:
      self.init(.internalFailure, error.description)
    }
  }
}
