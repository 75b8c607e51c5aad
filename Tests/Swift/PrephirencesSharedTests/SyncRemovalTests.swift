import EtcdTesting
import Foundation
import Prephirences
import PrephirencesDurable
import PrephirencesEtcd
import PrephirencesShared
import PrephirencesSystem
import Testing

@testable import PreferencesShared

@Suite("Collected removals")
struct SyncRemovalTests {
  private let cluster: EtcdServer
  private let prefix = EtcdServer.newPrefix()

  init() throws { cluster = try .any }

  private var options: SyncOptions {
    var options = SyncMachine.options
    options.greatestRemovals = 50
    return options
  }

  private func removals() throws -> Int {
    try cluster.rows(prefix).count { $0.key.hasPrefix("k/") && $0.value.value[1] == 0 }
  }

  @Test func oldRemovalsAreCollectedAndStayRemoved() throws {
    let one = try SyncMachine(cluster, prefix, options: options)
    let keys = (0..<300).map { "key \($0)" }
    try one.preferences.storeObjects(Dictionary(uniqueKeysWithValues: keys.map { ($0, "old") }))
    try one.set("old", "kept")
    try one.flush()
    let folder = try SyncFolder()
    do {
      let two = try SyncMachine(cluster, prefix, in: folder, options: options)
      try two.waitFor("old", "kept")
      two.worker.stop(.test)
      // Changed here, and removed there.
      try two.set("changed", "key 0")
    }
    for key in keys { try one.set(nil, key) }
    try one.flush()
    try one.wait("the collection") { try removals() <= 100 && cluster.rows(prefix)["floor"] != nil }
    // This machine was last in step before the floor.
    let two = try SyncMachine(cluster, prefix, in: folder, options: options)
    try two.wait("the removals") { two.preferences.dictionary().count == 1 }
    try two.flush()
    #expect(two.text("kept") == "old" && two.text("key 0") == nil)
    let lost = try two.replica.changeFeed(after: 0)?.first { $0.isConflict }
    #expect(lost?.key == "key 0" && lost?.old == "changed" && lost?.new == nil)
    #expect(one.preferences.dictionary().count == 1)
  }

  @Test func absenceAloneRemovesNothing() throws {
    let one = try SyncMachine(cluster, prefix)
    try one.set("kept", "key")
    try one.flush()
    one.worker.stop(.test)
    // Somebody removes the row with other tools.
    try cluster.control(["del", prefix + "k/key"])
    let again = try SyncMachine(cluster, prefix, in: one.folder, isOther: true)
    try again.set("1", "other")
    try again.flush()
    #expect(again.text("key") == "kept")
    try again.wait("that it is sent again") { try cluster.rows(prefix)["k/key"] != nil }
  }
}
