package import Foundation
package import KeychainCredentials
internal import KeychainSecrets

/// What signs the commits of a shared vault: the key of a slot.
package struct CommitSigner: Sendable {
  /// The number of the slot.
  package let number: UInt32
  let seed: SharedSecret

  func sign(_ message: Data, label: String) throws(KeychainError) -> Data {
    try Signing.sign(Array(message), label: label, seed: seed.bytes)
  }

  package func publicKey() throws(KeychainError) -> Data {
    try translated(secrets: Data(copying: Signature.publicKey(of: seed.bytes)))
  }
}

/// The two key pairs of a slot: one opens its box, the other one signs.
package struct SlotKeys: Sendable {
  /// `X`: the public key to which new keys are sealed.
  package let boxKey: Data
  private let boxSecret: SharedSecret
  private let signingSeed: SharedSecret

  init(
    boxSecret: consuming SecretBytes, signingSeed: consuming SecretBytes
  ) throws(KeychainError) {
    boxKey = try translated(secrets: Data(copying: SealedBox.publicKey(of: boxSecret)))
    self.boxSecret = SharedSecret(boxSecret)
    self.signingSeed = SharedSecret(signingSeed)
  }

  /// `E`: the public key that checks signatures.
  package func signingKey() throws(KeychainError) -> Data { try signer(0).publicKey() }

  /// What signs in the name of the slot.
  package func signer(_ number: UInt32) -> CommitSigner {
    CommitSigner(number: number, seed: signingSeed)
  }

  /// Opens a sealed box; `nil` if it was sealed to another key or changed.
  func open(_ box: Data) throws(KeychainError) -> SecretBytes? {
    try unlessRefused(
      SealedBox.open(box.bytes, with: boxSecret.bytes, publicKey: Array(boxKey)))
  }
}
