internal import Foundation
internal import Glibc
internal import KeychainCredentials

/// A lock that all our writers hold, since no provider changes an item only if it is still the same.
///
/// It lies in the runtime folder of the user, whose desktop has one keyring. The file keeps the last
/// version that was given out, so that versions grow whatever the clock does. Programs that do not know
/// the lock are not kept out.
struct WriterLock: ~Copyable {
  private let descriptor: CInt

  /// Opens the lock and waits for it.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/busy``, or with
  ///   ``KeychainError/Code/inputOutput`` if there is no place for it.
  init(environment: [String: String], _ deadline: Deadline) throws(KeychainError) {
    let path = try Self.path(environment)
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw Self.failure("open", path) }
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      guard !deadline.hasPassed else {
        close(descriptor)
        throw KeychainError(
          .busy, "another program kept writing to the desktop keyring for too long",
          recovery: .tryAgain)
      }
      usleep(.random(in: 300...3000))
    }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// A version that is greater than every one before.
  borrowing func nextVersion() -> UInt64 {
    var last: UInt64 = 0
    let size = MemoryLayout<UInt64>.size
    if unsafe pread(descriptor, &last, size, 0) != size { last = 0 }
    let now = UInt64(clamping: Date().microseconds ?? 0)
    // What lies far ahead of the clock was not written by us.
    var next = last < now + Self.farAhead ? max(now, last + 1) : now
    _ = unsafe pwrite(descriptor, &next, size, 0)
    return next
  }

  private static let farAhead: UInt64 = 366 * 86_400 * 1_000_000

  private static func path(_ environment: [String: String]) throws(KeychainError) -> String {
    let folder: String
    if let runtime = environment["XDG_RUNTIME_DIR"], runtime.hasPrefix("/") {
      folder = runtime + "/keychain"
    } else if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") {
      folder = state + "/keychain"
    } else {
      folder = NSHomeDirectory() + "/.local/state/keychain"
    }
    try? FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return folder + "/secret-service.lock"
  }

  private static func failure(_ action: String, _ path: String) -> KeychainError {
    let code = errno
    let reason = unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
    return KeychainError(
      .inputOutput, "cannot \(action) \(path): \(reason)", underlying: .system(errno: code))
  }
}
