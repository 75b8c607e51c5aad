import Foundation
import Keychain
import KeychainVault
import Testing

@testable import Keychain
@testable import KeychainStores

@Suite("The choice of store, without a desktop")
struct StoreChoiceTests {
  @Test func withoutABusItIsTheVault() throws {
    let machine = try Machine()
    #expect(
      try machine.store().decision(for: .item("a"))
        == StoreDecision(place: .vault, reason: .noSessionBus))
    let store = machine.store()
    try store.put("a", "1")
    #expect(try store.text("a") == "1")
    #expect(try machine.vault().secret(for: .item("a")) != nil)
    // The new vault reports itself.
    #expect(machine.newNotices() == [.vaultCreated])
    try store.put("a", "2")
    #expect(machine.newNotices().isEmpty)
    try store.put("a", service: "other", "3")
    #expect(machine.newNotices() == [.storeChosen])
    try store.put("b", service: "other", "4")
    #expect(machine.newNotices().isEmpty)
  }

  @Test func deadBusSelectsVaultAndSaysWhy() throws {
    let machine = try Machine()
    let store = machine.store(machine.deadBus)
    guard case .keyringUnavailable(let failure) = try store.decision(for: .item("a")).reason else {
      Issue.record("the reason is not told")
      return
    }
    #expect(failure.code == .noStore)
    try store.put("a")
    #expect(machine.newNotices() == [.vaultCreated, .storeChosen])
    #expect(try machine.store().text("a") == "t")
  }

  @Test func environmentDecides() throws {
    let machine = try Machine()
    let decide = { (variables: [String: String]) in
      try machine.store(variables).decision(for: .item("a"))
    }
    #expect(
      try decide(["KEYCHAIN_STORE": "vault"]) == StoreDecision(place: .vault, reason: .environment))
    #expect(
      try decide(["KEYCHAIN_STORE": "secret-service"])
        == StoreDecision(place: .secretService(.default), reason: .environment))
    #expect(try decide(["KEYCHAIN_STORE": "auto"]).reason == .noSessionBus)
    #expect(try decide(["KEYCHAIN_VAULT": "/v"]).reason == .namedVault)
    #expect(
      try decide(["KEYCHAIN_VAULT": "/v", "KEYCHAIN_STORE": "secret-service"]).reason
        == .environment)
    expect(.invalidArgument) { _ = try decide(["KEYCHAIN_STORE": "disk"]) }
    expect(.invalidArgument) {
      _ = try machine.store(["KEYCHAIN_STORE": "disk"]).search(CredentialQuery())
    }
  }

  @Test func anArgumentDecidesBeforeTheEnvironment() throws {
    let machine = try Machine()
    let variables = ["KEYCHAIN_STORE": "secret-service"]
    let chosen = machine.store(variables) { $0.choice = .vault }
    #expect(
      try chosen.decision(for: .item("a")) == StoreDecision(place: .vault, reason: .argument))
    let automatic = machine.store(variables) { $0.choice = .automatic }
    #expect(try automatic.decision(for: .item("a")).reason == .noSessionBus)
    let named = machine.store(variables) { $0.vault.path = machine.folder.path + "/v" }
    #expect(try named.decision(for: .item("a")).reason == .namedVault)
    let fallback = machine.store(variables) {
      $0.vault.path = machine.folder.path + "/v"
      $0.hasFallbackPath = true
    }
    #expect(try fallback.decision(for: .item("a")).reason == .environment)
    let secret = machine.store { $0.vault.unlock = .keyFile("/k") }
    #expect(try secret.decision(for: .item("a")).reason == .unlockSource)
  }

  /// A named vault is found when it is named again.
  @Test func aNamedVaultIsNotRecorded() throws {
    let machine = try Machine()
    try machine.store { $0.vault.path = machine.folder.path + "/own/vault" }.put("a")
    try machine.store(["KEYCHAIN_VAULT": machine.folder.path + "/own2.db"]).put("a")
    #expect(machine.records.isEmpty)
  }

  /// The volume of its folder may be missing.
  @Test func nothingIsMadeInAMissingFolderThatAVariableNames() throws {
    let machine = try Machine()
    let folder = machine.folder.path + "/volume"
    let store = machine.store(["KEYCHAIN_VAULT": folder + "/vault"])
    expect(.noStore) { try store.put("a") }
    #expect(!FileManager.default.fileExists(atPath: folder))
    try store.vault.create(startingAnew: false)
    try store.put("a")
  }

  @Test func absentRecordedStoreIsNeverReplaced() throws {
    let machine = try Machine()
    _ = try machine.store().records.record(
      .secretService(.default), for: ServiceName(.service, "s"))
    for variables in [[:], machine.deadBus] {
      let store = machine.store(variables)
      expect(.noStore) { _ = try store.text("a") }
      expect(.noStore) { _ = try store.credential(for: .item("a")) }
      expect(.noStore) { _ = try store.search(CredentialQuery(service: "s")) }
      expect(.noStore) { _ = try store.search(CredentialQuery()) }
      expect(.noStore) { try store.put("a") }
      expect(.noStore) { try store.update(.item("a"), with: CredentialUpdate(label: .clear)) }
      expect(.noStore) { try store.rename(.item("a"), to: .item("b")) }
      expect(.noStore) { try store.remove(.item("a")) }
    }
    #expect(try !machine.vault().isThere())
  }

  @Test func aMissingStoreDoesNotHideTheOthers() throws {
    let machine = try Machine()
    let store = machine.store()
    try store.put("a", service: "in the vault")
    _ = try store.records.record(.secretService(.default), for: ServiceName(.service, "s"))
    let result = try store.search(CredentialQuery())
    #expect(result.credentials.map(\.identity) == [.item("a", service: "in the vault")])
    #expect(result.failures.map(\.code) == [.noStore])
  }

  /// As in releases before the choice existed: vaults with items, and no records.
  @Test func contentsOfAVaultCountAsItsRecord() throws {
    let machine = try Machine()
    try machine.vault().put("a", "old")
    #expect(machine.records.isEmpty)
    let store = machine.store(machine.deadBus)
    #expect(
      try store.decision(for: .item("b")) == StoreDecision(place: .vault, reason: .vaultContents))
    #expect(try store.text("a") == "old")
    #expect(machine.records.isEmpty)
    _ = machine.newNotices()
    try store.put("b")
    #expect(machine.records.count == 1 && machine.newNotices().isEmpty)
  }

  /// A locked vault does not show which services it has, unless the device key opens the index.
  @Test func aVaultThatCannotBeLookedIntoCounts() throws {
    let machine = try Machine()
    try machine.vault().create(
      passphrase: SecretBytes(copying: "p"), keyFile: nil, device: false)
    try? machine.vault().lock(all: true)
    let store = machine.store(machine.deadBus)
    #expect(try store.decision(for: .item("a")).reason == .vaultContents)
    expect(.locked) { _ = try store.text("a") }
    expect(.locked) { try store.put("a") }
    // A device key that the vault may need must not be replaced.
    #expect(!FileManager.default.fileExists(atPath: machine.deviceKey))
  }

  @Test func lockedVaultListsServicesByDeviceKey() throws {
    let machine = try Machine()
    let file = machine.folder.appending(path: "passphrase")
    #expect(
      FileManager.default.createFile(
        atPath: file.path, contents: Data("p".utf8), attributes: [.posixPermissions: 0o600]))
    let passphrase = UnlockSource.passphraseFile(file.path)
    try machine.vault().create(
      passphrase: SecretBytes(copying: "p"), keyFile: nil, device: true)
    try machine.store { $0.vault.unlock = passphrase }.vault.put("a")
    try machine.vault().lock(all: true)
    let vault = machine.vault()
    for _ in 0..<3 {
      #expect(try vault.presence(of: CredentialQuery(service: "s")) == .present)
      #expect(try vault.presence(of: CredentialQuery(service: "t")) == .absent)
      #expect(try vault.presence(of: CredentialQuery(server: "t")) == .absent)
    }
  }

  /// From the second question on, one search answers for all services; it must not outlive the contents.
  @Test func repeatedQuestionsSeeEachChange() throws {
    let machine = try Machine()
    let vault = machine.vault()
    try vault.put("a")
    let (own, other) = (CredentialQuery(service: "s"), CredentialQuery(server: "s"))
    for _ in 0..<3 {
      #expect(try vault.presence(of: own) == .present)
      #expect(try vault.presence(of: other) == .absent)
    }
    try machine.vault().remove(.item("a"))
    for _ in 0..<3 { #expect(try vault.presence(of: own) == .absent) }
  }

  @Test func choiceAgainstRecordIsFollowedAndReported() throws {
    let machine = try Machine()
    _ = try machine.store().records.record(
      .secretService(.default), for: ServiceName(.service, "s"))
    let forced = machine.store { $0.choice = .vault }
    try forced.put("a")
    #expect(machine.newNotices() == [.vaultCreated, .storeDiffers])
    #expect(try forced.text("a") == "t")
    #expect(machine.newNotices().isEmpty)
    try forced.remove(.item("a"))
    #expect(machine.newNotices() == [.storeDiffers])
    #expect(try forced.records.place(of: ServiceName(.service, "s")) == .secretService(.default))
  }

  @Test func explicitChoiceIsRecordedIfNoneExists() throws {
    let machine = try Machine()
    try machine.store { $0.choice = .vault }.put("a")
    #expect(try machine.store().decision(for: .item("a")).reason == .record)
  }

  @Test func missingStoreIsNotRecorded() throws {
    let machine = try Machine()
    let store = machine.store { $0.choice = .secretService }
    expect(.noStore) { try store.put("a", service: "k") }
    #expect(machine.records.isEmpty && machine.newNotices().isEmpty)
  }

  @Test func failedWriteRecordsNothing() throws {
    let machine = try Machine()
    let store = machine.store { $0.choice = .secretService }
    let secret = try SecretBytes(copying: "t")
    expect(.refused) {
      try store.set(
        Credential(.item("a"), accessibility: .whenPasscodeSetThisDeviceOnly), secret: secret)
    }
    expect(.invalidArgument) {
      try store.set(
        Credential(.item("a"), attributes: ["service": "x"]), secret: secret)
    }
    #expect(machine.records.isEmpty)
  }

  @Test func aServiceKeepsItsRecordWithoutCredentials() throws {
    let machine = try Machine()
    try machine.store().put("a")
    #expect(try machine.store().remove(.item("a")))
    #expect(try machine.store().decision(for: .item("a")).reason == .record)
  }

  @Test func renamedServiceKeepsItsStore() throws {
    let machine = try Machine()
    let store = machine.store()
    try store.put("a")
    expect(.notFound) { try store.rename(.item("x"), to: .item("x", service: "new")) }
    #expect(machine.records.count == 1)
    try store.rename(.item("a"), to: .item("a", service: "new"))
    #expect(try store.records.place(of: ServiceName(.service, "new")) == .vault)
    _ = try store.records.record(.secretService(.default), for: ServiceName(.service, "k"))
    expect(.refused) {
      try store.rename(.item("a", service: "new"), to: .item("a", service: "k"))
    }
    #expect(try store.text("a", service: "new") == "t")
  }

  @Test func aNameThatIsTakenRecordsNothing() throws {
    let machine = try Machine()
    let store = machine.store()
    try store.put("a")
    // Written past the choice, so its service has no record.
    try machine.vault().set(
      Credential(.item("a", service: "new")), secret: SecretBytes(copying: "t"), mode: .addOnly)
    expect(.alreadyExists) { try store.rename(.item("a"), to: .item("a", service: "new")) }
    #expect(machine.records.count == 1)
  }

  @Test func changesOfTheVaultAreReported() async throws {
    let machine = try Machine()
    var changes = machine.store().changes().makeAsyncIterator()
    try machine.store().put("a")
    #expect(await changes.next() == CredentialChange(.item("a"), .added))
  }

  @Test func thePreferencesUseIt() {
    #expect(KeychainPreferences.defaultStore is AutomaticStore)
  }
}
