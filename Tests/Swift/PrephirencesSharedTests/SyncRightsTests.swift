import EtcdTesting
import Foundation
import Prephirences
import PrephirencesDurable
import PrephirencesEtcd
import PrephirencesShared
import PrephirencesSystem
import Synchronization
import Testing

@testable import PreferencesShared

/// Each test has an engine of its own, because it changes who may use that.
@Suite("Rights and limits of the engine")
struct SyncRightsTests {
  private let prefix = "fleet/app/"

  private func machine(
    _ cluster: EtcdServer, _ user: String, options: SyncOptions = SyncMachine.options,
    resolver: SyncWorker.Resolver? = nil, password: @escaping @Sendable () throws -> String
  ) throws -> SyncMachine {
    try SyncMachine(
      cluster, prefix, options: options, resolver: resolver,
      change: { configuration in
        configuration.user = user
        configuration.password = { Array(try password().utf8) }
      })
  }

  @Test func userWhoMayOnlyReadFollows() throws {
    let cluster = try EtcdServer()
    try cluster.enableAuthentication()
    try cluster.addUser("writer", password: "w", prefix: prefix)
    try cluster.addUser(
      "reader", password: "r", prefix: prefix, mayWrite: false)
    let writer = try machine(cluster, "writer") { "w" }
    try writer.set("1", "key")
    let reader = try machine(cluster, "reader") { "r" }
    try reader.waitFor("1", "key")
    try reader.wait("that changes are refused") { try reader.replica.state().isReadOnly }
    let error = #expect(throws: PreferencesError.self) { try reader.set("2", "key") }
    #expect(error?.code == .readOnly)
    try reader.waitFor(code: "readOnly")
    // Who may not write cannot say that it is there.
    let store = DirectStore(
      cluster: writer.worker.core.client.configuration, layout: StoreLayout(prefix: prefix))
    #expect(try store.machines().map(\.tag) == [writer.replica.state().writer])
    try writer.set("3", "key")
    try reader.waitFor("3", "key")
    try cluster.control(
      ["role", "grant-permission", "reader", "--prefix=true", "readwrite", prefix],
      user: EtcdServer.operatorLogin)
    reader.worker.wake()
    try reader.wait("that changes are accepted") { try !reader.replica.state().isReadOnly }
    try reader.set("4", "key")
    try writer.waitFor("4", "key")
  }

  @Test func keyThatMayNotBeChangedIsSetAside() throws {
    let cluster = try EtcdServer()
    try cluster.enableAuthentication()
    try cluster.addUser("writer", password: "w", prefix: prefix)
    try cluster.addUser(
      "some", password: "s", prefix: prefix, mayWrite: false)
    for keys in ["w/", "k/mine"] {
      try cluster.control(
        ["role", "grant-permission", "some", "--prefix=true", "readwrite", prefix + keys],
        user: EtcdServer.operatorLogin)
    }
    let writer = try machine(cluster, "writer") { "w" }
    try writer.set("1", "other")
    try writer.flush()
    let some = try machine(cluster, "some") { "s" }
    try some.waitFor("1", "other")
    try some.preferences.storeObjects(["mine": "2", "other": "2"])
    try writer.waitFor("2", "mine")
    try some.wait("the report") { try !some.replica.state().setAside.isEmpty }
    let aside = try some.replica.state().setAside
    #expect(aside.map(\.keys) == [["other"]] && aside.map(\.reason) == [.permission])
    // With the reason, as the status has it.
    let refused = #expect(throws: PreferencesError.self) { try some.flush() }
    #expect(refused?.code == .accessDenied && refused?.message.contains("'other'") == true)
    #expect(writer.text("other") == "1")
    try some.set("3", "mine")
    try writer.waitFor("3", "mine")
    // Without a copy, too.
    let store = DirectStore(
      cluster: some.worker.core.client.configuration, layout: StoreLayout(prefix: prefix))
    try store.change { $0.storeValue("4", forKey: "mine") }
    try writer.waitFor("4", "mine")
    #expect(throws: PreferencesError.self) {
      try store.change { $0.storeValue("4", forKey: "other") }
    }
  }

  /// After `prefs sync now`, a service that had the old password goes on at once.
  @Test func wrongPasswordIsTriedAgainWhenAnotherProcessAsks() throws {
    let cluster = try EtcdServer()
    try cluster.enableAuthentication()
    try cluster.addUser("writer", password: "w", prefix: prefix)
    let password = Mutex("wrong")
    var options = SyncMachine.options
    options.pauseWithoutPassword = .seconds(600)
    let machine = try machine(cluster, "writer", options: options) { password.withLock { $0 } }
    try machine.set("1", "key")
    try machine.waitFor(code: "wrongPassword")
    let report = try machine.replica.state().report
    #expect(report?.message?.contains("wrong-one") != true)
    try machine.wait("that it leaves the lock to others") {
      SenderLock.holder(besides: try machine.replica.filePath()) == nil
    }
    password.withLock { $0 = "w" }
    SenderLock.requestRetry(besides: try machine.replica.filePath())
    try machine.waitFor(code: nil)
    try machine.flush()
  }

  @Test func processWithoutPasswordLeavesTheLockToOthers() throws {
    struct NoPassword: Error {}
    let cluster = try EtcdServer()
    try cluster.enableAuthentication()
    try cluster.addUser("writer", password: "w", prefix: prefix)
    let machine = try machine(
      cluster, "writer", resolver: { _ in .keepLocal }, password: { throw NoPassword() })
    try machine.set("1", "key")
    try machine.waitFor(code: "passwordUnavailable")
    let other = try SyncMachine(
      cluster, prefix, in: machine.folder, isOther: true,
      change: { configuration in
        configuration.user = "writer"
        configuration.password = { Array("w".utf8) }
      })
    try other.flush()
    try other.waitFor(code: nil)
  }

  /// Threads report at the same time, and what is recorded last holds for a minute.
  @Test func newestReportIsRecordedLast() throws {
    let machine = try SyncMachine(EtcdServer.any, prefix, starts: false)
    let reports = SyncReports(machine.replica, didRecord: nil)
    for _ in 0..<100 {
      reports.report(SyncProblem(.noSpace, "full"), of: .sender)
      DispatchQueue.concurrentPerform(iterations: 4) { number in
        reports.expire()
        reports.contact(of: number == 3 ? .sender : .receiver)
      }
      try #require(try machine.replica.state().report?.code == nil)
    }
  }

  @Test func fullEngineIsReportedAndRetried() throws {
    let cluster = try EtcdServer(arguments: ["--quota-backend-bytes", "1000000"])
    let one = try SyncMachine(cluster, prefix)
    try one.set("1", "key")
    try one.flush()
    let client = EtcdClient(cluster.configuration)
    let other = EtcdKeys.prefix(Array("other".utf8))
    let full = #expect(throws: EtcdError.self) {
      for number in 0..<20 {
        let key = Array("other \(number)".utf8)
        _ = try client.put(key, Array(repeating: 1, count: 200_000), deadline: .test)
      }
    }
    #expect(full?.code == .noSpace)
    try one.set("2", "key")
    try one.waitFor(code: "noSpace")
    #expect(throws: PreferencesError.self) {
      try one.worker.flush(Deadline(after: .milliseconds(300)))
    }
    #expect(one.text("key") == "2")
    // The operator makes room.
    let revision = try client.delete(other, deadline: .test).header.revision
    try cluster.compact(revision)
    try cluster.control(["defrag"])
    try cluster.control(["alarm", "disarm"])
    try one.flush()
    try one.waitFor(code: nil)
    let two = try SyncMachine(cluster, prefix)
    try two.waitFor("2", "key")
  }
}
