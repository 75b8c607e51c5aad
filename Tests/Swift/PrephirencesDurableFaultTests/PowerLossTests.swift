import CFaultVFS
import FaultTesting
import Foundation
import Prephirences
import PrephirencesDurable
import Testing

/// Loses what was not synchronized, as a power failure does, and reads what is left.
@Suite("The power fails", .timeLimit(.minutes(14)))
struct PowerLossTests {
  @Test(arguments: Loss.allCases)
  func synchronizedChangesAreThere(_ loss: Loss) throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("power loss, \(loss): seed \(seed)")
    try run(loss, seed: seed)
  }

  /// The next writer then writes the log again: the kernel reports the failure only once.
  @Test func aFailedSynchronizationAtClosingLeavesTheMark() throws {
    let home = try TestHome()
    let plan = try FaultPlan(.syncs, call: .max, in: home)
    try home.store().storeObject(1, forKey: "k")
    plan.fail(1)
    // A process keeps the last suites open; the first is closed.
    for number in 0..<17 {
      _ = try TestHome.store(suiteName: "other\(number)", in: home).fetchObject(forKey: "k")
    }
    #expect(plan.disarm() > 0)
    #expect(try Data(contentsOf: URL(filePath: home.lock))[8] == 1)
    #expect(TestHome.size(of: home.log) > 0)
    #expect(try home.run("set", "k2", "2", "synchronize") == [])
    #expect(try Data(contentsOf: URL(filePath: home.lock))[8] == 0)
    #expect(try home.contents() == ["k": "1", "k2": "2"])
  }

  private func run(_ loss: Loss, seed: UInt64) throws {
    var random = SplitMix(state: seed)
    let home = try TestHome()
    let log = try WriteLog(of: home.folder)
    let work = try Workload(in: home, log, steps: 120, using: &random)
    var found: Set<Int> = []
    for _ in 0..<Thoroughness.tried(600) {
      let point = Int.random(in: 0...log.count, using: &random)
      let image = crashImage(of: log, after: point, loss, using: &random)
      let place: Comment = "seed \(seed), \(loss), call \(point) of \(log.count)"
      do {
        found.insert(try work.check(image, after: point, using: &random, place))
      } catch {
        Issue.record(error, place)
      }
    }
    print("power loss, \(loss): \(found.count) of \(work.states.count) states met")
  }
}

/// Changes of a suite, and the states after each of them.
struct Workload {
  /// The contents before and after each step.
  let states: [[String: Int]]
  /// The number of logged calls when each step began and ended.
  private let began: [Int]
  private let ended: [Int]
  /// The file of the lock after each step.
  private let locks: [Data]
  /// The numbers of the steps after which all was synchronized.
  private let synchronized: Set<Int>

  init(
    in home: TestHome, _ log: WriteLog, steps: Int, using random: inout SplitMix
  ) throws {
    let store = home.store()
    var state: [String: Int] = [:]
    var states = [state]
    var (began, ended) = ([0], [0])
    var synchronized: Set = [0]
    var locks = [Data()]
    for step in 1...steps {
      began.append(log.count)
      switch Int.random(in: 0..<12, using: &random) {
      case 0, 1:
        try store.synchronize()
        synchronized.insert(step)
      case 2:
        try store.checkpoint()
      case 3:
        let key = "k\(Int.random(in: 0..<20, using: &random))"
        try store.storeObject(nil, forKey: key)
        state[key] = nil
      case 4:
        try store.transaction { _ in
          for number in 0..<30 {
            try store.storeObject(step, forKey: "t\(number)")
            state["t\(number)"] = step
          }
        }
      default:
        let key = "k\(Int.random(in: 0..<20, using: &random))"
        try store.storeObject(step, forKey: key)
        state[key] = step
      }
      states.append(state)
      locks.append((try? Data(contentsOf: URL(filePath: home.lock))) ?? Data())
      ended.append(log.count)
    }
    self.locks = locks
    (self.states, self.began, self.ended, self.synchronized) = (states, began, ended, synchronized)
  }

  /// Reads an image of the files, and changes it.
  ///
  /// - Returns: The number of the state that it has.
  func check(
    _ image: [String: Data], after point: Int, using random: inout SplitMix, _ place: Comment
  ) throws -> Int {
    let home = try TestHome()
    try FileManager.default.createDirectory(
      atPath: home.config, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    for (name, data) in image { try home.write(data, name) }
    let first = synchronized.filter { ended[$0] <= point }.max() ?? 0
    let last = began.lastIndex { $0 <= point } ?? 0
    // The counter is not synchronized: any value may be left, and any record.
    let lock = "\(home.suite).preferences-lock"
    switch Int.random(in: 0..<3, using: &random) {
    case 0:
      let counter = UInt64.random(in: 0...400, using: &random)
      try home.write(withUnsafeBytes(of: counter) { Data($0) }, lock)
    case 1:
      let step = ended.lastIndex { $0 <= point } ?? 0
      let left = locks[Int.random(in: 0...step, using: &random)]
      try home.write(CommitRecordBytes.afterAnotherBoot(left), lock)
    default: break
    }
    let store = home.store()
    try store.open()
    let found = store.dictionary().compactMapValues { $0 as? Int }
    if let error = store.lastError { throw error }
    let state = (first...last).last { states[$0] == found }
    #expect(state != nil, "\(place): \(found), not of a step in \(first)...\(last)")
    try store.storeObject(-1, forKey: "after")
    let again = try home.contents()
    #expect(again == found.merging(["after": -1]) { $1 }.mapValues(String.init), place)
    try store.synchronize()
    #expect(home.integrity() == "ok", place)
    return state ?? -1
  }
}
