package import ArgumentParser
package import PrephirencesSystem

/// The program in which the commands run.
package struct CommandHost: Sendable {
  /// The name in messages, such as `mytool`.
  package var hostName: String

  /// The root command; `nil` if the program uses the argument parser's `main()`.
  package var root: (any ParsableCommand.Type)?

  /// Whether the process ends with the command.
  package var isWholeProgram: Bool

  /// The function that started the program, for messages to its author.
  package var entry: String

  /// Finds failures of commands in the errors of libraries that do not know the commands.
  package var failureBehind: @Sendable (any Error) -> (any CommandFailure)?

  package var console = Console.process
  package var environment = EnvironmentVariables.process
  package var arguments: ProgramArguments

  /// A link to the program's file, which tests replace.
  package var executable = ownExecutable

  /// The kernel's link to the file of this process.
  package static let ownExecutable = "/proc/self/exe"

  /// Describes a program with the streams, environment and arguments of this process.
  package init(
    hostName: String? = nil, root: (any ParsableCommand.Type)? = nil, isWholeProgram: Bool = false,
    entry: String = "main", arguments: ProgramArguments = .process,
    failureBehind: @escaping @Sendable (any Error) -> (any CommandFailure)? = { _ in nil }
  ) {
    self.arguments = arguments
    self.hostName = hostName ?? root?._commandName ?? arguments.programName ?? "command"
    self.root = root
    self.isWholeProgram = isWholeProgram
    self.entry = entry
    self.failureBehind = failureBehind
  }

  /// The program whose commands run in this task.
  @TaskLocal package static var current = CommandHost()

  /// Returns an interface that shows a name in messages; `nil` is the program's own.
  ///
  /// With `isQuiet`, only errors and the subjects of questions are reported.
  package func interface(_ hostName: String? = nil, isQuiet: Bool = false) -> UserInterface {
    UserInterface(
      hostName: hostName ?? self.hostName, isQuiet: isQuiet, console: console,
      environment: environment)
  }

  /// Returns the failure that commands report for an error, or `nil` if the argument parser reports
  /// it.
  package func failure(of error: any Error) -> (any CommandFailure)? {
    if let failure = error as? any CommandFailure { return failure }
    if error is CancellationError { return CommandLineError.cancelled }
    return failureBehind(error)
  }
}
