internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainSecretService
internal import KeychainStores
internal import KeychainVault
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// The names that a shell can offer for a command line.
///
/// Nothing is unlocked, asked, started or reported. Names that would need this, or take too long,
/// are left out.
struct NameCompletions {
  let line: CompletionLine
  let context: KeychainCommandContext
  let environment: EnvironmentVariables

  /// The services that have credentials, limited to a given access group.
  var services: [String] {
    Self.distinct(found(CredentialQuery(accessGroup: group)).compactMap(Self.service(of:)))
  }

  /// The servers that have internet passwords, limited to a given access group.
  var servers: [String] {
    let names = found(CredentialQuery(accessGroup: group)).compactMap { identity -> String? in
      guard case .internetPassword(let password) = identity.kind else { return nil }
      return password.server
    }
    return Self.distinct(names)
  }

  /// The access groups, except the unnamed one, limited to a given service or server.
  var accessGroups: [String] {
    let query = CredentialQuery(service: service, server: server)
    return Self.distinct(found(query).map(\.accessGroup).filter { !$0.isEmpty })
  }

  /// The accounts of the given service or server, or else of the default service.
  ///
  /// If no account of the default service begins with the typed text, these are the accounts of all
  /// services.
  var accounts: [String] {
    let group = line.has("--all-groups") ? nil : group ?? ""
    let isOfAll = line.has("--all-services")
    let query = CredentialQuery(accessGroup: group, service: service, server: server)
    // A host that searches only its own service does not offer others.
    let all = found(isOfAll ? query : context.narrow(query))
    guard service == nil, server == nil, !isOfAll else { return Self.distinct(all.map(\.account)) }
    let ours = all.filter { identity in
      Self.service(of: identity)?.hasSameBytes(as: context.defaultService) ?? false
    }
    let isEnough = ours.contains { $0.account.utf8.starts(with: line.prefix.utf8) }
    return Self.distinct((isEnough ? ours : all).map(\.account))
  }

  /// References to the secrets; a host that searches only its own service does not offer others.
  var references: [String] {
    let all = found(context.narrow(CredentialQuery())).map { CredentialReference($0) }
    // Some names, for example with a control character, have no reference.
    return Self.distinct(
      all.filter { (try? CredentialReference($0.description)) == $0 }.map(\.description))
  }

  func slotNumbers(_ isMeant: (VaultSlot) -> Bool) -> [String] {
    let slots = (try? stores.vault.slots()) ?? []
    return slots.filter(isMeant).map { String($0.number) }
  }

  private var group: String? { line.value(of: "--access-group", "--group", "-g") }
  private var service: String? { line.value(of: "--service", "-s") }
  private var server: String? { line.value(of: "--server") }

  private func found(_ query: CredentialQuery) -> [CredentialIdentity] {
    searched.flatMap { store in (try? store.search(query))?.credentials.map(\.identity) ?? [] }
  }

  /// The context's own store, else the built-in ones that can be read at once.
  private var searched: [any CredentialStore] {
    if let given = context.store { return [given] }
    return places.map { stores.store(at: $0) }
  }

  private static func service(of identity: CredentialIdentity) -> String? {
    guard case .genericPassword(let service, _) = identity.kind else { return nil }
    return service
  }

  private static func distinct(_ names: [String]) -> [String] {
    let sorted = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    return sorted.enumerated().filter { index, name in
      index == 0 || !name.hasSameBytes(as: sorted[index - 1])
    }
    .map(\.element)
  }
}

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

  /// Stores that neither ask nor report anything.
  var stores: AutomaticStore {
    let variables = Self.variables.map { ($0, environment.text($0)) }
    let path = line.value(of: "--vault").map(expanded)
    let isNamed = environment.text("KEYCHAIN_VAULT") != nil
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

  /// The places to search: the vault, and the desktop keyring if services use it and it is running
  /// and unlocked.
  var places: [StorePlace] {
    let choice = line.value(of: "--store") ?? environment.text("KEYCHAIN_STORE")
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
  private func expanded(_ path: String) -> String {
    guard path.hasPrefix("~/"), let home = environment.text("HOME") else { return path }
    return home + path.dropFirst()
  }
}

/// Names that are read without unlocking anything.
extension CompletionKind {
  static var services: Self { .names { $0.services } }

  static var servers: Self { .names { $0.servers } }

  static var accounts: Self { .names { $0.accounts } }

  static var references: Self { .names { $0.references } }

  static var accessGroups: Self { .names { $0.accessGroups } }

  static var vaultSlots: Self { .names { $0.slotNumbers { _ in true } } }

  static var passphraseSlots: Self { .names { $0.slotNumbers { $0.kind == .passphrase } } }

  private static func names(_ find: @escaping @Sendable (NameCompletions) -> [String]) -> Self {
    .names { line in
      find(
        NameCompletions(
          line: line, context: .current, environment: CommandHost.current.environment))
    }
  }
}
