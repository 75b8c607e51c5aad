package import ArgumentParser

/// One run of a program's command line.
package struct Invocation {
  let root: any ParsableCommand.Type
  let arguments: [String]

  /// The program, with the console and the environment of the run.
  package var host: CommandHost

  package init(root: any ParsableCommand.Type, arguments: [String], host: CommandHost) {
    self.root = root
    self.arguments = arguments
    self.host = host
  }

  package func run() -> Int32 {
    CommandHost.$current.withValue(host) {
      if let code = runQuickly() { return code }
      let path = CommandPath(root, arguments)
      do {
        if try madeManual() { return ExitCodes.success }
        var command = try parse(path)
        // The synchronous `run()` of an asynchronous command would show help, which looks like
        // success.
        guard isGroup(command) || !(command is any AsyncParsableCommand) else {
          throw CommandLineError.needsAsyncRoot(host.entry)
        }
        do { try command.run() } catch { throw HostFailure(asUsage(error, of: command, path)) }
        return ExitCodes.success
      } catch {
        return exitCode(reporting: error, path)
      }
    }
  }

  /// Parses and runs the command as ``run()-swift.method`` does, and also supports asynchronous
  /// commands.
  package func runAsync() async -> Int32 {
    await CommandHost.$current.withValue(host) {
      if let code = runQuickly() { return code }
      let path = CommandPath(root, arguments)
      do {
        if try madeManual() { return ExitCodes.success }
        var command = try parse(path)
        do {
          if var asynchronous = command as? any AsyncParsableCommand {
            try await asynchronous.run()
          } else {
            try command.run()
          }
        } catch {
          throw HostFailure(asUsage(error, of: command, path))
        }
        return ExitCodes.success
      } catch {
        return exitCode(reporting: error, path)
      }
    }
  }

  /// Runs a command without the argument parser.
  ///
  /// Returns `nil`, without having done anything, if the parser must read the line.
  private func runQuickly() -> Int32? {
    // The parser reports what is wrong with the arguments.
    guard (try? host.arguments.check()) != nil,
      var command = QuickPath.command(root, arguments)
    else { return nil }
    do {
      try command.run()
      return ExitCodes.success
    } catch {
      if let code = (error as? ExitCode)?.rawValue, code != ExitCodes.success { return code }
      return exitCode(reporting: HostFailure(error), CommandPath(root, arguments))
    }
  }

  /// Creates the manual pages if the command line requests them.
  private func madeManual() throws(CommandLineError) -> Bool {
    guard arguments.first == Manual.option else { return false }
    guard arguments.count == 2 else { throw .manualWithoutFolder }
    try Manual(root).write(to: arguments[1])
    return true
  }

  private func parse(_ path: CommandPath) throws -> any ParsableCommand {
    // A shell passes a line that is still being typed.
    if !isCompletion {
      try host.arguments.check(passesOn: Self.passesWordsOn(path.command))
    }
    if let topic = path.topic, let word = topic.unknownWord, word != "help" {
      throw CommandLineError.noTopic(word, topic)
    }
    return try path.parsedAlone() ?? root.parseAsRoot(path.argumentsAskingForHelp)
  }

  /// Whether a shell requests completions: messages would appear in the middle of its line.
  private var isCompletion: Bool { arguments.first == "---completion" }

  private static func passesWordsOn(_ command: any ParsableCommand.Type) -> Bool {
    MountedCommands.command(command)?.passesWordsOn ?? false
  }

  private func isGroup(_ command: any ParsableCommand) -> Bool {
    !type(of: command).configuration.subcommands.isEmpty
  }

  /// Returns the error of a command; if a host's group shows its help when it is run, that is a
  /// missing command: nobody requested help.
  private func asUsage(
    _ error: any Error, of command: any ParsableCommand, _ path: CommandPath
  ) -> any Error {
    let help = CleanExit.helpRequest(type(of: command))
    guard error is CleanExit, isGroup(command),
      root.fullMessage(for: error) == root.fullMessage(for: help)
    else { return error }
    host.interface()
      .reportMissingCommand([root._commandName] + path.words)
    return ExitCode(ExitCodes.usage)
  }

  private func exitCode(reporting error: any Error, _ path: CommandPath) -> Int32 {
    let code = report(error, path)
    if code != ExitCodes.success, !isCompletion, !(error is HostFailure),
      let reply = MountedCommands.command(path.command)?.reply(toWrongUsage: Array(path.rest))
    {
      // The exit code reports the failure, too.
      try? host.console.output.write(reply)
    }
    return code
  }

  private func report(_ error: any Error, _ path: CommandPath) -> Int32 {
    let interface = host.interface()
    let thrown = (error as? HostFailure)?.error ?? error
    if isCompletion, root.exitCode(for: thrown).rawValue != ExitCodes.success {
      return ExitCodes.usage
    }
    if let failure = host.failure(of: thrown) {
      interface.report(failure)
      return failure.exitCode
    }
    return exitCode(ofParser: thrown, isOfRunning: error is HostFailure, path, interface)
  }

  /// Reports the argument parser's text: help on standard output, errors on standard error.
  ///
  /// An error that a command threw while it ran keeps its author's words.
  private func exitCode(
    ofParser error: any Error, isOfRunning: Bool, _ path: CommandPath, _ interface: UserInterface
  ) -> Int32 {
    let code = root.exitCode(for: error).rawValue
    if code == ExitCodes.success {
      do throws(CommandLineError) {
        let message = root.fullMessage(for: error)
        let text =
          CompletionScript(root, message)?.text
          ?? HelpText(
            root, path, message: message, terminal: host.console.output.width
          ).text
        try host.console.output.write(text + "\n")
      } catch {
        interface.report(error)
        return error.exitCode
      }
    } else if !(error is ExitCode) {
      let (message, details) = (root.message(for: error), root.fullMessage(for: error))
      if isOfRunning {
        interface.reportFailure(message, details: details)
      } else {
        interface.reportUsage(
          message, details: details, path: path, isOfHost: ParserMessage.isOfHost(error))
      }
    }
    return code
  }
}

extension CommandLineError {
  static func needsAsyncRoot(_ entry: String) -> Self {
    Self(
      ExitCodes.internalFailure,
      "this command is asynchronous, and the program was started without that",
      hint: "its author makes the root command an AsyncParsableCommand, and awaits \(entry)")
  }

  /// The error for an unknown command after `help`.
  static func noTopic(_ word: String, _ path: CommandPath) -> Self {
    Self(
      ExitCodes.usage, ParserMessage.noCommand(word, path),
      hint: "see '\(path.spelledOut) --help'")
  }
}

/// An error that a command threw while it ran, not one of the argument parser.
struct HostFailure: Error {
  let error: any Error

  init(_ error: any Error) { self.error = error }
}

extension PackageCommand {
  /// Performs the command, and reports a failure under the host's name.
  ///
  /// Only the exit code is thrown, so a host's argument parser adds no second message. An error
  /// that is not a failure of commands is thrown unchanged.
  package func reportFailures(
    as hostName: String, isQuiet: Bool = false, _ body: () throws -> Void
  ) throws {
    let host = CommandHost.current
    do {
      try host.arguments.check(passesOn: Self.passesWordsOn)
      try body()
    } catch {
      guard let failure = host.failure(of: error) else { throw error }
      host.interface(hostName, isQuiet: isQuiet).report(failure)
      throw ExitCode(failure.exitCode)
    }
  }
}
