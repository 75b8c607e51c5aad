import FaultTesting
import Foundation
import Glibc
import Synchronization
import Testing

@Suite("Many processes use one suite", .timeLimit(.minutes(14)))
struct ConcurrencyTests {
  /// Runs a command in several processes, which must all succeed, while `meanwhile` runs.
  private func processes(
    _ count: Int, in home: TestHome, _ command: @escaping @Sendable (Int) -> [String],
    meanwhile: () throws -> Void = {}
  ) throws -> [[String]] {
    let ended = Mutex<[[String]]>([])
    let group = DispatchGroup()
    for number in 0..<count {
      group.enter()
      Thread.detachNewThread {
        let result = try? Child(command(number), in: home).ended()
        #expect(result?.status == 0, "\(result?.lines.last ?? "")")
        ended.withLock { $0.append(result?.lines ?? []) }
        group.leave()
      }
    }
    while group.wait(timeout: .now() + 0.02) == .timedOut { try meanwhile() }
    return ended.withLock { $0 }
  }

  @Test func everySetOfEightProcesses() throws {
    let home = try TestHome()
    let count = Thoroughness.isThorough ? 1000 : 250
    let controller = try Child(in: home)
    let lines = try processes(8, in: home) {
      ["sets", "p\($0)-", "\(count)"]
    } meanwhile: {
      #expect(controller.ask("checkpoint") == [])
    }
    #expect(lines.map(\.count) == Array(repeating: count, count: 8))
    let found = try home.contents()
    #expect(found.count == 8 * count)
    for process in 0..<8 {
      for number in 0..<count { #expect(found["p\(process)-\(number)"] == "\(number)") }
    }
    #expect(controller.ask("count") == ["\(8 * count)"])
  }

  @Test func updatesOfOneCounter() throws {
    let home = try TestHome()
    let count = Thoroughness.isThorough ? 1000 : 100
    _ = try processes(8, in: home) { _ in ["update", "counter", "\(count)"] }
    #expect(try home.contents() == ["counter": "\(8 * count)"])
  }

  @Test func transactionsAreNeverSeenHalf() throws {
    let home = try TestHome()
    let count = Thoroughness.tried(3000)
    let lines = try processes(6, in: home) {
      $0 < 3 ? ["pairs", "\(count / 3)"] : ["whole", "\(count)"]
    }
    #expect(lines.count { $0 == ["ready", "whole"] } == 3)
  }

  @Test func processesThatCreateTheFileTogether() throws {
    for _ in 0..<3 {
      let home = try TestHome()
      _ = try processes(10, in: home) { ["sets", "p\($0)-", "3"] }
      #expect(try home.contents().count == 30)
    }
  }

  /// The next read of another process, which already has the old value in memory.
  @Test func aChangeIsSeenByTheNextRead() throws {
    let home = try TestHome()
    let writer = try Child(in: home)
    let reader = try Child(in: home)
    #expect(reader.ask("get ball") == ["absent"])
    for round in 0..<1000 {
      switch round % 10 {
      case 9:
        #expect(writer.ask("remove ball") == [])
        #expect(reader.ask("get ball") == ["absent"])
      case 5:
        #expect(reader.ask("set ball \(round)") == [])
        #expect(writer.ask("get ball") == ["value \(round)"])
      default:
        #expect(writer.ask("set ball \(round)") == [])
        #expect(reader.ask("get ball") == ["value \(round)"])
      }
    }
  }
}
