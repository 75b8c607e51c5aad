package import Foundation
package import KeychainCredentials
package import KeychainSecrets

/// The two key pairs of a slot: one opens its box, the other one signs.
///
/// They depend on the slot and on what opens it, and neither on the epoch nor on the granted keys. So
/// whoever has the list of members can give a slot new keys without the secret that opens it.
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

  /// Derives the keys of a slot that is opened by an input key.
  ///
  /// The key that opens its box is bound to the fields of the slot's header; the key that signs, to
  /// those of them that never change, so that a recovery code keeps it.
  package init(
    inputKey: borrowing SecretBytes, header: [UInt8], signing: [UInt8]
  ) throws(KeychainError) {
    try self.init(
      boxSecret: try Derivation.key(inputKey, "pk3/slot.box", header),
      signingSeed: try Derivation.key(inputKey, "pk3/slot.sign", signing))
  }

  /// `E`: the public key that checks signatures.
  package func signingKey() throws(KeychainError) -> Data {
    try translated(secrets: Data(copying: Signature.publicKey(of: signingSeed.bytes)))
  }

  /// What signs in the name of the slot.
  package func signer(_ number: UInt32) -> CommitSigner {
    CommitSigner(number: number, seed: signingSeed)
  }

  /// Opens a sealed box; `nil` if it was sealed to another key or changed.
  func open(_ box: Data) throws(KeychainError) -> SecretBytes? {
    do throws(SecretsError) {
      return try SealedBox.open(box.bytes, with: boxSecret.bytes, publicKey: Array(boxKey))
    } catch {
      guard error.code == .authenticationFailed else { throw KeychainError(error) }
      return nil
    }
  }
}
