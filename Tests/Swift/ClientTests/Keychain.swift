import Keychain
import Prephirences

// The code with which a command-line program stores a token, compiled like a client's: with one
// import and without access to `package` declarations.

/// Stores a token and reads it back.
func keepToken(_ token: String, in keychain: KeychainPreferences) throws -> Int? {
  do {
    try keychain.set(token, for: "api")
    if let token = try keychain.string(for: "api") { return token.count }
  } catch  where error.code == .locked {
    print("unlock the keychain first")
  }
  return nil
}

/// The same in asynchronous code.
func keepToken(_ token: String, in keychain: KeychainPreferences) async throws -> Int? {
  try await keychain.perform { keychain in
    try keychain.set(token, for: "api")
    return try keychain.string(for: "api")?.count
  }
}

// One import is enough to name every type that a program needs, and to use its members.

/// Uses the preference protocols through the same import.
func usePreferences(_ keychain: KeychainPreferences) -> Int {
  keychain.accessGroup = "shared"
  keychain["count"] = 42
  keychain["greeting"] = "hello"
  keychain.accessibility = .AccessibleAfterFirstUnlock
  keychain.set(true, forKey: "flag")
  let preferences: any MutablePreferencesType = keychain
  preferences.set(dictionary: ["a": 1])
  return preferences.bool(forKey: "flag") ? preferences.integer(forKey: "count") : 0
}

/// Uses secrets and credentials on a store that the program chooses.
func useSecrets(_ store: any CredentialStore) async throws -> UInt64? {
  let keychain = KeychainPreferences(
    server: "example.com", protocol: "https", port: 443, store: store)
  let credential = try await keychain.perform { keychain in
    try keychain.set(try SecretBytes(copying: "secret"), for: "user")
    let update = CredentialUpdate(accessibility: .always, label: .set("A label"))
    return try keychain.update(update, for: "user")
  }
  guard let secret = try await keychain.perform({ try $0.secret(for: "user") }) else { return nil }
  let count = secret.withBytes { $0.byteCount }
  return count == 6 ? credential.version : nil
}

/// Handles every kind of failure by its code or its number.
func explain(_ error: KeychainError) -> String {
  switch error.code {
  case .locked: "locked: \(error.recovery?.description ?? "")"
  case .expired: error.message
  default: error.status == errSecItemNotFound ? "absent" : "\(error)"
  }
}

/// Chooses the vault and how to unlock it.
func preferences(vault path: String, keyFile: String) -> KeychainPreferences {
  let configuration = Vault.Configuration(
    path: path, deadline: .seconds(5), unlock: .keyFile(keyFile, named: "--key-file"),
    interaction: .denied, notice: { print($0.message) })
  return KeychainPreferences(
    service: "com.example.server", accessGroup: "team", accessibility: .afterFirstUnlock,
    store: Vault(configuration: configuration))
}

/// Chooses between the desktop keyring and the vault, and returns the choice of a service.
func chosenStore(_ choice: StoreChoice?) throws -> String {
  let keyring = SecretServiceStore.Configuration(
    collection: .named("Work"), interaction: .allowed, deadline: .seconds(2))
  let store = AutomaticStore(
    configuration: AutomaticStore.Configuration(
      choice: choice, secretService: keyring, notice: { print($0.message) }))
  let identity = CredentialIdentity.genericPassword(service: "com.example", account: "me")
  let decision: StoreDecision = try store.decision(for: identity)
  if case .keyringUnavailable(let failure) = decision.reason { return failure.message }
  let isThere = try store.store(at: .secretService(.default)).credential(for: identity) != nil
  return isThere ? StoreChoice.secretService.rawValue : decision.place.name
}

/// Looks for a desktop keyring.
func keyringProvider() -> String? { SecretServiceProbe.run().provider?.name }

/// Moves credentials between vaults, and returns how many were already there.
func move(from source: Vault, to target: Vault, through path: String) throws -> Int {
  let passphrase = try SecretBytes.random(count: 24)
  let exported = try source.export(to: path, passphrase: passphrase) { print($0.completed) }
  let imported = try target.importItems(from: path, passphrase: passphrase, overwriting: true)
  return exported.itemCount - imported.addedCount - imported.differing.count
}

/// Moves a service into the desktop keyring, and returns what stayed.
func moveToKeyring(_ service: String) throws -> [String] {
  var migration = try AutomaticStore().migration(from: .vault, to: .secretService(.default))
  migration.service = service
  migration.removesSource = try migration.rehearse().isComplete
  let report: MigrationReport = try migration.run { print($0.completed) }
  return report.obstacles.map { "\($0.identity): \($0.reason.message)" }
}

/// Conforms to the protocols from another module.
final class OwnPreferences: MutablePreferencesType {
  private var values: PreferencesDictionary = [:]

  func object(forKey key: PreferenceKey) -> PreferenceObject? { values[key] }
  func dictionary() -> PreferencesDictionary { values }
  func set(_ value: PreferenceObject?, forKey key: PreferenceKey) { values[key] = value }
  func removeObject(forKey key: PreferenceKey) { values[key] = nil }
}

/// Shares a vault with a colleague, and creates a recovery code.
func share(_ vault: Vault, with recipient: String, show: (String?) -> Bool) throws {
  let slot: VaultSlot = try vault.addRecipientSlot(VaultRecipient(text: recipient))
  let check: VaultCheck? = try vault.status().check
  let identity: IdentityDescription = try vault.identity(at: vault.defaultIdentityPath())
  guard slot.recipient == identity.recipient, check != nil else { return }
  try vault.addRecoveryCodeSlot { (code: borrowing RecoveryCode) throws(KeychainError) in
    show("\(try code.text().count) characters")
  }
}

/// Reads a secret that a configuration names.
func length(of text: String, in store: any CredentialStore) throws -> Int {
  guard CredentialReference.isReference(text) else { return text.utf8.count }
  let reference = try CredentialReference(text)
  var resolver = ReferenceResolver(store: store, defaultService: "com.example.server")
  resolver.allowsExpired = reference.isOptional
  guard reference.belongs(to: "com.example.server", defaultService: resolver.defaultService),
    try resolver.identity(of: reference) != nil
  else { return 0 }
  return try resolver.resolve(reference).count
}

/// Writes a reference.
func reference(to host: String, _ account: String?) -> String {
  let pattern = InternetPasswordPattern(server: host, protocol: "https", account: account)
  return CredentialReference(.internetPassword(pattern), field: .username).description
}

/// A configuration that the program trusts.
final class ServerConfiguration: MutableDictionaryPreferences, OwnValuePreferences,
  @unchecked Sendable
{}

/// Reads preferences with references.
func token(_ configuration: ServerConfiguration, _ store: any CredentialStore) -> String? {
  let settings = ReferencePreferences(
    configuration, resolving: ["token"], service: "com.example.server", store: store)
  if let error = settings.lastError as? KeychainError { return explain(error) }
  return (try? settings.string(for: "token")) ?? settings.token as? String
}
