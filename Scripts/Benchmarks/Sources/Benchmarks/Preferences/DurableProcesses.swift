import Foundation
import PrephirencesDurable

/// Whole processes: start-up, size, other processes' changes, and several writers.
struct DurableProcesses {
  let effort: Effort
  let suites: DurableSuites
  let peer: String
  let most: Int

  private let group = DurableBenchmarks.group

  func figures() throws -> [Figure] {
    try [start(), changes(), writers()] + sizes()
  }

  /// The first value of a new process: all of its start-up that is the preferences' own.
  private func start() throws -> Figure {
    _ = try suites.durable(10_000)
    _ = try suites.defaults(10_000)
    var comparison = Comparison()
    for _ in 0..<effort.processRounds {
      comparison.subject.append(try seconds("first-durable", "durable-10000", "key 9998"))
      comparison.reference.append(try seconds("first-defaults", "defaults-10000", "key 9998"))
    }
    return Figure(
      group, "first value of a process at 10,000 keys", over: "the same of `UserDefaults`",
      comparison, atMost: 1)
  }

  private func seconds(_ arguments: String...) throws -> Double {
    let output = try ChildProcess([peer] + arguments).output()
    guard let time = Double(output.trimmingCharacters(in: .whitespacesAndNewlines)) else {
      throw DurableBenchmarks.Failure()
    }
    return time
  }

  /// The time from before `set` until an observer in another process is called.
  private func changes() throws -> Figure {
    let preferences = try suites.durable(1_000)
    let observer = try Conversation(peer, "observe", "durable-1000", "ping")
    guard observer.line() == "ready" else { throw DurableBenchmarks.Failure() }
    var samples = Samples()
    for round in 1...effort.rounds {
      usleep(20_000)
      let start = Self.now
      preferences.set(round, forKey: "ping")
      let words = (observer.line() ?? "").split(separator: " ")
      guard words.count == 2, Int(words[0]) == round, let time = Int(words[1]) else {
        throw DurableBenchmarks.Failure()
      }
      samples.append(Double(time - start) / 1e9)
    }
    observer.end()
    return Figure(
      group, "set until another process's observer is called", within: "100 ms", of: 0.1, samples)
  }

  private static var now: Int {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return now.tv_sec * 1_000_000_000 + now.tv_nsec
  }

  /// The time of one set when several processes set as fast as they can.
  private func writers() throws -> Figure {
    _ = try suites.durable(1_000)
    let count = effort.isQuick ? 200 : 1_000
    var comparison = Comparison()
    for _ in 0..<effort.slowRounds {
      comparison.subject.append(try writing(8, count) / Double(8 * count))
      comparison.reference.append(try writing(1, count) / Double(count))
    }
    return Figure(
      group, "set, 8 processes at a time", over: "the same by one process", comparison, atMost: nil)
  }

  private func writing(_ processes: Int, _ count: Int) throws -> Double {
    let writers = try (1...processes).map {
      try Conversation(peer, "sets", "durable-1000", "writer \($0)", "\(count)")
    }
    for writer in writers where writer.line() != "ready" { throw DurableBenchmarks.Failure() }
    let time = try Stopwatch.time {
      for writer in writers { writer.send("go\n") }
      for writer in writers where writer.line() != "done" { throw DurableBenchmarks.Failure() }
    }
    for writer in writers { writer.end() }
    return time
  }
}

extension DurableProcesses {
  /// The cost at many keys, over that at 1,000.
  private func sizes() throws -> [Figure] {
    let small = try suites.durable(1_000)
    let large = try suites.durable(most)
    let known = (0..<100).map { "key \($0 * 2)" }
    let get = Comparison.measure(rounds: effort.shortRounds, batch: 100) {
      keep(large.integer(forKey: known[$0 % 100]))
    } _: {
      keep(small.integer(forKey: known[$0 % 100]))
    }
    let set = Comparison.measure(rounds: effort.shortRounds, batch: 10) {
      large.set($0, forKey: "key \($0 * 7919 % most)")
    } _: {
      small.set($0, forKey: "key \($0 * 7919 % 1_000)")
    }
    var first = Comparison()
    var start = Comparison()
    for _ in 0..<effort.rounds {
      first.subject.append(try seconds("gets", "durable-\(most)", "\(most / 2)", "400"))
      first.reference.append(try seconds("gets", "durable-1000", "1000", "400"))
      start.subject.append(try seconds("first-durable", "durable-\(most)", "key 500"))
      start.reference.append(try seconds("first-durable", "durable-1000", "key 500"))
    }
    let counts = "at \(most.formatted()) keys"
    let reference = "the same at 1,000 keys"
    return [
      Figure(group, "get of a known key \(counts)", over: reference, get, atMost: 1.3),
      Figure(group, "first get of a key \(counts)", over: reference, first, atMost: 2),
      Figure(group, "first value of a process \(counts)", over: reference, start, atMost: 1.3),
      Figure(group, "set \(counts)", over: reference, set, atMost: 1.3),
    ]
  }
}
