import FaultTesting
import Foundation
import Glibc
import Testing

/// The write-ahead log stays small, whoever reads.
@Suite("The size of the write-ahead log", .timeLimit(.minutes(14)))
struct LogSizeTests {
  /// A writer checkpoints from 1000 pages on; one more transaction, and some room.
  private static let limit = 2 * 1000 * 4200

  @Test(arguments: [0, 1, 4])
  func constantReaders(_ readers: Int) throws {
    let home = try TestHome()
    _ = try home.run("bulk", "k", "500")
    concurrently(readers + 1) { number in
      do {
        if number > 0 {
          let reader = try Child([number.isMultiple(of: 2) ? "read" : "scan", "k1"], in: home)
          _ = reader.line()
          while !Self.isOver(home) { usleep(10_000) }
          let rest = reader.killed()
          #expect(rest == [])
        } else {
          defer {
            close(open(home.folder.path + "/over", O_CREAT | O_WRONLY, 0o600))
          }
          let writer = try Child(in: home)
          var largest = 0
          for round in 0..<(Thoroughness.isThorough ? 400 : 60) {
            #expect(writer.ask("set big\(round % 3) x\(200_000 + round)") == [])
            #expect(writer.ask("overwrite n 50").count == 50)
            largest = max(largest, TestHome.size(of: home.log))
          }
          print("largest write-ahead log with \(readers) readers: \(largest >> 10) KiB")
          #expect(largest < Self.limit)
          #expect(largest > 0)
        }
      } catch {
        Issue.record(error)
      }
    }
  }

  private static func isOver(_ home: TestHome) -> Bool {
    access(home.folder.path + "/over", F_OK) == 0
  }
}
