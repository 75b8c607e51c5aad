import Foundation
import Keychain
import KeychainVault
import Synchronization
import Testing

@testable import KeychainSecretService

/// Preferences behave the same on every store.
@Suite("Preferences on every store", .serialized, .timeLimit(.minutes(10)))
struct PreferencesTests {
  enum Kind: CaseIterable {
    case memory, vault, gnomeKeyring
  }

  private static let desktop = Result { try Desktop(.gnomeKeyring) }

  /// Returns preferences over an empty store whose home is in a folder.
  private func preferences(
    _ kind: Kind, _ folder: HomeFolder
  ) throws -> KeychainPreferences {
    let desktop = try Self.desktop.get()
    try desktop.store().removeEverything()
    let store: any CredentialStore =
      switch kind {
      case .memory: InMemoryCredentialStore()
      case .vault: desktop.automaticStore(folder) { $0.choice = .vault }
      case .gnomeKeyring: desktop.automaticStore(folder)
      }
    return KeychainPreferences(service: "preferences", store: store)
  }

  @Test(arguments: Kind.allCases)
  func valuesComeBackAsTheyWere(_ kind: Kind) throws {
    let folder = try HomeFolder()
    let keychain = try preferences(kind, folder)
    let date = Date(timeIntervalSinceReferenceDate: 123_456_789.123456)
    let values: [(String, any Hashable & Sendable)] = [
      ("text", "two\nlines\0"), ("empty", ""), ("data", Data([0, 255, 10])), ("truth", true),
      ("greatest", Int.max), ("number", 0.1), ("date", date),
      ("address", URL(filePath: "/a b")),
    ]
    for (key, value) in values { try keychain.set(value, for: key) }
    for (key, value) in values {
      let found = try keychain.value(for: key) as? AnyHashable
      #expect(found == AnyHashable(value), "\(key)")
    }
    try keychain.set([1, 2], for: "list")
    try keychain.set(["a": ["b": 1.5]], for: "table")
    #expect(try keychain.value([Int].self, for: "list") == [1, 2])
    #expect(try keychain.value([String: [String: Double]].self, for: "table") == ["a": ["b": 1.5]])
    #expect(Set(try keychain.allKeys()) == Set(values.map(\.0) + ["list", "table"]))
  }

  @Test(arguments: Kind.allCases)
  func absenceChangeAndRemoval(_ kind: Kind) throws {
    let folder = try HomeFolder()
    let keychain = try preferences(kind, folder)
    #expect(try keychain.string(for: "k") == nil && keychain.lastError == nil)
    #expect(keychain["k"] == nil && keychain.lastStatus == errSecItemNotFound)
    try keychain.set("1", for: "k")
    let update = CredentialUpdate(label: .set("l"), attributes: [("a", "b")])
    try keychain.update(update, for: "k")
    try keychain.set("2", for: "k")
    let credential = try keychain.credential(for: "k")
    #expect(credential?.label == "l" && credential?.attributes["a"] == "b")
    try keychain.rename("k", to: "n")
    #expect(try keychain.string(for: "n") == "2")
    expect(.notFound) { try keychain.rename("k", to: "n") }
    #expect(try !keychain.contains("k") && keychain.contains("n"))
    #expect(try keychain.removeValue(for: "n") && !keychain.removeValue(for: "n"))
    try keychain.set("1", for: "x")
    try keychain.removeAll()
    #expect(try keychain.allKeys().isEmpty)
  }

  @Test(arguments: Kind.allCases)
  func groupsExpiryAndAccessibility(_ kind: Kind) throws {
    let folder = try HomeFolder()
    let keychain = try preferences(kind, folder)
    try keychain.set("1", for: "k")
    keychain.accessGroup = "g"
    #expect(try keychain.string(for: "k") == nil)
    keychain.accessibility = .afterFirstUnlockThisDeviceOnly
    try keychain.set("2", for: "k")
    #expect(try keychain.credential(for: "k")?.accessibility == .afterFirstUnlockThisDeviceOnly)
    try keychain.update(CredentialUpdate(expires: .set(.distantPast)), for: "k")
    expect(.expired) { _ = try keychain.string(for: "k") }
    #expect(keychain.string(forKey: "k") == nil && keychain.lastError?.code == .expired)
    keychain.accessibility = .whenPasscodeSetThisDeviceOnly
    expect(.refused) { try keychain.set("3", for: "p") }
    #expect(try keychain.string(for: "p") == nil)
  }

  @Test(arguments: Kind.allCases)
  func changesAreReported(_ kind: Kind) async throws {
    let folder = try HomeFolder()
    let keychain = try preferences(kind, folder)
    var changes = keychain.changes().makeAsyncIterator()
    try keychain.set("1", for: "a")
    #expect(await changes.next() == .some("a"))
    try keychain.removeValue(for: "a")
    #expect(await changes.next() == .some("a"))
  }

  private final class Counter: Sendable {
    let count = Atomic(0)
  }

  private struct Ticket: Codable, Sendable {
    var number: Int
  }

  @Test(arguments: Kind.allCases)
  func aValueIsRenewedOnce(_ kind: Kind) async throws {
    let folder = try HomeFolder()
    let keychain = try preferences(kind, folder)
    try keychain.set(Ticket(number: 0), for: "k", expires: .distantPast, label: "L")
    let requests = Counter()
    try await withThrowingTaskGroup { group in
      for index in 0..<8 {
        // Preferences with separate handles do not share the call, but wait for each other.
        let own = index < 4 || kind == .memory ? keychain : try again(kind, folder)
        group.addTask {
          let ticket = try await own.value(
            Ticket.self, for: "k", validWhile: { $0.number > 0 }, deadline: .seconds(300)
          ) { old in
            requests.count.add(1, ordering: .relaxed)
            try await Task.sleep(for: .milliseconds(50))
            return Ticket(number: (old?.number ?? 0) + 1)
          }
          #expect(ticket.number == 1)
        }
      }
      try await group.waitForAll()
    }
    #expect(requests.count.load(ordering: .relaxed) == 1)
    let credential = try #require(try keychain.credential(for: "k"))
    #expect(credential.label == "L" && credential.expires == nil)
    #expect(try keychain.update(Ticket.self, for: "k") { $0?.number += 1 }?.number == 2)
    #expect(try keychain.value(Ticket.self, for: "k")?.number == 2)
  }

  private func again(
    _ kind: Kind, _ folder: HomeFolder
  ) throws -> KeychainPreferences {
    let store = try Self.desktop.get().automaticStore(folder) {
      if kind == .vault { $0.choice = .vault }
    }
    return KeychainPreferences(service: "preferences", store: store)
  }
}
