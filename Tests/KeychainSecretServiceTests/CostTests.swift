import Foundation
import KeychainCredentials
import KeychainSecrets
import Testing

@testable import KeychainSecretService

@Suite("Costs", .timeLimit(.minutes(1)))
struct CostTests {
  // What is sent is counted at the bus, by a monitor.
  @Test func aSearchAsksOnceAndEachItemOnce() throws {
    let desktop = try Desktop(.gnomeKeyring)
    let store = desktop.store()
    for number in 0..<50 { try store.put("\(number)", "s") }
    let monitor = try Child(
      [
        "stdbuf", "-oL", "dbus-monitor", "--profile",
        "type='method_call',path_namespace='/org/freedesktop/secrets'",
      ],
      desktop.environment)
    monitor.finishInput()
    usleep(300_000)
    #expect(try store.search(CredentialQuery(service: "test")).credentials.count == 50)
    #expect(try store.text("7") == "s")
    usleep(300_000)
    monitor.end()
    let lines = String(decoding: monitor.read(), as: UTF8.self).split(separator: "\n")
    let calls = Dictionary(
      grouping: lines.compactMap { $0.split(separator: "\t").last.map(String.init) }, by: { $0 }
    ).mapValues(\.count)
    // The search, and the one item that was read.
    #expect(calls["SearchItems"] == 2 && calls["Get"] == 2)
    #expect(calls["GetAll"] == 51 && calls["GetSecret"] == 1)
  }
}
