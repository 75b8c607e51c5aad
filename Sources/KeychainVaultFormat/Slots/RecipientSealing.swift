internal import Foundation
package import KeychainCredentials
package import KeychainSecrets

/// Slots of recipients: the root key is sealed to a public key, so that recipients can get a new
/// root key without their private keys.
extension SlotSealing {
  /// Creates a slot that gives the root key to whoever has a recipient's private key.
  package static func seal(
    to recipient: VaultRecipient, number: UInt32, root: borrowing SecretBytes
  ) throws(KeychainError) -> SlotRow {
    let salt = try SlotInput.randomSalt()
    let header = SlotRow.header(
      kind: .recipient, grant: .root, parameters: recipient.publicKey, salt: salt)
    let row = SlotRow(
      number: number, kind: .recipient, grant: .root, parameters: recipient.publicKey, salt: salt,
      commitment: try Derivation.tag(root, "pk1/slot.commit", header),
      box: try box(root, to: recipient))
    return try row.authenticated(by: root)
  }

  /// Gives a new root key to the recipient of a slot, under the same number.
  ///
  /// The mac of the old slot must have been checked: whoever can write the file can put their own
  /// public key into a slot.
  package static func reseal(
    _ slot: SlotRow, root: borrowing SecretBytes
  ) throws(KeychainError) -> SlotRow {
    try seal(to: VaultRecipient(publicKey: slot.parameters), number: slot.number, root: root)
  }

  /// Opens the slot of a recipient.
  ///
  /// - Returns: The root key, or `nil` if the box does not open, or if its key is not the committed
  ///   one.
  package static func open(
    _ slot: SlotRow, privateKey: borrowing SecretBytes
  ) throws(KeychainError) -> SecretBytes? {
    guard let granted = try Self.granted(slot.box, privateKey),
      ConstantTime.equal(
        try Derivation.tag(granted, "pk1/slot.commit", slot.header).bytes, slot.commitment.bytes)
    else { return nil }
    return granted
  }

  private static func box(
    _ root: borrowing SecretBytes, to recipient: VaultRecipient
  ) throws(KeychainError) -> Data {
    do throws(SecretsError) {
      return Data(try SealedBox.seal(root, to: Array(recipient.publicKey)))
    } catch {
      guard error.code == .invalidLength else { throw KeychainError(error) }
      throw KeychainError(
        .invalidArgument, "nothing can be sealed to \(recipient)",
        recovery: "make an identity with \(.createIdentity)")
    }
  }

  private static func granted(
    _ box: Data, _ privateKey: borrowing SecretBytes
  ) throws(KeychainError) -> SecretBytes? {
    do throws(SecretsError) {
      return try SealedBox.open(box.bytes, with: privateKey)
    } catch {
      guard error.code == .authenticationFailed else { throw KeychainError(error) }
      return nil
    }
  }
}
