internal import KeychainCredentials
internal import KeychainSecretService
internal import KeychainStores
internal import KeychainVault
internal import PrephirencesCommandLine
internal import PrephirencesSystem

// The stores that are searched for names.
extension NameCompletions {
  /// Completion must answer at once.
  private static let timeout: Duration = .milliseconds(500)

  /// The variables for the locations of files.
  ///
  /// Variables that unlock are left out, so that no passphrase is hashed.
  private static let variables = [
    "HOME", "KEYCHAIN_VAULT", "STATE_DIRECTORY", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR", "XDG_STATE_HOME",
  ]

  /// The stores, which neither ask nor report anything.
  var stores: AutomaticStore {
    let variables = Self.variables.map { ($0, Environment.value($0)) }
    let path = line.value(of: "--vault").map(Self.expanded)
    let isNamed = Environment.value("KEYCHAIN_VAULT") != nil
    var vault = Vault.Configuration(
      path: path ?? (isNamed ? nil : context.defaultVault), deadline: Self.timeout)
    vault.environment = EnvironmentVariables(
      Dictionary(
        uniqueKeysWithValues: variables.compactMap { name, value in
          value.map { (name, $0) }
        }))
    return AutomaticStore(
      configuration: AutomaticStore.Configuration(
        vault: vault, secretService: SecretServiceStore.Configuration(deadline: Self.timeout)))
  }

  /// The places to search: the vault, and the desktop keyring if services use it, it is running,
  /// and it is unlocked.
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
    let probe = SecretServiceProbe.run(deadline: timeout)
    return probe.provider?.isOurs == true && probe.isLocked == false
  }

  /// Returns a path as the shell would pass it to the program.
  private static func expanded(_ path: String) -> String {
    guard path.hasPrefix("~/"), let home = Environment.value("HOME") else { return path }
    return home + path.dropFirst()
  }
}
