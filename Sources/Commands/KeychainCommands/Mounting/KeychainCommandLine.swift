public import ArgumentParser
internal import Glibc
internal import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// The entry of a program that has keychain commands.
public enum KeychainCommandLine {
  /// The version that `--version` prints.
  public static let version = Release.version

  /// Runs the program's command line, and ends the process with the exit code.
  ///
  /// Call it first: closed standard streams must be found before a file is opened in their place,
  /// and the process's memory must be protected before any secret is read.
  ///
  /// A command line that names a group of commands without a subcommand ends with 64; only `--help`
  /// and `help` show help and end with 0. The help of the keychain's commands shows their own
  /// options before shared ones, in at most a hundred columns of a terminal.
  ///
  /// A program that is called as `git-credential-NAME` or `docker-credential-NAME`, with its own name
  /// at the end, runs its command of that name, so that a link is all that a client needs.
  ///
  /// - Parameters:
  ///   - root: The program's root command, with ``KeychainCommand`` among its subcommands.
  ///   - context: The names in messages, and the defaults; `nil` for the names of the root command.
  public static func main(
    _ root: any ParsableCommand.Type, context: KeychainCommandContext? = nil
  ) -> Never {
    let context = prepared(root, context)
    exit(KeychainCommandContext.$current.withValue(context) { invocation(root, context).run() })
  }

  /// Runs the command line of a program that has asynchronous commands, and ends the process with the
  /// exit code.
  ///
  /// If `/proc` is not mounted, Swift's concurrency crashes an asynchronous program, possibly
  /// before this call.
  ///
  /// - Parameters:
  ///   - root: The program's root command, with ``KeychainCommand`` among its subcommands.
  ///   - context: The names in messages, and the defaults; `nil` for the names of the root command.
  public static func main(
    _ root: any AsyncParsableCommand.Type, context: KeychainCommandContext? = nil
  ) async -> Never {
    let context = prepared(root, context)
    exit(
      await KeychainCommandContext.$current.withValue(context) {
        await invocation(root, context).runAsync()
      })
  }

  /// Prepares the process for secrets, and returns the context of its commands.
  private static func prepared(
    _ root: any ParsableCommand.Type, _ context: KeychainCommandContext?
  ) -> KeychainCommandContext {
    StandardDescriptors.prepare()
    ProcessProtection.hideMemory()
    leaveCrashesToTheSystem()
    _ = MountedCommands.list([KeychainCommand.self], of: KeychainCommand.name)
    return context ?? KeychainCommandContext(root)
  }

  private static func invocation(
    _ root: any ParsableCommand.Type, _ context: KeychainCommandContext
  ) -> Invocation {
    let host = CommandHost(
      hostName: context.hostName, root: root, isWholeProgram: true,
      entry: "KeychainCommandLine.main",
      failureBehind: { ($0 as? any KeychainFailure)?.failure })
    return Invocation(
      root: root, arguments: arguments(ProgramArguments.texts, root, context), host: host)
  }

  /// Returns the arguments after the program's name; after the name of a helper, with the words of
  /// the helper's command before them.
  static func arguments(
    _ texts: [String], _ root: any ParsableCommand.Type, _ context: KeychainCommandContext
  ) -> [String] {
    let given = Array(texts.dropFirst())
    guard let helper = HelperProgram(calledAs: texts.first, hostName: context.hostName),
      let words = KeychainCommandContext.words(from: root)
    else { return given }
    return words.dropFirst() + [helper.command] + given
  }

  /// Disables Swift's backtracer, which prints memory and waits for keys when the process crashes.
  private static func leaveCrashesToTheSystem() {
    for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] {
      signal(number, SIG_DFL)
    }
  }
}
