internal import KeychainCredentials
internal import KeychainVaultFormat
internal import Synchronization

/// Keys that a handle itself was given.
///
/// They stay until it locks or its idle time ends.
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
      let now = BootClock.now
      guard now < min(current.limit, current.idleUntil) else {
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
