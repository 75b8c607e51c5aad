internal import Glibc
internal import KeychainCredentials
internal import PrephirencesFiles
internal import SystemPackage

/// The file in which a backup is made until it gets its final name.
///
/// It has one name for each place, and its maker holds a lock on it. So two makers wait for each
/// other, and a file left by a killed process is used again.
struct UnfinishedBackup: ~Copyable {
  let path: String
  private let lock: FileLock

  /// Creates the file, or takes over a leftover one.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/timedOut`` if another process is making
  ///   a backup to the same place until the deadline.
  init(of target: String, _ deadline: Deadline) throws(KeychainError) {
    path = target + ".unfinished-backup"
    lock = try Self.lock(path, deadline)
  }

  private static func lock(_ path: String, _ deadline: Deadline) throws(KeychainError) -> FileLock {
    while true {
      let lock = try translated(FileLock(exclusive: path, deadline: deadline))
      // The previous holder of the lock may have renamed the file meanwhile.
      guard let stat = try translated(PrivateFile.look(path)),
        let locked = try? Stat(lock.descriptor), stat.identity == locked.identity
      else {
        guard !deadline.hasPassed else { throw .backupIsMade(path) }
        continue
      }
      guard stat.type == .regular, stat.linkCount == 1 else {
        throw KeychainError(
          .refused, "\(path), in which the backup is made, is not a regular file with one name",
          recovery: "move it away")
      }
      return lock
    }
  }

  /// Removes from the file what a killed process may have left.
  borrowing func prepare() throws(KeychainError) {
    for path in SidecarFiles(path).paths { unsafe unlink(path) }
    guard ftruncate(lock.descriptor.rawValue, 0) == 0 else {
      throw .system(.current, "write", path)
    }
  }

  borrowing func sync() throws(KeychainError) {
    guard fsync(lock.descriptor.rawValue) == 0 else { throw .system(.current, "write", path) }
  }

  /// Gives the file its name, durably.
  borrowing func takeName(_ name: String) throws(KeychainError) {
    try translated(PrivateFile.move(path, to: name))
  }

  /// Removes the file, unless it got its final name.
  borrowing func remove() {
    guard let stat = try? PrivateFile.look(path), let locked = try? Stat(lock.descriptor),
      stat.identity == locked.identity
    else { return }
    for path in [path] + SidecarFiles(path).paths { unsafe unlink(path) }
  }
}

extension KeychainError {
  fileprivate static func backupIsMade(_ path: String) -> Self {
    Self(.timedOut, "other processes held \(path) for too long", recovery: .tryAgain)
  }
}
