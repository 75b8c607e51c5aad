internal import ArgumentParser
internal import KeychainCredentials

/// A command that works with credentials or a vault.
protocol KeychainSubcommand: ParsableCommand {
  var common: CommonOptions { get }

  /// What chooses the store; `nil` for commands that work with the vault only.
  var storeOptions: StoreOptions? { get }

  /// Does the work.
  func perform(in session: Session) throws(KeychainError)
}

extension KeychainSubcommand {
  var storeOptions: StoreOptions? { nil }

  /// Does the work, and reports a failure under the host's name.
  ///
  /// The exit code is thrown on its own, so that a host's argument parser adds no second message.
  func run() throws {
    let context = KeychainCommandContext.current
    do throws(KeychainError) {
      try StandardDescriptors.checkArguments()
      try perform(in: Session(common, stores: storeOptions, context: context))
    } catch {
      UserInterface(hostName: context.hostName).report(error)
      throw ExitCode(ExitCodes.code(for: error.code))
    }
  }
}
