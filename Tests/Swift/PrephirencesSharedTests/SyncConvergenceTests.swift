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

@Suite("Machines in step")
struct SyncConvergenceTests {
  private let cluster: EtcdServer
  private let prefix = EtcdServer.newPrefix()

  init() throws { cluster = try .any }

  @Test func changesArriveOnOtherMachines() throws {
    let one = try SyncMachine(cluster, prefix)
    let two = try SyncMachine(cluster, prefix)
    try one.set("blue", "colour")
    try two.waitFor("blue", "colour")
    try two.set("green", "colour")
    try one.waitFor("green", "colour")
    try one.set(nil, "colour")
    try two.waitFor(nil, "colour")
    try one.flush()
    #expect(try one.replica.state().unsentKeys == 0)
    #expect(try two.replica.conflicts().isEmpty)
  }

  @Test func observersOfOtherMachinesAreNotified() async throws {
    let one = try SyncMachine(cluster, prefix)
    let two = try SyncMachine(cluster, prefix)
    try one.set("1", "first")
    try two.waitFor("1", "first")
    let seen = Mutex<[String]>([])
    let observation = two.preferences.observe(forKeys: ["key"]) { change in
      seen.withLock { $0.append(change.newValue as? String ?? "-") }
    }
    try one.set("new", "key")
    try two.wait("the notification") { seen.withLock { $0 == ["new"] } }
    observation.cancel()
    let entries = try two.replica.changeFeed(after: 0)?.filter { $0.key == "key" }
    #expect(entries?.map(\.reason) == [.serverChange])
  }

  @Test func writesOfEveryConnectionAreSent() throws {
    let one = try SyncMachine(cluster, prefix)
    let two = try SyncMachine(cluster, prefix)
    let other = DurablePreferences(
      suiteName: "suite", folder: one.folder.path, timeout: .seconds(11))
    try other.storeObject("from another process", forKey: "key")
    try two.waitFor("from another process", "key")
  }

  @Test func unitIsOneRevision() throws {
    let one = try SyncMachine(cluster, prefix)
    let two = try SyncMachine(cluster, prefix)
    try one.preferences.transaction { transaction in
      for number in 0..<120 { try transaction.set(number, forKey: "key \(number)") }
    }
    try two.wait("the unit") { two["key 119"] as? Int == 119 }
    for number in 0..<120 { #expect(two["key \(number)"] as? Int == number) }
    let rows = try cluster.rows(prefix).filter { $0.key.hasPrefix("k/") }
    #expect(rows.count == 120 && Set(rows.values.map(\.modRevision)).count == 1)
  }

  /// The base of a large value is not compared whole.
  @Test func largeValuesAreReplaced() throws {
    let one = try SyncMachine(cluster, prefix)
    let two = try SyncMachine(cluster, prefix)
    for byte in UInt8(1)...3 {
      let value = Data(repeating: byte, count: 1_000_000)
      try (byte == 2 ? two : one).set(value, "large")
      let reader = byte == 2 ? one : two
      try reader.wait("the large value") { reader["large"] as? Data == value }
    }
    #expect(try one.replica.conflicts().isEmpty && two.replica.conflicts().isEmpty)
  }

  @Test func firstContactMergesValues() throws {
    let one = try SyncMachine(
      cluster, prefix,
      prepare: { preferences in
        try preferences.storeObject("one", forKey: "both")
        try preferences.storeObject("one", forKey: "mine")
      })
    try one.flush()
    let two = try SyncMachine(
      cluster, prefix,
      prepare: { preferences in
        try preferences.storeObject("two", forKey: "both")
        try preferences.storeObject("two", forKey: "yours")
      })
    try two.waitFor("one", "mine")
    try one.waitFor("two", "yours")
    try two.waitFor("one", "both")
    try two.flush()
    let entries = try two.replica.changeFeed(after: 0) ?? []
    let lost = entries.first { $0.isConflict }
    #expect(lost?.key == "both" && lost?.old == "two" && lost?.new == "one")
    #expect(entries.first { $0.key == "mine" }?.reason == .initialSync)
  }

  @Test func writersAtTheSameTimeAgree() throws {
    let machines = try (0..<3).map { _ in try SyncMachine(cluster, prefix) }
    DispatchQueue.concurrentPerform(iterations: 3) { index in
      for number in 0..<60 {
        do {
          try machines[index].set("\(index) \(number)", "key \(number % 7)")
          try machines[index].set("\(index) \(number)", "own \(index) \(number)")
        } catch { Issue.record(error) }
      }
    }
    for machine in machines { try machine.settle() }
    for machine in machines {
      // What is sent can arrive later, also on the machine that has sent it.
      for index in 0..<3 { try machine.waitFor("\(index) 59", "own \(index) 59") }
      for index in 0..<3 {
        for number in 0..<60 {
          #expect(machine.text("own \(index) \(number)") == "\(index) \(number)")
        }
      }
      for number in 0..<7 {
        #expect(machine.text("key \(number)") == machines[0].text("key \(number)"))
      }
    }
  }

  @Test func rowsOfNewerReleasesAndDamagedOnesStay() throws {
    let one = try SyncMachine(cluster, prefix)
    try one.set("1", "key")
    try one.flush()
    let client = EtcdClient(cluster.configuration)
    let layout = StoreLayout(prefix: prefix)
    let foreign: [String: [UInt8]] = ["newer": [2, 1, 0], "damaged": [1, 3, 3], "empty": []]
    for (key, row) in foreign { _ = try client.put(layout.key(key), row, deadline: .test) }
    _ = try client.put(layout.prefix + Array("later/x".utf8), [9], deadline: .test)
    let two = try SyncMachine(cluster, prefix)
    try two.waitFor("1", "key")
    for machine in [one, two] {
      try machine.wait("the report") { try machine.replica.state().newerKeys.contains("newer") }
      try machine.set("mine", "newer")
      try machine.set("2", "key")
      try machine.wait("the other change") { try cluster.rows(prefix)["k/key"]?.value.last == 0x32 }
      #expect(try cluster.rows(prefix)["k/newer"]?.value == [2, 1, 0])
    }
    #expect(try cluster.rows(prefix)["later/x"]?.value == [9])
  }

  @Test func tenThousandKeysArrive() throws {
    let one = try SyncMachine(
      cluster, prefix,
      prepare: { preferences in
        let keys = (0..<10_000).map { "key \($0)" }
        try preferences.storeObjects(Dictionary(uniqueKeysWithValues: zip(keys, 0...)))
      })
    try one.worker.flush(Deadline(after: .seconds(60)))
    let two = try SyncMachine(cluster, prefix)
    try two.wait("the keys", seconds: 60) { two["key 9999"] as? Int == 9999 }
    #expect(two.preferences.dictionary().count == 10_000)
  }
}
