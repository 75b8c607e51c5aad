import Foundation
import Prephirences
import PrephirencesDurable
import Testing

/// In which order a shared file sends its changes, and what waits.
@Suite struct SharedOrderTests: SharedFileTesting {
  private let folder: TestFolder
  private let store: DurablePreferences
  let replica: SharedReplica

  init() throws {
    folder = try TestFolder()
    store = folder.store()
    replica = SharedReplica(store)
  }

  private func row(_ key: String, _ value: Int, revision: Int64) throws -> SharedRow {
    try row(key, .integer(Int64(value)), revision, revision: revision)
  }

  private func transact(_ value: Int, _ keys: String...) throws {
    try store.transaction { transaction in
      for key in keys { try transaction.set(value, forKey: key) }
    }
  }

  /// The keys of all batches, as they are sent.
  private func sent() throws -> [[String]] {
    var sent: [[String]] = []
    while let batch = try replica.nextBatch() {
      sent.append(batch.changes.map(\.row.key))
      try replica.acknowledge(batch, revision: Int64(sent.count + 100))
    }
    return sent
  }

  @Test func changesAreSentInTheirOrder() throws {
    try connect()
    for number in 0..<100 { store["x\(number)"] = number }
    store["a ready"] = 1
    store["x0"] = "again"
    try transact(1, "t1", "t2")
    store["late"] = 1
    let batches = try sent()
    #expect(batches.map(\.count) == [64, 37, 2, 1])
    #expect(batches[0] == (1...64).map { "x\($0)" })
    #expect(Array(batches[1].suffix(2)) == ["a ready", "x0"])
    #expect(Set(batches[2]) == ["t1", "t2"] && batches[3] == ["late"])
  }

  @Test func laterChangesDoNotOvertakeATransaction() throws {
    try connect()
    store["a"] = 1
    try transact(2, "a", "b")
    store["late"] = 1
    #expect(try sent().map { Set($0) } == [["a"], ["a", "b"], ["late"]])
  }

  @Test func changesBasedOnAConflictWait() throws {
    try connect(programDecides: true)
    store["a"] = 1
    try receive(.row(row("a", 9, revision: 2)), revision: 2)
    try transact(2, "a", "b")
    try transact(3, "b", "c")
    store["c"] = 4
    let mark = try replica.outboxMark()
    #expect(try sent().isEmpty)
    let unsent = try replica.unsent(upTo: mark)
    #expect(unsent.keys.sorted() == ["a", "b", "c"])
    #expect(unsent.areWaiting && !unsent.mayHaveHappened)
    store["free"] = 1
    #expect(try !replica.unsent(upTo: replica.outboxMark()).areWaiting)
    #expect(try sent() == [["free"]])
  }

  @Test func aKeyWhoseUnreadableRowVanishesIsSentAgain() throws {
    try connect()
    try receive(.row(row("a", 1, revision: 2)), revision: 2)
    try receive(.row(SharedRow(key: "a", revision: 3, bytes: Array("junk".utf8))), revision: 3)
    try receive(.removed("a"), revision: 4)
    #expect(store["a"] as? Int == 1)
    #expect(try sent() == [["a"]])
  }

  @Test(arguments: [[7, 1, 2], [1, 6, 0]] as [[UInt8]])
  func changeSetAsideByAnUnreadableRowContinues(_ bytes: [UInt8]) throws {
    try connect()
    store["a"] = 1
    try receive(.row(SharedRow(key: "a", revision: 2, bytes: bytes)), revision: 2)
    #expect(try sent().isEmpty)
    let state = try replica.state()
    #expect(state.setAside.map(\.reason) == [bytes[0] == 1 ? .damaged : .newerForm])
    #expect((state.newerKeys + state.damagedKeys) == ["a"])
    #expect(state.newerKeys.isEmpty == (bytes[0] == 1))
    try receive(.removed("a"), revision: 3)
    #expect(try replica.state().setAside.isEmpty)
    #expect(try sent() == [["a"]])
  }

  /// One key is rejected, and what the engine has of another cannot be read.
  @Test func aRejectedTransactionNeverStaysInPart() throws {
    try connect()
    try transact(1, "a", "b")
    try receive(.row(SharedRow(key: "a", revision: 2, bytes: [7, 1])), revision: 2)
    try receive(.row(row("b", 9, revision: 3)), revision: 3)
    #expect(store["a"] as? Int == 1 && store["b"] as? Int == 1)
    #expect(try replica.conflicts().first?.message?.contains("'a'") == true)
    #expect(try sent().isEmpty)
    try receive(.row(row("a", 8, revision: 4)), revision: 4)
    #expect(store["a"] as? Int == 8 && store["b"] as? Int == 9)
    #expect(try replica.state().unsentKeys == 0)
  }

  // MARK: - Sharing

  @Test func aSessionEndsWithItsSharing() throws {
    try connect()
    store["a"] = 1
    let session = replica.during(try #require(try replica.currentEpoch()))
    #expect(try session.nextBatch() != nil)
    try session.renewWriter()
    try session.checkEpoch()
    try replica.unshare()
    #expect(try replica.currentEpoch() == nil)
    try connect()
    let revisions = [SharedRevision(revision: 2, changes: [.row(try row("b", 1, revision: 2))])]
    let error = #expect(throws: PreferencesError.self) { try session.apply(revisions) }
    #expect(error?.code == .notFound)
    #expect(throws: PreferencesError.self) { try session.nextBatch() }
    #expect(store["b"] == nil)
    let next = replica.during(try #require(try replica.currentEpoch()))
    #expect(try next.nextBatch() != nil)
    try replica.adopt(identity: [2])
    #expect(throws: PreferencesError.self) { try next.state() }
  }

  @Test func aSessionEndsWithItsPlace() throws {
    try connect()
    let session = replica.during(try #require(try replica.currentEpoch()))
    var settings = SharingSettings()
    settings.place = "elsewhere"
    try replica.share(settings)
    #expect(throws: PreferencesError.self) { try session.nextBatch() }
    try replica.share(SharingSettings())
    #expect(try session.nextBatch() == nil)
  }
}
