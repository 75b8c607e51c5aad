package import Foundation
package import KeychainCredentials
internal import KeychainSecrets
internal import Synchronization

/// Keys that were derived from tier keys, so that each is derived once.
///
/// They live in guarded memory, and no longer than the tier keys: whoever has those has these, too.
final class DerivedKeys: Sendable {
  /// What names a derived key among those of some tier keys.
  enum Name: Hashable {
    case box(String)
    case names(Tier)

    /// `device` is the id of the device to which the class is bound.
    case accessibility(Accessibility, device: Data?)
  }

  private let known = Mutex<[Name: SharedSecret]>([:])

  /// Returns a key; `derive` makes it the first time.
  func key(
    _ name: Name, _ derive: () throws(KeychainError) -> SecretBytes
  ) throws(KeychainError) -> SharedSecret {
    if let known = known.withLock({ $0[name] }) { return known }
    let derived = SharedSecret(try derive())
    known.withLock { $0[name] = derived }
    return derived
  }
}

/// The keys below T0 that open the boxes of a vault, one for each kind of box.
package struct BoxKeys: Sendable {
  /// The list of members.
  package let members: SharedSecret

  /// Commits.
  package let commit: SharedSecret

  /// The index of the base.
  package let index: SharedSecret

  /// The digests before the base.
  package let spine: SharedSecret

  /// Pages of the base.
  package let page: SharedSecret
}

extension TierKeys {
  /// The keys of boxes, which are derived once.
  package var boxKeys: BoxKeys {
    get throws(KeychainError) {
      BoxKeys(
        members: try boxKey("pk3/members"), commit: try boxKey("pk3/commit"),
        index: try boxKey("pk3/index"), spine: try boxKey("pk3/spine"),
        page: try boxKey("pk3/page"))
    }
  }

  func boxKey(_ label: String) throws(KeychainError) -> SharedSecret {
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
      try ClassKey.derive(from: tierKey.bytes, accessibility, device: device)
    }
  }
}
