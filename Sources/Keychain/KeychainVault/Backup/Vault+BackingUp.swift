internal import FoundationEssentials
public import KeychainCredentials
internal import KeychainSecrets
public import KeychainVaultFormat
internal import PrephirencesSystem
internal import SystemPackage

extension Vault {
  /// Copies the vault, as it is at one moment, into a file.
  ///
  /// The copy is read again and verified, as far as the available keys open it, before it gets its
  /// name. Meanwhile others can read and change the vault.
  ///
  /// With `replacing`, the new backup replaces an older one at `path` in one step: a reader finds
  /// the complete older or new one, even after a power loss. The copy is written to a file with the
  /// added extension `.new`. Two such calls for one file wait for each other. Only a backup with
  /// the same keys is replaced, so not one from before the vault got new keys. A copy with changes
  /// of its own is not replaced, nor one that is too old to be compared with the vault.
  ///
  /// - Parameters:
  ///   - path: The path of the copy, which gets mode 0600.
  ///   - replacing: Whether to replace an older backup of the same vault. If `false`, or if there
  ///     is none, the file must not exist.
  ///   - progress: Called from time to time with the progress of the verification.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/alreadyExists`` if the file exists,
  ///   ``KeychainError/Code/damaged`` if the vault is not intact, or
  ///   ``KeychainError/Code/inputOutput``. A partial copy is removed.
  ///   ``KeychainError/Code/refused`` if `path` is the vault itself, or, with `replacing`, a backup
  ///   of another vault or with changes of its own, a link, or not a regular file;
  ///   ``KeychainError/Code/foreign`` or ``KeychainError/Code/damaged`` if the file there is not an
  ///   intact vault; ``KeychainError/Code/busy`` if another backup to this file takes longer than
  ///   the deadline.
  @discardableResult
  public func backup(
    to path: String, replacing: Bool = false, progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> BackupReport {
    let session = try existingSession()
    let place = try BackupPlace(path, of: session, replacing: replacing)
    return try place.fill(readers: secretFileReaders()) { file, older throws(KeychainError) in
      try session.read(.nothing) { contents, sealing throws(KeychainError) in
        if let older { try place.requireOlder(older, than: contents, sealing.keys) }
        return .done(try copy(contents, sealing, to: file, place.path, progress))
      }
    }
  }

  /// Copies the vault to an open descriptor, such as a pipe, as ``backup(to:replacing:progress:)``
  /// does to a file.
  ///
  /// Nothing is written before the copy is verified. The descriptor stays open.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/damaged`` if the vault is not intact, or
  ///   ``KeychainError/Code/inputOutput``.
  @discardableResult
  public func backup(
    toFileDescriptor descriptor: Int32, progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> BackupReport {
    let session = try existingSession()
    let spool = try newSpool()
    let name = "a temporary file"
    let file: LinuxFile
    do {
      file = LinuxFile(try spool.descriptor.duplicate())
    } catch { throw .system(error as? Errno ?? .ioError, "open", name) }
    let report = try session.read(.nothing) { contents, sealing throws(KeychainError) in
      .done(try copy(contents, sealing, to: file, name, progress))
    }
    try translated(spool.copy(to: FileDescriptor(rawValue: descriptor)))
    return report
  }

  /// Copies verified contents into a file, and reads them again.
  private func copy(
    _ contents: VaultContents, _ sealing: ItemSealing, to file: any DiskFile, _ path: String,
    _ progress: ((VaultProgress) -> Void)?
  ) throws(KeychainError) -> BackupReport {
    let copy = try contents.copy(to: file, path: path, sealing.keys)
    let verified = try VaultVerification(contents: copy, sealing: sealing, progress: progress).run()
    try verified.requireIntact()
    let slots = try describe(copy.head, copy.list)
    let counts = try copy.itemCounts(sealing.keys).known
    return BackupReport(
      itemCount: verified.itemCount,
      deviceItemCount: counts.filter { $0.key.isThisDeviceOnly }.values.reduce(0, +),
      slots: slots,
      needsThisDevice: !slots.contains { $0.grant.opensEverything && $0.kind != .device })
  }
}

/// The contents of a backup.
public struct BackupReport: Hashable, Sendable {
  /// The number of items.
  public var itemCount: Int

  /// The number of items that open only with the device secret of this machine or another one.
  public var deviceItemCount: Int

  /// The slots that open it.
  public var slots: [VaultSlot]

  /// Whether only this machine's device secret opens it.
  public var needsThisDevice: Bool
}

/// The place of a backup that may replace an older one.
private struct BackupPlace {
  /// The real path.
  let path: String

  private let session: VaultSession
  private let isReplacing: Bool

  private let found: Stat?

  /// Finds the place, but opens nothing.
  init(_ path: String, of session: VaultSession, replacing: Bool) throws(KeychainError) {
    self.session = session
    isReplacing = replacing
    let target = try translated(TrustedPath(resolving: path))
    self.path = target.path
    // A link may lead to the vault, or away from the backups.
    if replacing, try translated(PrivateFile.look(path))?.type == .symbolicLink {
      throw KeychainError(
        .refused, "\(path) is a symbolic link, and is not replaced", recovery: "name the real path")
    }
    found = try translated(PrivateFile.look(target.path))
    guard found?.identity != session.opened.status.identity,
      target.path != UnfinishedVault.name(for: session.path)
    else {
      throw KeychainError(
        .refused, "\(path) is the vault itself, or one of its files", recovery: "name another file")
    }
    guard let found else { return }
    guard found.type == .regular else {
      guard replacing else { throw KeychainError(FileError(.alreadyExists, target.path)) }
      throw KeychainError(
        .refused, "\(path) is not a regular file, and is not replaced",
        recovery: "name another file")
    }
    guard replacing else { throw .backupIsThere(target.path) }
  }

  /// Calls `body`, which writes the backup, and gives the file its name.
  func fill<Result>(
    readers: SecretFileReaders,
    _ body: (any DiskFile, LockedLog?) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    let (disk, deadline) = (session.file.disk, session.deadline)
    // On a memory stick, every file has the same mode. The backup is encrypted, so others may read
    // it.
    let accepted = readers.acceptedBits | ~SecretFileReaders.others.forbiddenBits
    let new = try UnfinishedVault(
      for: path, on: disk, like: nil, until: deadline, openTo: accepted)
    if let found {
      try translated(
        PrivateFile.check(found, path, ownerMayBeRoot: true, forbidden: 0o077 & ~accepted))
    }
    // The lock prevents changes of the older backup until it is replaced.
    let older =
      try isReplacing ? LockedLog.take(path, on: disk, writing: false, until: deadline) : nil
    defer { older?.unlock() }
    let result = try body(new.file, older)
    do throws(WriteFailure) {
      _ = try new.takeName(replacing: older)
    } catch {
      throw error == .unchanged(.fileExists) ? .backupIsThere(path) : .writing(path, error)
    }
    return result
  }

  /// Fails if a file is not a backup of the vault with the same keys, or has changes that may exist
  /// only there.
  func requireOlder(
    _ older: LockedLog, than vault: VaultContents, _ keys: TierKeys
  ) throws(KeychainError) {
    let found: VaultContents
    do throws(KeychainError) {
      guard older.status.size > 0 else {
        throw KeychainError(.foreign, "the file has no vault in it: \(path)")
      }
      let head = try VaultHead(older.file, size: older.status.size, path: path)
      guard head.parts.checks == vault.head.parts.checks, head.binding == vault.head.binding else {
        throw KeychainError(
          .refused,
          "\(path) is another vault, or a backup from before this one got new keys, and is not "
            + "replaced", recovery: .nameNewFileOrRemoveThis)
      }
      found = try VaultContents(
        reading: older.file, size: older.status.size, path: path, head: head, keys: keys)
    } catch { throw error.inPlaceOfBackup(path) }
    let reason: String
    switch try vault.has(found.newest.digest, at: found.newest.n, keys) {
    case true?: return
    case false?: reason = "has changes that the vault lacks, and is"
    case nil:
      reason = "is so old that the vault no longer shows whether it has changes of its own, and is"
    }
    throw KeychainError(
      .refused,
      "\(path) \(reason) not replaced: it is at change \(found.newest.n), and the vault at "
        + "\(vault.newest.n)",
      recovery:
        "look at it with \(.nameVault), and name a new file, or remove this one if it is not "
        + "needed")
  }
}

extension VaultContents {
  /// Copies the file up to the newest commit, and reads the copy as a separate vault.
  ///
  /// Others may append at the same time: nothing before the file's end changes.
  fileprivate func copy(
    to file: any DiskFile, path: String, _ keys: TierKeys
  ) throws(KeychainError) -> VaultContents {
    var place = 0
    try forEachPiece(of: 0..<end) { piece throws(KeychainError) in
      try translated(onFile(path, "write", file.write(piece, at: place)))
      place += piece.count
    }
    let head = try VaultHead(file, size: end, path: path)
    let copy = try VaultContents(reading: file, size: end, path: path, head: head, keys: keys)
    guard copy.newest == newest else {
      throw KeychainError(
        .inputOutput, "the copy \(path) differs from the data that was written to it",
        recovery: "use another disk")
    }
    return copy
  }
}

extension KeychainError {
  fileprivate static func backupIsThere(_ path: String) -> Self {
    .fileExists(
      path,
      recovery: .nameNewFile + ", or replace an older backup of the same vault with "
        + "\(.replaceBackup)")
  }

  /// Returns the same error for the file in the place of a backup.
  fileprivate func inPlaceOfBackup(_ path: String) -> Self {
    guard [.foreign, .damaged, .unsupportedFormat].contains(code) else { return self }
    return Self(
      code, "\(message); it is not replaced",
      recovery: .nameNewFileOrRemoveThis,
      underlying: underlying)
  }
}
