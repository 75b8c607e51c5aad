package import Foundation
package import KeychainCredentials
package import KeychainSecrets

/// The two boxes of an item.
package enum ItemPart: UInt8 {
  case metadata = 0
  case secret = 1
}

/// The keys of the accessibility classes.
package enum ClassKey {
  /// Returns the key of a class, bound to the device if the class is.
  package static func derive(
    from tierKey: borrowing SecretBytes, _ accessibility: Accessibility, device: VaultDevice?
  ) throws(KeychainError) -> SecretBytes {
    let key = try unbound(from: tierKey, accessibility)
    guard accessibility.isThisDeviceOnly else { return key }
    guard let device else {
      throw KeychainError(
        .internalFailure, "a device-bound class key was asked for without a device")
    }
    return try bind(key, to: device)
  }

  /// Returns the key of a class before it is bound to a device.
  package static func unbound(
    from tierKey: borrowing SecretBytes, _ accessibility: Accessibility
  ) throws(KeychainError) -> SecretBytes {
    try Derivation.key(tierKey, "pk2/class", [accessibility.rawValue])
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
        try KeyDerivation.key(from: classKey, label: "pk2/class.device", fields: fields)
      }
    }
  }
}

/// The key of one class and access group, which opens the group's items of that class.
package struct GroupKey: Sendable {
  package let key: SharedSecret

  package init(_ key: consuming SecretBytes) {
    self.key = SharedSecret(key)
  }

  package init(classKey: borrowing SecretBytes, group: String) throws(KeychainError) {
    self.init(try Derivation.key(classKey, "pk2/group", FieldWriter.fields { $0.text(group) }))
  }

  /// Derives the key of one box of one version of an item.
  package func itemKey(
    _ part: ItemPart, id: Data, version: UInt64
  ) throws(KeychainError) -> SecretBytes {
    let fields = FieldWriter.fields {
      $0.integer(part.rawValue)
      $0.byteString(id)
      $0.integer(version)
    }
    return try Derivation.key(key.bytes, "pk2/item", fields)
  }
}
