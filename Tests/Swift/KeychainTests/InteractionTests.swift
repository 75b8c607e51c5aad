internal import Keychain
internal import Testing

@Suite("Interaction")
struct InteractionTests {
  private func isAllowed(_ interaction: Interaction) -> Bool {
    if case .allowed = interaction { true } else { false }
  }

  @Test func oneChoiceIsForBothStores() {
    let allowed = AutomaticStore.Configuration(interaction: .terminal)
    #expect(isAllowed(allowed.vault.interaction))
    #expect(allowed.secretService.interaction == .allowed)
    let keyring = SecretServiceStore.Configuration(interaction: .allowed)
    let vault = Vault.Configuration(interaction: .terminal)
    let denied = AutomaticStore.Configuration(
      vault: vault, secretService: keyring, interaction: .denied)
    #expect(!isAllowed(denied.vault.interaction))
    #expect(denied.secretService.interaction == .denied)
    let each = AutomaticStore.Configuration(vault: vault, secretService: keyring)
    #expect(isAllowed(each.vault.interaction) && each.secretService.interaction == .allowed)
    let neither = AutomaticStore.Configuration()
    #expect(!isAllowed(neither.vault.interaction) && neither.secretService.interaction == .denied)
  }

  @Test func preferencesTakeItDirectly() throws {
    let keychain = KeychainPreferences(
      service: "s", accessGroup: "g", accessibility: .always, interaction: .terminal,
      notice: Notice.writeToStandardError)
    let store = try #require(keychain.store as? AutomaticStore)
    #expect(isAllowed(store.configuration.vault.interaction))
    #expect(store.configuration.notice != nil && store.configuration.vault.notice != nil)
    #expect(keychain.service == "s" && keychain.accessGroup == "g")
    #expect(keychain.accessibility == .always)
    let server = KeychainPreferences(server: "example.com", port: 1, interaction: .denied)
    #expect(server.identity(for: "a").description == "'a' of server 'example.com', port 1")
    let own = try #require(server.store as? AutomaticStore)
    #expect(!isAllowed(own.configuration.vault.interaction) && own.configuration.notice == nil)
  }
}
