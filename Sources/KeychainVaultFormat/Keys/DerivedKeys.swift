internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import Synchronization

/// Keys that were derived from tier keys, so that each is derived once.
///
/// They live in guarded memory, and no longer than the tier keys: whoever has those has these, too.
final class DerivedKeys: Sendable {
  private struct Known {
    var stateKeys = [SharedSecret?](repeating: nil, count: StateKey.allCases.count)
    var groupKeys: [GroupKeyName: GroupKey] = [:]
  }

  private let known = Mutex(Known())

  /// More groups than a program uses by turns; the memory that may be locked is limited.
  private static let groupLimit = 64

  func stateKey(_ key: StateKey, from open: SharedSecret) throws(KeychainError) -> SharedSecret {
    if let known = known.withLock({ $0.stateKeys[key.rawValue] }) { return known }
    let derived = SharedSecret(try Derivation.key(open.bytes, key.label))
    known.withLock { $0.stateKeys[key.rawValue] = derived }
    return derived
  }

  /// Returns the key of a group; `derive` makes it the first time.
  func groupKey(
    _ name: GroupKeyName, _ derive: () throws(KeychainError) -> GroupKey
  ) throws(KeychainError) -> GroupKey {
    if let known = known.withLock({ $0.groupKeys[name] }) { return known }
    let derived = try derive()
    known.withLock { known in
      if known.groupKeys.count >= Self.groupLimit { known.groupKeys = [:] }
      known.groupKeys[name] = derived
    }
    return derived
  }
}

/// What names the key of a group among those of one vault.
struct GroupKeyName: Hashable {
  private let accessibility: Accessibility

  /// Compared as bytes: texts that look the same can be two groups.
  private let group: [UInt8]

  /// The device secret's id, if the class is bound to a device.
  private let device: Data?

  init(_ accessibility: Accessibility, _ group: String, device: VaultDevice?) {
    self.accessibility = accessibility
    self.group = Array(group.utf8)
    self.device = device?.id
  }
}
