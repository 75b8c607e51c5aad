import EtcdTesting
import Foundation
import Prephirences
import PrephirencesDurable
import PrephirencesShared
import PrephirencesSystem
import Testing

@testable import PreferencesShared
@testable import PrephirencesEtcd

/// Each test has an engine of its own, because it stops or changes that.
@Suite("Recovery of machines and engines")
struct SyncRecoveryTests {
  private let cluster: EtcdServer
  private let prefix = EtcdServer.newPrefix()

  init() throws { cluster = try EtcdServer() }

  @Test func compactionWhileOfflineIsNoGap() throws {
    let one = try SyncMachine(cluster, prefix)
    try one.set("old", "removed")
    try one.set("old", "changed")
    try one.flush()
    let folder = try SyncFolder()
    do {
      let two = try SyncMachine(cluster, prefix, in: folder)
      try two.waitFor("old", "changed")
      two.worker.stop(.test)
    }
    try one.set(nil, "removed")
    try one.set("new", "changed")
    try one.flush()
    try cluster.compact(try one.replica.state().revision)
    let two = try SyncMachine(cluster, prefix, in: folder)
    try two.waitFor("new", "changed")
    #expect(two.text("removed") == nil)
  }

  @Test func flushEndsAtItsDeadlineAndNothingIsLost() throws {
    let one = try SyncMachine(cluster, prefix)
    try one.set("first", "key")
    try one.flush()
    cluster.stop()
    try one.set("second", "key")
    let start = ContinuousClock.now
    let error = #expect(throws: PreferencesError.self) {
      try one.worker.flush(Deadline(after: .milliseconds(500)))
    }
    #expect(start.duration(to: .now) < .seconds(5))
    let mayHaveHappened = error?.message.contains("may have reached") == true
    #expect(error?.code == (mayHaveHappened ? .outcomeUnknown : .timedOut))
    #expect(error?.message.contains("'key'") == true)
    #expect(error?.message.contains("second") == false)
    #expect(one.text("key") == "second")
    try one.waitFor(code: "unreachable")
    try cluster.start()
    try one.flush()
    try one.waitFor(code: nil)
    let two = try SyncMachine(cluster, prefix)
    try two.waitFor("second", "key")
  }

  @Test func wakeOfAnotherProcessEndsTheWaitForARetry() throws {
    var options = SyncMachine.options
    options.leastBackoff = .seconds(3600)
    options.greatestBackoff = .seconds(3600)
    cluster.stop()
    let one = try SyncMachine(cluster, prefix, options: options)
    try one.waitFor(code: "unreachable")
    try cluster.start()
    let other = try SyncMachine(cluster, prefix, in: one.folder, isOther: true, starts: false)
    other.worker.wake()
    try one.waitFor(code: nil)
    try one.set("sent", "key")
    try other.flush()
  }

  @Test func stoppedWorkerJoinsItsThreadsWhileTheEngineStandsStill() throws {
    let one = try SyncMachine(cluster, prefix)
    try one.set("first", "key")
    try one.flush()
    cluster.pause()
    defer { cluster.resume() }
    try one.set("second", "key")
    let start = ContinuousClock.now
    one.worker.stop(.test)
    #expect(start.duration(to: .now) < .seconds(5))
    #expect(SenderLock.holder(besides: try one.replica.filePath()) == nil)
  }

  @Test func restoredEngineGetsLostChangesAgain() throws {
    let one = try SyncMachine(cluster, prefix)
    let two = try SyncMachine(cluster, prefix)
    try one.set("old", "a")
    try one.set("old", "b")
    try one.set("old", "d")
    try two.waitFor("old", "d")
    let path = cluster.folder + "/snapshot"
    try cluster.saveSnapshot(path)
    try one.set("lost by the engine", "a")
    try two.set("new of two", "c")
    try one.set(nil, "b")
    try one.flush()
    try two.flush()
    try one.waitFor("new of two", "c")
    try two.waitFor("lost by the engine", "a")
    // Who has no copy cannot send it again.
    let direct = DirectStore(
      cluster: one.worker.core.client.configuration, layout: StoreLayout(prefix: prefix))
    try direct.change { $0.storeValue("direct", forKey: "d") }
    for machine in [one, two] { try machine.waitFor("direct", "d") }
    try cluster.restoreSnapshot(path)
    for machine in [one, two] {
      try machine.set("after", "after \(machine === one)")
      try machine.settle()
    }
    let rows = try cluster.rows(prefix)
    #expect(rows["k/a"] != nil && rows["k/c"] != nil)
    let three = try SyncMachine(cluster, prefix)
    for machine in [one, two, three] {
      try machine.waitFor("lost by the engine", "a")
      try machine.waitFor("new of two", "c")
      try machine.waitFor(nil, "b")
      try machine.waitFor("direct", "d")
      try machine.waitFor("after", "after true")
      try machine.waitFor("after", "after false")
    }
  }

  @Test func clonedFileGetsATagOfItsOwn() throws {
    let one = try SyncMachine(cluster, prefix)
    try one.set("old", "key")
    try one.flush()
    one.worker.stop(.test)
    try one.set("unsent", "both have this")
    try one.preferences.synchronize()
    let folder = try SyncFolder()
    for name in try FileManager.default.contentsOfDirectory(atPath: one.folder.path) {
      try FileManager.default.copyItem(
        atPath: one.folder.path + "/" + name, toPath: folder.path + "/" + name)
    }
    let first = try SyncMachine(cluster, prefix, in: one.folder, isOther: true)
    try first.set("first", "of first")
    try first.flush()
    let clone = try SyncMachine(cluster, prefix, in: folder)
    try clone.set("clone", "of clone")
    try clone.flush()
    try first.waitFor("clone", "of clone")
    try clone.waitFor("first", "of first")
    #expect(try first.replica.state().writer != clone.replica.state().writer)
    for machine in [first, clone] { #expect(machine.text("both have this") == "unsent") }
  }

  @Test func deadEndpointsArePassed() throws {
    let one = try SyncMachine(
      cluster, prefix,
      change: { configuration in
        let dead = EtcdConfiguration.Endpoint(host: "127.0.0.1", port: 1)
        configuration.endpoints = [dead, dead] + configuration.endpoints
      })
    try one.set("sent", "key")
    try one.flush()
    #expect(try cluster.rows(prefix)["k/key"] != nil)
  }

  /// One for the calls, and one for the watch.
  @Test func workerHasTwoConnections() throws {
    let one = try SyncMachine(cluster, prefix)
    for number in 0..<20 {
      try one.set("\(number)", "key \(number)")
      try one.flush()
    }
    let port = String(format: ":%04X", cluster.ports[0])
    let file = try #require(FileHandle(forReadingAtPath: "/proc/thread-self/net/tcp"))
    let table = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
    let files = FileManager.default
    let own = try files.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
      try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)
    }
    var count = 0
    for line in table.split(separator: "\n") {
      let fields = line.split(separator: " ")
      // The third field is the other end, and 01 an open connection. The engine has one to itself.
      guard fields.count > 9, fields[2].hasSuffix(port), fields[3] == "01",
        own.contains("socket:[\(fields[9])]")
      else { continue }
      count += 1
    }
    #expect(count == 2)
  }
}
