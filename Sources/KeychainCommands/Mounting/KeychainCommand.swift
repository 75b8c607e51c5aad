public import ArgumentParser

/// The command `keychain`: credentials that stay encrypted.
///
/// Any command-line program can mount it as a subcommand of its own, in three lines: the subcommand,
/// and an entry that says what the host assumes.
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
/// Help, hints and errors then speak under that program's name, also below another subcommand
/// (`mytool auth keychain`), and a secret that is stored without `--service` is the one that
/// `KeychainPreferences(service: "com.example.mytool")` reads.
///
/// ``KeychainCommandLine/main(_:context:)-(ParsableCommand.Type,_)`` adds what a whole program needs:
/// exit codes for errors of usage too, closed standard streams, memory that other processes cannot
/// read. A program may also keep the entry of the argument parser: the commands work below `main()`,
/// and take the context from ``KeychainCommandContext/current``, whose names are those of the
/// running program unless set around `main()`.
public struct KeychainCommand: ParsableCommand {
  static let name = "keychain"

  /// How the command presents itself.
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
        subcommands: [
          SetCommand.self, GetCommand.self, UpdateCommand.self, ShowCommand.self,
          ListCommand.self, RenameCommand.self, DeleteCommand.self, MigrateCommand.self,
        ]),
      CommandGroup(
        name: "The vault",
        subcommands: [
          InitCommand.self, UnlockCommand.self, LockCommand.self, StatusCommand.self,
          DoctorCommand.self, SlotsCommand.self, RecoveryCommand.self, IdentityCommand.self,
          ChangePassphraseCommand.self, RekeyCommand.self, VerifyCommand.self, BackupCommand.self,
          ExportCommand.self, ImportCommand.self,
          AcceptRestoredCommand.self,
        ]),
    ])

  /// Creates the command; the argument parser fills it.
  public init() {}

  /// Fails with ``/ArgumentParser/ExitCode`` 64, and reports it: a command below must be named.
  public func run() throws { try requireCommand() }
}

extension KeychainCommand: KeychainCommandGroup, PackageCommand {
  static var groupWords: [String] { [] }
}
