internal import Foundation
internal import Glibc
internal import Testing

@testable internal import KeychainSecrets

@Suite("File descriptors", .timeLimit(.minutes(10)))
struct FileDescriptorTests {
  @Test("A limit is what it says", arguments: [(0, 0), (1, 0), (5, 5), (6, 5), (5, Int.max)])
  func limitIsWhatItSays(length: Int, limit: Int) throws {
    var pipe = Pipe()
    try SecretBytes(counting(length)).write(toFileDescriptor: pipe.writeEnd)
    pipe.closeWriteEnd()
    let secret = try SecretBytes.reading(fileDescriptor: pipe.readEnd, limit: limit)
    let result: [UInt8]? = if let secret { secret.array } else { nil }
    #expect(result == (length <= limit ? counting(length) : nil))
  }

  // More than a pipe holds, so that both sides wait for each other and writes are partial; in
  // non-blocking mode, the code itself must wait. The writer has its own thread, because a blocking
  // task could stop the tasks that it waits for.
  @Test("Longer than a pipe", arguments: [false, true])
  func longerThanAPipe(nonBlocking: Bool) throws {
    var pipe = Pipe(nonBlocking: nonBlocking)
    let writeEnd = fcntl(pipe.writeEnd, F_DUPFD_CLOEXEC, 3)
    // A failed reader must fail the test, not end the process by SIGPIPE.
    let spareReadEnd = fcntl(pipe.readEnd, F_DUPFD_CLOEXEC, 3)
    pipe.closeWriteEnd()
    let expected = counting(1 << 20)
    Thread.detachNewThread {
      defer {
        close(writeEnd)
        close(spareReadEnd)
      }
      // The reader notices missing bytes.
      try? SecretBytes(expected).write(toFileDescriptor: writeEnd)
    }
    let secret = try SecretBytes.reading(fileDescriptor: pipe.readEnd, limit: 1 << 20)
    let result: [UInt8]? = if let secret { secret.array } else { nil }
    #expect(result == expected)
  }

  @Test func failureSaysItsErrorNumber() throws {
    #expect(throws: KeychainError.inputOutput(errno: EBADF)) {
      _ = try SecretBytes.reading(fileDescriptor: -1, limit: 10)
    }
    let pipe = Pipe()
    let readEnd = pipe.readEnd
    #expect(throws: KeychainError.inputOutput(errno: EBADF)) {
      try SecretBytes([1]).write(toFileDescriptor: readEnd)
    }
  }
}
