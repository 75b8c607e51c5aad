internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainStores

/// How the keychain commands speak, and what they assume, inside the program that mounts them.
public struct KeychainCommandContext: Hashable, Sendable {
  /// The name under which messages are printed, such as `mytool`.
  public var hostName: String

  /// The words that run the commands, such as `mytool keychain`; help and hints use them.
  public var commandPath: String

  /// The service of a credential when none is given.
  ///
  /// With another one than `default`, commands that list or move credentials concern this service alone,
  /// unless other services are named or `--all-services` is given.
  public var defaultService: String

  /// The path of the vault when neither `--vault` nor `KEYCHAIN_VAULT` names one; `nil` for the usual
  /// one, which the user's programs share.
  public var defaultVault: String?

  /// The service that is the host's own; `nil` where the commands are for every service.
  var ownService: String? {
    defaultService.hasSameBytes(as: Self.sharedService) ? nil : defaultService
  }

  /// Narrows a search down to the host's own service, unless it names a service or server.
  func narrow(_ query: CredentialQuery) -> CredentialQuery {
    guard query.service == nil, query.server == nil else { return query }
    var narrowed = query
    narrowed.service = ownService
    return narrowed
  }

  /// The option that a command of the host needs, after a space, to reach a service or server; `nil` for all.
  func scopeOption(reaching service: ServiceName? = nil) -> String {
    guard let ownService else { return "" }
    let own = ServiceName(.service, ownService)
    return service == own ? "" : " --all-services"
  }

  /// The service of credentials that belong to no program.
  private static let sharedService = "default"

  /// Whether the process ends with the command.
  var isWholeProgram = false

  /// Describes a host by names.
  ///
  /// - Parameters:
  ///   - hostName: The name under which messages are printed; `nil` for the name of the program.
  ///   - commandPath: The words that run the commands; `nil` for the host's name and `keychain`.
  ///   - defaultService: The service of a credential when none is given.
  ///   - defaultVault: The path of the vault when none is given; `nil` for the usual one.
  public init(
    hostName: String? = nil, commandPath: String? = nil, defaultService: String = "default",
    defaultVault: String? = nil
  ) {
    let hostName = hostName ?? Self.programName
    self.hostName = hostName
    self.commandPath = commandPath ?? "\(hostName) keychain"
    self.defaultService = defaultService
    self.defaultVault = defaultVault
  }

  /// The context of the commands that run in this task.
  ///
  /// ``KeychainCommandLine`` sets it. A program that runs its commands by `main()` of the argument
  /// parser sets it itself, around that.
  @TaskLocal public static var current = KeychainCommandContext()

  private static var programName: String {
    let name = (ProgramArguments.texts.first ?? "").split(separator: "/").last.map(String.init)
    return name ?? "keychain"
  }
}

extension ParsableCommand {
  /// The words that run the commands, for examples in help.
  static var keychainPath: String { KeychainCommandContext.current.commandPath }
}
