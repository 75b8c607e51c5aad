package import FoundationEssentials
package import KeychainSecrets
internal import PrephirencesSystem

/// The secret of this machine; without it, its ThisDeviceOnly items cannot be opened.
package struct DeviceSecret: Sendable {
  package let secret: SharedSecret

  package init(_ secret: consuming SecretBytes) { self.secret = SharedSecret(secret) }

  package func inVault(_ vault: VaultID) throws(KeychainError) -> VaultDevice {
    let fields = FieldWriter.fields { $0.byteString(vault.bytes) }
    let id = try Derivation.tag(secret.bytes, "pk2/device.id", fields).prefix(16)
    return VaultDevice(secret: secret, id: id)
  }
}

/// This machine's id and key in one vault: its id differs in each vault.
package struct VaultDevice: Sendable {
  let secret: SharedSecret
  package let id: Data
}

/// A tier key as the kernel's keyring stores it, for later commands.
package struct CachedKey: ~Copyable {
  package static let count = 8 + HeadIdentity.bindingCount + 32

  /// The end of the key's validity, in nanoseconds since boot.
  package let limit: UInt64

  /// The binding of the vault when the key was cached.
  package let binding: Data

  private let payload: SecretBytes

  /// Reads a key from a payload; `nil` if the length is wrong.
  package init?(payload: consuming SecretBytes) {
    guard payload.count == Self.count else { return nil }
    (limit, binding) = payload.withBytes {
      ($0.littleEndian(at: 0, as: UInt64.self), Data(copying: $0.extracting(8..<40)))
    }
    self.payload = payload
  }

  /// Whether use does not extend the key's validity.
  package var isFixed: Bool { limit & 1 == 1 }

  package borrowing func key() throws(KeychainError) -> SecretBytes {
    try payload.copy(of: 40..<Self.count)
  }

  package static func payload(
    limit: UInt64, binding: Data, key: borrowing SecretBytes
  ) throws(KeychainError) -> SecretBytes {
    let fields = FieldWriter.fields {
      $0.integer(limit)
      $0.append(binding)
    }
    var payload = try SecretBuffer(capacity: count)
    try unsafe payload.append(fields.span.bytes)
    try payload.append(key)
    return try payload.finish()
  }

  /// Returns the name under which a key of a vault is stored.
  package static func name(_ tier: Tier, of vault: VaultID) -> String {
    "prefs:\(vault.bytes.hexadecimal):\(tier.rawValue)"
  }

  /// Returns the name of the key that holds the id of the vault unlocked at a place; `place` is the
  /// name of its seen record.
  package static func name(ofVaultAt place: String) -> String { "prefs:\(place):at" }
}
