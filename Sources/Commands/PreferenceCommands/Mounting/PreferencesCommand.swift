public import ArgumentParser
package import PrephirencesCommandLine

/// The command `preferences`: the preferences of programs, which persist.
///
/// Any command-line program can mount it as a subcommand, so that its users read and change its
/// settings:
///
/// ```swift
/// @main struct MyTool: ParsableCommand {
///   static let configuration = CommandConfiguration(
///     commandName: "mytool", subcommands: [Deploy.self, PreferencesCommand.self])
///
///   static func main() {
///     PreferenceCommandLine.main(
///       Self.self, context: PreferenceCommandContext(Self.self, defaultDomain: "com.example.mytool"))
///   }
/// }
/// ```
///
/// `mytool preferences write port 8080 --type int` then changes what
/// `DurablePreferences(suiteName: "com.example.mytool")` reads. A program that mounts the commands
/// without a group lists ``subcommands`` among its own.
///
/// Help, hints and errors use the program's name.
public struct PreferencesCommand: ParsableCommand {
  static let name = PreferenceCommandGroupName.name

  /// The commands of the group, in the order of the help: `read`, `write`, `delete`, `list`, `watch`,
  /// `import`, `export` and `sync`.
  public static let subcommands: [any ParsableCommand.Type] = MountedCommands.list(
    [
      ReadCommand.self, WriteCommand.self, DeleteCommand.self, PreferenceListCommand.self,
      WatchCommand.self, ImportCommand.self, ExportCommand.self, SyncCommand.self,
    ], of: name)

  /// The definition of the command.
  public static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Read and change preferences",
    discussion: """
      The preferences of a program are a domain. Each value has a type, and persists when the command \
      has ended.

      Example:
        \(preferencesPath) write port 8080 --type int\(domainExample)
        \(preferencesPath) read port\(domainExample)
      """,
    subcommands: subcommands)

  /// Creates the command; the argument parser sets its properties.
  public init() {}

  /// Fails with ``/ArgumentParser/ExitCode`` 64, and reports that a subcommand is missing.
  public func run() throws {
    let context = PreferenceCommandContext.current
    UserInterface(hostName: context.hostName).reportMissingCommand([context.commandPath])
    throw ExitCode(ExitCodes.usage)
  }
}

extension PreferencesCommand: PreferenceCommandPart {
  static var isGroup: Bool { true }
  package static var manual: CommonManual { PreferenceManual.common }
}
