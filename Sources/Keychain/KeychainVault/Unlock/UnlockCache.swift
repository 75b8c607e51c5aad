internal import CPrephirencesSystem
internal import FoundationEssentials
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
    guard let entry = Entry(tier, of: head.id, head.binding), let key = try? entry.cached.key(),
      try head.owns(key, tier)
    else { return nil }
    return SharedSecret(key)
  }

  /// Extends the time of tier T2 by the idle time, up to its limit.
  func touch(_ head: VaultHead) {
    guard let entry = Entry(.unlocked, of: head.id, head.binding), !entry.cached.isFixed else {
      return
    }
    _ = ckernelkeys_set_timeout(entry.serial, Self.seconds(min(idleTime, entry.untilLimit)))
  }

  /// Caches all tiers of a vault, never longer than the maximum: for a `fixedTime`, used or not, or
  /// as long as the vault is used within each idle time.
  ///
  /// The places have the names of their seen records.
  func put(
    _ keys: TierKeys, of vault: VaultID, at places: [String], fixedTime: Duration?
  ) throws(KeychainError) {
    let longest = min(fixedTime ?? Self.maximumTime, Self.maximumTime)
    let end = BootClock.now + UInt64(max(0, longest.wholeNanoseconds))
    var made: [Tier] = []
    do {
      for place in places {
        guard let before = try self.vault(unlockedAt: place), before != vault else { continue }
        // Locking the place would no longer find them.
        let gone = Tier.allCases.map { forget($0, of: before) }
        guard gone.allSatisfy(\.self) else { throw KeychainError.keyStays }
      }
      for place in places {
        try KernelKeyring.put(
          CachedKey.name(ofVaultAt: place), SecretBytes(copying: vault.bytes.bytes), timeout: nil)
      }
      for tier in Tier.allCases {
        guard let key = keys.key(tier) else { continue }
        var (limit, timeout) = (UInt64.max, UInt32?.none)
        if tier == .unlocked {
          limit = fixedTime == nil ? end & ~1 : end | 1
          timeout = Self.seconds(min(fixedTime ?? idleTime, longest))
        }
        let payload = try CachedKey.payload(limit: limit, binding: keys.binding, key: key.bytes)
        let name = CachedKey.name(tier, of: vault)
        let isNew = Entry(tier, of: vault, keys.binding) == nil
        try KernelKeyring.put(name, payload, timeout: timeout)
        if isNew { made.append(tier) }
      }
    } catch {
      // A failed call must not unlock anything.
      for tier in made { forget(tier, of: vault) }
      throw error as? KeychainError ?? .noCache(error as? Errno ?? .noMemory)
    }
  }

  /// Removes a cached tier of a vault; `true` if it is gone, or was missing.
  @discardableResult
  func forget(_ tier: Tier, of vault: VaultID) -> Bool {
    do throws(Errno) {
      return try KernelKeyring.search(CachedKey.name(tier, of: vault)).map(KernelKeyring.remove)
        ?? true
    } catch { return false }
  }

  /// Returns the vault whose keys were cached last at a place, even if its file and record are
  /// gone.
  ///
  /// - Throws: The kernel's error if the vault is unknown.
  func vault(unlockedAt place: String) throws(Errno) -> VaultID? {
    guard let serial = try KernelKeyring.search(CachedKey.name(ofVaultAt: place)),
      let id = try KernelKeyring.read(serial, count: VaultID.count)
    else { return nil }
    return VaultID(bytes: Data(copying: id.withBytes { $0.array }))
  }

  /// Forgets which vault was unlocked at a place, once it has no key left.
  func forget(place: String) {
    if let serial = KernelKeyring.find(CachedKey.name(ofVaultAt: place)) {
      KernelKeyring.remove(serial)
    }
  }

  /// Returns how long tier T2 stays cached if it is not used; `nil` if it is not cached.
  func remainingTime(of head: VaultHead) -> Duration? {
    guard let entry = Entry(.unlocked, of: head.id, head.binding) else { return nil }
    return min(KernelKeyring.remainingTime(entry.serial) ?? entry.untilLimit, entry.untilLimit)
  }

  private static func seconds(_ duration: Duration) -> UInt32 {
    // Rounded up, because 0 would mean no timeout.
    UInt32(clamping: max(1, (duration + .nanoseconds(999_999_999)).components.seconds))
  }
}

/// A cached key that is still valid for a binding.
private struct Entry: ~Copyable {
  let serial: Int32
  let untilLimit: Duration
  let cached: CachedKey

  init?(_ tier: Tier, of vault: VaultID, _ binding: Data) {
    guard let serial = KernelKeyring.find(CachedKey.name(tier, of: vault)),
      let payload = try? KernelKeyring.read(serial, count: CachedKey.count),
      let cached = CachedKey(payload: payload), cached.binding == binding
    else { return nil }
    let now = BootClock.now
    guard cached.limit > now else { return nil }
    self.serial = serial
    untilLimit = .nanoseconds(Int64(clamping: cached.limit - now))
    self.cached = cached
  }
}

/// The clock that runs while the machine sleeps and restarts at boot.
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
      // Filters of container engines return these for denied calls.
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

/// The user keyring of the kernel, see keyrings(7); a system that lacks or forbids it has no cache.
enum KernelKeyring {
  /// Possession grants nothing: a process that gave up root does not keep root's keys.
  private static let ownerOnly: UInt32 = 0x003F_0000

  /// Replaces a key of the same name; the new one is made in the thread's keyring, so that nobody
  /// finds it without its timeout.
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

  /// Finds a key; `nil` if no valid one is known.
  static func find(_ name: String) -> Int32? { try? search(name) }

  /// Finds a key; `nil` if no valid one exists, or there can be none here.
  ///
  /// - Throws: The kernel's error if there may be one.
  static func search(_ name: String) throws(Errno) -> Int32? {
    let key = unsafe ckernelkeys_search_user_keyring(name)
    // No keyring here, or none of the user's, and no room to make it.
    let isNone = [ENOSYS, EPERM, EDQUOT].contains(-key)
    return isGone(Int64(key)) || isNone ? nil : try checked(key)
  }

  /// Reads a key of a known length; `nil` if it is gone, or has another length.
  ///
  /// - Throws: The kernel's error if it cannot be read.
  static func read(_ key: Int32, count: Int) throws(Errno) -> SecretBytes? {
    var length: Int64 = 0
    let payload = try? SecretBytes(count: count) { bytes in
      unsafe bytes.withUnsafeMutableBytes {
        length = unsafe ckernelkeys_read(key, $0.baseAddress, count)
      }
    }
    guard let payload else { throw .noMemory }
    guard length >= 0 || isGone(length) else { throw Errno(rawValue: Int32(clamping: -length)) }
    guard length == Int64(count) else { return nil }
    return payload
  }

  /// Whether a result says that a key is no longer valid, or was never there.
  private static func isGone(_ result: Int64) -> Bool {
    [ENOKEY, EKEYREVOKED, EKEYEXPIRED].contains(Int32(clamping: -result))
  }

  /// Revokes a key wherever it is linked; `true` if it is revoked, or was gone already.
  @discardableResult
  static func remove(_ key: Int32) -> Bool {
    let result = ckernelkeys_revoke(key)
    _ = ckernelkeys_unlink_from_user_keyring(key)
    return result >= 0 || isGone(Int64(result))
  }

  /// Returns why no keys can be stored, tested with one that expires soon; `nil` if they can.
  static func failure() -> Errno? {
    guard let payload = try? SecretBytes.random(count: 16) else { return .noMemory }
    let name = "prefs:probe:\(getpid()).\(UInt32.random(in: 0 ... .max))"
    do throws(Errno) {
      // It is removed below. The kernel counts whole seconds, so a timeout of one may end at once.
      try put(name, payload, timeout: 60)
    } catch { return error }
    guard let key = find(name) else { return Errno(rawValue: ENOKEY) }
    defer { remove(key) }
    do throws(Errno) {
      return try read(key, count: 16) == nil ? Errno(rawValue: ENOKEY) : nil
    } catch { return error }
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
