import Foundation
import Prephirences
import PrephirencesDurable
import Testing

/// The rules of a shared file, each by itself.
@Suite struct SharedReplicaTests: SharedFileTesting {
  private let folder: TestFolder
  private let store: DurablePreferences
  let replica: SharedReplica

  init() throws {
    folder = try TestFolder()
    store = folder.store()
    replica = SharedReplica(store)
  }

  private func receive(_ rows: SharedRow..., revision: Int64) throws {
    #expect(
      try replica.apply([SharedRevision(revision: revision, changes: rows.map { .row($0) })])
        == .applied)
  }

  @Test func aRowSaysWhatItHas() throws {
    let row = SharedRow(key: "k", value: "text", writer: Self.other, number: 258)
    #expect(
      row.bytes == [1, 6] + Self.other.bytes + [0, 0, 0, 0, 0, 0, 1, 2]
        + [UInt8](repeating: 0, count: 16) + Array("text".utf8))
    #expect(row.writer == Self.other)
    #expect(row.number == 258)
    let newer = SharedRow(key: "k", revision: 1, bytes: [2, 0])
    guard case .newer = newer.content else { return #expect(Bool(false)) }
    guard case .damaged = SharedRow(key: "k", revision: 1, bytes: [1, 6, 0]).content else {
      return #expect(Bool(false))
    }
  }

  @Test func sharingBeginsAndEnds() throws {
    store["a"] = 1
    #expect(try !replica.isShared())
    try connect()
    #expect(try SharedReplica(folder.otherStore()).isShared())
    #expect(try replica.state().unsentKeys == 1)
    try replica.unshare()
    #expect(try !replica.isShared())
    store["b"] = 2
    #expect(folder.otherStore().dictionary().count == 2)
    #expect(throws: PreferencesError.self) { try replica.state() }
  }

  @Test func sharingDoesNotEndWhileSomethingIsUnsent() throws {
    store["a"] = 1
    try connect()
    #expect(try replica.unshare(losesUnsent: false) == 1)
    #expect(try replica.isShared())
    try replica.acknowledge(#require(try replica.nextBatch()), revision: 2)
    #expect(try replica.unshare(losesUnsent: false) == 0)
    #expect(try !replica.isShared())
  }

  @Test func conflictsThatNoProgramDecidesAnyMoreAreLost() throws {
    try connect(programDecides: true)
    store["a"] = "local"
    try receive(row("a", "shared", 1, revision: 2), revision: 2)
    #expect(try replica.conflicts().count == 1)
    try replica.share(SharingSettings(), clearingDecisions: true)
    #expect(store["a"] as? String == "shared")
    #expect(try folder.otherStore().fetchObject(forKey: "a") as? String == "shared")
    store["a"] = "later"
    #expect(try replica.nextBatch()?.changes.map(\.row.key) == ["a"])
  }

  @Test func waitingChangesAreReadWithTheirConflict() throws {
    try connect(programDecides: true)
    let decider = SharedReplica(folder.otherStore())
    for round: Int64 in 1...20 {
      store["a"] = "local \(round)"
      let row = try row("a", .string("shared \(round)"), round, revision: round + 1)
      try receive(row, revision: round + 1)
      let mark = try replica.outboxMark()
      let conflict = try #require(try replica.conflicts().first)
      Thread.detachNewThread { _ = try? decider.resolve(conflict, .takeShared) }
      var isDecided = false
      let end = ContinuousClock.now + .seconds(10)
      while !isDecided, .now < end {
        let (unsent, conflicts) = try replica.unsentWithConflicts(upTo: mark)
        #expect(unsent.areWaiting == !conflicts.isEmpty)
        isDecided = unsent.keys.isEmpty
      }
      #expect(isDecided)
    }
  }

  @Test func anotherProcessLogsWithoutKnowing() throws {
    let other = folder.otherStore()
    other["a"] = 1
    try connect()
    let batch = try #require(try replica.nextBatch())
    try replica.acknowledge(batch, revision: 2)
    other["a"] = 2
    #expect(try replica.nextBatch()?.changes.map(\.row.key) == ["a"])
  }

  @Test func aNumberedUnitStaysTheSame() throws {
    try connect()
    store["a"] = 1
    let batch = try #require(try replica.nextBatch())
    store["a"] = 2
    let again = try #require(try SharedReplica(folder.otherStore()).nextBatch())
    #expect(again.newWriterRow == batch.newWriterRow)
    #expect(again.changes.map(\.row) == batch.changes.map(\.row))
    try replica.acknowledge(batch, revision: 2)
    let next = try #require(try replica.nextBatch())
    #expect(next.number == batch.number + 1)
    #expect(next.oldWriterRow == batch.newWriterRow)
  }

  @Test func aTransactionIsOneUnit() throws {
    try connect()
    store["a"] = 0
    try store.transaction { transaction in
      try transaction.set(1, forKey: "a")
      try transaction.set(1, forKey: "b")
    }
    var sent: [[String]] = []
    while let batch = try replica.nextBatch() {
      sent.append(batch.changes.map(\.row.key).sorted())
      try replica.acknowledge(batch, revision: Int64(sent.count + 1))
    }
    #expect(sent == [["a"], ["a", "b"]])
  }

  @Test func aTransactionMayGoInPieces() throws {
    try connect()
    try store.repeatableTransaction(isBatch: false) {
      for number in 0...120 { try store.storeObject(1, forKey: "k\(number)") }
    }
    let batch = try #require(try replica.nextBatch())
    #expect(!batch.isTransaction)
    try receive(row("k0", 2, 1, revision: 2), row("k120", 2, 1, revision: 2), revision: 2)
    #expect(store["k0"] as? Int == 2)
    #expect(try replica.state().unsentKeys == 119)
  }

  @Test func aLargeTransactionIsRefused() throws {
    try connect()
    let error = #expect(throws: PreferencesError.self) {
      try store.transaction { transaction in
        for number in 0...120 { try transaction.set(1, forKey: "k\(number)") }
      }
    }
    #expect(error?.code == .overQuota)
    #expect(store.dictionary().isEmpty)
    store.set(dictionary: Dictionary(uniqueKeysWithValues: (0...120).map { ("k\($0)", $0) }))
    #expect(store.lastError == nil)
  }

  @Test func theQuotaRefusesGrowthOnly() throws {
    try connect { $0.quota.keys = 2 }
    try receive(row("a", 1, 1, revision: 2), row("b", 1, 1, revision: 2), revision: 2)
    try receive(row("c", 1, 2, revision: 3), revision: 3)
    #expect(throws: PreferencesError.self) { try store.storeObject(1, forKey: "d") }
    try store.storeObject(2, forKey: "a")
    try store.storeObject(nil, forKey: "b")
    try store.storeObject(nil, forKey: "c")
    try store.storeObject(1, forKey: "d")
    #expect(throws: PreferencesError.self) { try store.storeObject(1, forKey: "e") }
  }

  @Test func aReadOnlyFileRefusesChanges() throws {
    try connect()
    try replica.setReadOnly(true)
    let error = #expect(throws: PreferencesError.self) {
      try folder.otherStore().storeObject(1, forKey: "a")
    }
    #expect(error?.code == .readOnly)
    try receive(row("a", 1, 1, revision: 2), revision: 2)
    #expect(store["a"] as? Int == 1)
  }

  @Test func theEnginesOrderWins() throws {
    try connect()
    store["a"] = "here"
    try receive(row("a", "there", 1, revision: 2), revision: 2)
    #expect(store["a"] as? String == "there")
    let entry = try #require(try replica.changeFeed(after: 0)?.last)
    #expect(entry.isConflict)
    #expect(entry.old == "here")
    #expect(entry.new == "there")
    #expect(try replica.nextBatch() == nil)
  }

  @Test func aProgramDecides() throws {
    try connect(programDecides: true)
    store["a"] = "here"
    store["b"] = 1
    try receive(row("a", "there", 1, revision: 2), revision: 2)
    #expect(store["a"] as? String == "here")
    #expect(try replica.nextBatch()?.changes.map(\.row.key) == ["b"])
    let conflict = try #require(try replica.conflicts().first)
    #expect(conflict.values.first?.shared == "there")
    store["a"] = "later"
    #expect(try !replica.resolve(conflict, .takeShared))
    let renewed = try #require(try replica.conflicts().first)
    #expect(try replica.resolve(renewed, .set([("a", "both")])))
    #expect(store["a"] as? String == "both")
    #expect(try replica.conflicts().isEmpty)
  }

  /// A conflict of the keys `a` and `b`, which were changed here in one transaction.
  private func conflict(
    _ change: (inout SharingSettings) -> Void = { _ in }
  ) throws -> ReplicaConflict {
    try connect(programDecides: true, change)
    try store.transaction { transaction in
      try transaction.set("here", forKey: "a")
      try transaction.set("here", forKey: "b")
    }
    try receive(row("a", "there", 1, revision: 2), revision: 2)
    return try #require(try replica.conflicts().first)
  }

  @Test func aDecisionThatAProgramCouldNotSetIsRefused() throws {
    let conflict = try conflict { $0.quota.keys = 3 }
    func code(
      _ values: [(key: PreferenceKey, value: PreferenceValue?)]
    ) -> PreferencesError.Code? {
      #expect(throws: PreferencesError.self) {
        try replica.resolve(conflict, .set(values))
      }?.code
    }
    #expect(code([(String(repeating: "k", count: 65), 1)]) == .overQuota)
    #expect(code([("a", .data(Data(count: 2 << 20)))]) == .overQuota)
    #expect(code([("a", 1), ("c", 1), ("d", 1), ("e", 1)]) == .overQuota)
    #expect(try replica.conflicts().first?.token == conflict.token)
    #expect(store["a"] as? String == "here" && store["b"] as? String == "here")
    try replica.setReadOnly(true)
    #expect(code([("a", 1)]) == .readOnly)
    try replica.setReadOnly(false)
    #expect(try replica.resolve(conflict, .set([("a", 1), ("b", 2), ("c", 3)])))
    #expect(try replica.nextBatch()?.changes.count == 3)
  }

  @Test func aDecisionOfATransactionIsOneUnitAtMost() throws {
    let conflict = try conflict()
    let values: [(key: PreferenceKey, value: PreferenceValue?)] = (0...120).map {
      (key: "key \(Int($0))", value: 1)
    }
    let error = #expect(throws: PreferencesError.self) {
      try replica.resolve(conflict, .set(values))
    }
    #expect(error?.code == .overQuota)
    #expect(try replica.resolve(conflict, .set(values.dropLast())))
  }

  @Test func aDecisionIsAsOldAsWhatItReplaces() throws {
    let conflict = try conflict()
    let mark = try replica.outboxMark()
    store["later"] = 1
    #expect(try replica.resolve(conflict, .set([("a", "both"), ("c", 1)])))
    #expect(try Set(replica.unsent(upTo: mark).keys) == ["a", "c"])
  }

  @Test func aDecisionIsNoChangeOfAnotherMachine() throws {
    let conflict = try conflict()
    #expect(try replica.resolve(conflict, .set([("a", "both"), ("c", 1)])))
    let entries = try #require(try replica.changeFeed(after: 0))
    #expect(entries.map(\.key) == ["a", "b"] || entries.map(\.key) == ["b", "a"])
    let (decided, taken) = (entries.first { $0.key == "a" }, entries.first { $0.key == "b" })
    #expect(decided?.reason == .decision && decided?.old == "here")
    #expect(taken?.reason != .decision && taken?.isConflict == true)
  }

  @Test func valuesOfASharedFileAreNotTheUsersOwn() throws {
    store["a"] = 1
    #expect(try store.fetchOwnObject(forKey: "a") as? Int == 1)
    try connect()
    #expect(try store.fetchOwnObject(forKey: "a") == nil)
    #expect(try folder.otherStore().fetchOwnObject(forKey: "a") == nil)
    try replica.unshare()
    #expect(try store.fetchOwnObject(forKey: "a") as? Int == 1)
  }

  @Test func aNewerRowStays() throws {
    try connect()
    store["a"] = 1
    try receive(SharedRow(key: "a", revision: 2, bytes: [7, 1, 2]), revision: 2)
    #expect(store["a"] as? Int == 1)
    #expect(try replica.nextBatch() == nil)
    let state = try replica.state()
    #expect(state.newerKeys == ["a"])
    #expect(state.setAside.map(\.reason) == [.newerForm])
  }

  @Test func absenceDeletesBelowTheFloorOnly() throws {
    try connect()
    try receive(row("a", 1, 1, revision: 2), revision: 2)
    let writers = [Self.other: [1, 0, 0, 0, 0, 0, 0, 0, 2] + [UInt8](repeating: 0, count: 16)]
    _ = try replica.apply(snapshot(3, [], floor: 2, writers: writers))
    #expect(store["a"] as? Int == 1)
    let batch = try #require(try replica.nextBatch())
    #expect(batch.changes.map(\.base) == [.absent])
    try replica.acknowledge(batch, revision: 4)
    var later = writers
    later[batch.writer] = batch.newWriterRow
    _ = try replica.apply(snapshot(9, [], floor: 8, writers: later))
    #expect(store["a"] == nil)
  }

  /// A copy of the file has given the same number to another batch.
  @Test func theNumberAloneNamesNoUnit() throws {
    try connect()
    try store.transaction { transaction in
      try transaction.set("here", forKey: "a")
      try transaction.set("here", forKey: "b")
    }
    let batch = try #require(try replica.nextBatch())
    let copied = SharedRow(key: "a", value: "copy", writer: batch.writer, number: batch.number)
    let row = SharedRow(key: "a", revision: 2, bytes: copied.bytes)
    var writer = batch.newWriterRow
    writer[24] ^= 1
    let change = [SharedRevision.Change.writer(batch.writer, writer), .row(row)]
    #expect(
      try replica.apply([SharedRevision(revision: 2, changes: change)]) == .cloned)
    try replica.renewWriter()
    #expect(try replica.apply(snapshot(2, [row], writers: [batch.writer: writer])) == .applied)
    #expect(store["a"] as? String == "copy")
    #expect(store["b"] == nil)
    let lost = try #require(try replica.changeFeed(after: 0)).filter(\.isConflict)
    #expect(Set(lost.map(\.key)) == ["a", "b"])
    #expect(lost.allSatisfy { $0.old == "here" })
  }

  @Test func aUnitIsKnownAlsoAfterItLostItsNumber() throws {
    try connect()
    try store.transaction { transaction in
      try transaction.set(1, forKey: "a")
      try transaction.set(1, forKey: "b")
    }
    let batch = try #require(try replica.nextBatch())
    try replica.renewWriter()
    let rows = batch.changes.map {
      SharedRow(key: $0.row.key, revision: 2, bytes: $0.row.bytes)
    }
    let writers = [batch.writer: batch.newWriterRow]
    #expect(try replica.apply(snapshot(2, rows, writers: writers)) == .applied)
    #expect(try replica.state().unsentKeys == 0)
    #expect(try replica.changeFeed(after: 0)?.isEmpty == true)
  }

  @Test func anOlderRowOfARestoredEngineIsNoConflict() throws {
    try connect()
    try receive(row("a", "first", 2, revision: 3), revision: 3)
    try receive(row("a", "second", 4, revision: 5), revision: 5)
    store["a"] = "here"
    let older = try row("a", "first", 2, revision: 3)
    #expect(try replica.apply(snapshot(4, [older])) == .applied)
    #expect(store["a"] as? String == "here")
    #expect(try replica.nextBatch()?.changes.map(\.row.key) == ["a"])
  }

  @Test func aLostChangeIsAConflictWithOneOfTheRestoredEngine() throws {
    try connect()
    store["a"] = "here"
    let batch = try #require(try replica.nextBatch())
    try replica.acknowledge(batch, revision: 5)
    let there = try row("a", "there", 1, revision: 3)
    #expect(try replica.apply(snapshot(3, [there])) == .applied)
    #expect(store["a"] as? String == "there")
    let lost = try replica.losses(after: 0)
    #expect(lost.map(\.key) == ["a"] && lost.first?.old == "here")
    #expect(lost.first?.writer == Self.other)
  }

  @Test func theFirstMachineBeginsALifeOfARestoredEngine() throws {
    try connect()
    try receive(row("a", "first", 1, revision: 2), revision: 2)
    try receive(row("a", "second", 2, revision: 3), revision: 3)
    var restored = snapshot(2, [try row("a", "first", 1, revision: 2)])
    guard case .restored(let identity) = try replica.apply(restored, beginsLife: true) else {
      Issue.record("nothing was noticed")
      return
    }
    #expect(StoreIdentity.isSame(identity, Self.identity))
    #expect(StoreIdentity.isIdentity(identity) && StoreIdentity.life(identity) > 0)
    restored.identity = identity
    #expect(try replica.apply(restored, beginsLife: true) == .applied)
    let sent = try #require(try replica.nextBatch()?.changes.first?.row)
    #expect(sent.isSentAgain && sent.writer == Self.other && sent.number == 2)
    #expect(store["a"] as? String == "second")
    // Once is enough.
    #expect(try replica.apply(restored, beginsLife: true) == .applied)
  }

  /// The sender heard of a batch between the reading and the snapshot.
  @Test func aReadingFromBeforeAnAcknowledgementIsNoRestoredEngine() throws {
    try connect()
    store["a"] = 1
    let batch = try #require(try replica.nextBatch())
    let known = try replica.state()
    let reading = snapshot(1, [])
    try replica.acknowledge(batch, revision: 2)
    store["b"] = 1
    #expect(try replica.apply(reading, since: known) == .outdated)
    let next = try #require(try replica.nextBatch())
    #expect(next.changes.map(\.row.key) == ["b"])
    #expect(next.oldWriterRow == batch.newWriterRow)
    let rows = batch.changes.map {
      SharedRow(key: $0.row.key, revision: 2, bytes: $0.row.bytes)
    }
    let later = snapshot(2, rows, writers: [batch.writer: batch.newWriterRow])
    #expect(try replica.apply(later, since: replica.state()) == .applied)
    #expect(try replica.nextBatch()?.newWriterRow == next.newWriterRow)
  }

  /// A machine that was restored together with the engine gives its numbers again.
  @Test func aNewRowWithAnOldNumberIsAConflict() throws {
    try connect()
    try receive(row("a", "first", 1, revision: 2), revision: 2)
    try receive(row("b", 1, 6, revision: 7), revision: 7)
    store["a"] = "here"
    let new = try row("a", "there", 2, revision: 3)
    #expect(try replica.apply(snapshot(4, [new])) == .applied)
    #expect(store["a"] as? String == "there")
    let lost = try #require(try replica.changeFeed(after: 0)).filter(\.isConflict)
    #expect(lost.map(\.key) == ["a"])
  }

  @Test func decisionsThatNoProgramMakesAnyMoreAreMade() throws {
    try connect(programDecides: true)
    store["a"] = "here"
    try receive(row("a", "there", 1, revision: 2), revision: 2)
    try replica.share(SharingSettings(), clearingDecisions: true)
    #expect(store["a"] as? String == "there")
    let other = folder.otherStore()
    try other.storeObject("later", forKey: "a")
    #expect(try replica.nextBatch()?.changes.map(\.row.key) == ["a"])
  }

  @Test func anotherStoreChangesNothing() throws {
    try connect()
    store["a"] = 1
    var foreign = snapshot(5, [try row("a", 2, 1, revision: 5)])
    foreign.identity = [1, 2]
    #expect(try replica.apply(foreign) == .foreign)
    #expect(store["a"] as? Int == 1)
    try replica.adopt(identity: [1, 2])
    #expect(try replica.nextBatch() == nil)
    #expect(try replica.apply(foreign) == .applied)
    #expect(store["a"] as? Int == 2)
  }
}
