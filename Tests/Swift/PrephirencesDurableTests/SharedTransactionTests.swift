import Foundation
import Prephirences
import PrephirencesDurable
import Testing

/// What becomes of a transaction of which the engine has something else, or what cannot be read.
@Suite struct SharedTransactionTests: SharedFileTesting {
  private let folder: TestFolder
  private let store: DurablePreferences
  let replica: SharedReplica

  init() throws {
    folder = try TestFolder()
    store = folder.store()
    replica = SharedReplica(store)
  }

  private func transact(_ a: String, _ b: String) throws {
    try store.transaction { transaction in
      try transaction.set(a, forKey: "a")
      try transaction.set(b, forKey: "b")
    }
  }

  private func losses() throws -> [PreferenceKey: String] {
    Dictionary(try replica.losses(after: 0).map { ($0.key, "\($0.new?.object ?? "none")") }) { $1 }
  }

  // MARK: - Values of others

  @Test(arguments: [false, true])
  func anEqualTransactionIsNoConflict(_ programDecides: Bool) throws {
    try connect(programDecides: programDecides)
    try transact("new", "new2")
    try receive(
      .row(row("a", "new", 1, revision: 2)), .row(row("b", "new2", 1, revision: 2)), revision: 2)
    #expect(try replica.state().unsentKeys == 0)
    #expect(try replica.losses(after: 0).isEmpty)
  }

  /// A transaction goes on only with what is unsent below it.
  @Test func anEqualTransactionOnAnUnsentValueIsAConflict() throws {
    try connect()
    try receive(
      .row(row("a", "0", 1, revision: 2)), .row(row("b", "2", 1, revision: 2)), revision: 2)
    store["b"] = "5"
    try transact("1", "2")
    try receive(.row(row("a", "1", 2, revision: 3)), revision: 3)
    #expect(store["a"] as? String == "1" && store["b"] as? String == "5")
    #expect(try losses()["b"] == "5")
    #expect(try replica.nextBatch()?.changes.map(\.row.key) == ["b"])
  }

  @Test func aLossSaysWhatTheOtherTransactionHasSet() throws {
    try connect()
    try transact("here", "here2")
    try receive(
      .row(row("a", "there", 1, revision: 2)), .row(row("b", "there2", 1, revision: 2)),
      revision: 2)
    #expect(try losses() == ["a": "there", "b": "there2"])
  }

  // MARK: - What cannot be read

  @Test func aTransactionWithAnUnreadableKeyWaitsWhole() throws {
    try connect()
    try transact("here", "here")
    try receive(
      .row(row("a", "there", 1, revision: 2)),
      .row(SharedRow(key: "b", revision: 2, bytes: [7, 1, 2])), revision: 2)
    #expect(store["a"] as? String == "here" && store["b"] as? String == "here")
    #expect(try replica.conflicts().first?.message?.contains("'b' cannot be read") == true)
    #expect(try replica.nextBatch() == nil)
    // Somebody removes the row.
    try receive(.removed("b"), revision: 3)
    #expect(store["a"] as? String == "there" && store["b"] == nil)
    #expect(try losses() == ["a": "there", "b": "none"])
    #expect(try replica.conflicts().isEmpty)
  }

  @Test func changeThatWaitsForALaterUnreadableKeyIsDecided() throws {
    try connect()
    store["a"] = "first"
    try transact("second", "second")
    try receive(
      .row(row("a", "there", 1, revision: 2)),
      .row(SharedRow(key: "b", revision: 2, bytes: [7, 1, 2])), revision: 2)
    #expect(store["a"] as? String == "second")
    try receive(.row(row("b", "there", 2, revision: 3)), revision: 3)
    #expect(store["a"] as? String == "there" && store["b"] as? String == "there")
    #expect(try replica.conflicts().isEmpty)
    #expect(try replica.state().unsentKeys == 0)
  }

  @Test func aProgramCannotTakeWhatCannotBeRead() throws {
    try connect(programDecides: true)
    try transact("here", "here")
    try receive(
      .row(row("a", "there", 1, revision: 2)),
      .row(SharedRow(key: "b", revision: 2, bytes: [7, 1, 2])), revision: 2)
    let conflict = try #require(try replica.conflicts().first)
    for decision in [ReplicaDecision.takeShared, .set([("a", "both")])] {
      let error = #expect(throws: PreferencesError.self) {
        try replica.resolve(conflict, decision)
      }
      #expect(error?.code == .unsupportedFormat)
    }
    #expect(store["a"] as? String == "here" && store["b"] as? String == "here")
    try replica.share(SharingSettings(), clearingDecisions: true)
    #expect(store["a"] as? String == "here" && store["b"] as? String == "here")
    try receive(.row(row("b", "there", 2, revision: 3)), revision: 3)
    #expect(store["a"] as? String == "there" && store["b"] as? String == "there")
  }

  // MARK: - Restores

  /// An acknowledged value lies below a transaction that is given up; the engine has another one.
  @Test(arguments: ["a", "c"])
  func anAcknowledgedValueThatIsReplacedIsReported(_ key: String) throws {
    try connect()
    store[key] = "acknowledged"
    let batch = try #require(try replica.nextBatch())
    try replica.acknowledge(batch, revision: 2)
    try store.transaction { transaction in
      try transaction.set("here", forKey: key)
      try transaction.set("here", forKey: "b")
    }
    let before = try row(key, "old", 1, revision: 1)
    let there = try row("b", "there", 2, revision: 2)
    #expect(try replica.apply(snapshot(2, [before, there])) == .applied)
    #expect(store["b"] as? String == "there")
    let lost = try losses()
    #expect(lost["b"] == "there")
    #expect(lost[key] != nil)
  }

  @Test func anOlderValueIsReplacedByTheOneThatTheEngineHasLost() throws {
    try connect()
    try receive(.row(row("a", "old", 1, revision: 2)), revision: 2)
    store["a"] = "acknowledged"
    let batch = try #require(try replica.nextBatch())
    try replica.acknowledge(batch, revision: 3)
    try transact("here", "here")
    let old = try row("a", "old", 1, revision: 2)
    let there = try row("b", "there", 2, revision: 3)
    #expect(try replica.apply(snapshot(3, [old, there])) == .applied)
    #expect(store["a"] as? String == "acknowledged")
    #expect(store["b"] as? String == "there")
    let again = try #require(try replica.nextBatch())
    #expect(again.changes.map(\.row.key) == ["a"])
  }

  @Test func aValueWhoseRowIsGoneIsSentAgainIfATransactionOnItIsGivenUp() throws {
    try connect()
    store["a"] = "acknowledged"
    let batch = try #require(try replica.nextBatch())
    try replica.acknowledge(batch, revision: 2)
    try transact("here", "here")
    let there = try row("b", "there", 1, revision: 2)
    #expect(try replica.apply(snapshot(2, [there])) == .applied)
    #expect(store["a"] as? String == "acknowledged" && store["b"] as? String == "there")
    #expect(try replica.nextBatch()?.changes.map(\.row.key) == ["a"])
  }

  /// The writer is new, so its missing row does not say that the engine was restored.
  @Test func aLostValueGoesBeforeWhatWasNumberedOnIt() throws {
    try connect()
    try receive(.row(row("a", "old", 1, revision: 2)), revision: 2)
    store["a"] = "acknowledged"
    let batch = try #require(try replica.nextBatch())
    try replica.acknowledge(batch, revision: 3)
    try replica.renewWriter()
    try transact("here", "here")
    #expect(try replica.nextBatch()?.changes.count == 2)
    #expect(try replica.apply(snapshot(3, [try row("a", "old", 1, revision: 2)])) == .applied)
    let first = try #require(try replica.nextBatch())
    #expect(first.changes.map(\.row.key) == ["a"])
    try replica.acknowledge(first, revision: 4)
    #expect(try replica.nextBatch()?.changes.count == 2)
    #expect(store["a"] as? String == "here" && store["b"] as? String == "here")
  }

  /// The engine forgets the writer of a command after a day.
  @Test func aRemovalReachesWhatACommandHasWritten() throws {
    try connect()
    let command = WriterTag.forgotten()
    try receive(.row(row("a", 1, 1, revision: 2, by: command)), revision: 2)
    #expect(try replica.apply(snapshot(9, [], floor: 8)) == .applied)
    #expect(store["a"] == nil)
    #expect(try replica.nextBatch() == nil)
  }

  // MARK: - The journal

  @Test func theLastLossOfEachKeyIsListed() throws {
    try connect()
    for number in 1...3 as ClosedRange<Int64> {
      store["a"] = "here \(number)"
      let revision = number + 1
      let row = try row("a", .string("there \(number)"), number, revision: revision)
      try receive(.row(row), revision: revision)
    }
    let conflicts = try replica.recentConflicts(5)
    #expect(conflicts.map { $0.old } == ["here 3"])
  }

  @Test func aFloodWashesAwayNoLoss() throws {
    try connect { $0.quota.keys = 20_000 }
    store["a"] = "here"
    let rows = try (0..<10_500).map {
      SharedRevision.Change.row(try row("k\($0)", 1, 1, revision: 2))
    }
    let first = SharedRevision.Change.row(try row("a", "there", 1, revision: 2))
    #expect(
      try replica.apply([SharedRevision(revision: 2, changes: [first] + rows)]) == .applied)
    #expect(try replica.changeFeed(after: 0) == nil)
    #expect(try losses() == ["a": "there"])
    #expect(try replica.changeFeed(after: 501)?.count == 10_000)
  }
}
