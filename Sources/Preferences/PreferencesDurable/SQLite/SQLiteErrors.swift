internal import CSQLite
internal import Glibc
internal import Prephirences
internal import PrephirencesSystem
internal import SystemPackage

/// Translates the errors of SQLite into what they mean for preferences.
enum SQLiteErrors {
  static func error(_ extendedCode: CInt, _ path: String) -> PreferencesError {
    // SQLite does not keep the system's reason.
    if extendedCode & 0xFF == SQLITE_CANTOPEN, Errno.hasNoDescriptor {
      return PreferencesError(.failed(.tooManyOpenFiles, "open", path))
    }
    let (code, message) = meaning(extendedCode)
    return PreferencesError(code, "\(message) (SQLite error \(extendedCode)): \(path)")
  }

  /// The code of a disk that fails to read (`SQLITE_IOERR_CORRUPTFS`, which is a macro).
  static let failedRead = SQLITE_IOERR | (33 << 8)

  /// Whether the system's number is that of a disk that fails.
  static func isDiskFailure(_ systemCode: CInt) -> Bool { systemCode == EIO || systemCode == ENXIO }

  private static func meaning(_ extendedCode: CInt) -> (PreferencesError.Code, String) {
    switch extendedCode & 0xFF {
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_INTERRUPT:
      (.timedOut, "another process used the preferences for too long; try again")
    case SQLITE_FULL:
      (.inputOutput, "the disk is full; free some space, and try again")
    case SQLITE_READONLY:
      (.readOnly, "the preferences cannot be changed here; make the file and its folder writable")
    case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH:
      (.inputOutput, "the preferences cannot be opened; check the permissions of the folder")
    case SQLITE_IOERR, SQLITE_NOLFS, SQLITE_PROTOCOL:
      (.inputOutput, "reading or writing the preferences failed; check the disk")
    case SQLITE_NOMEM:
      (.inputOutput, "there is not enough memory for the preferences")
    case SQLITE_TOOBIG:
      (.unstorable, "the value is too long for the preferences")
    case SQLITE_NOTADB:
      (.damaged, "the file holds no preferences, or its beginning is damaged; move it away")
    default:
      // The statements are fixed, so any other error is caused by the file.
      (.damaged, "the preferences are damaged; move the file away, or restore a copy")
    }
  }
}
