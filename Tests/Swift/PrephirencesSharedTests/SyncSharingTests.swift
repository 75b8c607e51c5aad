import EtcdTesting
import Foundation
import Prephirences
import PrephirencesDurable
import PrephirencesShared
import PrephirencesSystem
import Testing

@testable import PreferencesShared

@Suite("Workers whose file is shared otherwise")
struct SyncSharingTests {
  private let cluster: EtcdServer
  private let prefix = EtcdServer.newPrefix()

  init() throws { cluster = try .any }

  @Test func fileThatIsSharedAgainIsFollowed() throws {
    let (one, two) = (try SyncMachine(cluster, prefix), try SyncMachine(cluster, prefix))
    try one.set("old", "key")
    try one.flush()
    try two.waitFor("old", "key")
    try one.replica.unshare()
    let path = try one.replica.filePath()
    try one.wait("the release") { SenderLock.holder(besides: path) == nil }
    try two.set("new", "key")
    try two.flush()
    #expect(one.text("key") == "old")
    try one.replica.share(SharingSettings())
    try one.waitFor("new", "key")
    try one.set("sent", "other")
    try one.flush()
    try two.waitFor("sent", "other")
  }

  @Test func nothingComesFromTheStoreOfBefore() throws {
    let (one, two) = (try SyncMachine(cluster, prefix), try SyncMachine(cluster, prefix))
    try one.set("old", "key")
    try one.flush()
    try two.waitFor("old", "key")
    var settings = SharingSettings()
    settings.place = "elsewhere"
    try one.replica.share(settings)
    try two.set("new", "key")
    try two.flush()
    let path = try one.replica.filePath()
    try one.wait("the release") { SenderLock.holder(besides: path) == nil }
    try one.set("unsent", "other")
    #expect(one.text("key") == "old")
    #expect(try cluster.rows(prefix)["k/other"] == nil)
  }

  @Test func changedConfigurationIsFollowed() async throws {
    let (old, new) = (try PreferencesEngine.address(), try PreferencesEngine.address())
    let machine = try PreferencesMachine(old)
    let preferences = machine.preferences()
    preferences["key"] = "value"
    try await preferences.flush(deadline: .seconds(20))
    // As another process does it.
    let configuration = SharingConfiguration(address: new)
    try SharingConfiguration.remove(suiteName: "fleet", environment: machine.environment)
    let replica = SharedReplica(machine.durable)
    try replica.unshare()
    try configuration.save(suiteName: "fleet", environment: machine.environment)
    try replica.share(configuration.settings)
    try await preferences.flush(deadline: .seconds(20))
    let other = try PreferencesMachine(new)
    let others = other.preferences()
    try waitUntil(others) { $0["key"] as? String == "value" }
  }
}
