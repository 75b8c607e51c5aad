internal import ArgumentParser
internal import Glibc
internal import KeychainCredentials
internal import KeychainStores
internal import KeychainVault
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// The names and defaults of the keychain commands in the program that mounts them.
public struct KeychainCommandContext: Sendable {
  /// The name in messages, such as `mytool`.
  public var hostName: String

  /// The words that run the commands, such as `mytool keychain`, for help and hints.
  public var commandPath: String

  /// The service of a credential if none is given.
  ///
  /// If it is not `default`, commands that list or move credentials concern only this service,
  /// unless other services are given or `--all-services` is used.
  public var defaultService: String

  /// The path of the vault if neither `--vault` nor `KEYCHAIN_VAULT` gives one; `nil` for the
  /// default one, which the user's programs share.
  public var defaultVault: String?

  /// The store that the commands use; `nil` for the built-in ones, chosen by options and the
  /// environment.
  var store: (any CredentialStore)?

  /// Returns who can be asked until a deadline, or `nil` if nobody can.
  var prompt: @Sendable (Deadline?) -> (any Prompt)? = { deadline in
    TerminalPrompt.isUsable ? TerminalPrompt(deadline: deadline) : nil
  }

  /// The host's own service, or `nil` if the commands are for all services.
  var ownService: String? {
    defaultService.hasSameBytes(as: Self.sharedService) ? nil : defaultService
  }

  /// Limits a search to the host's own service, unless it has a service or server.
  func narrow(_ query: CredentialQuery) -> CredentialQuery {
    guard query.service == nil, query.server == nil else { return query }
    var narrowed = query
    narrowed.service = ownService
    return narrowed
  }

  /// Returns the option that a hint needs to reach a service or server, after a space; `nil` means
  /// all services.
  func scopeOption(reaching service: ServiceName? = nil) -> String {
    guard let ownService else { return "" }
    let own = ServiceName(.service, ownService)
    return service == own ? "" : " --all-services"
  }

  /// The service of credentials that belong to no program.
  private static let sharedService = "default"

  /// Creates the context of a host from names.
  ///
  /// - Parameters:
  ///   - hostName: The name in messages; `nil` for the name of the program.
  ///   - commandPath: The words that run the commands; `nil` for the host's name and `keychain`.
  ///   - defaultService: The service of a credential if none is given.
  ///   - defaultVault: The path of the vault if none is given; `nil` for the default one.
  public init(
    hostName: String? = nil, commandPath: String? = nil, defaultService: String = "default",
    defaultVault: String? = nil
  ) {
    let hostName = hostName ?? CommandHost.current.arguments.programName ?? "keychain"
    self.hostName = hostName
    self.commandPath = commandPath ?? "\(hostName) keychain"
    self.defaultService = defaultService
    self.defaultVault = defaultVault
  }

  /// The context of the commands that run in this task.
  ///
  /// ``KeychainCommandLine`` sets it. A program that runs its commands with the argument parser's
  /// `main()` sets it itself, around that call.
  @TaskLocal public static var current = KeychainCommandContext()
}

extension ParsableCommand {
  /// The words that run the commands, for examples in help.
  static var keychainPath: String { KeychainCommandContext.current.commandPath }

  /// Returns the usage line of a command, for its help.
  ///
  /// The parser's own line lists up to a dozen options, over many lines. A test compares the words
  /// with the arguments.
  static func usage(_ words: String) -> String { "\(keychainPath) \(words)" }
}

/// A program that a client runs under its own name, and the command that answers it.
///
/// A client such as docker runs `docker-credential-NAME` from `PATH`, without arguments. A link
/// with that name to the host runs the host's command.
enum HelperProgram: String, CaseIterable {
  case docker, git

  /// The command that answers the client.
  var command: String {
    switch self {
    case .docker: "docker-credential"
    case .git: "git-credential"
    }
  }

  var client: String { rawValue }

  /// An operation that reads no credential, to try a link.
  var trial: String {
    switch self {
    case .docker: "version"
    case .git: "capability"
    }
  }

  func linkName(of hostName: String) -> String { "\(command)-\(hostName)" }

  /// Finds the helper for the name with which a program was called.
  ///
  /// Only the last part of the path counts, and it selects only the command, because the caller
  /// chooses the name freely.
  init?(calledAs program: String?, hostName: String) {
    let name = (program ?? "").utf8.split(separator: UInt8(ascii: "/")).last ?? []
    guard
      let helper = Self.allCases.first(where: {
        $0.linkName(of: hostName).utf8.elementsEqual(name)
      })
    else { return nil }
    self = helper
  }
}

enum KernelKeys {
  /// Whether the kernel lists its keys, with the remaining time of each.
  static var areListed: Bool { access("/proc/keys", R_OK) == 0 }
}
