internal import ArgumentParser
internal import KeychainCredentials

/// A command that works with a vault.
protocol KeychainSubcommand: ParsableCommand {
  var common: CommonOptions { get }

  /// Does the work.
  func perform(in session: Session) throws(KeychainError)
}

extension KeychainSubcommand {
  /// Does the work, and reports a failure under the host's name.
  ///
  /// The exit code is thrown on its own, so that a host's argument parser adds no second message.
  func run() throws {
    let context = KeychainCommandContext.current
    do throws(KeychainError) {
      try StandardDescriptors.checkArguments()
      try perform(in: Session(common, context: context))
    } catch {
      UserInterface(hostName: context.hostName).report(error)
      throw ExitCode(ExitCodes.code(for: error.code))
    }
  }
}
