internal import CKernelKeys
internal import Glibc
internal import KeychainSecrets
internal import PrephirencesFiles
internal import SystemPackage

/// The kernel's user keyring, whose keys live until they expire or the machine stops.
///
/// See keyrings(7). Failures are soft: a system that lacks or forbids the service has no cache.
enum KernelKeyring {
  /// The owner may do everything, and possession gives nothing: a process that gave up root does
  /// not keep root's keys, and a service with its own session keyring can still read the user's.
  private static let ownerOnly: UInt32 = 0x003F_0000

  /// Puts a key into the user keyring, replacing one of the same name.
  ///
  /// The key is created in the thread's keyring and linked when it is complete, so that nobody
  /// finds it without its timeout; updating a key in place would clear the timeout.
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

  static func setTimeout(_ key: Int32, seconds: UInt32) {
    _ = ckernelkeys_set_timeout(key, seconds)
  }

  /// Revokes a key wherever it is linked, and unlinks it from the user keyring.
  ///
  /// - Returns: Whether it is revoked, or was gone already.
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
    } catch {
      return error
    }
    guard let key = find(name) else { return Errno(rawValue: ENOKEY) }
    defer { remove(key) }
    return read(key, count: 16) == nil ? Errno(rawValue: ENOKEY) : nil
  }

  /// Returns how long a key stays valid, as precisely as the kernel shows it; see proc_keys(5).
  static func remainingTime(_ key: Int32) -> Duration? {
    let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604_800]
    for line in (SystemText.contents(of: "/proc/keys") ?? "").split(separator: "\n") {
      let fields = line.split(separator: " ")
      guard fields.count > 3, UInt32(fields[0], radix: 16) == UInt32(bitPattern: key) else {
        continue
      }
      guard let unit = fields[3].last.flatMap({ units[$0] }), let number = Int(fields[3].dropLast())
      else { return nil }
      return .seconds(number * unit)
    }
    return nil
  }

  private static func checked(_ result: Int32) throws(Errno) -> Int32 {
    guard result >= 0 else { throw Errno(rawValue: -result) }
    return result
  }
}
