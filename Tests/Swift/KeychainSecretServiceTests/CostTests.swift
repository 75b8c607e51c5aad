import Foundation
import KeychainCredentials
import KeychainSecrets
import Testing

@testable import KeychainSecretService

/// A monitor on the bus counts the messages.
@Suite("Costs", .timeLimit(.minutes(10)))
struct CostTests {
  // Uses gnome-keyring's session collection, because writing a file takes most of the time to fill
  // another.
  @Test(arguments: [Desktop.Provider.gnomeKeyring, .keePassXC])
  func messagesForAThousandItems(_ provider: Desktop.Provider) throws {
    let desktop = try Desktop(provider)
    let store = desktop.store {
      $0.deadline = .seconds(60)
      if provider == .gnomeKeyring { $0.collection = .session }
    }
    for number in 0..<10 { try store.put("\(number)", "secret \(number)") }
    var count = 0
    let fewCounted = try BusTraffic(desktop) { count = try store.itemCount() }
    #expect(count == 10)
    for number in 10..<1000 { try store.put("\(number)", "secret \(number)") }
    let manyCounted = try BusTraffic(desktop) { count = try store.itemCount() }
    #expect(count == 1000)
    #expect(fewCounted.calls == manyCounted.calls && fewCounted.calls == ["Get": 1])

    let query = CredentialQuery(service: "test")
    let search = try BusTraffic(desktop) { count = try store.search(query).credentials.count }
    #expect(count == 1000)
    // Reads whether the collection is locked, and the attributes of each item.
    #expect(search.calls == ["SearchItems": 1, "Get": 1001])
    #expect(search.mostOutstanding > 10, "each waited for the one before")

    var secrets: Set<String> = []
    let reading = try BusTraffic(desktop) {
      try store.secrets(matching: query) { stored in
        secrets.insert(stored.secret.withBytes { $0.text } ?? "")
      }
    }
    #expect(secrets == Set((0..<1000).map { "secret \($0)" }))
    #expect(reading.calls == ["SearchItems": 1, "Get": 1001, "GetSecrets": 1])
  }

  // A bus of the system type accepts 128 pending calls, and answers further ones with an error.
  @Test func callsRefusedByBusAreRepeated() throws {
    let desktop = try Desktop(.gnomeKeyring, ["DESKTOP_WAITING_CALLS": "10"])
    let store = desktop.store { $0.collection = .session }
    for number in 0..<50 { try store.put("\(number)", "s") }
    #expect(try store.search(CredentialQuery()).credentials.count == 50)
  }

  @Test(arguments: [Desktop.Provider.gnomeKeyring, .keePassXC])
  func aSecretTakesTwoRoundTrips(_ provider: Desktop.Provider) throws {
    let desktop = try Desktop(provider)
    let store = desktop.store()
    try store.put("a", "s")
    // A call may be answered before the next one is sent, but not every time.
    let times = 500
    let gets = try BusTraffic(desktop) {
      for _ in 0..<times {
        let text = try store.text("a")
        #expect(text == "s")
      }
    }
    #expect(gets.calls == ["SearchItems": times, "Get": times, "GetSecret": times])
    #expect(gets.mostOutstanding == 2)
  }

  // Otherwise a concurrent reader could get an old secret with the new version, and so replace a
  // value that it has not read. Messages of one connection are processed in order.
  @Test(arguments: [Desktop.Provider.gnomeKeyring, .keePassXC])
  func secretIsWrittenBeforeVersionAndReadAfter(_ provider: Desktop.Provider) throws {
    let desktop = try Desktop(provider)
    let store = desktop.store()
    try store.put("a", "1")
    let writing = try BusTraffic(desktop) { try store.put("a", "2") }
    let secret = try #require(writing.methods.firstIndex(of: "SetSecret"))
    let version = try #require(writing.methods.firstIndex(of: "Set"))
    #expect(secret < version)
    let reading = try BusTraffic(desktop) { _ = try store.text("a") }
    #expect(reading.methods == ["SearchItems", "Get", "GetSecret"])
  }
}
