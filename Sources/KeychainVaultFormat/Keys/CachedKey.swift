internal import Foundation
package import KeychainSecrets

/// A tier key as it is stored in the kernel's keyring, for later commands.
package struct CachedKey: ~Copyable {
  package static let count = 8 + KeyBinding.count + 32

  /// The time until which the key is valid, in nanoseconds since boot.
  package let limit: UInt64

  /// The binding of the vault when the key was cached.
  package let binding: KeyBinding

  private let payload: SecretBytes

  /// Creates a key from a payload; `nil` if the length is wrong.
  package init?(payload: consuming SecretBytes) {
    guard payload.count == Self.count else { return nil }
    (limit, binding) = payload.withBytes {
      (
        $0.littleEndian(at: 0, as: UInt64.self),
        KeyBinding(bytes: Data($0.extracting(8..<40).array))
      )
    }
    self.payload = payload
  }

  /// Whether the key stays valid until its limit, used or not.
  ///
  /// The lowest bit of the limit is set then.
  package var isFixed: Bool { limit & 1 == 1 }

  /// Returns the key itself.
  package borrowing func key() throws(SecretsError) -> SecretBytes {
    try payload.withBytes { bytes throws(SecretsError) in
      try SecretBytes(copying: bytes.extracting(40..<Self.count))
    }
  }

  /// Returns the bytes to store for a key.
  package static func payload(
    limit: UInt64, binding: KeyBinding, key: borrowing SecretBytes
  ) throws(SecretsError) -> SecretBytes {
    var payload = try SecretBuffer()
    for byte in FieldWriter.fields({ $0.integer(limit) }) { try payload.append(byte) }
    for byte in binding.bytes { try payload.append(byte) }
    try key.withBytes { bytes throws(SecretsError) in try payload.append(bytes) }
    return try payload.finish()
  }

  /// Returns the name under which a key of a vault is stored.
  package static func name(_ tier: Tier, of vault: VaultID) -> String {
    "prefs:\(vault.bytes.hexadecimal):\(tier.rawValue)"
  }
}
