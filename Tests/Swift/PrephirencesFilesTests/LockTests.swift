import Foundation
import Glibc
import SystemPackage
import Testing

@testable import PrephirencesSystem

@Suite("Locks and deadlines")
struct LockTests {
  @Test func excludedTimePostponesDeadline() throws {
    // A stalled machine may use up the time meanwhile, but not at each attempt.
    var isLeft = false
    for _ in 0..<10 where !isLeft {
      let deadline = Deadline(after: .milliseconds(300))
      _ = deadline.excluding { usleep(400_000) }
      isLeft = !deadline.hasPassed
      usleep(400_000)
      #expect(deadline.hasPassed)
    }
    #expect(isLeft)
  }

  @Test func deadlinesCombine() {
    let long = Deadline(after: .seconds(3600))
    let short = Deadline(after: .zero)
    #expect(short.hasPassed && short.seconds == 0 && short.milliseconds == 1)
    #expect(long.limited(by: short).hasPassed && short.limited(by: long).hasPassed)
    #expect(!short.postponed(by: .seconds(60)).hasPassed && short.hasPassed)
    #expect(!Deadline(after: .seconds(Int64.max)).hasPassed)
  }

  @Test func heldLockTimesOut() throws {
    let path = NSTemporaryDirectory() + "/lock-test-\(UUID().uuidString)"
    defer { unlink(path) }
    let held = try FileLock(exclusive: path, deadline: Deadline(after: .zero))
    let error = #expect(throws: FileError.self) {
      _ = try FileLock(exclusive: path, deadline: Deadline(after: .milliseconds(20)))
    }
    #expect(error == FileError(.timedOut, path))
    extendLifetime(held)
  }

  /// On a file system without locks, the file must not look locked by another process.
  @Test func fileWithoutLocksIsNotBusy() throws {
    let pathOnly = try FileDescriptor.open(
      FilePath("/"), .readOnly, options: .init(rawValue: 0o10000000))
    defer { try? pathOnly.close() }
    #expect(throws: Errno.badFileDescriptor) {
      try FileLock.lock(pathOnly, .exclusive, Deadline(after: .seconds(3600)))
    }
  }
}
