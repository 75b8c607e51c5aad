import KeychainCredentials
import KeychainSecrets
import Testing

@testable import KeychainSecretService

@Suite("Questions that are asked without a lock", .timeLimit(.minutes(10)))
struct QuietStoreTests {
  private let identity = CredentialIdentity.genericPassword(service: "s", account: "alice")

  // A provider may lock the collection, or a single item.
  @Test(arguments: [FakeProvider.collection, FakeProvider.path(of: "alice")])
  func meetingTheNeedUnlocksWhatIsLocked(_ object: String) throws {
    let desktop = try Desktop(.none)
    let provider = try FakeProvider(desktop)
    var environment = desktop.environment
    environment["DISPLAY"] = ":4711"
    let store = desktop.store {
      $0.interaction = .allowed
      $0.environment = environment
    }
    try provider.behave(locked: [object])
    let quiet = store.quiet()
    expect(.busy) { _ = try quiet.text(identity) }
    expect(.busy) { _ = try quiet.text(identity) }
    let text = try Attempt.repeating { () throws(KeychainError) in
      try Attempt { () throws(KeychainError) in
        try quiet.secret(for: identity)?.secret.withBytes { $0.text }
      }
    }
    #expect(text == "secret of alice")
    withExtendedLifetime(provider) {}
  }
}
