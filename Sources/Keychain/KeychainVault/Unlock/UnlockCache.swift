internal import CPrephirencesSystem
internal import Glibc
package import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesSystem
internal import SystemPackage

/// The tier keys of a vault in the kernel's user keyring, so that later commands find it unlocked.
struct UnlockCache: Sendable {
  let idleTime: Duration

  static let maximumTime: Duration = .seconds(12 * 3600)

  /// Returns a cached key; `nil` if it is missing, expired, or of an older epoch of the vault.
  func key(_ tier: Tier, of head: VaultHead) throws(KeychainError) -> SharedSecret? {
    guard let entry = Entry(tier, head), let key = try? entry.cached.key(),
      try head.owns(key, tier)
    else { return nil }
    return SharedSecret(key)
  }

  /// Extends the time of tier T2 by the idle time, up to its limit.
  func touch(_ head: VaultHead) {
    guard let entry = Entry(.unlocked, head), !entry.cached.isFixed else { return }
    _ = ckernelkeys_set_timeout(entry.serial, Self.seconds(min(idleTime, entry.untilLimit)))
  }

  /// Caches all tiers of a vault: for a `fixedTime`, used or not, or as long as the vault is used
  /// within each idle time, and never longer than the maximum.
  func put(_ keys: TierKeys, of vault: VaultID, fixedTime: Duration?) throws(KeychainError) {
    let longest = min(fixedTime ?? Self.maximumTime, Self.maximumTime)
    let end = BootClock.now + UInt64(max(0, longest.wholeNanoseconds))
    do {
      for tier in Tier.allCases {
        guard let key = keys.key(tier) else { continue }
        var (limit, timeout) = (UInt64.max, UInt32?.none)
        if tier == .unlocked {
          limit = fixedTime == nil ? end & ~1 : end | 1
          timeout = Self.seconds(min(fixedTime ?? idleTime, longest))
        }
        let payload = try CachedKey.payload(limit: limit, binding: keys.binding, key: key.bytes)
        try KernelKeyring.put(CachedKey.name(tier, of: vault), payload, timeout: timeout)
      }
    } catch { throw .noCache(error as? Errno ?? .noMemory) }
  }

  /// Removes a cached tier of a vault, and returns whether it is gone, or was missing.
  @discardableResult
  func forget(_ tier: Tier, of vault: VaultID) -> Bool {
    guard let serial = KernelKeyring.find(CachedKey.name(tier, of: vault)) else { return true }
    return KernelKeyring.remove(serial)
  }

  /// Returns how long tier T2 stays cached if it is not used; `nil` if it is not cached.
  func remainingTime(of head: VaultHead) -> Duration? {
    guard let entry = Entry(.unlocked, head) else { return nil }
    return min(KernelKeyring.remainingTime(entry.serial) ?? entry.untilLimit, entry.untilLimit)
  }

  private static func seconds(_ duration: Duration) -> UInt32 {
    // Rounded up, because 0 would mean no timeout.
    UInt32(clamping: max(1, (duration + .nanoseconds(999_999_999)).components.seconds))
  }
}

/// A cached key of a head that is still valid.
private struct Entry: ~Copyable {
  let serial: Int32
  let untilLimit: Duration
  let cached: CachedKey

  init?(_ tier: Tier, _ head: VaultHead) {
    guard let serial = KernelKeyring.find(CachedKey.name(tier, of: head.id)),
      let payload = KernelKeyring.read(serial, count: CachedKey.count),
      let cached = CachedKey(payload: payload), cached.binding == head.binding
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
    let reason: Recovery =
      switch error.rawValue {
      // Filters of container engines return these for calls that they deny.
      case EPERM, ENOSYS:
        "containers deny it, unless their seccomp profile allows add_key and keyctl: "
      case EDQUOT: "the user's quota of keys is used up (see /proc/key-users): "
      default: ""
      }
    return Self(
      .refused,
      "the vault cannot be kept unlocked here: the kernel's keyring says \(error.words)",
      recovery: reason + .giveKeyEachTime,
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
}

/// The kernel's user keyring, see keyrings(7); a system that lacks or forbids it has no cache.
enum KernelKeyring {
  /// Possession gives nothing: a process that gave up root does not keep root's keys.
  private static let ownerOnly: UInt32 = 0x003F_0000

  /// Puts a key in place of one of its name, made in the thread's keyring: nobody finds it without its timeout.
  static func put(
    _ name: String, _ payload: borrowing SecretBytes, timeout: UInt32?
  ) throws(Errno) {
    let count = payload.count
    let key = try checked(
      payload.withBytes { bytes in
        unsafe bytes.withUnsafeBytes {
          unsafe ckernelkeys_add_to_thread_keyring(name, $0.baseAddress, count)
        }
      })
    defer { _ = ckernelkeys_unlink_from_thread_keyring(key) }
    if let timeout { _ = try checked(ckernelkeys_set_timeout(key, timeout)) }
    _ = try checked(ckernelkeys_set_permissions(key, ownerOnly))
    _ = try checked(ckernelkeys_link_to_user_keyring(key))
  }

  /// Finds a key; `nil` if no valid one exists.
  static func find(_ name: String) -> Int32? {
    let key = unsafe ckernelkeys_search_user_keyring(name)
    return key > 0 ? key : nil
  }

  /// Reads a key of a known length; `nil` if it cannot be read, or has another length.
  static func read(_ key: Int32, count: Int) -> SecretBytes? {
    var length: Int64 = -1
    let payload = try? SecretBytes(count: count) { bytes in
      unsafe bytes.withUnsafeMutableBytes {
        length = unsafe ckernelkeys_read(key, $0.baseAddress, count)
      }
    }
    return length == Int64(count) ? payload : nil
  }

  /// Revokes a key wherever it is linked, and returns whether it is revoked, or was gone already.
  @discardableResult
  static func remove(_ key: Int32) -> Bool {
    let result = ckernelkeys_revoke(key)
    _ = ckernelkeys_unlink_from_user_keyring(key)
    return result >= 0 || [ENOKEY, EKEYREVOKED, EKEYEXPIRED].contains(CInt(-result))
  }

  /// Returns why no keys can be stored, tested with one that expires at once; `nil` if they can.
  static func failure() -> Errno? {
    guard let payload = try? SecretBytes.random(count: 16) else { return .noMemory }
    let name = "prefs:probe:\(getpid()).\(UInt32.random(in: 0 ... .max))"
    do throws(Errno) {
      try put(name, payload, timeout: 1)
    } catch { return error }
    guard let key = find(name) else { return Errno(rawValue: ENOKEY) }
    defer { remove(key) }
    return read(key, count: 16) == nil ? Errno(rawValue: ENOKEY) : nil
  }

  /// Returns how long a key stays valid, as precisely as the kernel shows it; see proc_keys(5).
  static func remainingTime(_ key: Int32) -> Duration? {
    let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604_800]
    let lines = (SystemText.contents(of: "/proc/keys") ?? "").split(separator: "\n")
    let fields = lines.lazy.map { $0.split(separator: " ") }.first {
      $0.count > 3 && UInt32($0[0], radix: 16) == UInt32(bitPattern: key)
    }
    guard let time = fields?[3], let unit = time.last.flatMap({ units[$0] }),
      let number = Int(time.dropLast())
    else { return nil }
    return .seconds(number * unit)
  }

  private static func checked(_ result: Int32) throws(Errno) -> Int32 {
    guard result >= 0 else { throw Errno(rawValue: -result) }
    return result
  }
}
