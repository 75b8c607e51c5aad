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
    let head: VaultHead
    let slot: SlotRow
    let keys: TierKeys
  }

  private let state: StateFolder
  private let trust: SlotTrust
  private let opened = Mutex<Known?>(nil)

  init(_ state: StateFolder, _ trust: SlotTrust) {
    self.state = state
    self.trust = trust
  }

  /// The path of the secret, if there is a place for it.
  var path: String? { state.pathOfSecret }

  /// Returns the secret; `nil` if this machine has none.
  func find() throws(KeychainError) -> DeviceSecret? { try state.findSecret() }

  /// Returns the secret, creating it if this machine has none.
  func findOrCreate() throws(KeychainError) -> DeviceSecret { try state.findOrCreateSecret() }

  /// Returns the keys that this device's slot gives without asking.
  func keys(_ head: VaultHead) throws(KeychainError) -> TierKeys? { try known(head)?.keys }

  /// Whether the keys that this device's slot last gave are all keys of a vault.
  func opensEverything(of head: VaultHead) -> Bool {
    opened.withLock { $0.map { head.owns($0.keys) && $0.keys.readable == .unlockedNow } ?? false }
  }

  /// Returns the slot of this device with the root key, if it administers.
  func administrator(_ head: VaultHead) throws(KeychainError) -> SlotOpener? {
    guard let opened = try open(head), opened.root != nil else { return nil }
    return SlotOpener(opened, presented: nil)
  }

  /// Returns the slot of this device.
  func slot(_ head: VaultHead) throws(KeychainError) -> SlotRow? { try known(head)?.slot }

  private func known(_ head: VaultHead) throws(KeychainError) -> Known? {
    if let known = opened.withLock({ $0 }), known.head == head { return known }
    guard let found = try open(head) else { return nil }
    let known = Known(head: head, slot: found.slot, keys: found.keys)
    opened.withLock { $0 = known }
    return known
  }

  private func open(_ head: VaultHead) throws(KeychainError) -> OpenedSlot? {
    let slots = head.slots(of: .device)
    guard !slots.isEmpty, let device = try find() else { return nil }
    var trial = SlotTrial()
    for slot in slots {
      let opened = try trial.open(slot, of: head, trust, inputKey: device.secret) {
        () throws(KeychainError) in
        try SlotSealing.open(slot, inputKey: device.secret.bytes, vault: head.id)
      }
      if let opened { return opened }
    }
    // Slots and head were read together, so the slot is not merely outdated.
    if let failure = trial.failure { throw failure }
    return nil
  }
}

/// Tries slots one after the other: a slot that is not the vault's must not hide the others.
struct SlotTrial {
  /// Why a slot that fits the secret opens nothing; `nil` if no slot fits it.
  private(set) var failure: KeychainError?

  /// Returns what a slot yields; `nil` if it needs another secret or opens nothing of the vault.
  mutating func open(
    _ slot: SlotRow, of head: VaultHead, _ trust: SlotTrust, inputKey: SharedSecret? = nil,
    _ unseal: () throws(KeychainError) -> SlotSealing.Opened?
  ) throws(KeychainError) -> OpenedSlot? {
    do throws(KeychainError) {
      guard let unsealed = try unseal() else { return nil }
      if let opened = try trust.opened(slot, unsealed, of: head, inputKey: inputKey) {
        return opened
      }
      failure = .strangeSlot(slot.number)
    } catch {
      guard error.code == .damaged else { throw error }
      failure = error
    }
    return nil
  }
}
