internal import Glibc
internal import KeychainCredentials
internal import PrephirencesFiles
internal import SystemPackage

/// The file in which a backup is made that gets its name when it is done.
///
/// It has one name for each place, and its maker holds a lock on it: so two makers wait for each other, and what a
/// killed one left is used again.
struct UnfinishedBackup: ~Copyable {
  let path: String
  private let lock: FileLock

  /// Makes the file, or takes over one that is left.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/timedOut`` if another process makes a backup to the
  ///   same place for too long.
  init(of target: String, _ deadline: Deadline) throws(KeychainError) {
    path = target + ".unfinished-backup"
    lock = try Self.lock(path, deadline)
  }

  private static func lock(_ path: String, _ deadline: Deadline) throws(KeychainError) -> FileLock {
    while true {
      let lock = try translated(FileLock(exclusive: path, deadline: deadline))
      // Whoever held the lock before may have given the file another name meanwhile.
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

  /// Empties the file of what a killed process may have left.
  borrowing func prepare() throws(KeychainError) {
    for path in FilesBesideVault(path).paths { unsafe unlink(path) }
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

  /// Removes the file, if it has not got its name.
  borrowing func remove() {
    guard let stat = try? PrivateFile.look(path), let locked = try? Stat(lock.descriptor),
      stat.identity == locked.identity
    else { return }
    for path in [path] + FilesBesideVault(path).paths { unsafe unlink(path) }
  }
}

extension KeychainError {
  fileprivate static func backupIsMade(_ path: String) -> Self {
    Self(.timedOut, "other processes held \(path) for too long", recovery: .tryAgain)
  }
}
