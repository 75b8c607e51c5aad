public import ArgumentParser
internal import Glibc
internal import KeychainCredentials
internal import KeychainSecrets

/// The entry of a program that has keychain commands.
public enum KeychainCommandLine {
  /// The version that `--version` prints.
  public static let version = "0.1.0"

  /// Runs the program's command line, and ends the process with the exit code.
  ///
  /// Call it first thing: standard streams that are closed are noticed before anything opens a
  /// file in their place, and the process's memory is hidden before any secret is read.
  ///
  /// - Parameters:
  ///   - root: The program's root command, with ``KeychainCommand`` among its subcommands.
  ///   - context: How messages speak; `nil` for the name of the root command.
  public static func main(
    _ root: any ParsableCommand.Type, context: KeychainCommandContext? = nil
  ) -> Never {
    StandardDescriptors.prepare()
    ProcessProtection.hideMemory()
    leaveCrashesToTheSystem()
    var context = context ?? KeychainCommandContext(hostName: root.configuration.commandName)
    context.isWholeProgram = true
    exit(run(root, Array(CommandLine.arguments.dropFirst()), context: context))
  }

  /// Takes crashes away from Swift's backtracer, which prints memory and waits for keys.
  private static func leaveCrashesToTheSystem() {
    for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] {
      signal(number, SIG_DFL)
    }
  }

  /// Parses and runs a command line.
  static func run(
    _ root: any ParsableCommand.Type, _ arguments: [String], context: KeychainCommandContext
  ) -> Int32 {
    let interface = UserInterface(hostName: context.hostName)
    let path = CommandPath(root, arguments)
    do {
      try StandardDescriptors.checkArguments()
      try KeychainCommandContext.$current.withValue(context) {
        var command = try root.parseAsRoot(path.argumentsAskingForHelp)
        try command.run()
      }
      return ExitCodes.success
    } catch let error as KeychainError {
      interface.report(error)
      return ExitCodes.code(for: error.code)
    } catch {
      return report(error, root: root, path: path, interface: interface)
    }
  }

  /// Says what the argument parser has to say: help on standard output, faults on standard error.
  private static func report(
    _ error: any Error, root: any ParsableCommand.Type, path: CommandPath,
    interface: UserInterface
  ) -> Int32 {
    let code = root.exitCode(for: error).rawValue
    if code == ExitCodes.success {
      do throws(KeychainError) {
        try StandardOutput.write(root.fullMessage(for: error) + "\n")
      } catch {
        interface.report(error)
        return ExitCodes.code(for: error.code)
      }
    } else if !(error is ExitCode) {
      interface.reportUsage(
        root.message(for: error), details: root.fullMessage(for: error), path: path)
    }
    return code
  }
}
