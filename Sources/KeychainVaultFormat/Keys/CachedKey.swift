package import Foundation
package import KeychainSecrets

/// A tier key as it is stored in the kernel's keyring, for later commands.
package struct CachedKey: ~Copyable {
  package static let count = 8 + HeadIdentity.bindingCount + 32

  /// The time until which the key is valid, in nanoseconds since boot.
  package let limit: UInt64

  /// The binding of the vault when the key was cached.
  package let binding: Data

  private let payload: SecretBytes

  /// Creates a key from a payload; `nil` if the length is wrong.
  package init?(payload: consuming SecretBytes) {
    guard payload.count == Self.count else { return nil }
    (limit, binding) = payload.withBytes {
      ($0.littleEndian(at: 0, as: UInt64.self), Data(copying: $0.extracting(8..<40)))
    }
    self.payload = payload
  }

  /// Whether the key stays valid until its limit, used or not.
  package var isFixed: Bool { limit & 1 == 1 }

  /// Returns the key itself.
  package borrowing func key() throws(SecretsError) -> SecretBytes {
    try payload.copy(of: 40..<Self.count)
  }

  /// Returns the bytes to store for a key.
  package static func payload(
    limit: UInt64, binding: Data, key: borrowing SecretBytes
  ) throws(SecretsError) -> SecretBytes {
    let fields = FieldWriter.fields {
      $0.integer(limit)
      $0.append(binding)
    }
    var payload = try SecretBuffer()
    for byte in fields { try payload.append(byte) }
    try key.withBytes { bytes throws(SecretsError) in try payload.append(bytes) }
    return try payload.finish()
  }

  /// Returns the name under which a key of a vault is stored.
  package static func name(_ tier: Tier, of vault: VaultID) -> String {
    "prefs:\(vault.bytes.hexadecimal):\(tier.rawValue)"
  }
}
