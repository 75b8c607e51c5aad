internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainTerminal

/// A command that works with credentials or a vault.
protocol KeychainSubcommand: PackageCommand {
  var common: CommonOptions { get }

  /// The options that choose the store; `nil` for commands that work only with the vault.
  var storeOptions: StoreOptions? { get }

  /// Whether the command concerns only the vault, whatever store is chosen.
  var isOfVaultOnly: Bool { get }

  /// Does the work.
  func perform(in session: Session) throws(KeychainError)
}

extension KeychainSubcommand {
  var storeOptions: StoreOptions? { nil }

  var isOfVaultOnly: Bool { storeOptions == nil }

  /// Does the work, and reports a failure under the host's name.
  ///
  /// Only the exit code is thrown, so a host's argument parser adds no second message.
  func run() throws {
    let context = KeychainCommandContext.current
    do throws(KeychainError) {
      try ProgramArguments.check()
      let session = try Session(common, stores: storeOptions, context: context)
      // Before the failure is reported, and before a host continues.
      defer { session.prompt?.close() }
      if isOfVaultOnly { session.reportOtherStore() }
      try perform(in: session)
    } catch {
      UserInterface(hostName: context.hostName, isQuiet: common.quiet).report(error)
      throw ExitCode(ExitCodes.code(for: error.code))
    }
  }
}
