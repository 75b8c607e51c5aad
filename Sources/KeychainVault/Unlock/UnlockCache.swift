internal import Glibc
package import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles
internal import SystemPackage

/// The tier keys of a vault in the kernel's user keyring, so that later commands find it unlocked.
struct UnlockCache: Sendable {
  let idleTime: Duration

  static let maximumTime: Duration = .seconds(12 * 3600)

  /// Returns a cached key; `nil` if it is missing, expired, or of an older epoch of the vault.
  func key(_ tier: Tier, of head: VaultHead) throws(KeychainError) -> SharedSecret? {
    guard let entry = Entry(tier, head.id), entry.cached.binding == head.binding,
      let key = try? entry.cached.key(), try head.owns(key, tier)
    else { return nil }
    return SharedSecret(key)
  }

  /// Extends the time of tier T2 by the idle time, up to its limit.
  func touch(_ vault: VaultID) {
    guard let entry = Entry(.unlocked, vault), !entry.cached.isFixed else { return }
    let remaining = min(idleTime, entry.untilLimit)
    KernelKeyring.setTimeout(entry.serial, seconds: Self.seconds(remaining))
  }

  /// Caches all tiers of a vault: for a `fixedTime`, used or not, or as long as the vault is used
  /// within each idle time, and never longer than the maximum.
  func put(_ keys: TierKeys, of vault: VaultID, fixedTime: Duration?) throws(KeychainError) {
    do throws(Errno) {
      try put(keys, .open, of: vault, limit: .max, timeout: nil)
      try put(keys, .first, of: vault, limit: .max, timeout: nil)
      let longest = min(fixedTime ?? Self.maximumTime, Self.maximumTime)
      let limit = BootClock.now + UInt64(max(0, longest.wholeNanoseconds))
      try put(
        keys, .unlocked, of: vault, limit: fixedTime == nil ? limit & ~1 : limit | 1,
        timeout: Self.seconds(min(fixedTime ?? idleTime, longest)))
    } catch {
      throw .noCache(error)
    }
  }

  /// Removes a cached tier of a vault, and returns whether it is gone, or was missing.
  @discardableResult
  func forget(_ tier: Tier, of vault: VaultID) -> Bool {
    guard let serial = KernelKeyring.find(CachedKey.name(tier, of: vault)) else { return true }
    return KernelKeyring.remove(serial)
  }

  /// Returns how long tier T2 stays cached if it is not used; `nil` if it is not cached.
  func remainingTime(of head: VaultHead) -> Duration? {
    guard let entry = Entry(.unlocked, head.id), entry.cached.binding == head.binding else {
      return nil
    }
    return min(KernelKeyring.remainingTime(entry.serial) ?? entry.untilLimit, entry.untilLimit)
  }

  private func put(
    _ keys: TierKeys, _ tier: Tier, of vault: VaultID, limit: UInt64, timeout: UInt32?
  ) throws(Errno) {
    guard let key = keys.key(tier) else { return }
    do {
      let payload = try CachedKey.payload(limit: limit, binding: keys.binding, key: key.bytes)
      try KernelKeyring.put(CachedKey.name(tier, of: vault), payload, timeout: timeout)
    } catch {
      throw error as? Errno ?? .noMemory
    }
  }

  private static func seconds(_ duration: Duration) -> UInt32 {
    // Rounded up, because 0 would mean no timeout.
    UInt32(clamping: max(1, (duration.wholeNanoseconds + 999_999_999) / 1_000_000_000))
  }
}

/// A cached key that is still valid.
private struct Entry: ~Copyable {
  let serial: Int32
  let untilLimit: Duration
  let cached: CachedKey

  init?(_ tier: Tier, _ vault: VaultID) {
    guard let serial = KernelKeyring.find(CachedKey.name(tier, of: vault)),
      let payload = KernelKeyring.read(serial, count: CachedKey.count),
      let cached = CachedKey(payload: payload)
    else { return nil }
    let now = BootClock.now
    guard cached.limit > now else { return nil }
    self.serial = serial
    untilLimit = .nanoseconds(Int64(clamping: cached.limit - now))
    self.cached = cached
  }
}

/// The clock that runs while the machine sleeps and starts again at boot.
enum BootClock {
  /// Nanoseconds since boot.
  static var now: UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_BOOTTIME, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

extension Duration {
  var wholeNanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }
}

extension KeychainError {
  static func noCache(_ error: Errno) -> Self {
    Self(
      .refused,
      "the vault cannot be kept unlocked here: the kernel's keyring says \(error.words)",
      recovery: reason(error) + .giveKeyEachTime,
      underlying: .system(errno: error.rawValue))
  }

  static let keyStays = KeychainError(
    .inputOutput, "the kernel does not remove a key of the vault from the user's keyring",
    recovery: "remove it with 'keyctl purge user', or restart the machine")

  /// The same error of a vault that cannot be read, after its keys were removed.
  package var afterForgettingKeys: Self {
    Self(
      code, "\(message); the keys of the vault were forgotten all the same", recovery: recovery,
      underlying: underlying)
  }

  static func unknownKeysMayStay(_ record: String) -> Self {
    Self(
      .damaged,
      "keys of the vault that was seen here may stay: its record \(record) cannot be read",
      recovery: "if another vault lies here, remove them with 'keyctl purge user'; otherwise run "
        + "\(.verify), which writes the record again")
  }

  private static func reason(_ error: Errno) -> Recovery {
    switch error.rawValue {
    // Filters of container engines return these for calls that they deny.
    case EPERM, ENOSYS:
      "containers deny it, unless their seccomp profile allows add_key and keyctl: "
    case EDQUOT: "the user's quota of keys is used up (see /proc/key-users): "
    default: ""
    }
  }
}
