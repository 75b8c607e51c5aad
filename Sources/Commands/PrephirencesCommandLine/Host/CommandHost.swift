package import ArgumentParser
internal import Glibc

/// The program in which the commands run.
package struct CommandHost: Sendable {
  /// The name in messages, such as `mytool`.
  package var hostName: String

  /// The root command; `nil` if the program uses the argument parser's `main()`.
  package var root: (any ParsableCommand.Type)?

  /// Whether the process ends with the command.
  package var isWholeProgram: Bool

  /// The function with which the program started, as messages to its author name it.
  package var entry: String

  /// Finds failures behind errors that are not failures of commands themselves.
  ///
  /// A library that cannot know the commands throws them.
  package var failureBehind: @Sendable (any Error) -> (any CommandFailure)?

  /// Creates the description of a program.
  package init(
    hostName: String? = nil, root: (any ParsableCommand.Type)? = nil, isWholeProgram: Bool = false,
    entry: String = "main",
    failureBehind: @escaping @Sendable (any Error) -> (any CommandFailure)? = { _ in nil }
  ) {
    self.hostName = hostName ?? root?._commandName ?? Self.programName ?? "command"
    self.root = root
    self.isWholeProgram = isWholeProgram
    self.entry = entry
    self.failureBehind = failureBehind
  }

  /// The program whose commands run in this task.
  @TaskLocal package static var current = CommandHost()

  /// The name of the running program; `nil` if it has none.
  package static var programName: String? {
    (ProgramArguments.texts.first ?? "").split(separator: "/").last.map(String.init)
  }

  /// Returns the failure with which commands report an error; `nil` if the argument parser reports
  /// it.
  package func failure(of error: any Error) -> (any CommandFailure)? {
    if let failure = error as? any CommandFailure { return failure }
    if error is CancellationError { return CommandLineError.cancelled }
    return failureBehind(error)
  }
}

/// The environment in which the process runs.
package enum Environment {
  /// Returns a variable of the environment; `nil` if it is not set or empty.
  package static func value(_ name: String) -> String? {
    guard let value = getenv(name), let text = String(validatingCString: value), !text.isEmpty
    else { return nil }
    return text
  }
}
