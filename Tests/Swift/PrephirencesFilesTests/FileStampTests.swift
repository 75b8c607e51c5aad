import Foundation
import Glibc
import Testing

@testable import PrephirencesSystem

@Suite("When a file counts as changed")
struct FileStampTests {
  @Test func aTimeThatIsPutBackHidesNoChange() throws {
    let path = NSTemporaryDirectory() + "/stamp-test-\(UUID().uuidString)"
    defer { unlink(path) }
    try Data("one".utf8).write(to: URL(filePath: path))
    var status = stat()
    #expect(stat(path, &status) == 0)
    let first = FileStamp(path)
    #expect(first != nil && FileStamp(path) == first)
    // The clock of files has steps of some milliseconds.
    let deadline = Deadline(after: .seconds(10))
    repeat {
      try Data("two".utf8).write(to: URL(filePath: path))
      #expect(utimensat(AT_FDCWD, path, [status.st_atim, status.st_mtim], 0) == 0)
    } while FileStamp(path) == first && !deadline.hasPassed
    #expect(FileStamp(path) != first)
    unlink(path)
    #expect(FileStamp(path) == nil)
  }
}
