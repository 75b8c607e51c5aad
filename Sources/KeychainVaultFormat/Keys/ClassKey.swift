internal import Foundation
package import KeychainCredentials
package import KeychainSecrets

/// The keys of the accessibility classes.
package enum ClassKey {
  /// Returns the key of a class, bound to the device if the class is.
  package static func derive(
    from tierKey: borrowing SecretBytes, _ accessibility: Accessibility, device: VaultDevice?
  ) throws(KeychainError) -> SecretBytes {
    let key = try Derivation.key(tierKey, "pk3/class", [accessibility.rawValue])
    guard accessibility.isThisDeviceOnly else { return key }
    guard let device else {
      throw KeychainError(
        .internalFailure, "a device-bound class key was asked for without a device")
    }
    return try bind(key, to: device)
  }

  /// Binds a key to a device.
  ///
  /// The fields contain the device secret, so they are in guarded memory.
  private static func bind(
    _ classKey: borrowing SecretBytes, to device: VaultDevice
  ) throws(KeychainError) -> SecretBytes {
    try translating { () throws(SecretsError) in
      var fields = try SecretBuffer(capacity: 64)
      for byte in FieldWriter.fields({ $0.integer(UInt32(device.secret.bytes.count)) }) {
        try fields.append(byte)
      }
      try device.secret.bytes.withBytes { bytes throws(SecretsError) in try fields.append(bytes) }
      let secretFields = try fields.finish()
      return try secretFields.withBytes { fields throws(SecretsError) in
        try KeyDerivation.key(from: classKey, label: "pk3/class.device", fields: fields)
      }
    }
  }
}
