import FaultTesting
import Foundation
import Glibc
import Testing

/// Other programs change the file with the generation counter, while processes use it.
@Suite("The counter's file is changed", .timeLimit(.minutes(14)))
struct CounterTests {
  enum Change: String, CaseIterable {
    case truncated, shortened, zeroed, noise, allOnes, ahead, behind, removed, replaced, longer

    func apply(to path: String) throws {
      let now = (try? Data(contentsOf: URL(filePath: path))) ?? Data()
      switch self {
      case .truncated: truncate(path, 0)
      case .shortened: truncate(path, 3)
      case .zeroed: try Self.write(Data(repeating: 0, count: max(8, now.count)), path)
      case .noise: try Self.write(Data((0..<8).map { _ in .random(in: 0...255) }), path)
      case .allOnes: try Self.write(Data(repeating: 255, count: 8), path)
      case .ahead: try Self.write(Self.added(20, to: now), path)
      case .behind: try Self.write(Self.added(UInt64.max - 3, to: now), path)
      case .removed: unlink(path)
      case .replaced:
        unlink(path)
        close(open(path, O_CREAT | O_WRONLY, 0o600))
      case .longer: try Self.write(now + Data(repeating: 1, count: 5000), path)
      }
    }

    private static func added(_ number: UInt64, to bytes: Data) -> Data {
      var value = bytes.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      value &+= number
      return withUnsafeBytes(of: value.littleEndian) { Data($0) }
    }

    private static func write(_ data: Data, _ path: String) throws {
      let file = open(path, O_WRONLY)
      guard file >= 0 else { throw CocoaError(.fileWriteUnknown) }
      _ = data.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, 0) }
      close(file)
    }
  }

  /// Two processes with values in memory: whatever the counter is, the next read is right.
  @Test(arguments: Change.allCases)
  func readsStayRight(_ change: Change) throws {
    let home = try TestHome()
    let one = try Child(in: home)
    let two = try Child(in: home)
    for round in 0..<(Thoroughness.isThorough ? 60 : 25) {
      #expect(one.ask("set a \(round)") == [])
      #expect(two.ask("get a") == ["value \(round)"])
      try change.apply(to: home.lock)
      #expect(two.ask("get a") == ["value \(round)"])
      #expect(two.ask("set b \(round)") == [])
      #expect(one.ask("get b") == ["value \(round)"])
      #expect(one.ask("get a") == ["value \(round)"])
      try change.apply(to: home.lock)
      #expect(one.ask("set a \(round)-again") == [])
      #expect(two.ask("get a") == ["value \(round)-again"])
    }
    #expect(try home.contents().count == 2)
  }

  /// A process that has the old file must not believe its number for ever.
  @Test(arguments: [Change.removed, .replaced])
  func theFileOfTheCounterIsAnother(_ change: Change) throws {
    let home = try TestHome()
    let reader = try Child(in: home)
    _ = try home.run("set", "a", "1")
    #expect(reader.ask("get a") == ["value 1"])
    try change.apply(to: home.lock)
    for round in 2...20 {
      _ = try home.run("set", "a", "\(round)")
      // The process looks for another file now and then.
      if round == 2 { usleep(200_000) }
      #expect(reader.ask("get a") == ["value \(round)"])
    }
  }

  /// A counter ahead of the database must not make an old value look current when the database
  /// reaches it.
  @Test func aCounterAheadIsNotBelieved() throws {
    let home = try TestHome()
    let one = try Child(in: home)
    let two = try Child(in: home)
    #expect(one.ask("set a 0") == [])
    try Change.ahead.apply(to: home.lock)
    for round in 0...20 {
      #expect(two.ask("get a") == ["value \(round)"])
      #expect(one.ask("set a \(round + 1)") == [])
    }
  }

  /// A short read is an answer, where a mapped file would end the process by a signal.
  @Test func constantTruncation() throws {
    let home = try TestHome()
    _ = try home.run("set", "a", "1")
    let first = try Child(["read", "a"], in: home)
    let second = try Child(["read", "a"], in: home)
    let writer = try Child(["overwrite", "a", "300"], in: home)
    _ = (first.line(), second.line())
    for round in 0..<400 {
      truncate(home.lock, off_t(round % 9))
      usleep(500)
    }
    let written = writer.ended()
    #expect(written.status == 0)
    #expect(written.lines.last == "300")
    #expect(first.killed() == [])
    #expect(second.killed() == [])
    #expect(try home.contents() == ["a": "300"])
  }
}
