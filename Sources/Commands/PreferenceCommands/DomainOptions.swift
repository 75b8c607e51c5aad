internal import ArgumentParser
internal import FoundationEssentials
internal import PreferencesCore
internal import PreferencesDurable
internal import PreferencesShared
internal import PrephirencesCommandLine
internal import PrephirencesEtcd
internal import PrephirencesSystem

/// The options that every command takes.
struct DomainOptions: ParsableArguments {
  @Option(
    name: .shortAndLong, parsing: .unconditional,
    help: .init("The domain: the suite of a program's preferences", valueName: "name"),
    completion: .domains)
  var domain: String?

  @Flag(name: .shortAndLong, help: "Write only errors to standard error")
  var quiet = false

  @OptionGroup var shared: StoreOptions

  func validate() throws {
    guard let domain else { return }
    if let problem = PreferenceUsageText.problem(ofDomain: domain) {
      throw ValidationError(problem)
    }
  }

  /// The domain, which may be the host's own, or `nil` if none is named.
  var name: String? { domain ?? PreferenceCommandContext.current.defaultDomain }

  /// Returns the domain, whose name was checked with the arguments.
  ///
  /// With `isRehearsal`, its changes are recorded instead of made.
  ///
  /// - Throws: `PreferencesError` or `CommandLineError` if the address or a setting cannot be used.
  func open(
    isRehearsal: Bool, reportingTo interface: UserInterface
  ) throws -> PreferenceDomain {
    let name = name ?? ""
    let store = try store(named: name, isRehearsal, interface)
    return isRehearsal
      ? PreferenceDomain(named: name, rehearsing: store) : PreferenceDomain(named: name, in: store)
  }

  private func store(
    named name: String, _ isRehearsal: Bool, _ interface: UserInterface
  ) throws -> any DomainStore {
    guard let address = shared.store else {
      return PreferenceCommandContext.current.domains.store(named: name)
    }
    return try shared.domainStore(named: name, at: address, isRehearsal: isRehearsal) {
      interface.say($0)
    }
  }

  /// Fails if no domain is named.
  func require(_ word: String?, isExtra: Bool = false) throws {
    guard name == nil else { return }
    guard let word, isExtra || PreferenceCommandContext.current.domainNames.contains(word) else {
      throw ValidationError(PreferenceUsageText.domainMissing)
    }
    let option = "--domain \(ShellText.quoted(word))"
    throw ValidationError("\(PreferenceUsageText.domainMissing); did you mean '\(option)'?")
  }
}

/// The options that name a shared store.
struct StoreOptions: ParsableArguments {
  @Option(
    help: .init(
      "A shared store instead of this machine's preferences: etcd+https://host:2379/prefix, or "
        + "etcd+https:///prefix completed by ETCDCTL_ENDPOINTS, ETCDCTL_CACERT and "
        + "ETCDCTL_USER",
      valueName: "address"))
  var store: String?

  @OptionGroup var connection: ConnectionOptions

  func validate() throws {
    guard store != nil || !connection.isGiven else {
      throw ValidationError(SyncUsageText.connectionNeedsStore)
    }
  }
}

extension StoreOptions {
  /// Returns a shared store: through this machine's copy if there is one, or else on the engine.
  ///
  /// Without options for the connection, it uses the settings, including the endpoints, of a suite
  /// at the same cluster; its password goes nowhere else. A rehearsal does not change a copy, and
  /// reads what would change on the engine.
  func domainStore(
    named name: String, at text: String, isRehearsal: Bool, notice: @escaping (String) -> Void
  ) throws -> any DomainStore {
    let given = try SharingConfiguration(address: text).completed().address
    let address = try SharedAddress(given)
    var sameEngine: SharingConfiguration?
    for suite in (try? SharingConfiguration.suiteNames()) ?? [] {
      // The commands that need an unreadable one report it.
      guard let configuration = (try? SharingConfiguration.load(suiteName: suite)) ?? nil,
        let other = try? SharedAddress(configuration.address), other.isSameEngine(as: address)
      else { continue }
      if other.prefix == address.prefix, (configuration.store ?? suite).isSameBytes(as: name) {
        let suite = SharedSuite(suite, configuration)
        guard isRehearsal else { return FileDomain(SharedCopy(suite, notice: notice)) }
        return DirectDomain(
          store: try suite.direct(), address: text, copy: FileDomain(named: suite.name))
      }
      sameEngine = sameEngine ?? configuration
    }
    var configuration: SharingConfiguration
    if let sameEngine, !connection.isGiven {
      configuration = sameEngine
      configuration.address = SharedAddress.address(sameEngine.address, withPathOf: text)
    } else {
      configuration = try connection.configuration(for: text)
    }
    configuration.store = name
    let (cluster, prefix) = try configuration.cluster(suiteName: name)
    return DirectDomain(
      store: DirectStore(
        cluster: cluster, layout: StoreLayout(prefix: prefix), machine: configuration.machineName),
      address: text)
  }
}

extension String {
  fileprivate func isSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

struct ConnectionOptions: ParsableArguments {
  @Option(
    help: .init("The certificates of authorities (default: the system's)", valueName: "file"),
    completion: .file())
  var cacert: String?

  @Option(
    help: .init("This machine's certificate, which has no common name", valueName: "file"),
    completion: .file())
  var cert: String?

  @Option(
    name: .customLong("key"),
    help: .init("The key of the certificate", valueName: "file"), completion: .file())
  var certificateKey: String?

  @Option(help: .init("The name of the user of etcd", valueName: "name"))
  var user: String?

  @Option(
    help: .init("A file with the password of the user", valueName: "file"), completion: .file())
  var passwordFile: String?

  @Option(
    help: .init(
      "A reference to the password, such as keychain://etcd/fleet", valueName: "reference"))
  var passwordRef: String?

  @Option(help: .init("An HTTP proxy; those of the environment are not used", valueName: "address"))
  var proxy: String?

  func validate() throws {
    guard passwordFile == nil || passwordRef == nil else {
      throw ValidationError(SyncUsageText.onePassword)
    }
    guard (cert == nil) == (certificateKey == nil) else {
      throw ValidationError(SyncUsageText.certificateAndKey)
    }
    // A reference is to the keychain, or to a server in it.
    if let passwordRef, !["keychain://", "keychain+"].contains(where: passwordRef.hasPrefix) {
      throw ValidationError(SyncUsageText.reference)
    }
  }

  var isGiven: Bool {
    [cacert, cert, certificateKey, user, passwordFile, passwordRef, proxy].contains { $0 != nil }
  }

  /// Returns the configuration for an address, completed by the variables if it names no endpoint.
  ///
  /// Paths become absolute, because other programs read them in other folders. Settings without an
  /// option stay.
  func configuration(
    for address: String, replacing old: SharingConfiguration? = nil
  ) throws -> SharingConfiguration {
    var configuration = old ?? SharingConfiguration(address: address)
    configuration.address = address
    if let cacert { configuration.certificateAuthority = try fromRoot(cacert) }
    if let cert { configuration.certificate = try fromRoot(cert) }
    if let certificateKey { configuration.key = try fromRoot(certificateKey) }
    if let user { configuration.user = user }
    if passwordFile != nil || passwordRef != nil {
      configuration.passwordFile = try passwordFile.map(fromRoot)
      configuration.passwordReference = passwordRef
    }
    if let proxy { configuration.proxy = proxy }
    let completed = try configuration.completed()
    let hasPassword = completed.passwordFile != nil || completed.passwordReference != nil
    guard completed.user != nil || !hasPassword else {
      throw CommandLineError(
        ExitCodes.usage, SyncUsageText.passwordNeedsUser,
        hint: configuration.address == completed.address
          ? SyncUsageText.addUser : SyncUsageText.addUserOrVariable)
    }
    guard completed.user == nil || hasPassword else {
      throw CommandLineError(
        ExitCodes.usage, "there is a user, '\(completed.user ?? "")', but no password",
        hint: SyncUsageText.addPassword)
    }
    for path in [completed.certificateAuthority, completed.certificate, completed.key] {
      if let path, !FileManager.default.isReadableFile(atPath: path) {
        throw CommandLineError(
          ExitCodes.usage, "the file '\(path)' cannot be read",
          hint:
            "name another one with --cacert, --cert or --key, or in the variable ETCDCTL_CACERT, "
            + "ETCDCTL_CERT or ETCDCTL_KEY")
      }
    }
    return completed
  }

  private func fromRoot(_ path: String) throws -> String {
    do { return try TrustedPath.fromRoot(path) } catch { throw PreferencesError(error) }
  }
}
