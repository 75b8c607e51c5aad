internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets

/// The two boxes of an item.
enum ItemPart: UInt8 {
  case metadata = 0
  case secret = 1
}

/// The key of one class and access group: it opens that group's items of that class.
struct GroupKey: ~Copyable {
  private let key: SecretBytes

  /// Derives the key.
  ///
  /// - Parameter device: The device secret, which ThisDeviceOnly classes need.
  init(
    tierKey: borrowing SecretBytes, accessibility: Accessibility, group: String,
    device: DeviceSecret?
  ) throws(KeychainError) {
    let classKey = try Derivation.key(tierKey, "pk1/class", [accessibility.rawValue])
    let groupFields = FieldWriter.fields { $0.text(group) }
    guard accessibility.isThisDeviceOnly else {
      key = try Derivation.key(classKey, "pk1/group", groupFields)
      return
    }
    guard let device else {
      throw KeychainError(
        .internalFailure, "a device-bound class key was asked for without a device")
    }
    let deviceClassKey = try Self.bind(classKey, to: device)
    key = try Derivation.key(deviceClassKey, "pk1/group", groupFields)
  }

  /// Derives the key of one box of one version of an item.
  borrowing func itemKey(
    _ part: ItemPart, id: Data, version: UInt64
  ) throws(KeychainError) -> SecretBytes {
    let fields = FieldWriter.fields {
      $0.integer(part.rawValue)
      $0.byteString(id)
      $0.integer(version)
    }
    return try Derivation.key(key, "pk1/item", fields)
  }

  /// The device secret is a field here; it is written into guarded memory only.
  private static func bind(
    _ classKey: borrowing SecretBytes, to device: DeviceSecret
  ) throws(KeychainError) -> SecretBytes {
    do throws(SecretsError) {
      var fields = try SecretBuffer()
      for byte in FieldWriter.fields({ $0.integer(UInt32(device.secret.bytes.count)) }) {
        try fields.append(byte)
      }
      try device.secret.bytes.withBytes { bytes throws(SecretsError) in try fields.append(bytes) }
      let secretFields = try fields.finish()
      return try secretFields.withBytes { fields throws(SecretsError) in
        try KeyDerivation.key(from: classKey, label: "pk1/class.device", fields: fields)
      }
    } catch {
      throw KeychainError(error)
    }
  }
}
