import KeychainCredentials
import KeychainSecrets
import Testing

@testable import KeychainSecretService

@Suite("No dialogs where the environment says so", .timeLimit(.minutes(10)))
struct NoPromptTests {
  private let identity = CredentialIdentity.genericPassword(service: "s", account: "alice")

  // The provider would unlock the collection without asking.
  @Test(arguments: [("1", false), ("0", false), ("", true)])
  func theVariableDecides(_ value: String, isAsked: Bool) throws {
    let desktop = try Desktop(.none)
    let provider = try FakeProvider(desktop)
    var environment = desktop.environment
    environment["DISPLAY"] = ":4711"
    environment["KEYCHAIN_NO_PROMPT"] = value
    let store = desktop.store {
      $0.interaction = .allowed
      $0.environment = environment
    }
    try provider.behave(locked: [FakeProvider.collection])
    #expect(store.canPrompt == isAsked)
    if isAsked {
      #expect(try store.text(identity) == "secret of alice")
    } else {
      expect(.locked) { _ = try store.text(identity) }
    }
    withExtendedLifetime(provider) {}
  }
}
