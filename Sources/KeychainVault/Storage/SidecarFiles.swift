internal import KeychainCredentials
internal import PrephirencesFiles
internal import SystemPackage

/// The files next to a database that SQLite opens and trusts.
///
/// SQLite plays a journal back into the database, and deletes the file that it names; see
/// ``SQLiteJournal``. It reads a write-ahead log instead of the database's own
/// pages, and blocks at a pipe. So these files must meet the same rules as the vault's file.
struct SidecarFiles: Sendable {
  private let journal: String
  private let writeAheadLog: String
  private let sharedMemory: String

  /// Who else may read them.
  private let readers: SecretFileReaders

  /// Names the files next to a database.
  ///
  /// Others may be able to read those of a backup.
  init(_ path: String, readers: SecretFileReaders = .owner) {
    self.readers = readers
    journal = path + "-journal"
    writeAheadLog = path + "-wal"
    sharedMemory = path + "-shm"
  }

  var paths: [String] { [journal, writeAheadLog, sharedMemory] }

  /// Checks the files as they are now.
  ///
  /// Each transaction does this first, because an open connection also trusts a file that appears
  /// later.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/insecurePermissions`` if one is not a
  ///   regular file of the user that is closed to others, or with ``KeychainError/Code/damaged`` if
  ///   SQLite would delete another file, or read a log.
  func check() throws(KeychainError) {
    if let found = try inspect(journal), found.size > 0 { try checkJournal() }
    if let found = try inspect(writeAheadLog), found.size > 0 {
      throw KeychainError(
        .damaged, "\(writeAheadLog) is a write-ahead log, which no vault has",
        recovery: "move it away, and run \(.verify)")
    }
    _ = try inspect(sharedMemory)
  }

  private func inspect(_ path: String) throws(KeychainError) -> Stat? {
    guard let stat = try translated(PrivateFile.look(path)) else { return nil }
    // SQLite would block at a pipe, and write into the file that a link leads to.
    guard stat.type == .regular else {
      throw KeychainError(
        .insecurePermissions, "\(path), which belongs to the vault, is not a regular file",
        recovery: "move it away, and run \(.verify)")
    }
    // SQLite would empty the file under its other name, too. A snapshot made of hard links gives a
    // second name to the empty journal of an idle vault.
    guard stat.linkCount == 1 || stat.size == 0 else {
      throw KeychainError(
        .insecurePermissions, "\(path), which belongs to the vault, has a second name",
        recovery:
          "if the vault was copied by hard links, its journal is needed: replace it with a copy "
          + "of itself with: cp -p '\(path)' '\(path).new' && mv '\(path).new' '\(path)'; "
          + "otherwise, move it away")
    }
    try translated(PrivateFile.check(stat, path, forbidden: readers.forbiddenBits))
    return stat
  }

  /// Rejects a journal that names a super-journal.
  private func checkJournal() throws(KeychainError) {
    let namesOther: Bool
    do throws(Errno) {
      namesOther = try SQLiteJournal.namesOtherFile(journal)
    } catch {
      throw .system(error, "read", journal)
    }
    guard namesOther else { return }
    throw KeychainError(
      .damaged,
      "\(journal) names another file, which would be deleted; no vault has such a journal",
      recovery: "move it away, and run \(.verify)")
  }
}
