import Foundation
import Prephirences
import PrephirencesDurable
import Testing

/// Three machines, one that does not come back, and one without a copy, whose engine is restored from
/// an older snapshot: once or twice.
///
/// Each key has one writer, so its versions have an order. The last one that a machine had, which came
/// back, must be there in the end.
struct RestoredRun {
  /// How the engine is lost, and what happens then.
  struct Plan: CustomTestStringConvertible {
    /// In which order the machines come back.
    let order: [Int]
    /// The snapshot, before or after the first changes, and the one of the second time.
    let snapshots: [Int]
    /// How many machines are back when the engine is lost again.
    let backBeforeSecond: Int
    /// Whether all read the restored engine before one of them sends.
    let readsFirst: Bool
    /// Whether what one machine sends is cut after its first batch.
    let isCut: Bool

    var testDescription: String {
      "\(order) \(snapshots) \(backBeforeSecond) \(readsFirst) \(isCut)"
    }
  }

  /// Who changes a key.
  private enum Owner: String, CaseIterable {
    /// Machines that come back: with everything of the lost engine, with a part, and with nothing.
    case all, part, none
    /// A machine that does not come back, and one that has no copy.
    case gone, direct
  }

  private enum Change: String, CaseIterable { case keep, set, delete }

  private struct Key {
    let name: String
    let owner: Owner
    /// Before the snapshot, before and after what a part of the machines have, and during the outage.
    let changes: [Change]
  }

  private let plan: Plan
  private let keys: [Key]
  private var engine = ModelEngine()
  private let machines: [ModelMachine]
  private let gone: ModelMachine
  private var snapshots: [(engine: ModelEngine, versions: [String: Int])] = []

  /// The values of each key in their order; `nil` is a removal.
  private var versions: [String: [Int?]] = [:]
  /// The last version of each key that the engine has, and that each machine has had.
  private var engineVersions: [String: Int] = [:]
  private var known: [[String: Int]]
  private var lastValue = 0

  init(_ plan: Plan) throws {
    self.plan = plan
    machines = try ["all", "part", "none"].map { try ModelMachine($0, programDecides: false) }
    gone = try ModelMachine("gone", programDecides: false)
    known = [[:], [:], [:], [:]]
    var keys: [Key] = []
    for owner in Owner.allCases {
      for number in 0..<81 {
        let changes = [27, 9, 3, 1].map { Change.allCases[number / $0 % 3] }
        let name = ([owner.rawValue] + changes.map(\.rawValue)).joined(separator: " ")
        keys.append(Key(name: name, owner: owner, changes: changes))
      }
    }
    self.keys = keys
  }

  mutating func run() throws {
    for index in 0..<4 { try connect(index) }
    try change(0)
    for index in 0..<4 { try exchange(index) }
    for index in 0..<4 { try receive(index) }
    keepSnapshot()
    try change(1)
    for index in [0, 1, 3] { try send(index) }
    for index in [0, 1, 3] { try receive(index) }
    keepSnapshot()
    try change(2)
    for index in [0, 1, 3] { try send(index) }
    for index in [0, 3] { try receive(index) }
    for (time, snapshot) in plan.snapshots.enumerated() {
      restore(snapshot)
      let isLast = time == plan.snapshots.count - 1
      // Lost again before a machine has noticed anything, it may be older than what was lost first.
      try change(3, direct: isLast)
      try comeBack(isLast ? plan.order : Array(plan.order.prefix(plan.backBeforeSecond)))
    }
    try settle()
    try check()
  }

  // MARK: - Steps

  private func machine(_ index: Int) -> ModelMachine { index == 3 ? gone : machines[index] }

  private mutating func connect(_ index: Int) throws {
    try machine(index).receive(&engine)
  }

  /// Makes the changes of one time, on the machines, or in the engine.
  private mutating func change(_ time: Int, direct: Bool = true) throws {
    for key in keys where direct || key.owner != .direct {
      let value: Int?
      switch key.changes[time] {
      case .keep: continue
      case .set:
        lastValue += 1
        value = lastValue
      case .delete: value = nil
      }
      let index: Int
      switch key.owner {
      case .all: index = 0
      case .part: index = 1
      case .none: index = 2
      case .gone where time == 3: continue
      case .gone: index = 3
      case .direct:
        let row = engine.rows[key.name]
        guard value != nil || row.map(Self.isValue) == true else { continue }
        versions[key.name, default: []].append(value)
        engineVersions[key.name] = (versions[key.name]?.count ?? 0) - 1
        try changeDirectly(key.name, value, row)
        continue
      }
      // To remove what is not there is no change.
      guard try value != nil || machine(index).values[key.name] != nil else { continue }
      versions[key.name, default: []].append(value)
      known[index][key.name] = (versions[key.name]?.count ?? 0) - 1
      try machine(index).store.storeObject(value, forKey: key.name)
    }
  }

  private static func isValue(_ row: SharedRow) -> Bool {
    if case .value = row.content { true } else { false }
  }

  private mutating func changeDirectly(_ key: String, _ value: Int?, _ base: SharedRow?) throws {
    let writer = WriterTag.forgotten()
    let row = SharedRow(
      key: key, value: value.map { .integer(Int64($0)) }, writer: writer, number: 1,
      life: StoreIdentity.life(engine.identity))
    let batch = SharedBatch(
      writer: writer, number: 1,
      changes: [SharedBatch.Change(row: row, base: base.map { .row($0) } ?? .absent)],
      oldWriterRow: nil, newWriterRow: WriterRow.new(number: 1), isTransaction: true)
    #expect(engine.perform(batch, engine.identity) != nil)
  }

  private mutating func receive(_ index: Int) throws {
    try machine(index).receive(&engine)
    known[index].merge(engineVersions) { max($0, $1) }
  }

  private mutating func send(_ index: Int, atMost count: Int = .max) throws {
    var rest = count
    while rest > 0, let batch = try machine(index).send(&engine) {
      rest -= 1
      for row in batch.changes.map(\.row) where engine.rows[row.key]?.bytes == row.bytes {
        guard case .value(let value) = row.content else {
          engineVersions[row.key] = known[index][row.key]
          continue
        }
        engineVersions[row.key] = versions[row.key]?.firstIndex(of: value.object as? Int)
      }
    }
  }

  private mutating func exchange(_ index: Int) throws {
    try receive(index)
    try send(index)
  }

  private mutating func keepSnapshot() { snapshots.append((engine, engineVersions)) }

  private mutating func restore(_ number: Int) {
    engine.restore(snapshots[number].engine)
    engineVersions = snapshots[number].versions
    for machine in machines { machine.isConnected = false }
  }

  private mutating func comeBack(_ order: [Int]) throws {
    if plan.readsFirst { for index in order { try receive(index) } }
    for index in order {
      try receive(index)
      try send(index, atMost: plan.isCut && index == order.first ? 1 : .max)
    }
  }

  // MARK: - End

  private mutating func settle() throws {
    for _ in 0..<10 {
      for index in plan.order { try exchange(index) }
      let unsent = try machines.map { try $0.replica.state().unsentKeys }.reduce(0, +)
      if unsent == 0 { break }
    }
    for index in plan.order { try receive(index) }
  }

  private func check() throws {
    var faults: [String] = []
    let values = try machines.map { try $0.values }
    for key in keys.map(\.name) {
      let last = known.prefix(3).compactMap { $0[key] }.max()
      let expected = last.flatMap { versions[key]?[$0] }
      let found = engine.rows[key].flatMap { row -> Int? in
        if case .value(let value) = row.content { value.object as? Int } else { nil }
      }
      if found != expected || values.contains(where: { $0[key] != expected }) {
        faults.append(
          "\(key): \(values.map { $0[key] }), the engine \(String(describing: found)); "
            + "not \(String(describing: expected)), of \(versions[key] ?? [])")
      }
    }
    #expect(faults.isEmpty, "\(plan.testDescription): \(faults.count): \(faults.prefix(5))")
    for machine in machines {
      let lost = try machine.replica.losses(after: 0).map(\.key)
      #expect(
        lost.isEmpty, "\(plan.testDescription): \(machine.name) has given up \(lost.prefix(5))")
      #expect(try machine.replica.state().unsentKeys == 0)
    }
  }
}
