internal import KeychainCredentials
internal import KeychainVaultFormat
internal import Synchronization

/// The keys that the slot of this device gives, read once and kept, because they are never locked.
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

  /// The keys that this device's slot gives without asking.
  func keys(_ head: VaultHead) throws(KeychainError) -> TierKeys? { try known(head)?.keys }

  /// Whether the keys that this device's slot last gave are all keys of a vault.
  func opensEverything(of head: VaultHead) -> Bool {
    opened.withLock { $0.map { head.owns($0.keys) && $0.keys.readable == .unlockedNow } ?? false }
  }

  /// Returns the slot of this device with the root key, if it administers.
  func administrator(_ head: VaultHead) throws(KeychainError) -> OpenedSlot? {
    try open(head).flatMap { $0.root == nil ? nil : $0 }
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
    guard !slots.isEmpty, let device = try state.findSecret() else { return nil }
    return try trust.open(slots, of: head, inputKey: { _ in device.secret })
  }
}

/// Keys that a handle itself was given, until it locks or its idle time ends.
final class HeldKeys: Sendable {
  private struct Held {
    let keys: TierKeys
    let limit: UInt64
    var idleUntil: UInt64
  }

  private let idleTime: UInt64
  private let held = Mutex<Held?>(nil)

  init(idleTime: Duration) {
    self.idleTime = UInt64(max(0, idleTime.wholeNanoseconds))
  }

  func hold(_ keys: TierKeys) {
    let now = BootClock.now
    let limit = now + UInt64(UnlockCache.maximumTime.wholeNanoseconds)
    let new = Held(keys: keys, limit: limit, idleUntil: now + idleTime)
    held.withLock { $0 = new }
  }

  /// Returns the keys, if they belong to the vault as it is now and have not expired.
  func keys(for head: VaultHead) -> TierKeys? {
    held.withLock { held in
      guard let current = held else { return nil }
      guard BootClock.now < min(current.limit, current.idleUntil) else {
        held = nil
        return nil
      }
      return head.owns(current.keys) ? current.keys : nil
    }
  }

  func touch() {
    held.withLock { $0?.idleUntil = BootClock.now + idleTime }
  }

  func forget() { held.withLock { $0 = nil } }
}

/// Unlocking that operations of a vault postpone, and the keys that it gave.
///
/// The keys are also kept here, because a vault may keep none itself: its idle time can be zero.
final class PostponedUnlocking: Sendable {
  let question: PostponedQuestion
  private let held = HeldKeys(idleTime: UnlockCache.maximumTime)

  init(_ question: PostponedQuestion) { self.question = question }

  /// Returns the keys of the last answer, if they are enough.
  func keys(_ requirement: Accessibility.UnlockRequirement, _ head: VaultHead) -> TierKeys? {
    held.keys(for: head).flatMap { $0.satisfies(requirement) ? $0 : nil }
  }

  func postpone(
    _ unlock: @escaping @Sendable () throws(KeychainError) -> TierKeys
  ) -> KeychainError {
    question.postpone { [held] () throws(KeychainError) in held.hold(try unlock()) }
  }
}
