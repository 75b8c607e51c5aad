internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import Synchronization

/// The device secret and the keys that its slot gives.
///
/// The handle reads both once and keeps them, because they are never locked.
final class DeviceKeys: Sendable {
  private struct Known {
    let checks: VaultChecks
    // A slot's grant changes with the other slots, under the same keys.
    let slots: [SlotRow]
    let keys: TierKeys
  }

  private let state: StateFolder
  private let opened = Mutex<Known?>(nil)

  init(_ state: StateFolder) { self.state = state }

  /// The path of the secret, if there is a place for it.
  var path: String? { state.pathOfSecret }

  /// Returns the secret; `nil` if this machine has none.
  func find() throws(KeychainError) -> DeviceSecret? { try state.findSecret() }

  /// Returns the secret, creating it if this machine has none.
  func findOrCreate() throws(KeychainError) -> DeviceSecret { try state.findOrCreateSecret() }

  /// Returns the keys that this device's slot gives without asking.
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

  /// Whether the keys that this device's slot last gave are all keys of a vault.
  func opensEverything(of checks: VaultChecks) -> Bool {
    opened.withLock { $0.map { $0.checks == checks && $0.keys.readable == .unlockedNow } ?? false }
  }

  /// Returns the root key, if this device's slot grants it.
  func root(_ head: VaultHead) throws(KeychainError) -> OpenedRoot? {
    guard let (slot, granted) = try grantedKey(head), slot.grant == .root else { return nil }
    return OpenedRoot(root: granted, slot: slot, presented: nil)
  }

  /// Returns the slot of this device.
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
    // Slots and checks were read together, so the slot is not merely outdated.
    if let stranger { throw .strangeSlot(stranger.number) }
    return nil
  }
}
