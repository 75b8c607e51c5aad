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

<<<<<<< ours
/// The cost of new passphrase slots, and whether a hash can be computed now.
enum PasswordHashPolicy {
  /// The memory that a process needs in addition to the hash.
  private static let margin: UInt64 = 16 << 20

  /// Returns the cost of a new slot: moderate, or interactive if memory is short.
  static func parametersForNewSlot() throws(KeychainError) -> PasswordHash.Parameters {
    if fits(.moderate) { return .moderate }
    try requireMemory(for: .interactive)
    return .interactive
  }

  /// Checks that a hash fits into memory, so that the system does not end the process.
  static func requireMemory(for parameters: PasswordHash.Parameters) throws(KeychainError) {
    guard fits(parameters) else { throw .passwordHashMemory(parameters) }
  }

  private static func fits(_ parameters: PasswordHash.Parameters) -> Bool {
    AvailableMemory.bytes().map { $0 >= parameters.memory + margin } ?? true
  }
}

/// How much memory a process can still get: the system promises more than it has, and ends
/// processes that use it.
enum AvailableMemory {
  /// Bytes; `nil` if unknown.
  static func bytes() -> UInt64? {
    let machine = SystemText.field("MemAvailable:", in: "/proc/meminfo").map { $0 << 10 }
    return ([machine, addressSpace()] + ControlGroups().left()).compactMap(\.self).min()
  }

  private static func addressSpace() -> UInt64? {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0,
      limit.rlim_cur != .max, let used = SystemText.field("VmSize:", in: "/proc/self/status")
    else { return nil }
    return UInt64(limit.rlim_cur) - min(UInt64(limit.rlim_cur), used << 10)
  }
}

/// The memory that the control groups of a process leave to it; see cgroups(7).
struct ControlGroups {
  /// The groups, one hierarchy per line.
  var membership = SystemText.contents(of: "/proc/self/cgroup") ?? ""

  /// Where the hierarchies are mounted.
  var root = "/sys/fs/cgroup"

  var process = getpid()

  /// The bytes left in each group of the process and each above it; `nil` for one without a limit.
  func left() -> [UInt64?] {
    membership.split(separator: "\n").flatMap { line -> [UInt64?] in
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { return [] }
      let path = String(fields[2])
      if fields[1].isEmpty {
        return left(root, path, limit: "memory.max", used: "memory.current", "inactive_file")
      }
      guard fields[1].split(separator: ",").contains("memory") else { return [] }
      return left(
        root + "/memory", path, limit: "memory.limit_in_bytes", used: "memory.usage_in_bytes",
        "total_inactive_file")
    }
  }

  private func left(
    _ root: String, _ path: String, limit: String, used: String, _ reclaimable: String
  ) -> [UInt64?] {
    // In a container the path may name a group that is not visible; then the root is the
    // container's.
    let components = place(root, path).split(separator: "/")
    return (0...components.count).map { count in
      let folder = ([root] + components.prefix(count).map(String.init)).joined(separator: "/")
      guard let limit = SystemText.number(in: "\(folder)/\(limit)"),
        let used = SystemText.number(in: "\(folder)/\(used)")
      else { return nil }
      let reclaimable = SystemText.field(reclaimable, in: folder + "/memory.stat") ?? 0
      return limit - min(limit, used - min(used, reclaimable))
    }
  }

  /// If the path begins at a namespace, and the mount above it, as in bubblewrap, the group is who
  /// lists the process.
  private func place(_ root: String, _ path: String) -> String {
    guard !lists(root + path) else { return path }
    var waiting = [""]
    var looked = 0
    // A search of more groups would take too long.
    while looked < min(waiting.count, 5000) {
      let group = waiting[looked]
      if lists(root + group) { return group }
      waiting += Self.subfolders(of: root + group).map { group + "/" + $0 }
      looked += 1
    }
    return path
  }

  private func lists(_ folder: String) -> Bool {
    let processes = SystemText.contents(of: folder + "/cgroup.procs") ?? ""
    return processes.split(separator: "\n").contains { Int32($0) == process }
  }

  private static func subfolders(of path: String) -> [String] {
    guard let folder = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(folder) }
    var names: [String] = []
    while let entry = unsafe readdir(folder) {
      guard unsafe entry.pointee.d_type == UInt8(DT_DIR) else { continue }
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) {
        unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}

extension SystemText {
  /// Returns the first number after a name at the beginning of a line of a file.
  fileprivate static func field(_ name: String, in path: String) -> UInt64? {
    let lines = (contents(of: path) ?? "").split(separator: "\n")
    let fields = lines.lazy.map { $0.split(whereSeparator: { $0 == " " || $0 == "\t" }) }
    return fields.first { $0.count > 1 && $0[0] == name }.flatMap { UInt64($0[1]) }
  }
}

||||||| base
/// The cost of new passphrase slots, and whether a hash can be computed now.
enum PasswordHashPolicy {
  /// The memory that a process needs in addition to the hash.
  private static let margin: UInt64 = 16 << 20

  /// Returns the cost of a new slot: moderate, or interactive if memory is short.
  static func parametersForNewSlot() throws(KeychainError) -> PasswordHash.Parameters {
    if fits(.moderate) { return .moderate }
    try requireMemory(for: .interactive)
    return .interactive
  }

  /// Checks that a hash fits into memory, so that the system does not end the process.
  static func requireMemory(for parameters: PasswordHash.Parameters) throws(KeychainError) {
    guard fits(parameters) else { throw .passwordHashMemory(parameters) }
  }

  private static func fits(_ parameters: PasswordHash.Parameters) -> Bool {
    AvailableMemory.bytes().map { $0 >= parameters.memory + margin } ?? true
  }
}

/// How much memory a process can still get: the system promises more than it has, and ends
/// processes that use it.
enum AvailableMemory {
  /// Bytes; `nil` if unknown.
  static func bytes() -> UInt64? {
    let machine = SystemText.field("MemAvailable:", in: "/proc/meminfo").map { $0 << 10 }
    return ([machine, addressSpace()] + ControlGroups().left()).compactMap(\.self).min()
  }

  private static func addressSpace() -> UInt64? {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0,
      limit.rlim_cur != .max, let used = SystemText.field("VmSize:", in: "/proc/self/status")
    else { return nil }
    return UInt64(limit.rlim_cur) - min(UInt64(limit.rlim_cur), used << 10)
  }
}

/// The memory that the control groups of a process leave to it; see cgroups(7).
struct ControlGroups {
  /// The groups, one hierarchy per line.
  var membership = SystemText.contents(of: "/proc/self/cgroup") ?? ""

  /// Where the hierarchies are mounted.
  var root = "/sys/fs/cgroup"

  var process = getpid()

  /// The bytes left in each group of the process and each above it; `nil` for one without a limit.
  func left() -> [UInt64?] {
    membership.split(separator: "\n").flatMap { line -> [UInt64?] in
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { return [] }
      let path = String(fields[2])
      if fields[1].isEmpty {
        return left(root, path, limit: "memory.max", used: "memory.current", "inactive_file")
      }
      guard fields[1].split(separator: ",").contains("memory") else { return [] }
      return left(
        root + "/memory", path, limit: "memory.limit_in_bytes", used: "memory.usage_in_bytes",
        "total_inactive_file")
    }
  }

  private func left(
    _ root: String, _ path: String, limit: String, used: String, _ reclaimable: String
  ) -> [UInt64?] {
    // In a container the path may name a group that is not visible; then the root is the
    // container's.
    let components = place(root, path).split(separator: "/")
    return (0...components.count).map { count in
      let folder = ([root] + components.prefix(count).map(String.init)).joined(separator: "/")
      guard let limit = SystemText.number(in: "\(folder)/\(limit)"),
        let used = SystemText.number(in: "\(folder)/\(used)")
      else { return nil }
      let reclaimable = SystemText.field(reclaimable, in: folder + "/memory.stat") ?? 0
      return limit - min(limit, used - min(used, reclaimable))
    }
  }

  /// If the path begins at a namespace, and the mount above it, as in bubblewrap, the group is who
  /// lists the process.
  private func place(_ root: String, _ path: String) -> String {
    guard !lists(root + path) else { return path }
    var waiting = [""]
    var looked = 0
    // A search of more groups would take too long.
    while looked < min(waiting.count, 5000) {
      let group = waiting[looked]
      if lists(root + group) { return group }
      waiting += Self.subfolders(of: root + group).map { group + "/" + $0 }
      looked += 1
    }
    return path
  }

  private func lists(_ folder: String) -> Bool {
    let processes = SystemText.contents(of: folder + "/cgroup.procs") ?? ""
    return processes.split(separator: "\n").contains { Int32($0) == process }
  }

  private static func subfolders(of path: String) -> [String] {
    guard let folder = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(folder) }
    var names: [String] = []
    while let entry = unsafe readdir(folder) {
      guard unsafe entry.pointee.d_type == UInt8(DT_DIR) else { continue }
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) {
        unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}

extension SystemText {
  /// Returns the first number after a name at the beginning of a line of a file.
  fileprivate static func field(_ name: String, in path: String) -> UInt64? {
    let lines = (contents(of: path) ?? "").split(separator: "\n")
    let fields = lines.lazy.map { $0.split(whereSeparator: { $0 == " " || $0 == "\t" }) }
    return fields.first { $0.count > 1 && $0[0] == name }.flatMap { UInt64($0[1]) }
  }
}

=======
>>>>>>> theirs