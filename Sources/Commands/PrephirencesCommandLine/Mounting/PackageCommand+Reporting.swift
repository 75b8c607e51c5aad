internal import ArgumentParser

extension PackageCommand {
  /// Does the work of the command, and reports a failure under the host's name.
  ///
  /// Only the exit code is thrown, so a host's argument parser adds no second message. An error that
  /// is not a failure of commands is thrown unchanged.
  ///
  /// - Parameters:
  ///   - hostName: The name in messages.
  ///   - isQuiet: Whether hints are left out.
  ///   - body: The work.
  /// - Throws: The exit code of the failure, or what is not a failure of commands.
  package func reportFailures(
    as hostName: String, isQuiet: Bool = false, _ body: () throws -> Void
  ) throws {
    do {
      try ProgramArguments.check(passesOn: Self.passesWordsOn)
      try body()
    } catch {
      guard let failure = CommandHost.current.failure(of: error) else { throw error }
      UserInterface(hostName: hostName, isQuiet: isQuiet).report(failure)
      throw ExitCode(failure.exitCode)
    }
  }
}
