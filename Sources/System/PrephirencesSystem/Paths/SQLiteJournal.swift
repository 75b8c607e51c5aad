internal import Glibc
package import SystemPackage

/// The rollback journal of an SQLite database.
///
/// SQLite plays a journal back into the database, whoever made it, and deletes the file that the
/// journal names as its super-journal.
package enum SQLiteJournal {
  /// Returns whether a journal names a super-journal, which only a transaction that changes several
  /// databases makes.
  package static func namesOtherFile(_ path: String) throws(Errno) -> Bool {
    let end: [UInt8]
    do throws(Errno) {
      end = try Self.end(of: path)
    } catch {
      // A writer that has just committed may have deleted it.
      guard error != .noSuchFileOrDirectory else { return false }
      throw error
    }
    // The length of the name, its sum, and the magic number. SQLite requires all three to be right.
    return end.suffix(8) == magic && end.prefix(4).contains { $0 != 0 }
  }

  /// Returns the last 16 bytes of a file; empty if it has fewer.
  private static func end(of path: String) throws(Errno) -> [UInt8] {
    // Must not block if the file is a pipe by now.
    let descriptor = try PrivateFile.open(path, flags: O_NONBLOCK)
    defer { try? descriptor.close() }
    let size = try Stat(descriptor).size
    guard size >= 16 else { return [] }
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = unsafe pread(descriptor.rawValue, &bytes, 16, off_t(size) - 16)
    guard count >= 0 else { throw .current }
    return Array(bytes.prefix(count))
  }

  private static let magic: ArraySlice<UInt8> = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
}
