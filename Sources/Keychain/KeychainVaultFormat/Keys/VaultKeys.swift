package import FoundationEssentials
package import KeychainCredentials
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

/// Keys derived from tier keys, each once; they live no longer than those.
final class DerivedKeys: Sendable {
  fileprivate enum Name: Hashable {
    case box(String)
    case names(Tier)

    /// `device` is the id of the device to which the class is bound.
    case accessibility(Accessibility, device: Data?)
  }

  private let known = PosixMutex<[Name: SharedSecret]>([:])

  /// The last identity: it is looked up, compared with the result, and written.
  private let identity = PosixMutex<(identity: CredentialIdentity, tag: Bytes32)?>(nil)

  /// The last service or server: most items have the same as the item before.
  fileprivate let service = PosixMutex<(text: String, tag: UInt64)?>(nil)

  /// Returns the tag of an identity; calls `derive` unless it is the last one.
  func tag(
    of identity: CredentialIdentity, _ derive: () throws(KeychainError) -> Bytes32
  ) throws(KeychainError) -> Bytes32 {
    if let last = self.identity.withLock({ $0 }), last.identity == identity { return last.tag }
    let tag = try derive()
    self.identity.withLock { $0 = (identity, tag) }
    return tag
  }

  /// Returns a key, which `derive` creates the first time.
  fileprivate func key(
    _ name: Name, _ derive: () throws(KeychainError) -> SecretBytes
  ) throws(KeychainError) -> SharedSecret {
    if let known = known.withLock({ $0[name] }) { return known }
    let derived = SharedSecret(try derive())
    known.withLock { $0[name] = derived }
    return derived
  }
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
