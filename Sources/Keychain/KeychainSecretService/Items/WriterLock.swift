internal import FoundationEssentials
internal import Glibc
internal import KeychainCredentials
internal import PrephirencesSystem
internal import SystemPackage

/// A lock for all our writers, because no provider can change an item conditionally.
///
/// It is in the user's runtime folder, because the user's desktop has one keyring. The file stores
/// the last version, so that versions grow even if the clock goes backwards. Programs that do not
/// use the lock are not kept out.
struct WriterLock: ~Copyable {
  private let lock: FileLock

  /// Opens the lock file, and waits for the lock.
  init(environment: [String: String], _ deadline: Deadline) throws(KeychainError) {
    do throws(FileError) {
      let folder = try Self.folder(EnvironmentVariables(environment))
      try PrivateFile.makeFolder(folder)
      let path = try TrustedPath(resolving: folder).path + "/secret-service.lock"
      lock = try FileLock(exclusive: path, deadline: deadline)
    } catch {
      throw KeychainError(ofWriterLock: error)
    }
  }

  /// Returns a version that is greater than all before.
  borrowing func nextVersion() -> UInt64 {
    let descriptor = lock.descriptor.rawValue
    var last: UInt64 = 0
    let size = MemoryLayout<UInt64>.size
    if unsafe pread(descriptor, &last, size, 0) != size { last = 0 }
    let now = UInt64(clamping: Date().microseconds ?? 0)
    // We never write a version that is far ahead of the clock.
    var next = last < now + Self.farAhead ? max(now, last + 1) : now
    _ = unsafe pwrite(descriptor, &next, size, 0)
    return next
  }

  private static let farAhead: UInt64 = 366 * 86_400 * 1_000_000

  private static func folder(_ environment: EnvironmentVariables) throws(FileError) -> String {
    let folders = UserFolders("keychain", environment: environment)
    if let folder = try folders.runtime() { return folder }
    return try folders.state()
  }
}

extension KeychainError {
  fileprivate init(ofWriterLock error: FileError) {
    switch error.kind {
    case .timedOut:
      self.init(
        .busy, "another program kept writing to the desktop keyring for too long",
        recovery: .tryAgain)
    case .noPlace(let reason):
      self.init(
        .inputOutput, "there is no place for the lock of the desktop keyring: \(reason)",
        recovery: "set XDG_RUNTIME_DIR or HOME")
    default: self.init(error)
    }
  }
}
