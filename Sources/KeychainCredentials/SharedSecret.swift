package import KeychainSecrets

/// A secret that several places hold; it is wiped when the last lets go.
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
  /// Translates a failure of memory or cryptography where it can only be one of the machine.
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
