internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles
internal import SystemPackage

/// The place of a backup that may replace an older one.
struct BackupPlace {
  /// The real path.
  let path: String

  private let target: TrustedPath
  private let limitsMemory: Bool
  private let deadline: Deadline

  /// Finds the place.
  ///
  /// Nothing is opened yet.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/refused`` if it is the vault itself, or
  ///   if it is not a file of its own.
  init(
    _ path: String, of vault: VaultFile.Opened, limitingMemory: Bool, _ deadline: Deadline
  ) throws(KeychainError) {
    try Self.refuseLink(path)
    target = try translated(TrustedPath(resolving: path))
    self.path = target.path
    limitsMemory = limitingMemory
    self.deadline = deadline
    guard !target.othersCanAddFiles else {
      // The older backup is opened, and SQLite trusts a journal next to it, whoever made it.
      throw KeychainError(
        .insecurePermissions,
        "other users can make files in \(target.folder), and SQLite would trust one that looks like a "
          + "journal of the older backup",
        recovery: "use a folder of your own; or make the backup under a new name")
    }
    let isBesideVault = SidecarFiles(vault.path).paths.contains(self.path)
    let found = try translated(PrivateFile.look(self.path))
    guard found?.identity != vault.identity, !isBesideVault else {
      throw KeychainError(
        .refused, "\(path) is the vault itself, or one of its files", recovery: "name another file")
    }
  }

  /// Rejects a link, which may lead to the vault, or away from the backups.
  private static func refuseLink(_ path: String) throws(KeychainError) {
    guard try translated(PrivateFile.look(path))?.type == .symbolicLink else { return }
    throw KeychainError(
      .refused, "\(path) is a symbolic link, and is not replaced", recovery: "name the real path")
  }

  /// Fails if there is a file at a path, or next to it, that would be taken for a part of a copy
  /// there.
  static func requireAbsent(_ path: String) throws(KeychainError) {
    if try translated(PrivateFile.look(path))?.type == .regular { throw .backupIsThere(path) }
    for path in [path] + SidecarFiles(path).paths {
      try translated(NewFile.requireAbsent(path))
    }
  }

  /// Fails if there is a file that is not a backup of the vault with this head.
  ///
  /// The file is not changed, except that an interrupted change of it is undone.
  func requireReplaceable(by head: HeadRow) throws(KeychainError) {
    guard try isTaken() else { return try Self.requireAbsent(path) }
    try whileNobodyWrites(head) { _ throws(KeychainError) in }
  }

  /// Puts a finished backup in the place, durably.
  func put(
    _ backup: borrowing UnfinishedBackup, _ head: HeadRow, over older: Data?
  ) throws(KeychainError) {
    if try isTaken() {
      try whileNobodyWrites(head) { rows throws(KeychainError) in
        guard try rows.stateBox() == older else { throw .backupWasChanged(path) }
        try backup.takeName(path)
      }
    } else {
      try Self.requireAbsent(path)
      try backup.takeName(path)
    }
  }

  /// Returns the sealed state of the older backup; `nil` if there is none.
  func olderState(_ head: HeadRow) throws(KeychainError) -> Data? {
    guard try isTaken() else { return nil }
    var box: Data?
    try whileNobodyWrites(head) { rows throws(KeychainError) in box = try rows.stateBox() }
    return box
  }

  /// Fails if a copy has changes that the vault lacks, because they may exist only there.
  ///
  /// If a copy was changed on its own before the last 1,000 changes of the vault, this is not
  /// detected.
  func requireOlder(
    _ older: Data?, than vault: ProvenVault, in rows: any VaultRows, under open: SharedSecret
  ) throws(KeychainError) {
    guard let older, try older != rows.stateBox() else { return }
    do throws(KeychainError) {
      let found = try ChainedState.open(older, under: open.bytes)
      let (counter, ours) = (found.state.counter, vault.state.counter)
      guard counter < ours else { throw .backupIsNotOlder(path, counter, vault: ours) }
      guard ours - counter < ChainEntry.length else { return }
      let chain = try StateChain(rows, from: counter, through: counter, under: open)
      guard try chain.entries.first?.digest() == found.digest else {
        throw .backupIsNotOlder(path, counter, vault: ours)
      }
    } catch {
      throw error.inPlaceOfBackup(path)
    }
  }

  /// Whether there is a file of the user that others cannot change.
  ///
  /// Others may be able to read it: on a memory stick every file has the same mode.
  private func isTaken() throws(KeychainError) -> Bool {
    guard let stat = try translated(PrivateFile.look(path)) else { return false }
    guard stat.type == .regular else {
      throw KeychainError(
        .refused, "\(path) is not a regular file, and is not replaced",
        recovery: "name another file")
    }
    try translated(
      PrivateFile.check(
        stat, path, ownerMayBeRoot: true, forbidden: SecretFileReaders.others.forbiddenBits))
    return true
  }

  /// Opens the older backup, and runs `body` while no other process changes it.
  ///
  /// A journal next to it that undoes an interrupted change is played back first and is then empty.
  /// Nobody can fill it before `body` has ended, so no journal is left that would be played back
  /// into the new backup.
  private func whileNobodyWrites(
    _ head: HeadRow, _ body: (any VaultRows) throws(KeychainError) -> Void
  ) throws(KeychainError) {
    do throws(KeychainError) {
      let storage = try SQLiteVaultStorage(
        path: path, ledger: ItemLedger(), limitingMemory: limitsMemory, isBackup: true, deadline)
      try storage.write(deadline, keepingIf: { _ in false }) { rows throws(KeychainError) in
        guard try rows.isInitialized() else { throw .emptyInPlaceOfBackup(path) }
        let found = try rows.headRow()
        guard found.checks == head.checks, found.binding == head.binding else {
          throw .backupOfAnother(path)
        }
        try body(rows)
      }
    } catch {
      throw error.inPlaceOfBackup(path)
    }
  }
}

extension KeychainError {
  fileprivate static func backupIsThere(_ path: String) -> Self {
    .fileExists(
      path,
      recovery: .nameNewFile + ", or replace an older backup of the same vault with "
        + "\(.replaceBackup)")
  }

  fileprivate static func emptyInPlaceOfBackup(_ path: String) -> Self {
    Self(.foreign, "the file has no vault in it: \(path)")
  }

  fileprivate static func backupOfAnother(_ path: String) -> Self {
    Self(
      .refused,
      "\(path) is another vault, or a backup from before this one got new keys, and is not replaced",
      recovery: .nameNewFileOrRemoveThis)
  }

  /// Returns the same error, about what is in the place of a backup.
  fileprivate static func backupIsNotOlder(
    _ path: String, _ found: UInt64, vault: UInt64
  ) -> Self {
    Self(
      .refused,
      "\(path) has changes that the vault lacks, and is not replaced: it is at change \(found), and the "
        + "vault at \(vault)",
      recovery:
        "look at it with \(.nameVault), and name a new file, or remove this one if it is not needed"
    )
  }

  fileprivate static func backupWasChanged(_ path: String) -> Self {
    Self(
      .versionConflict, "\(path) was changed meanwhile, and is not replaced", recovery: .tryAgain)
  }

  fileprivate func inPlaceOfBackup(_ path: String) -> Self {
    guard [.foreign, .damaged, .unsupportedFormat].contains(code) else { return self }
    return Self(
      code, "\(message); it is not replaced",
      recovery: .nameNewFileOrRemoveThis,
      underlying: underlying)
  }
}
