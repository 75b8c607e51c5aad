internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import Synchronization

/// The device secret, and what its slot opens; read once and kept by the handle, since neither is
/// ever locked.
final class DeviceKeys: Sendable {
  private struct Known {
    let checks: VaultChecks
    // What a slot grants changes with the other slots, under the same keys.
    let slots: [SlotRow]
    let keys: TierKeys
  }

  private let state: StateFolder
  private let opened = Mutex<Known?>(nil)

  init(_ state: StateFolder) { self.state = state }

  /// The path of the secret, if there is a place for it.
  var path: String? { state.pathOfSecret }

  /// The secret; `nil` if this machine has none.
  func find() throws(KeychainError) -> DeviceSecret? { try state.findSecret() }

  /// The secret; it is made if this machine has none.
  func findOrCreate() throws(KeychainError) -> DeviceSecret { try state.findOrCreateSecret() }

  /// The keys that this device's slot gives without anybody being asked.
  func keys(_ head: VaultHead) throws(KeychainError) -> TierKeys? {
    let (checks, slots) = (head.row.checks, head.slots(.device))
    if let known = opened.withLock({ $0 }), known.checks == checks, known.slots == slots {
      return known.keys
    }
    guard let (slot, granted) = try grantedKey(head) else { return nil }
    let keys =
      slot.grant == .root
      ? try TierKeys(root: granted.bytes)
      : TierKeys(checks: checks, open: granted, first: nil, unlocked: nil)
    opened.withLock { $0 = Known(checks: checks, slots: slots, keys: keys) }
    return keys
  }

  /// Whether the keys that this device's slot gave last are all of a vault's.
  func opensEverything(of checks: VaultChecks) -> Bool {
    opened.withLock { $0.map { $0.checks == checks && $0.keys.readable == .unlockedNow } ?? false }
  }

  /// The root key, if this device's slot grants it.
  func root(_ head: VaultHead) throws(KeychainError) -> OpenedRoot? {
    guard let (slot, granted) = try grantedKey(head), slot.grant == .root else { return nil }
    return OpenedRoot(root: granted, slot: slot, presented: nil)
  }

  /// The slot of this device.
  func slot(_ head: VaultHead) throws(KeychainError) -> SlotRow? {
    try grantedKey(head)?.slot
  }

  private func grantedKey(
    _ head: VaultHead
  ) throws(KeychainError) -> (slot: SlotRow, granted: SharedSecret)? {
    let slots = head.slots(.device)
    guard !slots.isEmpty, let device = try find() else { return nil }
    var stranger: SlotRow?
    for slot in slots {
      guard let granted = try SlotSealing.open(slot, inputKey: device.secret.bytes) else {
        continue
      }
      if try head.row.owns(granted, slot.grant) {
        return (slot, SharedSecret(granted))
      }
      stranger = slot
    }
    // Slots and checks are of one moment, so this is no slot that has become old meanwhile.
    if let stranger { throw .strangeSlot(stranger.number) }
    return nil
  }
}
