public import ArgumentParser
internal import Glibc
internal import PrephirencesCommandLine

/// The entry of a program that has preference commands.
///
/// A program that mounts the keychain's commands, too, starts with `KeychainCommandLine.main`, and
/// sets its own ``PreferenceCommandContext`` around that call if it has one.
public enum PreferenceCommandLine {
  /// Runs the program's command line, and ends the process with the exit code.
  ///
  /// Call it first: closed standard streams must be found before a file is opened in their place.
  /// A command line that names a group of commands without a subcommand ends with 64.
  ///
  /// - Parameters:
  ///   - root: The program's root command, with the commands among its subcommands or theirs.
  ///   - context: The names in messages, and the defaults; `nil` for the names of the root command.
  public static func main(
    _ root: any ParsableCommand.Type, context: PreferenceCommandContext? = nil
  ) -> Never {
    StandardDescriptors.prepare()
    let context = context ?? PreferenceCommandContext(root)
    exit(context.asCurrent { invocation(root, context).run() })
  }

  /// Runs the command line of a program that has asynchronous commands, and ends the process with
  /// the exit code.
  ///
  /// - Parameters:
  ///   - root: The program's root command, with the commands among its subcommands or theirs.
  ///   - context: The names in messages, and the defaults; `nil` for the names of the root command.
  public static func main(
    _ root: any AsyncParsableCommand.Type, context: PreferenceCommandContext? = nil
  ) async -> Never {
    StandardDescriptors.prepare()
    let context = context ?? PreferenceCommandContext(root)
    exit(await context.asCurrent { await invocation(root, context).runAsync() })
  }

  private static func invocation(
    _ root: any ParsableCommand.Type, _ context: PreferenceCommandContext
  ) -> Invocation {
    let host = CommandHost(
      hostName: context.hostName, root: root, isWholeProgram: true,
      entry: "PreferenceCommandLine.main")
    return Invocation(
      root: root, arguments: Array(ProgramArguments.texts.dropFirst()), host: host)
  }
}
