import FaultTesting
import Foundation
import Glibc
import Testing

/// Kills a writing process at random moments.
@Suite("A writer is killed", .timeLimit(.minutes(14)))
struct KillTests {
  /// The processes set their next value at once after the acknowledgement, so each kill is right
  /// after one set and within the next.
  @Test(arguments: 0..<4)
  func everyAcknowledgedSetIsThere(_ group: Int) throws {
    for round in 0..<Thoroughness.tried(250) {
      let home = try TestHome()
      let child = try Child(["sets", "k"], in: home)
      var acknowledged = [child.line()]
      if round.isMultiple(of: 2) {
        for _ in 0..<Int.random(in: 0...20) { acknowledged.append(child.line()) }
      } else {
        usleep(.random(in: 0...20_000))
      }
      acknowledged += child.killed().map(Optional.some)
      let found = try home.contents()
      for case let number? in acknowledged { #expect(found["k\(number)"] == number) }
      // One more may be stored before it is reported.
      #expect((acknowledged.count...acknowledged.count + 1).contains(found.count))
      #expect(!acknowledged.contains(nil))
    }
  }

  /// The same file is killed upon again and again, while others read, write and checkpoint.
  @Test func killsAmongOtherProcesses() throws {
    let home = try TestHome()
    _ = try home.run("set", "other", "0")
    let other = try Child(["overwrite", "other"], in: home)
    let reader = try Child(["read", "other"], in: home)
    let whole = try Child(["whole"], in: home)
    let controller = try Child(in: home)
    var expected: [String: String] = [:]
    for round in 0..<Thoroughness.tried(500) {
      let isPair = round.isMultiple(of: 3)
      let child = try Child(isPair ? ["pairs"] : ["sets", "r\(round)-"], in: home)
      let first = child.line()
      usleep(.random(in: 0...8_000))
      let acknowledged = [first ?? "none"] + child.killed()
      if !isPair { for number in acknowledged { expected["r\(round)-\(number)"] = number } }
      if round.isMultiple(of: 5) { #expect(controller.ask("checkpoint") == []) }
    }
    let written = [other.line() ?? "none"] + other.killed()
    let found = try home.contents()
    for (key, value) in expected { #expect(found[key] == value) }
    #expect((Int(found["other"] ?? "") ?? -1) >= (Int(written.last ?? "") ?? .max))
    #expect(found["left"] == found["right"])
    #expect(reader.line() == "ready")
    #expect(reader.killed() == [])
    #expect(whole.line() == "ready")
    #expect(whole.killed() == [])
  }

  /// A transaction of two keys is never seen half.
  @Test func killedTransactionIsAtomic() throws {
    let home = try TestHome()
    for _ in 0..<Thoroughness.tried(300) {
      let child = try Child(["pairs"], in: home)
      _ = child.line()
      usleep(.random(in: 0...5_000))
      _ = child.killed()
      let found = try home.contents()
      #expect(found["left"] == found["right"])
    }
  }
}
