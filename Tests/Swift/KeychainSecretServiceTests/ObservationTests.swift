import Foundation
import KeychainCredentials
import KeychainSecrets
import Synchronization
import Testing

@testable import KeychainSecretService

@Suite("Observation of other programs", .timeLimit(.minutes(10)))
struct ObservationTests {
  private func change(_ account: String, _ kind: CredentialChange.Kind) -> CredentialChange {
    CredentialChange(.genericPassword(service: "test", account: account), kind)
  }

  private final class Seen: Sendable {
    let changes = Mutex<[CredentialChange]>([])

    var text: String {
      changes.withLock {
        $0.map { "\($0.kind) \($0.identity?.account ?? "")" }.joined(separator: ", ")
      }
    }

    func wait(for count: Int) async throws -> [CredentialChange] {
      try await wait { $0.count >= count }
      // Nothing may be reported twice.
      try await Task.sleep(for: .milliseconds(100))
      return changes.withLock(\.self)
    }

    /// Waits for a change; optional other changes may come before or after it.
    func isTold(_ change: CredentialChange) async throws -> Bool {
      try await wait { $0.contains(change) }
      return changes.withLock { $0.contains(change) }
    }

    private func wait(until condition: ([CredentialChange]) -> Bool) async throws {
      for _ in 0..<6000 where !changes.withLock({ condition($0) }) {
        try await Task.sleep(for: .milliseconds(10))
      }
    }
  }

  /// Stores an item like another program.
  private func write(_ account: String, _ desktop: Desktop) throws {
    let arguments = ["store", "--label=x", "service", "test", "username", account]
    try #require(try desktop.run("secret-tool", arguments, input: "1").status == 0)
  }

  @Test(arguments: [Desktop.Provider.gnomeKeyring, .keePassXC])
  func changesByAnotherHandleAreReported(_ provider: Desktop.Provider) async throws {
    let desktop = try Desktop(provider)
    let (store, other) = (
      desktop.store { $0.interaction = .allowed }, desktop.store { $0.interaction = .allowed }
    )
    try other.put("before", "s")
    let seen = Seen()
    let observation = store.observe { change in seen.changes.withLock { $0.append(change) } }
    var expected = [change("a", .added)]
    try other.put("a", "1")
    #expect(try await seen.wait(for: 1) == expected, "\(seen.text)")
    try other.put("a", "2")
    expected.append(change("a", .updated))
    #expect(try await seen.wait(for: 2) == expected, "\(seen.text)")
    try other.rename(
      .genericPassword(service: "test", account: "a"),
      to: .genericPassword(service: "test", account: "b"))
    expected += [change("a", .removed), change("b", .added)]
    #expect(try await seen.wait(for: 4) == expected, "\(seen.text)")
    try store.put("b", "own")
    try store.put("c", "own")
    expected += [change("b", .updated), change("c", .added)]
    #expect(try await seen.wait(for: 6) == expected, "\(seen.text)")
    try other.remove(.genericPassword(service: "test", account: "before"))
    expected.append(change("before", .removed))
    #expect(try await seen.wait(for: 7) == expected, "\(seen.text)")
    try store.remove(.genericPassword(service: "test", account: "c"))
    expected.append(change("c", .removed))
    #expect(try await seen.wait(for: 8) == expected, "\(seen.text)")
    observation.cancel()
    try other.put("d", "s")
    #expect(try await seen.wait(for: 8).count == 8)
  }

  @Test func changesByOtherProgramsAreReported() async throws {
    let desktop = try Desktop(.gnomeKeyring)
    let store = desktop.store()
    let seen = Seen()
    let observation = store.observe { change in seen.changes.withLock { $0.append(change) } }
    try write("a", desktop)
    #expect(try await seen.wait(for: 1).first == change("a", .added))
    try desktop.run("secret-tool", ["clear", "service", "test", "username", "a"])
    #expect(try await seen.isTold(change("a", .removed)), "\(seen.text)")
    observation.cancel()
  }

  // Only the observation uses the connection, so it must find that it is broken.
  @Test func listeningSurvivesRestartOfProvider() async throws {
    let desktop = try Desktop(.gnomeKeyring)
    let store = desktop.store()
    try store.put("old", "s")
    try write("old of another program", desktop)
    let seen = Seen()
    let observation = store.observe { change in seen.changes.withLock { $0.append(change) } }
    kill(desktop.providerProcess, SIGKILL)
    desktop.waitForEndOfProvider()
    let again = try desktop.startGnomeKeyring(password: desktop.environment["DESKTOP_PASSWORD"])
    defer { again.end() }
    try write("new", desktop)
    #expect(try await seen.isTold(change("new", .added)), "\(seen.text)")
    // The start or end of a provider does not change its items.
    #expect(!seen.text.contains("old"), "\(seen.text)")
    observation.cancel()
  }

  // When KeePassXC locks a database, it reports each item as deleted.
  @Test(arguments: [Desktop.Provider.gnomeKeyring, .keePassXC])
  func lockedItemIsNotRemoved(_ provider: Desktop.Provider) async throws {
    let desktop = try Desktop(provider)
    let store = desktop.store()
    for account in ["a", "b", "c"] { try store.put(account, "s") }
    let seen = Seen()
    let observation = store.observe { change in seen.changes.withLock { $0.append(change) } }
    let monitor = try BusMonitor(desktop, "interface='org.freedesktop.Secret.Collection'")
    try desktop.lock()
    expect(.locked) { _ = try store.text("a") }
    let hasSignals = try monitor.lines(desktop).contains { $0.contains("ItemDeleted") }
    #expect(hasSignals == (provider == .keePassXC))
    let again = try desktop.unlock(provider)
    defer { again?.end() }
    // Later changes are reported after the effects of those signals.
    try desktop.store { $0.interaction = .allowed }.put("new", "s")
    #expect(try await seen.isTold(change("new", .added)), "\(seen.text)")
    #expect(seen.text == "added new")
    observation.cancel()
  }

  @Test func removalIsReportedAfterUnlocking() async throws {
    let desktop = try Desktop(.none)
    let provider = try FakeProvider(desktop)
    let store = desktop.store()
    let seen = Seen()
    let observation = store.observe { change in seen.changes.withLock { $0.append(change) } }
    let items = ["alice", "bob"].map { FakeProvider.path(of: $0) }
    try provider.behave(
      as: "honest while locked", signals: items.map { .collection("ItemDeleted", $0) })
    // When unlocking, one provider reports each item as created; the other reports nothing.
    try provider.behave(signals: items.map { .collection("ItemCreated", $0) })
    try provider.behave(
      as: "honest while locked", signals: items.map { .collection("ItemDeleted", $0) })
    try provider.behave(without: ["alice"], signals: [.service("CollectionChanged")])
    #expect(try await seen.isTold(CredentialChange(identity("alice"), .removed)))
    // In an unlocked collection, an item reported as deleted counts only if it is gone.
    try provider.behave(
      without: ["alice"],
      signals: [.collection("ItemDeleted", items[1]), .service("CollectionChanged")])
    try provider.behave(
      without: ["alice", "bob"], signals: [.collection("ItemDeleted", items[1])])
    #expect(try await seen.isTold(CredentialChange(identity("bob"), .removed)))
    #expect(seen.text == "removed alice, removed bob")
    observation.cancel()
  }

  // Reading it again would fail in the same way.
  @Test func unreadableCollectionIsReadAgainAfterSignalOnly() async throws {
    let desktop = try Desktop(.none)
    let provider = try FakeProvider(desktop)
    let store = desktop.store()
    let seen = Seen()
    try provider.behave("Get Items", as: "200,000 paths")
    let monitor = try BusMonitor(
      desktop, "type='method_call',interface='org.freedesktop.DBus.Properties'")
    let observation = store.observe { change in seen.changes.withLock { $0.append(change) } }
    try await Task.sleep(for: .seconds(4))
    #expect(try monitor.lines(desktop).filter { $0.contains("\"Items\"") }.count == 1)
    let alice = FakeProvider.path(of: "alice")
    try provider.behave(signals: [.collection("ItemChanged", alice)])
    try await waitForReading(of: "bob", monitor, desktop)
    try provider.behave(without: ["alice"], signals: [.collection("ItemDeleted", alice)])
    #expect(try await seen.isTold(CredentialChange(identity("alice"), .removed)))
    #expect(seen.text == "removed alice")
    observation.cancel()
  }

  /// Waits until an item of another program is read: those come last in a collection.
  private func waitForReading(
    of account: String, _ monitor: BusMonitor, _ desktop: Desktop
  ) async throws {
    for _ in 0..<6000 {
      let lines = try monitor.lines(desktop)
      if lines.contains(where: { $0.contains("/\(account); ") && $0.contains("=GetAll") }) {
        return
      }
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  @Test func brieflyMissingDefaultCollectionIsObserved() async throws {
    let desktop = try Desktop(.none)
    let provider = try FakeProvider(desktop)
    let store = desktop.store()
    let seen = Seen()
    try provider.behave(as: "away for a moment")
    let observation = store.observe { change in seen.changes.withLock { $0.append(change) } }
    try provider.behave(
      without: ["alice"], signals: [.collection("ItemDeleted", FakeProvider.path(of: "alice"))])
    #expect(try await seen.isTold(CredentialChange(identity("alice"), .removed)))
    observation.cancel()
  }

  private func identity(_ account: String) -> CredentialIdentity {
    .genericPassword(service: "s", account: account)
  }

  // The user who ended it may want to use another.
  @Test func aProviderThatEndedIsNotStartedAgain() async throws {
    let desktop = try Desktop(.gnomeKeyring)
    let store = desktop.store()
    let observation = store.observe { _ in }
    let mark = try #require(desktop.environment["XDG_RUNTIME_DIR"]) + "/started"
    try desktop.makeProviderActivatable("/usr/bin/touch \(mark)")
    kill(desktop.providerProcess, SIGKILL)
    desktop.waitForEndOfProvider()
    // The next attempt to listen comes after two seconds.
    try await Task.sleep(for: .seconds(5))
    #expect(!FileManager.default.fileExists(atPath: mark))
    // The next call starts it.
    #expect(throws: KeychainError.self) { try store.search(CredentialQuery()) }
    #expect(FileManager.default.fileExists(atPath: mark))
    observation.cancel()
  }
}
