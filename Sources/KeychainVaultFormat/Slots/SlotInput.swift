package import Foundation
package import KeychainCredentials
package import KeychainSecrets

/// The secret with which a new slot is opened, as far as its kind has one.
///
/// It is computed before the vault is locked for writing, because a password hash takes time.
package struct SlotInput: Sendable {
  package let kind: SlotKind
  package let parameters: Data
  package let salt: Data
  package let key: SharedSecret

  private init(
    _ kind: SlotKind, parameters: Data = Data(), salt: Data? = nil, key: consuming SecretBytes
  ) throws(KeychainError) {
    self.kind = kind
    self.parameters = parameters
    self.salt = if let salt { salt } else { try Self.randomSalt() }
    self.key = SharedSecret(key)
  }

  /// What was presented for a slot, which keeps its salt, and so the key that signs.
  package init(of slot: SlotRow, key: SharedSecret) {
    (kind, parameters, salt) = (slot.kind, slot.parameters, slot.salt)
    self.key = key
  }

  package static func passphrase(
    _ passphrase: borrowing SecretBytes, _ parameters: PasswordHash.Parameters
  ) throws(KeychainError) -> SlotInput {
    guard parameters.isSlotCost else {
      throw KeychainError(
        .invalidArgument, "a passphrase of a vault cannot have this cost",
        recovery: "choose 256 MiB and 3 passes, or 64 MiB and 2 passes")
    }
    let salt = try randomSalt()
    return try SlotInput(
      .passphrase, parameters: parameters.encoded, salt: salt,
      key: try SlotSealing.passphraseKey(passphrase, salt: salt, parameters: parameters))
  }

  package static func keyFile(_ contents: borrowing SecretBytes) throws(KeychainError) -> SlotInput
  {
    try SlotInput(.keyFile, key: try KeyFile.inputKey(contents))
  }

  package static func device(_ device: DeviceSecret) throws(KeychainError) -> SlotInput {
    try SlotInput(.device, key: try device.secret.copy())
  }

  package static func recoveryCode(bytes: borrowing SecretBytes) throws(KeychainError) -> SlotInput
  {
    try SlotInput(.recoveryCode, key: translated(secrets: bytes.copy()))
  }

  package static func randomSalt() throws(KeychainError) -> Data {
    try translating { () throws(SecretsError) in
      let salt = try SecretBytes.random(count: SlotSealing.saltCount)
      return Data(salt.withBytes { $0.array })
    }
  }
}
