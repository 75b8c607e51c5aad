internal import CPrephirencesSQLite

/// The C library behind the files of preferences.
package enum DatabaseLibrary {
  /// Its version, such as `3.40.1`.
  package static var version: String { unsafe String(cString: sqlite3_libversion()) }
}
