internal import GRDB
internal import KeychainCredentials
internal import SystemPackage

/// Translates the errors of SQLite into what they mean for a vault.
enum SQLiteErrors {
  static func translate(_ error: any Error, path: String) -> KeychainError {
    if let error = error as? KeychainError { return error.naming(path) }
    if let error = error as? OpenCommit {
      return .outcomeUnknown(
        ofChanging: "the vault \(path)",
        underlying: .sqlite(extendedCode: error.cause.extendedResultCode.rawValue))
    }
    guard let error = error as? DatabaseError else {
      return KeychainError(
        .internalFailure, "the vault \(path) could not be used: \(type(of: error))")
    }
    let (code, message, recovery) = meaning(error, path: path)
    return KeychainError(
      code, "\(message): \(path)", recovery: recovery,
      underlying: .sqlite(extendedCode: error.extendedResultCode.rawValue))
  }

  /// Translates an error of copying, which reads the vault and writes the target.
  static func translateCopying(_ error: any Error, path: String, target: String) -> KeychainError {
    guard let cause = error as? DatabaseError, let (message, recovery) = meaning(forTarget: cause)
    else { return translate(error, path: path) }
    return KeychainError(
      .inputOutput, "\(message): \(target)", recovery: recovery,
      underlying: .sqlite(extendedCode: cause.extendedResultCode.rawValue))
  }

  /// Returns the meaning of an error that only writing the target can have; `nil` for others.
  private static func meaning(forTarget error: DatabaseError) -> (String, KeychainError.Recovery)? {
    switch error.resultCode {
    case .SQLITE_FULL:
      ("the disk is full; the copy was not made", "free some space, or choose another place")
    case .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM:
      ("the copy cannot be written", "choose another place")
    case .SQLITE_IOERR where !isOfReading(error.extendedResultCode):
      ("writing the copy failed", "check the disk, or choose another place")
    default: nil
    }
  }

  /// Whether a commit that failed so may have happened.
  ///
  /// A commit ends with the rollback journal, which is emptied and synced, and then the locks are
  /// released. Which sync has failed SQLite does not say. Before the end, the next reader undoes the
  /// commit.
  static func mayFollowCommit(_ error: DatabaseError) -> Bool {
    error.resultCode == .SQLITE_IOERR && !isOfReading(error.extendedResultCode)
      && error.extendedResultCode != .SQLITE_IOERR_WRITE
  }

  /// Whether the owner of the file may only read it.
  private static func isWriteProtected(_ path: String) -> Bool {
    guard let stat = try? Stat(FilePath(path)) else { return false }
    return stat.permissions.rawValue & 0o200 == 0
  }

  private static func isOfReading(_ code: ResultCode) -> Bool {
    [.SQLITE_IOERR_READ, .SQLITE_IOERR_SHORT_READ, .SQLITE_IOERR_CORRUPTFS].contains(code)
  }

  private static func meaning(
    _ error: DatabaseError, path: String
  ) -> (KeychainError.Code, String, KeychainError.Recovery?) {
    switch error.extendedResultCode {
    case .SQLITE_READONLY_ROLLBACK, .SQLITE_READONLY_RECOVERY, .SQLITE_READONLY_CANTLOCK:
      return (
        .inputOutput,
        "the vault was not closed cleanly and cannot be repaired on a read-only medium",
        "copy the vault with its -journal file to a writable place, or mount it writable once"
      )
    default: break
    }
    switch error.resultCode {
    case .SQLITE_BUSY where RunningTransaction.isHere(path):
      return (.refused, RunningTransaction.refusal, RunningTransaction.recovery)
    case .SQLITE_BUSY, .SQLITE_LOCKED:
      return (.busy, "another process held the vault for too long", .tryAgain)
    case .SQLITE_ABORT:
      return (
        .inputOutput, "the change was undone after an earlier failure; the vault is unchanged",
        .tryAgain
      )
    case .SQLITE_INTERRUPT: return (.timedOut, "the call was interrupted", .tryAgain)
    case .SQLITE_FULL:
      return (.inputOutput, "the disk is full; the vault is unchanged", "free some space")
    case .SQLITE_READONLY where isWriteProtected(path):
      return (
        .insecurePermissions, "the vault's own permissions let nobody write it",
        "if that is not meant: chmod 600 '\(path)'"
      )
    case .SQLITE_READONLY:
      return (.inputOutput, "the vault is read-only here", "use a writable medium")
    case .SQLITE_CANTOPEN:
      return (.inputOutput, "the vault cannot be opened", "check the permissions of its folder")
    case .SQLITE_IOERR, .SQLITE_PERM, .SQLITE_AUTH, .SQLITE_NOLFS, .SQLITE_PROTOCOL:
      return (.inputOutput, "reading or writing the vault failed", "check the disk")
    case .SQLITE_NOMEM where SQLiteSetup.metTooLongRow, .SQLITE_TOOBIG:
      return (
        .damaged, "a row of the vault is longer than the format allows", .restoreBackup
      )
    case .SQLITE_NOMEM:
      return (.insufficientMemory, "there is not enough memory for the vault", nil)
    case .SQLITE_NOTADB:
      return (.foreign, "the file is not a vault, or its beginning is damaged", .restoreBackup)
    default:
      // The statements are fixed, so any other error is caused by the file.
      return (.damaged, "the vault is damaged", .verify)
    }
  }
}

extension KeychainError {
  /// Returns the same error with the vault's path, if it is about the whole file.
  fileprivate func naming(_ path: String) -> KeychainError {
    switch code {
    case .foreign, .unsupportedFormat:
      KeychainError(code, "\(message): \(path)", recovery: recovery, underlying: underlying)
    default: self
    }
  }
}
