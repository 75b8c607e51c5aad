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

  private let session: VaultSession
  private let isReplacing: Bool

  /// Finds the place; nothing is opened yet.
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
    let found = try translated(PrivateFile.look(target.path))
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
    // On a memory stick every file has the same mode, so others may be able to read it.
    try translated(
      PrivateFile.check(
        found, target.path, ownerMayBeRoot: true, forbidden: SecretFileReaders.others.forbiddenBits)
    )
  }

  /// Makes the backup with `body`, which writes it, and gives it its name.
  func fill<Result>(
    _ body: (any DiskFile, LockedLog?) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    let (disk, deadline) = (session.file.disk, session.deadline)
    let new = try UnfinishedVault(for: path, on: disk, like: nil, until: deadline)
    // Its lock keeps the older backup as it is until it is replaced.
    let older =
      try isReplacing ? VaultLock.take(path, on: disk, writing: false, until: deadline) : nil
    defer { older?.unlock() }
    let result = try body(new.file, older)
    do throws(WriteFailure) {
      _ = try new.takeName(replacing: older != nil)
    } catch {
      throw error == .unchanged(.fileExists) ? .backupIsThere(path) : .writing(path, error)
    }
    return result
  }

  /// Fails if a file is not a backup of the vault with the same keys, or has changes that the vault
  /// lacks, because they may exist only there.
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
        ofCopy: older.file, size: older.status.size, path: path, head: head, keys)
    } catch {
      throw error.inPlaceOfBackup(path)
    }
    let reason: String
    switch try vault.has(found.newest.digest, at: found.newest.n, keys) {
    case true?: return
    case false?: reason = "has changes that the vault lacks, and is"
    case nil:
      reason =
        "is so old that the vault no longer shows whether it has changes of its own, and is"
    }
    throw KeychainError(
      .refused,
      "\(path) \(reason) not replaced: it is at change \(found.newest.n), and the vault at "
        + "\(vault.newest.n)",
      recovery: "look at it with \(.nameVault), and name a new file, or remove this one if it is not "
        + "needed")
  }
}

extension VaultContents {
  /// Reads a copy of a vault, which nobody has seen before.
  fileprivate init(
    ofCopy file: any DiskFile, size: Int, path: String, head: VaultHead, _ keys: TierKeys
  ) throws(KeychainError) {
    try self.init(
      reading: file, size: size, path: path, head: head, list: head.openList(keys.open),
      keys: keys, seen: nil)
  }

  /// Copies the file up to the newest commit, and reads the copy as a vault of its own.
  ///
  /// Others may append meanwhile: nothing in the file before its end changes.
  func copy(
    to file: any DiskFile, path: String, _ keys: TierKeys
  ) throws(KeychainError) -> VaultContents {
    var place = 0
    while place < end {
      let piece = try read(place..<min(place + Self.pieceCount, end))
      guard !piece.isEmpty else { throw .damagedVault(self.path, "it became shorter") }
      let start = place
      try onDisk("write", path) { () throws(Errno) in try file.write(piece, at: start) }
      place += piece.count
    }
    let copy = try VaultContents(
      ofCopy: file, size: end, path: path, head: VaultHead(file, size: end, path: path), keys)
    guard copy.newest == newest else {
      throw KeychainError(
        .inputOutput, "the copy \(path) does not have what was written to it",
        recovery: "use another disk")
    }
    return copy
  }

  private static let pieceCount = 1 << 20
}

extension KeychainError {
  fileprivate static func backupIsThere(_ path: String) -> Self {
    .fileExists(
      path,
      recovery: .nameNewFile + ", or replace an older backup of the same vault with "
        + "\(.replaceBackup)")
  }

  /// Returns the same error, about what is in the place of a backup.
  fileprivate func inPlaceOfBackup(_ path: String) -> Self {
    guard [.foreign, .damaged, .unsupportedFormat].contains(code) else { return self }
    return Self(
      code, "\(message); it is not replaced",
      recovery: .nameNewFileOrRemoveThis,
      underlying: underlying)
  }
}
