package import Foundation
package import KeychainSecrets

/// A tier key as it lies in the kernel's keyring, for later commands.
package struct CachedKey: ~Copyable {
  package static let count = 8 + VaultChecks.hashCount + 32

  /// Until when the key is valid, in nanoseconds since boot.
  package let limit: UInt64

  /// The hash of the checks that the vault had when the key was cached.
  package let checksHash: Data

  private let payload: SecretBytes

  /// A payload as it was read; `nil` if it has another length.
  package init?(payload: consuming SecretBytes) {
    guard payload.count == Self.count else { return nil }
    (limit, checksHash) = payload.withBytes {
      ($0.littleEndian(at: 0, as: UInt64.self), Data($0.extracting(8..<40).array))
    }
    self.payload = payload
  }

  /// Whether the key stays valid until its limit, used or not: the lowest bit of the limit says so.
  package var isFixed: Bool { limit & 1 == 1 }

  /// The key itself.
  package borrowing func key() throws(SecretsError) -> SecretBytes {
    try payload.withBytes { bytes throws(SecretsError) in
      try SecretBytes(copying: bytes.extracting(40..<Self.count))
    }
  }

  /// The bytes that are kept of a key.
  package static func payload(
    limit: UInt64, checksHash: Data, key: borrowing SecretBytes
  ) throws(SecretsError) -> SecretBytes {
    var payload = try SecretBuffer()
    for byte in FieldWriter.fields({ $0.integer(limit) }) { try payload.append(byte) }
    for byte in checksHash { try payload.append(byte) }
    try key.withBytes { bytes throws(SecretsError) in try payload.append(bytes) }
    return try payload.finish()
  }

  /// The name under which a key is found, by the check of tier T0.
  package static func name(_ tier: Tier, _ check: Data) -> String {
    "prefs:\(check.hexadecimal):\(tier.rawValue)"
  }
}
