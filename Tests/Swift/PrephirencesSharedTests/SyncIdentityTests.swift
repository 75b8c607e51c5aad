import EtcdTesting
import Foundation
import Prephirences
import PrephirencesDurable
import PrephirencesEtcd
import PrephirencesShared
import PrephirencesSystem
import Testing

@testable import PreferencesShared

@Suite("Identity of the shared store")
struct SyncIdentityTests {
  private let cluster: EtcdServer
  private let prefix = EtcdServer.newPrefix()
  private var layout: StoreLayout { StoreLayout(prefix: prefix) }

  init() throws { cluster = try .any }

  private var client: EtcdClient { EtcdClient(cluster.configuration) }

  @Test func missingIdentityStopsEverything() throws {
    let one = try SyncMachine(cluster, prefix)
    try one.set("kept", "key")
    try one.flush()
    // Somebody removes the store with other tools.
    _ = try client.delete(layout.all, deadline: .test)
    try one.waitFor(code: "foreignStore")
    try one.set("unsent", "other")
    #expect(one.text("key") == "kept")
    #expect(throws: PreferencesError.self) {
      try one.worker.flush(Deadline(after: .milliseconds(300)))
    }
    #expect(try cluster.rows(prefix).isEmpty)
    try one.worker.adopt(.test)
    try one.flush()
    try one.waitFor(code: nil)
    #expect(Set(try cluster.rows(prefix).keys).isSuperset(of: ["id", "k/key", "k/other"]))
  }

  @Test func otherIdentityStopsEverything() throws {
    let one = try SyncMachine(cluster, prefix)
    try one.set("one", "key")
    try one.flush()
    _ = try client.put(layout.identity, StoreRow.newIdentity(), deadline: .test)
    try one.waitFor(code: "foreignStore")
    try one.set("unsent", "other")
    #expect(try cluster.rows(prefix)["k/other"] == nil)
    // Another connection of the machine adopts it, as `prefs sync adopt` does.
    let other = try SyncMachine(cluster, prefix, in: one.folder, isOther: true, starts: false)
    try other.worker.adopt(.test)
    try one.flush()
    #expect(try cluster.rows(prefix)["k/other"] != nil)
    #expect(one.text("key") == "one")
  }

  @Test func rowsWithoutIdentityAreNotTaken() throws {
    _ = try client.put(layout.key("key"), [1, 2, 3], deadline: .test)
    let one = try SyncMachine(cluster, prefix)
    try one.waitFor(code: "foreignStore")
    #expect(Array(try cluster.rows(prefix).keys) == ["k/key"])
  }

  @Test func newerIdentityIsReported() throws {
    _ = try client.put(layout.identity, [2, 0], deadline: .test)
    let one = try SyncMachine(cluster, prefix)
    try one.waitFor(code: "newerForm")
    let error = #expect(throws: PreferencesError.self) { try one.worker.adopt(.test) }
    #expect(error?.code == .unsupportedFormat)
    #expect(Array(try cluster.rows(prefix).keys) == ["id"])
  }

  @Test func machinesThatBeginTogetherAgree() throws {
    let machines = try (0..<3).map { _ in try SyncMachine(cluster, prefix) }
    for (index, machine) in machines.enumerated() { try machine.set("\(index)", "key \(index)") }
    for machine in machines {
      for index in 0..<3 { try machine.waitFor("\(index)", "key \(index)") }
    }
    let identities = try machines.map { try $0.replica.state().identity }
    #expect(identities[0] != nil && Set(identities).count == 1)
  }
}
