import Prephirences
import PrephirencesDurable
import Testing

/// Random steps of three machines and an engine, all from one seed.
struct ModelRun {
  private let seed: UInt64
  private var random: SeededNumbers
  private var engine = ModelEngine()
  private var machines: [ModelMachine]
  private var lateUnits: [(batch: SharedBatch, identity: [UInt8]?)] = []
  private var backups: [ModelEngine] = []
  private var copies: [(machine: Int, folder: ModelFolder)] = []
  private var lastValue = 0

  /// Whether the engine or a home is restored: then a value may be sent twice.
  private let hasRestores: Bool
  private let hasClones: Bool
  private let programDecides: Bool
  private static let keys = ["a", "b", "c", "d", "e"]

  /// Keys that only transactions change, always to the same value.
  private static let pair = ["x", "y"]

  init(seed: UInt64) throws {
    self.seed = seed
    random = SeededNumbers(seed)
    hasRestores = seed.isMultiple(of: 2)
    hasClones = seed % 4 == 1
    programDecides = seed % 3 == 0
    let decides = programDecides
    machines = try ["one", "two", "three"].map { try ModelMachine($0, programDecides: decides) }
  }

  private var place: Comment { "seed \(seed)" }

  mutating func run(steps: Int) throws {
    for _ in 0..<steps {
      try step()
      try checkPairs()
    }
    try settle()
    try check()
  }

  private mutating func step() throws {
    let machine = machines[random.below(machines.count)]
    if hasClones, machines.count < 6, random.below(20) == 0 { try clone(machine) }
    switch random.below(hasRestores ? 24 : 20) {
    case 0..<6: try write(machine)
    case 6..<8: try writePair(machine)
    case 8..<12: try send(machine)
    case 12..<16: try machine.receive(&engine, atMost: random.below(3) + 1)
    case 16 where random.below(2) == 0: try machine.receiveLate(&engine)
    case 16:
      machine.isConnected = false
      if random.below(3) == 0 { engine.compact() }
    case 17: try decide(machine)
    case 18: try collect(machine, above: 2)
    case 19:
      if random.below(2) == 0 { machine.reopen() } else { performLateUnit() }
    case 20: backups.append(engine)
    case 21: restoreEngine()
    case 22: copies.append((random.below(machines.count), try machine.copy()))
    default: restoreHome()
    }
  }

  // MARK: - Steps

  private mutating func newValue() -> Int {
    lastValue += 1
    return lastValue
  }

  private mutating func write(_ machine: ModelMachine) throws {
    let key = Self.keys[random.below(Self.keys.count)]
    if random.below(4) == 0 {
      try machine.store.storeObject(nil, forKey: key)
      return machine.written[key] = nil
    }
    let value = newValue()
    try machine.store.storeObject(value, forKey: key)
    machine.written[key] = [value]
  }

  private mutating func writePair(_ machine: ModelMachine) throws {
    let value = newValue()
    let other = random.below(2) == 0 ? Self.keys[random.below(Self.keys.count)] : nil
    try machine.store.transaction { transaction in
      for key in Self.pair { try transaction.set(value, forKey: key) }
      if let other { try transaction.set(value, forKey: other) }
    }
    if let other { machine.written[other] = [value] }
    machine.written["x"] = [value]
  }

  private mutating func send(_ machine: ModelMachine) throws {
    guard machine.isConnected else { return }
    let delivery: ModelMachine.Delivery =
      switch random.below(6) {
      case 0: .noRequest
      case 1: .noAnswer
      default: .whole
      }
    let identity = try machine.replica.state().identity
    let batch = try machine.send(&engine, delivery)
    // The network may deliver a request that was given up, or deliver one twice.
    if let batch, random.below(3) == 0 { lateUnits.append((batch, identity)) }
  }

  private mutating func performLateUnit() {
    guard !lateUnits.isEmpty else { return }
    let late = lateUnits.remove(at: random.below(lateUnits.count))
    _ = engine.perform(late.batch, late.identity)
  }

  private mutating func collect(_ machine: ModelMachine, above limit: Int) throws {
    guard machine.isConnected,
      let (rows, floor) = try machine.replica.removalsToCollect(above: limit)
    else { return }
    engine.collect(rows, floor: floor)
  }

  private mutating func restoreEngine() {
    guard !backups.isEmpty else { return }
    engine.restore(backups[random.below(backups.count)])
    for machine in machines { machine.isConnected = false }
    // Requests to the lost engine end with it.
    lateUnits = []
  }

  private mutating func restoreHome() {
    guard !copies.isEmpty else { return }
    let (number, folder) = copies.remove(at: random.below(copies.count))
    machines[number].become(folder)
  }

  /// Both machines go on.
  private mutating func clone(_ machine: ModelMachine) throws {
    machines.append(ModelMachine("\(machine.name)'", copy: try machine.copy()))
  }

  private mutating func decide(_ machine: ModelMachine) throws {
    for conflict in try machine.replica.conflicts() {
      let decision: ReplicaDecision
      switch random.below(3) {
      case 0: decision = .takeShared
      case 1: decision = .keepLocal
      default:
        let value = newValue()
        let decided = conflict.values.map {
          (key: $0.key, value: Optional(PreferenceValue.integer(Int64(value))))
        }
        decision = .set(decided)
      }
      guard try machine.replica.resolve(conflict, decision) else { continue }
      if case .keepLocal = decision { continue }
      for value in conflict.values { machine.written[value.key] = nil }
      if case .set(let values) = decision {
        for (key, value) in values where key != "y" {
          machine.written[key] = (value?.object as? Int).map { [$0] }
        }
      }
    }
  }

  // MARK: - End

  /// Lets all machines send and receive until nothing changes.
  private mutating func settle() throws {
    while !lateUnits.isEmpty { performLateUnit() }
    for _ in 0..<100 {
      var isQuiet = true
      for machine in machines {
        try machine.receive(&engine)
        try decide(machine)
        while try machine.send(&engine) != nil { isQuiet = false }
        if try machine.replica.state().unsentKeys > 0 { isQuiet = false }
      }
      guard !isQuiet else { return }
    }
    Issue.record("something stays unsent: seed \(seed)")
    throw ModelFailure.noAgreement
  }

  private func checkPairs() throws {
    guard !hasRestores else { return }
    for machine in machines {
      let values = try machine.values
      #expect(values["x"] == values["y"], "\(place), machine \(machine.name)")
    }
    #expect(Self.value(engine.rows["x"]) == Self.value(engine.rows["y"]), place)
  }

  private static func value(_ row: SharedRow?) -> Int? {
    guard let row, case .value(let value) = row.content else { return nil }
    return value.object as? Int
  }

  private mutating func check() throws {
    let shared = engine.rows.compactMapValues(Self.value)
    for machine in machines {
      try machine.receive(&engine)
      let values = try machine.values
      #expect(values == shared, "\(place), machine \(machine.name)")
    }
    guard !hasRestores else { return }
    if !hasClones {
      // What was unsent when a machine was cloned is a change of both.
      checkHistory()
      let writers = Set(engine.history.compactMap(\.writer))
      #expect(writers.count <= machines.count, "a machine took itself for a copy: seed \(seed)")
    }
    try checkNothingIsLost()
  }

  /// Nothing was written twice.
  private func checkHistory() {
    var seen: Set<[UInt8]> = []
    for row in engine.history where Self.value(row) != nil {
      let (key, value) = (Array(row.key.utf8), Array("\(Self.value(row) ?? 0)".utf8))
      #expect(seen.insert(key + [0] + value).inserted, "\(place), key \(row.key)")
    }
  }

  /// What was set last on a machine was sent, or lost a conflict of which the journal tells.
  private func checkNothingIsLost() throws {
    for machine in machines {
      let journal = try machine.replica.changeFeed(after: 0) ?? []
      for (key, values) in machine.written {
        for value in values {
          let wasSent = engine.history.contains { $0.key == key && Self.value($0) == value }
          let wasRejected = journal.contains {
            $0.isConflict && $0.key == key && $0.old?.object as? Int == value
          }
          #expect(wasSent || wasRejected, "\(place), machine \(machine.name), key \(key)")
        }
      }
    }
  }
}

/// Random numbers that a seed determines.
struct SeededNumbers {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Returns a number from 0 to one less than the bound.
  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
