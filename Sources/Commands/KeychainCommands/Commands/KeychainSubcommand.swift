internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainStores
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// A command that works with credentials or a vault.
protocol KeychainSubcommand: PackageCommand {
  var common: CommonOptions { get }

  /// The options that choose the store; `nil` for commands that work only with the vault.
  var storeOptions: StoreChoiceOptions? { get }

  /// Whether the command concerns only the vault, whatever store is chosen.
  var isOfVaultOnly: Bool { get }

  /// Who may be asked, and until when.
  func asking(in environment: EnvironmentVariables) -> Asking

  func perform(in session: Session) throws

  /// Answers the calling program, before the failure is reported to the person.
  func reply(to failure: KeychainError, on output: CommandOutput) throws
}

extension KeychainSubcommand {
  var storeOptions: StoreChoiceOptions? { nil }

  var isOfVaultOnly: Bool { storeOptions == nil }

  func asking(in environment: EnvironmentVariables) -> Asking {
    Asking(deadline: common.deadline.map(Deadline.init(after:)))
  }

  func reply(to failure: KeychainError, on output: CommandOutput) throws {}

  static var manual: CommonManual { KeychainManual.common }

  static func usageHint(for message: String, hasUnknownDash: Bool) -> String? {
    let isAccountMissing =
      message == UsageText.accountOrAttribute || message.contains("'<account>'")
    return isAccountMissing && hasUnknownDash ? UsageText.dashAccount : nil
  }

  static func otherUsage(_ arguments: [String], isNamed: Bool) -> OtherUsage? {
    isNamed ? OtherToolsUsage.ofArguments(arguments, of: _commandName) : nil
  }

  static var showsValues: Bool { false }

  static func isAboutExtraArgument(_ message: String) -> Bool {
    message == UsageText.secretFromArgument
  }

  /// Performs the command, and reports a failure under the host's name.
  ///
  /// Only the exit code is thrown, so a host's argument parser adds no second message.
  func run() throws {
    try reportFailures { context, host in
      do {
        try withSession(context, host) { session in
          if isOfVaultOnly { session.reportOtherStore() }
          try perform(in: session)
        }
      } catch let error as KeychainError {
        try reply(to: error, on: CommandOutput(host.console.output))
        throw error
      }
    }
  }

  /// Calls `body` with the context and the host, and reports a failure under the host's name.
  func reportFailures(_ body: (KeychainCommandContext, CommandHost) throws -> Void) throws {
    let (context, host) = (KeychainCommandContext.current, CommandHost.current)
    try reportFailures(
      as: context.hostName, isQuiet: common.isQuiet(in: host.environment)
    ) { try body(context, host) }
  }

  /// Calls `body` with a session of the command's options, and converts failures of lower levels
  /// into those of the keychain.
  func withSession<Result>(
    _ context: KeychainCommandContext, _ host: CommandHost, _ body: (Session) throws -> Result
  ) throws -> Result {
    do {
      let session = try Session(
        common, stores: storeOptions, context: context,
        asking: asking(in: host.environment), host: host)
      // Closed before a failure is reported, and before a host continues.
      defer { session.prompt?.close() }
      return try body(session)
    } catch {
      throw KeychainError.converted(error)
    }
  }
}

/// A command whose options choose the store.
protocol StoreSubcommand: KeychainSubcommand {
  var stores: StoreChoiceOptions { get }
}

extension StoreSubcommand {
  var storeOptions: StoreChoiceOptions? { stores }
}

/// A command that only groups subcommands.
///
/// It fails without a subcommand: a script with a truncated line must not mistake the help for
/// success.
protocol KeychainCommandGroup: DocumentedCommand {
  static var groupWords: [String] { get }
}

extension KeychainCommandGroup {
  static var groupWords: [String] { [_commandName] }

  static var manual: CommonManual { KeychainManual.common }

  func run() throws { try requireCommand() }

  /// Reports that a subcommand is missing, and fails.
  func requireCommand() throws {
    let context = KeychainCommandContext.current
    CommandHost.current.interface(context.hostName)
      .reportMissingCommand([context.commandPath] + Self.groupWords)
    throw ExitCode(ExitCodes.usage)
  }
}
