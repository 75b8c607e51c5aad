import CFaultVFS
import Foundation

/// The changes of a test's files by SQLite, in their order.
final class WriteLog: Sendable {
  private let number: Int32

  /// Starts to log the changes of files that are opened from now on, below a folder.
  init(of folder: URL) throws {
    guard Self.isInstalled else { throw NotInstalled() }
    number = write_log_start(folder.lastPathComponent)
    guard number >= 0 else { throw NotInstalled() }
  }

  deinit { write_log_end(number) }

  /// Must be evaluated before SQLite opens the first file.
  static let isInstalled = fault_vfs_install() == 0

  /// The number of changes so far.
  var count: Int { Int(write_log_count(number)) }

  func call(_ index: Int) -> LoggedCall { write_log_call(number, Int32(index)) }

  /// The names of the files, at the places that the calls have.
  var names: [String] {
    var names: [String] = []
    while let path = write_log_path(number, Int32(names.count)) {
      names.append(URL(filePath: String(cString: path)).lastPathComponent)
    }
    return names
  }

  struct NotInstalled: Error {}
}
