package import Foundation
package import KeychainCredentials
package import KeychainSecrets

/// Signatures with the errors of this module.
package enum Signing {
  package static func sign(
    _ message: [UInt8], label: String, seed: borrowing SecretBytes
  ) throws(KeychainError) -> Data {
    try translated(
      secrets: Data(copying: unsafe Signature.sign(message.span.bytes, label: label, seed: seed)))
  }

  package static func isRight(
    _ signature: Data, of message: [UInt8], label: String, publicKey: Data
  ) -> Bool {
    unsafe Signature.isRight(
      Array(signature), of: message.span.bytes, label: label, publicKey: Array(publicKey))
  }
}

/// What signs the commits of a shared vault: the key of a slot.
package struct CommitSigner: Sendable {
  /// The number of the slot.
  package let number: UInt32
  let seed: SharedSecret

  package init(number: UInt32, seed: SharedSecret) {
    self.number = number
    self.seed = seed
  }

  func sign(_ message: Data, label: String) throws(KeychainError) -> Data {
    try Signing.sign(Array(message), label: label, seed: seed.bytes)
  }

  package func publicKey() throws(KeychainError) -> Data {
    try translated(secrets: Data(copying: Signature.publicKey(of: seed.bytes)))
  }
}
