import EtcdTesting
import Foundation
import Prephirences
import PrephirencesDurable
import PrephirencesEtcd
import PrephirencesShared
import PrephirencesSystem
import Testing

@testable import PreferencesShared

@Suite("What machines say of themselves")
struct SyncMachinesTests {
  private let cluster: EtcdServer
  private let prefix = EtcdServer.newPrefix()
  private var layout: StoreLayout { StoreLayout(prefix: prefix) }
  private var store: DirectStore {
    DirectStore(cluster: cluster.configuration, layout: layout, machine: "direct")
  }

  init() throws { cluster = try .any }

  private func machine(
    _ name: String, in folder: SyncFolder? = nil, isOther: Bool = false
  ) throws -> SyncMachine {
    var options = SyncMachine.options
    options.machine = name
    return try SyncMachine(cluster, prefix, in: folder, isOther: isOther, options: options)
  }

  private func wait(for names: Set<String>, _ machine: SyncMachine) throws {
    try machine.wait("the machines \(names)") {
      Set(try store.machines().map(\.row.name)) == names
    }
  }

  @Test func aRowIsReadBack() throws {
    let row = MachineRow(name: "web 1", contact: Date(timeIntervalSince1970: 5), unsent: 3)
    #expect(MachineRow(try row.bytes()) == row)
    #expect(row.date == Date(timeIntervalSince1970: 5) && row.release == Release.version)
    #expect(MachineRow.isName(MachineRow.hostName))
  }

  @Test(arguments: [
    #"{"name":"a","release":"1","contact":1}"#, #"{"name":"a","release":"1","unsent":1}"#,
    #"{"name":"","release":"1","contact":1,"unsent":0}"#,
    #"{"name":"a\u001b[2J","release":"1","contact":1,"unsent":0}"#,
    #"{"name":"a","release":"\n","contact":1,"unsent":0}"#,
    #"{"name":"a","release":"1","contact":9223372036854775807,"unsent":0}"#,
    #"{"name":"a","release":"1","contact":1,"unsent":-1}"#, "", "[]",
  ])
  func unreadableRowIsIgnored(json: String) {
    #expect(MachineRow([1] + Array(json.utf8)) == nil)
  }

  @Test func rowOfANewerFormIsIgnored() throws {
    #expect(MachineRow([2] + (try MachineRow(name: "a").bytes().dropFirst())) == nil)
    #expect(MachineRow([]) == nil)
  }

  @Test func aMachineThatIsThereWakesNoOther() throws {
    let one = try machine("one")
    try one.set("1", "key")
    try one.flush()
    try wait(for: ["one"], one)
    let revision = try store.contents(.test).revision
    let other = try machine("other")
    try wait(for: ["one", "other"], other)
    #expect(try store.contents(.test).revision == revision)
  }

  /// A machine that was restored from an image has a name of its own, and soon another tag.
  @Test func aRenewedTagTakesItsNameAlong() throws {
    let folder = try SyncFolder()
    let original = try machine("original")
    try original.set("1", "key")
    try original.flush()
    original.worker.stop(.test)
    let files = URL(filePath: try original.replica.filePath()).deletingLastPathComponent().path
    for name in try FileManager.default.contentsOfDirectory(atPath: files) {
      try FileManager.default.copyItem(
        atPath: files + "/" + name, toPath: folder.path + "/" + name)
    }
    let other = try machine("again", in: original.folder, isOther: true)
    try other.set("2", "key")
    try other.flush()
    let clone = try machine("clone", in: folder)
    try clone.waitFor("2", "key")
    try clone.set("3", "key")
    try clone.flush()
    #expect(try clone.replica.state().writer != other.replica.state().writer)
    try wait(for: ["again", "clone"], clone)
    var history = StoreHistory(store)
    #expect(try history.next()?.machine == "clone")
    #expect(try history.next()?.machine == "again")
  }

  @Test func aRowThatCannotBeReadIsLeftOut() throws {
    let row = layout.machine(WriterTag.random())
    _ = try EtcdClient(cluster.configuration).put(row, [9], deadline: .test)
    #expect(try store.machines().isEmpty)
  }
}
