import EtcdTesting
import Foundation
import PrephirencesEtcd
import PrephirencesShared
import Testing

@testable import PreferencesShared

@Suite("A silent connection")
struct SyncSilenceTests {
  @Test func changesArriveAfterAnOpenConnectionHasGoneSilent() throws {
    let cluster = try EtcdServer.any
    let prefix = EtcdServer.newPrefix()
    let relay = try SilentRelay(to: cluster.ports[0])
    let one = try SyncMachine(cluster, prefix)
    let two = try SyncMachine(
      cluster, prefix,
      change: { configuration in
        configuration.endpoints = [.init(host: "127.0.0.1", port: relay.port)]
        configuration.timing.checking = .milliseconds(100)
        configuration.timing.silence = .milliseconds(500)
      })
    try one.set("before", "key")
    try two.waitFor("before", "key")
    relay.silence()
    try one.set("after", "key")
    try one.flush()
    try two.waitFor("after", "key")
    // And back, over connections that are new.
    try two.set("answer", "key")
    try one.waitFor("answer", "key")
  }

  /// The watchdog of a service must hear nothing then, but of a cluster that is away.
  @Test func callThatNeverEndsIsAHang() throws {
    let cluster = try EtcdServer.any
    let end = DispatchSemaphore(value: 0)
    let hung = try SyncMachine(
      cluster, EtcdServer.newPrefix(),
      change: { configuration in
        configuration.user = "web"
        configuration.password = {
          end.wait()
          end.signal()
          return Array("secret".utf8)
        }
        // Once it watches, these answers show that it gets on.
        configuration.timing.checking = .milliseconds(50)
      })
    let away = try SyncMachine(
      cluster, EtcdServer.newPrefix(),
      change: { $0.endpoints = [.init(host: "127.0.0.1", port: 1)] })
    try away.waitFor(code: "unreachable")
    try hung.wait("the hang") { hung.worker.isHung(after: .milliseconds(200)) }
    // It rests between its attempts.
    try away.wait("a rest") { !away.worker.isHung(after: .milliseconds(1)) }
    #expect(hung.worker.isHung(after: .milliseconds(200)))
    end.signal()
    try hung.wait("the end of the hang") { !hung.worker.isHung(after: .milliseconds(200)) }
  }
}
