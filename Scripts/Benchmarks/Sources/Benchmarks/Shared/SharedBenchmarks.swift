import Foundation
import Glibc
import PrephirencesShared

/// Preferences that are in step with another machine's, through an etcd on this one.
struct SharedBenchmarks {
  struct Failure: Error {}

  let effort: Effort

  /// The program SharedPeer.
  let peer: String

  /// An empty folder on a disk.
  let folder: String

  /// The port of etcd on loopback.
  let port: UInt16

  private let group = "Shared preferences"
  private let suite = "shared-1000"
  private var address: String { "etcd+http://127.0.0.1:\(port)/benchmarks" }

  func run() throws -> [Figure] {
    let suites = DurableSuites(folder: folder)
    let plain = try suites.durable(1_000)
    let shared = try share(suite)
    shared.set(dictionary: DurableSuites.content(0..<1_000))
    try shared.flush(deadline: .seconds(60))
    // Nothing listens there.
    let away = try share("shared-away", at: "etcd+http://127.0.0.1:1/benchmarks")
    away.set(dictionary: DurableSuites.content(0..<1_000))
    return try [
      get(shared, plain), set(shared, plain, "set, 20 at once") { try shared.flush(deadline: $0) },
      set(away, plain, "set, 20 at once, without a connection") { _ in },
    ] + arrivals(shared) + [
      synchronized(shared, plain)
    ] + contents()
  }

  private func share(_ suite: String, at other: String? = nil) throws -> SharedPreferences {
    var configuration = SharingConfiguration(address: other ?? address)
    configuration.quotaKeys = 100_000
    configuration.quotaBytes = 100 << 20
    try SharedPreferences.share(suiteName: suite, with: configuration)
    return SharedPreferences(suiteName: suite)
  }

  // MARK: - This machine

  private func get(_ shared: SharedPreferences, _ plain: DurablePreferences) -> Figure {
    let keys = (0..<100).map { "key \($0 * 2)" }
    let comparison = Comparison.measure(rounds: effort.shortRounds, batch: 100) {
      keep(shared.integer(forKey: keys[$0 % 100]))
    } _: {
      keep(plain.integer(forKey: keys[$0 % 100]))
    }
    return Figure(group, "get", over: "plain durable preferences", comparison, atMost: 1.05)
  }

  /// What was set is sent before the other is measured.
  private func set(
    _ shared: SharedPreferences, _ plain: DurablePreferences, _ name: String,
    send: (Duration) throws -> Void
  ) throws -> Figure {
    var comparison = Comparison()
    for round in 0...effort.shortRounds {
      let subject = Stopwatch.time {
        for call in 0..<20 { shared.set(round + call, forKey: "key \(call * 14)") }
      }
      try send(.seconds(30))
      let reference = Stopwatch.time {
        for call in 0..<20 { plain.set(round + call, forKey: "key \(call * 14)") }
      }
      guard round > 0 else { continue }
      comparison.subject.append(subject / 20)
      comparison.reference.append(reference / 20)
    }
    return Figure(group, name, over: "plain durable preferences", comparison, atMost: 1.2)
  }

  /// One set that is on the disk: what a user waits for who wants it safe.
  private func synchronized(
    _ shared: SharedPreferences, _ plain: DurablePreferences
  ) throws -> Figure {
    let comparison = try Comparison.measure(rounds: effort.rounds) {
      shared.set($0 + 7, forKey: "key 4")
      try shared.synchronize()
    } _: {
      plain.set($0 + 7, forKey: "key 4")
      try plain.synchronize()
    }
    return Figure(
      group, "set and `synchronize`", over: "plain durable preferences", comparison, atMost: nil)
  }

  // MARK: - Another machine

  private func other(_ words: String...) throws -> Conversation {
    let home = folder + "/other"
    try FileManager.default.createDirectory(
      atPath: home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return try Conversation(
      ["/usr/bin/env", "HOME=\(home)", "XDG_CONFIG_HOME=\(home)", peer] + words)
  }

  /// The time from before a set until an observer on the other machine is called.
  private func arrivals(_ shared: SharedPreferences) throws -> [Figure] {
    let observer = try other("observe", address, suite, "ping")
    defer { observer.end() }
    guard observer.line() == "ready" else { throw Failure() }
    let bare = BareEtcd(port: port)
    let (writer, watch) = (try bare.connect(), try bare.watch("bare"))
    var comparison = Comparison()
    for round in 1...(effort.processRounds * 5) {
      let start = Self.now
      shared.set(round, forKey: "ping")
      let arrived = try arrival(of: round, observer)
      let before = Self.now
      try bare.put("number \(round)", forKey: "bare", on: writer)
      try bare.wait(forValue: "number \(round)", on: watch)
      // The first one waits until the machines are in step.
      guard round > 1 else { continue }
      comparison.subject.append(Double(arrived - start) / 1e9)
      comparison.reference.append(Double(Self.now - before) / 1e9)
    }
    let name = "set until another machine's observer is called"
    return [
      Figure(group, name, over: "etcd's put until its watch", comparison, atMost: nil),
      slowest(name, comparison),
    ]
  }

  private func arrival(of number: Int, _ observer: Conversation) throws -> Int {
    while let line = observer.line() {
      let words = line.split(separator: " ").compactMap { Int($0) }
      guard words.count == 2 else { break }
      if words[0] == number { return words[1] }
    }
    throw Failure()
  }

  private func slowest(_ name: String, _ comparison: Comparison) -> Figure {
    let subject = comparison.subject.times.quantile(0.99)
    let reference = comparison.reference.times.quantile(0.99)
    return Figure(
      group: group, name: name + ", 99 of 100", reference: "etcd's put until its watch, 99 of 100",
      ratio: subject / reference, lowest: subject / comparison.reference.greatest,
      highest: comparison.subject.greatest / reference, target: nil, subjectMedian: subject,
      referenceMedian: reference, unit: .seconds)
  }

  private static var now: Int {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return now.tv_sec * 1_000_000_000 + now.tv_nsec
  }

  // MARK: - Many keys

  /// The memory and the connections of a machine that has all keys and waits for changes.
  private func contents() throws -> [Figure] {
    let count = 10_000
    let name = "shared-\(count)"
    let shared = try share(name)
    let content = (0..<count).map { ("key \($0)", "value \($0)") }
    shared.set(dictionary: Dictionary(uniqueKeysWithValues: content))
    try shared.flush(deadline: .seconds(60))
    let subject = try held(try other("hold", address, name, "\(count)"))
    let reference = try held(try other("hold-plain", "plain-\(count)", "\(count)"))
    let memory = subject.memory / reference.memory
    let connections = subject.connections / 2
    let keys = "\(count.formatted()) keys"
    return [
      Figure(
        group: group, name: "memory of a process at \(keys)",
        reference: "plain durable preferences", ratio: memory, lowest: memory, highest: memory,
        target: nil, subjectMedian: subject.memory, referenceMedian: reference.memory, unit: .bytes),
      Figure(
        group: group, name: "connections at \(keys)", reference: "two", ratio: connections,
        lowest: connections, highest: connections, target: 1, subjectMedian: subject.connections,
        referenceMedian: 2, unit: .count),
    ]
  }

  private func held(_ machine: Conversation) throws -> (memory: Double, connections: Double) {
    defer { machine.end() }
    guard machine.line(within: 90) == "ready" else { throw Failure() }
    let figures = try machine.ask("figures")
    guard figures.count == 2 else { throw Failure() }
    return (figures[0], figures[1])
  }
}
