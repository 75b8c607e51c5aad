import EtcdTesting
import Foundation
import Prephirences
import PrephirencesDurable
import PrephirencesShared
import PrephirencesSystem
import Synchronization
import Testing

@testable import PreferencesShared

@Suite("Conflicts of machines")
struct SyncConflictTests {
  private let cluster: EtcdServer
  private let prefix = EtcdServer.newPrefix()

  init() throws { cluster = try .any }

  /// Two machines that had the same value, and the second of which has changed it offline.
  private func diverged(
    resolver: SyncWorker.Resolver?
  ) throws -> (one: SyncMachine, two: SyncMachine) {
    let one = try SyncMachine(cluster, prefix)
    try one.set("old", "key")
    try one.flush()
    let folder = try SyncFolder()
    let before = try SyncMachine(cluster, prefix, in: folder, resolver: resolver)
    try before.waitFor("old", "key")
    before.worker.stop(.test)
    try before.set("two", "key")
    try one.set("one", "key")
    try one.flush()
    return (one, try SyncMachine(cluster, prefix, in: folder, resolver: resolver))
  }

  @Test func orderOfEngineWins() throws {
    let (one, two) = try diverged(resolver: nil)
    try two.waitFor("one", "key")
    try two.flush()
    #expect(one.text("key") == "one")
    let lost = try two.replica.changeFeed(after: 0)?.first { $0.isConflict }
    #expect(lost?.old == "two" && lost?.new == "one")
  }

  @Test func closureDecides() throws {
    let (one, two) = try diverged { conflict in
      let value = conflict.values[0]
      let both = "\(value.local?.object ?? "-") and \(value.shared?.object ?? "-")"
      return .set([(value.key, .string(both))])
    }
    try one.waitFor("two and one", "key")
    #expect(two.text("key") == "two and one")
  }

  @Test func closureKeepsLocalValue() throws {
    let (one, two) = try diverged { _ in .keepLocal }
    try one.waitFor("two", "key")
    #expect(two.text("key") == "two")
  }

  @Test func closureThatThrowsLetsTheUnitWait() throws {
    struct Unsure: Error {}
    let mayDecide = Mutex(false)
    let (one, two) = try diverged { _ in
      guard mayDecide.withLock({ $0 }) else { throw Unsure() }
      return .keepLocal
    }
    try two.wait("the reason") { try two.replica.conflicts().first?.message != nil }
    let conflict = try #require(try two.replica.conflicts().first)
    #expect(conflict.message?.contains("Unsure") == true)
    #expect(conflict.message?.contains("two") == false)
    // Other changes go on.
    try two.set("sent", "other")
    try one.waitFor("sent", "other")
    #expect(one.text("key") == "one" && two.text("key") == "two")
    let error = #expect(throws: PreferencesError.self) { try two.worker.flush(.test) }
    #expect(error?.code == .conflict && error?.message.contains("'key'") == true)
    mayDecide.withLock { $0 = true }
    two.worker.wake()
    try one.waitFor("two", "key")
  }

  @Test func decisionThatCannotBeSetWaitsWithItsReason() throws {
    let asked = Mutex(0)
    let (_, two) = try diverged { _ in
      asked.withLock { $0 += 1 }
      return .set([("key", .data(Data(count: 2 << 20)))])
    }
    try two.wait("the reason") { try two.replica.conflicts().first?.message != nil }
    let conflict = try #require(try two.replica.conflicts().first)
    #expect(conflict.message?.contains("what the closure decided cannot be set") == true)
    let error = #expect(throws: PreferencesError.self) { try two.worker.flush(.test) }
    #expect(error?.code == .conflict)
    // Changes of others do not bring the next attempt nearer.
    for number in 0..<20 { try two.set(number, "other") }
    #expect(asked.withLock { $0 } < 10)
  }

  @Test func flushWaitsForTheDecision() throws {
    let (one, two) = try diverged { conflict in
      .set([("key", "decided"), ("another", "too")])
    }
    try two.flush()
    #expect(try two.replica.state().unsentKeys == 0)
    try one.waitFor("decided", "key")
    try one.waitFor("too", "another")
  }

  @Test func flushReportsAChangeThatWasGivenUp() throws {
    let one = try SyncMachine(cluster, prefix)
    try one.set("old", "key")
    try one.flush()
    let folder = try SyncFolder()
    let before = try SyncMachine(cluster, prefix, in: folder)
    try before.waitFor("old", "key")
    before.worker.stop(.test)
    try one.set("one", "key")
    try one.flush()
    let two = try SyncMachine(cluster, prefix, in: folder, starts: false)
    try two.set("two", "key")
    try two.set("two", "other")
    let results = Deliveries<PreferencesError?>()
    Thread.detachNewThread {
      do throws(PreferencesError) {
        try two.worker.flush(.test)
        results.append(nil)
      } catch { results.append(error) }
    }
    #expect(two.worker.core.signals.wait(.seconds(20)) { $0.flushes > 0 })
    two.worker.start()
    let error = try #require(try results.wait { !$0.isEmpty }[0])
    #expect(error.code == .conflict)
    #expect(error.message.contains("'key'") && !error.message.contains("'other'"))
    #expect(two.text("key") == "one")
    try two.set("again", "key")
    try two.flush()
    try one.waitFor("again", "key")
  }

  @Test func conflictRejectsTheWholeUnit() throws {
    let one = try SyncMachine(cluster, prefix)
    try one.set("old", "a")
    try one.flush()
    let folder = try SyncFolder()
    let before = try SyncMachine(cluster, prefix, in: folder)
    try before.waitFor("old", "a")
    before.worker.stop(.test)
    try before.preferences.transaction { transaction in
      try transaction.set("two", forKey: "a")
      try transaction.set("two", forKey: "b")
    }
    try one.set("one", "a")
    try one.flush()
    let two = try SyncMachine(cluster, prefix, in: folder)
    try two.waitFor("one", "a")
    try two.flush()
    #expect(two.text("b") == nil)
    #expect(one.text("b") == nil)
  }

  /// The bases of these do not fit into the request: some are compared by their headers, some whole,
  /// and some by their revisions.
  @Test func unitsWithLargeBasesAreSentAndRefused() throws {
    func value(_ byte: UInt8) -> Data { Data(repeating: byte, count: 8000) }
    func setAll(_ machine: SyncMachine, _ byte: UInt8) throws {
      try machine.preferences.transaction { transaction in
        for number in 0..<120 { try transaction.set(value(byte), forKey: "key \(number)") }
      }
    }
    let one = try SyncMachine(cluster, prefix)
    try setAll(one, 1)
    try setAll(one, 2)
    try one.flush()
    let two = try SyncMachine(cluster, prefix)
    try two.wait("the unit") { two["key 119"] as? Data == value(2) }
    two.worker.stop(.test)
    try setAll(two, 3)
    try one.set(value(4), "key 60")
    try one.flush()
    let again = try SyncMachine(cluster, prefix, in: two.folder, isOther: true)
    try again.wait("the refusal") { again["key 60"] as? Data == value(4) }
    try again.flush()
    for number in 0..<120 {
      #expect(one["key \(number)"] as? Data == value(number == 60 ? 4 : 2))
      #expect(again["key \(number)"] as? Data == value(number == 60 ? 4 : 2))
    }
  }
}
