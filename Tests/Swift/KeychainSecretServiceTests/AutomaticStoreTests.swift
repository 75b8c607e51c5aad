import Foundation
import Keychain
import KeychainCredentials
import KeychainSecrets
import KeychainTesting
import KeychainVault
import PrephirencesSystem
import Synchronization
import Testing

@testable import KeychainSecretService

extension Desktop {
  /// Returns a handle that chooses a store, like a program of this desktop with its home in
  /// `folder`.
  func automaticStore(
    _ folder: HomeFolder, _ change: (inout AutomaticStore.Configuration) -> Void = { _ in }
  ) -> AutomaticStore {
    let environment = environment.merging([
      "XDG_DATA_HOME": folder.path + "/data", "XDG_STATE_HOME": folder.path + "/state",
    ]) { _, own in own }
    var configuration = AutomaticStore.Configuration()
    configuration.vault.environment = EnvironmentVariables(environment)
    configuration.vault.deadline = Self.timeout
    configuration.secretService.environment = environment
    configuration.secretService.deadline = Self.timeout
    change(&configuration)
    return AutomaticStore(configuration: configuration)
  }
}

/// A home folder, which is removed with this object.
final class HomeFolder {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "home-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  var path: String { url.path }
}

@Suite("The choice of store on a desktop", .serialized, .timeLimit(.minutes(10)))
struct AutomaticStoreTests {
  private static let desktop = Result { try Desktop(.gnomeKeyring) }

  @Test(arguments: StoreContract().clauses)
  func keeps(_ clause: ContractClause) async throws {
    let desktop = try Self.desktop.get()
    let folder = try HomeFolder()
    try desktop.store().removeEverything()
    try await clause.check { desktop.automaticStore(folder) }
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/data"))
  }

  @Test func itDecidesOnceAndKeepsToIt() throws {
    let desktop = try Desktop(.gnomeKeyring)
    let folder = try HomeFolder()
    let store = desktop.automaticStore(folder)
    let identity = CredentialIdentity.genericPassword(service: "test", account: "a")
    #expect(try store.decision(for: identity).reason == .keyringAvailable)
    try store.put("a", "s")
    #expect(try store.decision(for: identity).reason == .record)
    kill(desktop.providerProcess, SIGKILL)
    desktop.waitForEndOfProvider()
    expect(.noStore) { _ = try store.text("a") }
    // A service without a store does not get one that nobody chose.
    let other = CredentialIdentity.genericPassword(service: "other", account: "a")
    #expect(try store.decision(for: other).reason == .keyringAvailable)
    expect(.noStore) { try store.set(Credential(other), secret: SecretBytes(copying: "s")) }
    #expect(try !store.vault.isThere())
    let again = try desktop.startGnomeKeyring(password: desktop.environment["DESKTOP_PASSWORD"])
    defer { again.end() }
    #expect(try store.text("a") == "s")
  }

  @Test func aProviderThatTheBusStartsCounts() throws {
    let desktop = try Desktop(.none)
    try desktop.makeProviderActivatable(
      "/usr/bin/gnome-keyring-daemon --start --foreground --components=secrets")
    let identity = CredentialIdentity.genericPassword(service: "test", account: "a")
    let folder = try HomeFolder()
    let store = desktop.automaticStore(folder)
    // Probing does not start a provider, but choosing does; a keyring cannot be created without a
    // question.
    #expect(store.probeKeyring().isActivatable && !desktop.hasProvider)
    let decision = try store.decision(for: identity)
    #expect(decision.place == .vault && desktop.hasProvider)
    guard case .keyringUnavailable = decision.reason else {
      Issue.record("\(decision)")
      return
    }
  }

  /// Another program records no store for what it keeps in the keyring.
  @Test func aLockedKeyringIsNotPassedOverByReading() throws {
    let desktop = try Desktop(.gnomeKeyring)
    let folder = try HomeFolder()
    let store = desktop.automaticStore(folder)
    try desktop.lock()
    expect(.locked) { _ = try store.text("a") }
    let absent = CredentialIdentity.genericPassword(service: "test", account: "a")
    expect(.locked) { _ = try store.remove(absent) }
    expect(.locked) { _ = try store.search(CredentialQuery(service: "test")) }
    // A first credential needs a store, and gets the vault, which is then the only one.
    let first = CredentialIdentity.genericPassword(service: "new", account: "a")
    #expect(try store.decision(for: first).place == .vault)
    try store.set(Credential(first), secret: SecretBytes(copying: "s"))
    let other = CredentialIdentity.genericPassword(service: "new", account: "b")
    #expect(try store.credential(for: first) != nil && store.credential(for: other) == nil)
    let again = try desktop.unlock(.gnomeKeyring)
    defer { again?.end() }
    #expect(try store.text("a") == nil)
    #expect(try store.decision(for: absent).reason == .keyringAvailable)
  }

  @Test func bothStoresAreObservedAndSearched() async throws {
    let desktop = try Self.desktop.get()
    let folder = try HomeFolder()
    try desktop.store().removeEverything()
    let store = desktop.automaticStore(folder)
    let inVault = CredentialIdentity.genericPassword(service: "in the vault", account: "v")
    let forced = desktop.automaticStore(folder) { $0.choice = .vault }
    try forced.set(Credential(inVault), secret: SecretBytes(copying: "1"))
    let seen = Mutex<[String]>([])
    let observation = store.observe { change in
      seen.withLock { $0.append("\(change.kind) \(change.identity?.account ?? "")") }
    }
    try store.put("a", "1")
    try forced.remove(inVault)
    for _ in 0..<6000 where seen.withLock({ $0.count }) < 2 {
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(seen.withLock { $0.sorted() } == ["added a", "removed v"])
    withExtendedLifetime(observation) {}
    try forced.set(Credential(inVault), secret: SecretBytes(copying: "2"))
    let found = try store.search(CredentialQuery())
    #expect(found.credentials.map(\.identity.account).sorted() == ["a", "v"])
  }

  /// A credential is listed in the store where `secret(for:)` finds it.
  @Test func searchShowsEachServiceInItsOwnStore() throws {
    let desktop = try Self.desktop.get()
    let folder = try HomeFolder()
    try desktop.store().removeEverything()
    let store = desktop.automaticStore(folder)
    try store.put("a", "keyring")
    try desktop.automaticStore(folder) { $0.choice = .vault }.put("hidden", "vault")
    let found = try store.search(CredentialQuery())
    #expect(found.credentials.map(\.identity.account) == ["a"])
    #expect(try store.text("hidden") == nil)
  }
}
