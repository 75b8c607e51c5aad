package import Foundation
package import KeychainCredentials
package import KeychainSecrets

/// Seals a key into a slot, and opens it.
package enum SlotSealing {
  package static let saltCount = 32

  /// Creates a slot that gives `granted` to whoever has the input key; `root` is for its mac.
  package static func seal(
    _ input: borrowing SlotInput, number: UInt32, grant: SlotGrant,
    granted: borrowing SecretBytes, root: borrowing SecretBytes
  ) throws(KeychainError) -> SlotRow {
    let header = SlotRow.header(
      kind: input.kind, grant: grant, parameters: input.parameters, salt: input.salt)
    let wrappingKey = try Derivation.key(input.key, "pk1/slot.kek", header)
    let row = SlotRow(
      number: number, kind: input.kind, grant: grant, parameters: input.parameters,
      salt: input.salt, commitment: try Derivation.tag(input.key, "pk1/slot.commit", header),
      box: try Sealing.seal(granted, with: wrappingKey))
    return try row.authenticated(by: root)
  }

  /// Seals the device slot, which grants the root key or T0.
  package static func sealDevice(
    _ input: borrowing SlotInput, number: UInt32, grant: SlotGrant, keys: TierKeys,
    root: borrowing SecretBytes
  ) throws(KeychainError) -> SlotRow {
    switch grant {
    case .root: try seal(input, number: number, grant: grant, granted: root, root: root)
    case .openTier:
      try seal(input, number: number, grant: grant, granted: keys.open.bytes, root: root)
    }
  }

  /// Opens a slot.
  ///
  /// - Returns: The granted key, or `nil` if the slot needs another input key.
  package static func open(
    _ slot: SlotRow, inputKey: borrowing SecretBytes
  ) throws(KeychainError) -> SecretBytes? {
    let header = slot.header
    let commitment = try Derivation.tag(inputKey, "pk1/slot.commit", header)
    guard ConstantTime.equal(commitment.bytes, slot.commitment.bytes) else { return nil }
    let wrappingKey = try Derivation.key(inputKey, "pk1/slot.kek", header)
    guard let granted = try Sealing.open(slot.box, with: wrappingKey), granted.count == 32 else {
      throw .damagedSlot(slot.number)
    }
    return granted
  }

  /// Returns the input key of a passphrase slot.
  package static func passphraseKey(
    _ passphrase: borrowing SecretBytes, salt: Data, parameters: PasswordHash.Parameters
  ) throws(KeychainError) -> SecretBytes {
    do throws(SecretsError) {
      return try PasswordHash.key(
        passphrase: passphrase, salt: Array(salt.prefix(PasswordHash.saltCount)),
        parameters: parameters)
    } catch {
      switch error.code {
      case .outOfMemory: throw .passwordHashMemory(parameters)
      case .refusedParameters, .invalidLength:
        throw KeychainError(.damaged, "a passphrase slot of the vault asks for an absurd cost")
      default: throw KeychainError(error)
      }
    }
  }
}
