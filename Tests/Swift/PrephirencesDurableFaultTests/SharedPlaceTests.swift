import FaultTesting
import Foundation
import Prephirences
import PrephirencesDurable
import Testing

/// Shared files in homes that are no usual homes.
@Suite("Places of shared preferences", .timeLimit(.minutes(14)))
struct SharedPlaceTests {
  /// Everything works on a network file system, where nothing is kept in shared memory.
  @Test func aFileOnANetworkIsShared() throws {
    let home = try TestHome()
    func store() -> DurablePreferences {
      DurablePreferences(
        suiteName: home.suite, folder: home.config, isOnNetwork: true, timeout: .seconds(1))
    }
    let one = store()
    let replica = SharedReplica(one)
    try one.storeObject("here", forKey: "a")
    try replica.share(SharingSettings())
    let rows = [try SharedSample.row("b", "there", 5)]
    #expect(try replica.apply(SharedSample.snapshot(5, rows)) == .applied)
    let batch = try #require(try replica.nextBatch())
    #expect(batch.changes.map(\.row.key) == ["a"])
    try one.storeObject("later", forKey: "a")
    #expect(try SharedReplica(store()).nextBatch()?.contents == batch.contents)
    try replica.acknowledge(batch, revision: 6)
    #expect(try replica.apply([SharedSample.conflicts(at: 7)]) == .applied)
    #expect(try store().fetchObject(forKey: "b") as? String == "there")
    #expect(try store().fetchObject(forKey: "k1") as? String == "there")
    #expect(try replica.nextBatch()?.number == batch.number + 1)
    #expect(home.disagreements() == "ok")
    try replica.unshare()
    #expect(try store().fetchObject(forKey: "a") as? String == "later")
  }

  @Test func aForkedChildFailsAndItsParentWorks() throws {
    let home = try TestHome()
    let child = try Child(in: home)
    for command in ["set a 1", "share"] { #expect(child.ask(command) == []) }
    #expect(child.ask("connect") == ["applied"])
    let lines = child.ask("fork-shared")
    #expect(lines.count == 10)
    for line in lines.dropLast() { #expect(line.contains("error forked"), "\(line)") }
    #expect(lines.last == "parent true")
    #expect(child.ask("set a 2") == [])
    #expect(home.disagreements() == "ok")
  }

  @Test func aFileThatIsNotSharedIsNoSharedOne() throws {
    let home = try TestHome()
    let child = try Child(in: home)
    for command in ["next-unit", "connect", "receive a b 2", "acknowledge 2", "state"] {
      #expect(child.ask(command).first?.hasPrefix("error notFound") ?? false, "\(command)")
    }
    #expect(child.ask("unshare") == [])
    #expect(child.ask("count") == ["0"])
  }
}
