import Foundation
import PrephirencesDurable
import PrephirencesShared
import PrephirencesSystem
import Testing

@testable import PreferencesShared

@Suite("Preferences of two machines", .timeLimit(.minutes(2)))
struct PreferencesSharingTests {
  private let address: String

  init() throws { address = try PreferencesEngine.address() }

  private func flush(_ preferences: SharedPreferences) async throws {
    try await preferences.flush(deadline: .seconds(20))
  }

  @Test func valuesAndRemovalsReachTheOtherMachine() async throws {
    let (one, two) = (try PreferencesMachine(address), try PreferencesMachine(address))
    let (a, b) = (one.preferences(), two.preferences())
    let changes = Deliveries<SharedPreferences.ExternalChange>()
    let observation = b.observeExternalChanges { changes.append($0) }
    let own = a.observeExternalChanges { _ in Issue.record("a change of this machine") }
    let date = Date(timeIntervalSinceReferenceDate: 1.5)
    a["date"] = date
    one.durable["number"] = Int.max
    try await flush(a)
    try changes.wait { Set($0.flatMap(\.keys)) == ["date", "number"] }
    #expect(b["date"] as? Date == date && b["number"] as? Int == .max)
    #expect(two.durable["number"] as? Int == .max)
    a.removeObject(forKey: "date")
    try await flush(a)
    try changes.wait { $0.last?.keys == ["date"] && $0.last?.reason == .serverChange }
    #expect(b["date"] == nil)
    observation.cancel()
    own.cancel()
  }

  @Test func earlierWritesAreSentAtTheFirstContact() async throws {
    let (one, two) = (try PreferencesMachine(), try PreferencesMachine())
    one.durable["only one"] = 1
    two.durable["only two"] = 2
    for machine in [one, two] {
      try SharedPreferences.share(
        suiteName: "fleet", with: SharingConfiguration(address: address), folder: nil,
        environment: machine.environment)
    }
    let (a, b) = (one.preferences(), two.preferences())
    try waitUntil(a) { $0["only two"] as? Int == 2 }
    try waitUntil(b) { $0["only one"] as? Int == 1 }
    #expect(try a.status().isShared)
  }

  @Test func flushSendsAlsoIfTheSuiteWasSharedLater() async throws {
    let (one, two) = (try PreferencesMachine(), try PreferencesMachine(address))
    let a = one.preferences()
    a["key"] = 1
    // Another program shares the suite.
    try SharingConfiguration(address: address).save(
      suiteName: "fleet", environment: one.environment)
    try SharedReplica(one.durable).share(SharingSettings())
    try await flush(a)
    let b = two.preferences()
    try waitUntil(b) { $0["key"] as? Int == 1 }
  }

  @Test func theOrderOfTheStoreWinsAndTheLoserGetsBothValues() async throws {
    let (one, two) = (try PreferencesMachine(address), try PreferencesMachine(address))
    let a = one.preferences()
    try await inStep(two)
    two.durable["key"] = "lost"
    a["key"] = "won"
    try await flush(a)
    let (b, lost) = try observedFromTheStart(two)
    try lost.changes.wait { $0.contains { !$0.lostValues.isEmpty } }
    let value = try #require(lost.changes.all.flatMap(\.lostValues).first)
    #expect(value.key == "key")
    #expect(value.localValue == "lost" && value.sharedValue == "won")
    #expect(b["key"] as? String == "won")
    lost.observation.cancel()
  }

  @Test func closureDecidesAConflict() async throws {
    let (one, two) = (try PreferencesMachine(address), try PreferencesMachine(address))
    let a = one.preferences()
    try await inStep(two, decides: true)
    two.durable["hosts"] = ["b"]
    a["hosts"] = ["a"]
    try await flush(a)
    let (deciding, mayDecide) = (Deliveries<Void>(), DispatchSemaphore(value: 0))
    let b = two.preferences { conflict in
      let hosts = conflict.values.flatMap {
        ($0.local?.object as? [String] ?? []) + ($0.shared?.object as? [String] ?? [])
      }
      deciding.append(())
      mayDecide.wait()
      return .set([("hosts", .array(hosts.sorted().map { .string($0) }))])
    }
    try deciding.wait { !$0.isEmpty }
    let changes = Deliveries<SharedPreferences.ExternalChange>()
    let observation = b.observeExternalChanges { changes.append($0) }
    mayDecide.signal()
    try waitUntil(a) { $0["hosts"] as? [String] == ["a", "b"] }
    #expect(b["hosts"] as? [String] == ["a", "b"])
    try await flush(b)
    #expect(try b.status().waiting.isEmpty)
    // The decision is this machine's own change.
    a["next"] = 1
    try changes.wait { $0.contains { $0.keys.contains("next") } }
    #expect(changes.all.flatMap(\.keys) == ["next"])
    observation.cancel()
  }

  @Test func conflictWaitsForAClosureThatDecidesIt() async throws {
    struct Undecided: Error {}
    let (one, two) = (try PreferencesMachine(address), try PreferencesMachine(address))
    let a = one.preferences()
    try await inStep(two, decides: true)
    two.durable["key"] = "local"
    a["key"] = "shared"
    try await flush(a)
    let asked = Deliveries<Bool>()
    var b: SharedPreferences? = two.preferences { conflict in
      asked.append(conflict.isTransaction)
      throw Undecided()
    }
    try asked.wait { !$0.isEmpty }
    b?["other"] = 1
    try waitUntil(a) { $0["other"] as? Int == 1 }
    let waiting = try #require(try b?.status().waiting.first)
    #expect(waiting.keys == ["key"] && waiting.reason == .decision)
    let failures = Deliveries<PreferencesError>()
    let observation = b?.observeFailures { failures.append($0) }
    try failures.wait { $0.contains { $0.code == .conflict && $0.message.contains("'key'") } }
    observation?.cancel()
    #expect(b?["key"] as? String == "local")
    b = nil
    let decided = two.preferences { _ in .keepLocal }
    try waitUntil(a) { $0["key"] as? String == "local" }
    #expect(decided["key"] as? String == "local")
  }

  @Test func transactionIsRejectedWhole() async throws {
    let (one, two) = (try PreferencesMachine(address), try PreferencesMachine(address))
    let a = one.preferences()
    try await inStep(two, decides: true)
    try two.durable.transaction { transaction in
      try transaction.set("b", forKey: "first")
      try transaction.set("b", forKey: "second")
    }
    a["first"] = "a"
    try await flush(a)
    let conflicts = Deliveries<SharedPreferences.Conflict>()
    let b = two.preferences { conflict in
      conflicts.append(conflict)
      return .takeShared
    }
    let conflict = try #require(try conflicts.wait { !$0.isEmpty }.first)
    #expect(conflict.isTransaction)
    #expect(Set(conflict.values.map(\.key)) == ["first", "second"])
    try waitUntil(b) { $0["first"] as? String == "a" && $0["second"] == nil }
    try await flush(b)
    #expect(a["second"] == nil)
  }

  @Test func tooLargeTransactionThrowsAndChangesNothing() throws {
    let preferences = try PreferencesMachine(address).preferences()
    let error = #expect(throws: PreferencesError.self) {
      try preferences.transaction { transaction in
        for number in 0...120 { try transaction.set(number, forKey: "\(number)") }
      }
    }
    #expect(error?.code == .overQuota)
    #expect(preferences.dictionary().isEmpty)
    // Piece by piece, there is no such limit.
    preferences.set(
      dictionary: Dictionary(uniqueKeysWithValues: (0...120).map { ("\($0)", $0) }))
    #expect(preferences.lastError == nil && preferences.dictionary().count == 121)
  }

  @Test func quotaIsKeptByEveryProgramOfTheMachine() throws {
    let machine = try PreferencesMachine(address) { $0.quotaKeys = 2 }
    let preferences = machine.preferences()
    preferences["a"] = 1
    machine.durable["b"] = 2
    #expect(throws: PreferencesError.self) { try machine.durable.storeObject(3, forKey: "c") }
    preferences["c"] = 3
    #expect(preferences.lastError?.code == .overQuota && preferences["c"] == nil)
    preferences["a"] = 4
    #expect(preferences.lastError == nil)
  }

  @Test func externalChangesAreASequence() async throws {
    let (one, two) = (try PreferencesMachine(address), try PreferencesMachine(address))
    let (a, b) = (one.preferences(), two.preferences())
    let changes = b.externalChanges()
    a["key"] = 1
    try await flush(a)
    for await change in changes where change.keys.contains("key") { break }
    #expect(b["key"] as? Int == 1)
  }

  @Test func flushSaysWhatIsUnsentAtItsDeadline() async throws {
    let machine = try PreferencesMachine("etcd+http://127.0.0.1:9/none")
    let preferences = machine.preferences()
    preferences["key"] = 1
    let error = await #expect(throws: PreferencesError.self) {
      try await preferences.flush(deadline: .milliseconds(300))
    }
    #expect(error?.code == .timedOut)
    #expect(preferences["key"] as? Int == 1)
    #expect(try preferences.status().unsentKeys == 1)
    #expect(try preferences.status().oldestUnsent != nil)
  }

  @Test func failuresInTheBackgroundAreReported() throws {
    let machine = try PreferencesMachine("etcd+http://127.0.0.1:9/none")
    let (sender, other) = (machine.preferences(), machine.preferences())
    let failures = Deliveries<PreferencesError.Code>()
    let observations = [sender, other].map { $0.observeFailures { failures.append($0.code) } }
    sender["key"] = 1
    try failures.wait { $0.count(where: { $0 == .unreachable }) == 2 }
    #expect(try sender.status().failure?.code == .unreachable)
    #expect(sender.lastError == nil)
    for observation in observations { observation.cancel() }
  }

  @Test func manyChangesAreOneOfEachReason() {
    var changes = GroupedChanges()
    func add(_ reason: SharedPreferences.ExternalChange.Reason, _ keys: [String]) {
      changes.add(SharedPreferences.ExternalChange(reason: reason, keys: keys, lostValues: []))
    }
    add(.initialSync, ["a", "b"])
    add(.initialSync, ["b", "c"])
    add(.serverChange, ["a"])
    add(.initialSync, ["d"])
    #expect(changes.all.map(\.keys) == [["a", "b", "c"], ["a"], ["d"]])
    #expect(changes.popFirst()?.reason == .initialSync)
    #expect(changes.all.count == 2)
  }

  @Test func endedSharingIsLocal() async throws {
    let (one, two) = (try PreferencesMachine(address), try PreferencesMachine(address))
    var a: SharedPreferences? = one.preferences()
    a?["key"] = 1
    try await a?.flush(deadline: .seconds(20))
    a = nil
    try SharedPreferences.stopSharing(
      suiteName: "fleet", folder: nil, environment: one.environment)
    let local = one.preferences()
    #expect(local["key"] as? Int == 1 && local.worker == nil)
    #expect(try !local.status().isShared)
    let b = two.preferences()
    try waitUntil(b) { $0["key"] as? Int == 1 }
  }

  /// Brings a machine into step, and lets it go offline.
  private func inStep(_ machine: PreferencesMachine, decides: Bool = false) async throws {
    let preferences =
      decides
      ? machine.preferences { _ in .takeShared } : machine.preferences()
    preferences["begun \(machine.folder)"] = true
    try await flush(preferences)
    preferences.worker?.stop(Deadline(after: .seconds(5)))
  }

  private struct Observed {
    let changes: Deliveries<SharedPreferences.ExternalChange>
    let observation: PreferenceObservation
  }

  /// Observes before the machine is in step again: without its configuration, it is not.
  private func observedFromTheStart(
    _ machine: PreferencesMachine
  ) throws -> (SharedPreferences, Observed) {
    let data = try Data(contentsOf: URL(filePath: machine.configurationPath))
    try FileManager.default.removeItem(atPath: machine.configurationPath)
    let preferences = machine.preferences()
    let changes = Deliveries<SharedPreferences.ExternalChange>()
    let observation = preferences.observeExternalChanges { changes.append($0) }
    #expect(
      FileManager.default.createFile(
        atPath: machine.configurationPath, contents: data, attributes: [.posixPermissions: 0o600]))
    // A second object begins to share.
    return (machine.preferences(), Observed(changes: changes, observation: observation))
  }
}
