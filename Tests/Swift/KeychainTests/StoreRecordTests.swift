import Foundation
import Keychain
import Testing

@testable import Keychain
@testable import KeychainStores

@Suite("Records of which store a service has")
struct StoreRecordTests {
  @Test(
    arguments: [
      StorePlace.vault, .secretService(.default), .secretService(.session),
      .secretService(.named("my keyring\n%é")), .secretService(.named("")),
    ])
  func comesBack(_ place: StorePlace) throws {
    #expect(try StorePlace(text: place.text, path: "p") == place)
  }

  @Test(
    "labels are written and read as by Foundation, whose bytes existing records have",
    arguments: [
      "", "Login", "my keys", "0-9_.~", "a/b\n", "a%b", "+", "\0x", "\u{e4}", "e\u{301}",
      "\u{65e5}\u{672c}", "\u{1f600} A", "%41", String(UnicodeScalar(127)),
    ])
  func labelIsCodedAsByFoundation(_ label: String) throws {
    let coded = try #require(label.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
    #expect(
      StorePlace.secretService(.named(label)).text
        == "keychain store 1\nstore: secret-service\ncollection: label \(coded)\n")
  }

  @Test(
    arguments: [
      "%", "%4", "%4g", "%C3%A4", "%c3%a4", "%C3", "%FF%FE", "a%00b", "%%", "abc", "%25", "+",
      "\u{e4}", "\u{e4}%41", "%E3%81", "%ED%A0%80", "%C0%80", "%F0%9F%98%80", "%+1", "%C3a", "",
    ])
  func writtenLabelIsReadAsByFoundation(_ coded: String) throws {
    let text = "keychain store 1\nstore: secret-service\ncollection: label \(coded)\n"
    guard let label = coded.removingPercentEncoding else {
      return expect(.damaged) { _ = try StorePlace(text: text, path: "p") }
    }
    #expect(try StorePlace(text: text, path: "p") == .secretService(.named(label)))
  }

  @Test func strangeTextsAreRefused() {
    for text in [
      "", "keychain store 1\n", "keychain store 1\nstore: vault", "keychain store 1\nstore: disk\n",
      "keychain store 1\nstore: vault\ncollection: default\n",
      "keychain store 1\nstore: secret-service\n",
      "keychain store 1\nstore: secret-service\ncollection: other\n",
    ] {
      expect(.damaged) { _ = try StorePlace(text: text, path: "p") }
    }
    expect(.unsupportedFormat) {
      _ = try StorePlace(text: "keychain store 2\nstore: vault\n", path: "p")
    }
  }

  @Test func theFirstWriteRecordsAndReadsDoNot() throws {
    let machine = try Machine()
    #expect(try machine.store().text("a") == nil)
    #expect(try machine.store().search(CredentialQuery()).credentials.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: machine.folder.path + "/state"))
    try machine.store().put("a")
    #expect(machine.records.count == 1)
    #expect(try machine.store().decision(for: .item("b")).reason == .record)
    let path = machine.recordFolder + "/" + machine.records[0]
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text.hasPrefix("keychain store 1\nstore: vault\ncheck: "))
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }

  @Test func servicesAndServersOfOneNameAreTwo() throws {
    let records = try Machine().store().records
    #expect(try records.record(.vault, for: ServiceName(.service, "n")).isNew)
    #expect(try records.record(.secretService(.default), for: ServiceName(.server, "n")).isNew)
    #expect(try records.place(of: ServiceName(.service, "n")) == .vault)
    #expect(try records.place(of: ServiceName(.server, "n")) == .secretService(.default))
    #expect(try records.place(of: ServiceName(.service, "m")) == nil)
  }

  @Test func damagedRecordIsNotAbsent() throws {
    let machine = try Machine()
    try machine.store().put("a")
    let path = machine.recordFolder + "/" + machine.records[0]
    let text = try String(contentsOfFile: path, encoding: .utf8)
    for damaged in [
      "", String(text.dropLast()), text.replacingOccurrences(of: "vault", with: "vauld"),
      text.replacingOccurrences(of: "store: vault", with: "store: secret-service"),
    ] {
      try damaged.write(toFile: path, atomically: false, encoding: .utf8)
      expect(.damaged) { _ = try machine.store().text("a") }
      expect(.damaged) { try machine.store().put("a") }
      #expect(try machine.store().search(CredentialQuery()).damaged == [path])
      // The remedy: the user names the store.
      #expect(try machine.store { $0.choice = .vault }.text("a") == "t")
    }
  }

  @Test func aRecordUnderAnotherNameIsDamaged() throws {
    let machine = try Machine()
    try machine.store().put("a", service: "one")
    let one = machine.recordFolder + "/" + machine.records[0]
    try machine.store().put("a", service: "two")
    let two = try #require(
      machine.records.map { machine.recordFolder + "/" + $0 }.first { $0 != one })
    try FileManager.default.removeItem(atPath: two)
    try FileManager.default.copyItem(atPath: one, toPath: two)
    expect(.damaged) { _ = try machine.store().text("a", service: "two") }
  }

  @Test func concurrentDecisionsFollowTheWinner() throws {
    let machine = try Machine()
    _ = try machine.store().records.record(.vault, for: ServiceName(.service, "warm-up"))
    for round in 0..<20 {
      let service = ServiceName(.service, "s\(round)")
      let places: [StorePlace] = [.vault, .secretService(.default), .secretService(.named("x"))]
      let results = try concurrently(6) { number in
        try machine.store().records.record(places[number % 3], for: service)
      }
      #expect(results.count { $0.isNew } == 1)
      #expect(Set(results.map(\.place)).count == 1)
    }
  }

  @Test func aMoveIsSeenByOpenHandles() throws {
    let records = try Machine().store().records
    let service = ServiceName(.service, "s")
    _ = try records.record(.vault, for: service)
    #expect(try records.place(of: service) == .vault)
    try records.move(service, to: .secretService(.default))
    #expect(try records.place(of: service) == .secretService(.default))
  }

  /// The device key determines the names of records; without it, they cannot be attributed.
  @Test func lostDeviceKeyDoesNotChangeStore() throws {
    let machine = try Machine()
    _ = try machine.store().records.record(
      .secretService(.default), for: ServiceName(.service, "s"))
    try FileManager.default.removeItem(atPath: machine.deviceKey)
    expect(.damaged) { _ = try machine.store().text("a") }
    expect(.damaged) { try machine.store().put("a") }
    #expect(!FileManager.default.fileExists(atPath: machine.deviceKey))
  }
}

/// Runs a closure on several threads at the same time.
func concurrently<Result: Sendable>(
  _ count: Int, _ body: @escaping @Sendable (Int) throws -> Result
) throws -> [Result] {
  let results = Collected<Result>()
  DispatchQueue.concurrentPerform(iterations: count) { number in
    results.add(Swift.Result { try body(number) })
  }
  return try results.all.map { try $0.get() }
}

private final class Collected<Value: Sendable>: @unchecked Sendable {
  // @unchecked Sendable because `lock` guards the results.
  private let lock = NSLock()
  private var results: [Swift.Result<Value, any Error>] = []

  func add(_ result: Swift.Result<Value, any Error>) { lock.withLock { results.append(result) } }

  var all: [Swift.Result<Value, any Error>] { lock.withLock { results } }
}
