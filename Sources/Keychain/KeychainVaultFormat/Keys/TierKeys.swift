package import FoundationEssentials
package import KeychainCredentials
package import KeychainSecrets
internal import PrephirencesSystem

/// The three tiers of keys below the root key.
package enum Tier: UInt8, CaseIterable, Sendable {
  /// Commits, the index and its pages, the list of members, and items that need no unlock.
  case open = 0

  /// Items that are readable from the first unlock after boot.
  case first = 1

  /// Items that are readable while the vault is unlocked.
  case unlocked = 2

  package init(_ requirement: Accessibility.UnlockRequirement) {
    switch requirement {
    case .nothing: self = .open
    case .unlockedSinceBoot: self = .first
    case .unlockedNow: self = .unlocked
    }
  }
}

extension Array {
  /// The element of a tier, if there are three in the order of the tiers.
  package subscript(tier: Tier) -> Element {
    get { self[Int(tier.rawValue)] }
    _modify { yield &self[Int(tier.rawValue)] }
  }
}

/// The available tier keys: always T0, and the others as far as the vault is unlocked.
package struct TierKeys: Sendable {
  package let binding: Data

  package let checks: [Data]
  package let open: SharedSecret
  package let first: SharedSecret?
  package let unlocked: SharedSecret?

  /// The key that signs commits of a shared vault; `nil` if only cached keys are available.
  package var signer: CommitSigner?

  /// Distinguishes copies of these keys from other keys, without comparing keys.
  package let identity = TierKeysIdentity()

  let derived = DerivedKeys()

  package func key(_ tier: Tier) -> SharedSecret? {
    switch tier {
    case .open: open
    case .first: first
    case .unlocked: unlocked
    }
  }

  /// The strictest requirement that is met.
  package var readable: Accessibility.UnlockRequirement {
    if unlocked != nil { return .unlockedNow }
    return first == nil ? .nothing : .unlockedSinceBoot
  }

  /// Whether the key of a requirement's tier is available in addition to T0.
  package func satisfies(_ requirement: Accessibility.UnlockRequirement) -> Bool {
    key(Tier(requirement)) != nil
  }

  /// Derives the keys of all tiers from a root key.
  package init(root: borrowing SecretBytes, of head: HeadIdentity) throws(KeychainError) {
    var keys: [SharedSecret] = []
    for tier in Tier.allCases {
      let fields = FieldWriter.fields {
        $0.byteString(head.id.bytes)
        $0.integer(head.epoch)
        $0.integer(tier.rawValue)
      }
      keys.append(SharedSecret(try Derivation.key(root, "pk3/tier", fields)))
    }
    try self.init(all: keys, binding: head.binding)
  }

  init(all keys: [SharedSecret], binding: Data) throws(KeychainError) {
    let checks = try keys.map { key throws(KeychainError) in try Self.check(of: key.bytes) }
    self.init(binding: binding, checks: checks, open: keys[0], first: keys[1], unlocked: keys[2])
  }

  package init(
    binding: Data, checks: [Data], open: SharedSecret, first: SharedSecret? = nil,
    unlocked: SharedSecret? = nil, signer: CommitSigner? = nil
  ) {
    self.binding = binding
    self.checks = checks
    self.open = open
    self.first = first
    self.unlocked = unlocked
    self.signer = signer
  }

  /// Returns the check of a tier key, which shows whether it belongs to a vault and epoch.
  static func check(of tierKey: borrowing SecretBytes) throws(KeychainError) -> Data {
    try Derivation.tag(tierKey, "pk3/check").prefix(16)
  }

  /// T0 alone: a verification checks everything with it, but opens only items that need no unlock.
  package var openTierOnly: TierKeys {
    TierKeys(binding: binding, checks: checks, open: open, signer: signer)
  }
}

/// An object that only copies of the same keys share; it contains no keys, so it may outlive them.
package final class TierKeysIdentity: Sendable {
  init() {}
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

extension TierKeys {
  /// Returns the key, below T0, of the kind of boxes with a label.
  package func boxKey(_ label: String) throws(KeychainError) -> SharedSecret {
    try derived.key(.box(label)) { () throws(KeychainError) in
      try Derivation.key(open.bytes, label)
    }
  }

  /// Returns the key of the metadata of a tier's items; `nil` without the tier's key.
  package func namesKey(_ tier: Tier) throws(KeychainError) -> SharedSecret? {
    guard let key = key(tier) else { return nil }
    return try derived.key(.names(tier)) { () throws(KeychainError) in
      try Derivation.key(key.bytes, "pk3/names")
    }
  }

  /// Returns the number that entries have for a service or server.
  func service(_ text: String) throws(KeychainError) -> UInt64 {
    if let last = derived.service.withLock({ $0 }), last.text.hasSameBytes(as: text) {
      return last.tag
    }
    let fields = FieldWriter.fields { $0.text(text) }
    let tag = try Derivation.tag(open.bytes, "pk3/service", fields)
      .bytes.littleEndian(at: 0, as: UInt64.self)
    derived.service.withLock { $0 = (text, tag) }
    return tag
  }

  /// Returns the proof of a tier, a mac of a digest; `nil` without the tier's key.
  package func proof(_ tier: Tier, of digest: Data) throws(KeychainError) -> Data? {
    guard let key = key(tier) else { return nil }
    return try Derivation.tag(key.bytes, "pk3/proof", Array(digest))
  }

  /// Whether a mac is the proof of a tier, whose key is available.
  package func hasProved(
    _ tier: Tier, _ digest: Data, by mac: Data?
  ) throws(KeychainError) -> Bool {
    guard let mac, let expected = try proof(tier, of: digest) else { return false }
    return ConstantTime.equal(mac.bytes, expected.bytes)
  }

  /// Returns the key of a class, bound to the device if the class is; `nil` without the tier's key.
  func classKey(
    _ accessibility: Accessibility, device: VaultDevice?
  ) throws(KeychainError) -> SharedSecret? {
    guard let tierKey = key(Tier(accessibility.unlockRequirement)) else { return nil }
    let device = accessibility.isThisDeviceOnly ? device : nil
    guard accessibility.isThisDeviceOnly == (device != nil) else {
      throw KeychainError(
        .internalFailure, "a device-bound class key was asked for without a device")
    }
    return try derived.key(.accessibility(accessibility, device: device?.id)) {
      () throws(KeychainError) in
      let key = try Derivation.key(tierKey.bytes, "pk3/class", [accessibility.rawValue])
      guard let device else { return key }
      return try Self.bind(key, to: device.secret.bytes)
    }
  }

  private static func bind(
    _ classKey: borrowing SecretBytes, to device: borrowing SecretBytes
  ) throws(KeychainError) -> SecretBytes {
    // Guarded, because the fields contain the device secret.
    var fields = try SecretBuffer(capacity: 64)
    let count = UInt32(device.count)
    try unsafe fields.append(FieldWriter.fields { $0.integer(count) }.span.bytes)
    try fields.append(device)
    return try fields.withBytes { fields throws(KeychainError) in
      try KeyDerivation.key(from: classKey, label: "pk3/class.device", fields: fields)
    }
  }
}
