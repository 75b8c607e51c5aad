internal import KeychainCredentials
internal import KeychainSecretService
internal import KeychainStores
internal import KeychainVault
internal import PrephirencesFiles

// Where names are looked for.
extension NameCompletions {
  /// Nobody waits longer for a key that completes.
  private static let patience: Duration = .milliseconds(500)

  /// What tells where things lie.
  ///
  /// Whatever unlocks is left out, so that no passphrase is hashed.
  private static let variables = [
    "HOME", "KEYCHAIN_VAULT", "STATE_DIRECTORY", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR", "XDG_STATE_HOME",
  ]

  /// The stores, none of which asks or says anything.
  var stores: AutomaticStore {
    let variables = Self.variables.map { ($0, Environment.value($0)) }
    let path = line.value(of: "--vault").map(Self.expanded)
    let isNamed = Environment.value("KEYCHAIN_VAULT") != nil
    var vault = Vault.Configuration(
      path: path ?? (isNamed ? nil : context.defaultVault), deadline: Self.patience)
    vault.environment = EnvironmentVariables(
      Dictionary(
        uniqueKeysWithValues: variables.compactMap { name, value in
          value.map { (name, $0) }
        }))
    vault.leavesConnectionToExit = context.isWholeProgram
    return AutomaticStore(
      configuration: AutomaticStore.Configuration(
        vault: vault, secretService: SecretServiceStore.Configuration(deadline: Self.patience)))
  }

  /// The places that are looked at: the vault, and the desktop keyring where something is in it, if it
  /// runs and is unlocked.
  var places: [StorePlace] {
    let choice = line.value(of: "--store") ?? Environment.value("KEYCHAIN_STORE")
    if line.value(of: "--vault") != nil || choice == StoreChoice.vault.rawValue { return [.vault] }
    let named = namedCollection
    let isKeyringChosen = named != nil || choice == StoreChoice.secretService.rawValue
    let keyrings =
      isKeyringChosen ? [named ?? .secretService(.default)] : recordedKeyrings
    guard !keyrings.isEmpty, Self.isKeyringReadable else { return isKeyringChosen ? [] : [.vault] }
    return (isKeyringChosen ? [] : [.vault]) + keyrings
  }

  private var namedCollection: StorePlace? {
    if let label = line.value(of: "--collection") { return .secretService(.named(label)) }
    return line.has("--session-only") ? .secretService(.session) : nil
  }

  private var recordedKeyrings: [StorePlace] {
    let recorded = (try? stores.records.all().places) ?? []
    return Array(Set(recorded.filter { $0 != .vault }))
  }

  private static var isKeyringReadable: Bool {
    let probe = SecretServiceProbe.run(deadline: patience)
    return probe.provider?.isOurs == true && probe.isLocked == false
  }

  /// A path as the shell would give it to the program.
  private static func expanded(_ path: String) -> String {
    guard path.hasPrefix("~/"), let home = Environment.value("HOME") else { return path }
    return home + path.dropFirst()
  }
}
