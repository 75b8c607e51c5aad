package import Foundation
package import KeychainCredentials
internal import KeychainSecrets
internal import Synchronization

/// Keys that were derived from tier keys, so that each is derived once.
///
/// They live in guarded memory, and no longer than the tier keys: whoever has those has these, too.
package final class DerivedKeys: Sendable {
  fileprivate enum Name: Hashable {
    case box(String)
    case names(Tier)

    /// `device` is the id of the device to which the class is bound.
    case accessibility(Accessibility, device: Data?)
  }

  private let known = Mutex<[Name: SharedSecret]>([:])

  /// Returns a key; `derive` makes it the first time.
  fileprivate func key(
    _ name: Name, _ derive: () throws(KeychainError) -> SecretBytes
  ) throws(KeychainError) -> SharedSecret {
    if let known = known.withLock({ $0[name] }) { return known }
    let derived = SharedSecret(try derive())
    known.withLock { $0[name] = derived }
    return derived
  }
}

extension TierKeys {
  /// Returns the key of one kind of box below T0, by its label.
  package func boxKey(_ label: String) throws(KeychainError) -> SharedSecret {
    try derived.key(.box(label)) { () throws(KeychainError) in
      try Derivation.key(open.bytes, label)
    }
  }

  /// Returns the key of the metadata of a tier's items; `nil` if the tier's key is not at hand.
  package func namesKey(_ tier: Tier) throws(KeychainError) -> SharedSecret? {
    guard let key = key(tier) else { return nil }
    return try derived.key(.names(tier)) { () throws(KeychainError) in
      try Derivation.key(key.bytes, "pk3/names")
    }
  }

  /// Returns the proof of a tier, a mac of a digest; `nil` if the tier's key is not at hand.
  package func proof(_ tier: Tier, of digest: Data) throws(KeychainError) -> Data? {
    guard let key = key(tier) else { return nil }
    return try Derivation.tag(key.bytes, "pk3/proof", Array(digest))
  }

  /// Returns the key of a class, bound to the device if the class is; `nil` if the tier's key is not
  /// at hand.
  func classKey(
    _ accessibility: Accessibility, device: VaultDevice?
  ) throws(KeychainError) -> SharedSecret? {
    guard let tierKey = key(Tier(accessibility.unlockRequirement)) else { return nil }
    let device = accessibility.isThisDeviceOnly ? device : nil
    return try derived.key(.accessibility(accessibility, device: device?.id)) {
      () throws(KeychainError) in
      let key = try Derivation.key(tierKey.bytes, "pk3/class", [accessibility.rawValue])
      guard accessibility.isThisDeviceOnly else { return key }
      guard let device else {
        throw KeychainError(
          .internalFailure, "a device-bound class key was asked for without a device")
      }
      return try translated(secrets: Self.bind(key, to: device.secret.bytes))
    }
  }

  private static func bind(
    _ classKey: borrowing SecretBytes, to device: borrowing SecretBytes
  ) throws(SecretsError) -> SecretBytes {
    // Guarded, because the fields contain the device secret.
    var fields = try SecretBuffer(capacity: 64)
    let count = UInt32(device.count)
    for byte in FieldWriter.fields({ $0.integer(count) }) { try fields.append(byte) }
    try device.withBytes { bytes throws(SecretsError) in try fields.append(bytes) }
    return try fields.withBytes { fields throws(SecretsError) in
      try KeyDerivation.key(from: classKey, label: "pk3/class.device", fields: fields)
    }
  }
}
