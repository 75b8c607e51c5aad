public import ArgumentParser
internal import PrephirencesCommandLine

/// The command `keychain`: credentials that stay encrypted.
///
/// Any command-line program can mount it as a subcommand in three lines: the subcommand, and an
/// entry with the host's defaults.
///
/// ```swift
/// @main struct MyTool: ParsableCommand {
///   static let configuration = CommandConfiguration(
///     commandName: "mytool", version: "1.2.3",
///     subcommands: [Deploy.self, KeychainCommand.self])
///
///   static func main() {
///     KeychainCommandLine.main(
///       Self.self, context: KeychainCommandContext(Self.self, defaultService: "com.example.mytool"))
///   }
/// }
/// ```
///
/// Help, hints and errors then use that program's name, also below another subcommand (`mytool auth
/// keychain`), and `KeychainPreferences(service: "com.example.mytool")` reads a secret that is
/// stored without `--service`.
///
/// ``KeychainCommandLine/main(_:context:)-(ParsableCommand.Type,_)`` adds what a whole program
/// needs: exit codes for errors of usage, closed standard streams, memory that other processes
/// cannot read. A program may also use the argument parser's `main()`: the commands then take the
/// context from ``KeychainCommandContext/current``, with the names of the running program unless it
/// is set around `main()`.
public struct KeychainCommand: ParsableCommand {
  static let name = "keychain"

  /// The definition of the command.
  public static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Store, read and manage encrypted credentials",
    discussion: """
      Credentials lie in the desktop keyring, or encrypted in a vault, one file, where there is \
      none. The first 'set' of a service chooses, and says so; --store chooses otherwise.

      Example:
        printf %s "$TOKEN" | \(keychainPath) set alice --service example.com
        \(keychainPath) get alice --service example.com
      """,
    groupedSubcommands: [
      CommandGroup(
        name: "Credentials",
        subcommands: MountedCommands.list(
          [
            SetCommand.self, GetCommand.self, ReadCommand.self, UpdateCommand.self,
            ShowCommand.self,
            ListCommand.self, RenameCommand.self, DeleteCommand.self, MigrateCommand.self,
          ], of: name)),
      CommandGroup(
        name: "Other programs",
        subcommands: MountedCommands.list(
          [
            RunCommand.self, InjectCommand.self, DockerCredentialCommand.self,
            GitCredentialCommand.self,
          ], of: name) + [HelpersCommand.self]),
      CommandGroup(
        name: "The vault",
        subcommands: [
          InitCommand.self, UnlockCommand.self, LockCommand.self, StatusCommand.self,
          DoctorCommand.self, SlotsCommand.self, RecoveryCommand.self, IdentityCommand.self,
          ChangePassphraseCommand.self, RekeyCommand.self, VerifyCommand.self, BackupCommand.self,
          CompactCommand.self,
          ExportCommand.self, ImportCommand.self,
          AcceptRestoredCommand.self,
        ]),
    ])

  /// Creates the command; the argument parser sets its properties.
  public init() {}

  /// Fails with ``/ArgumentParser/ExitCode`` 64, and reports that a subcommand is missing.
  public func run() throws { try requireCommand() }
}

extension KeychainCommand: KeychainCommandGroup, PackageCommand {
  static var groupWords: [String] { [] }
  package static var quickName: String? { name }
}
