package import Foundation
package import KeychainCredentials
package import KeychainSecrets

/// What the items of one transaction share if there are many.
///
/// Each use of guarded memory costs several system calls, which is more than sealing a small item.
package final class SealingBatch {
  private var scratch: SecretBuffer

  /// Longer texts are padded in their own memory, so that the batch does not keep as much.
  private static let scratchLimit = 1 << 20

  package init() throws(KeychainError) {
    scratch = try translated(secrets: SecretBuffer())
  }

  package func sealPadded(
    _ message: borrowing SecretBytes, with key: borrowing SecretBytes
  ) throws(KeychainError) -> Data {
    guard message.count <= Self.scratchLimit else {
      return try Sealing.sealPadded(message, with: key)
    }
    return try translating { () throws(SecretsError) in
      try scratch.replaceAll(byPadding: message)
      return Data(try SecretBox.seal(scratch, with: key))
    }
  }
}
