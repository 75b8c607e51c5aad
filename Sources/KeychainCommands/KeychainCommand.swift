public import ArgumentParser

/// The command `keychain`: credentials that stay encrypted.
///
/// Any command-line program can mount it as a subcommand of its own:
///
/// ```swift
/// @main struct MyTool: ParsableCommand {
///   static let configuration = CommandConfiguration(subcommands: [KeychainCommand.self])
/// }
/// ```
///
/// Messages then speak under that program's name. ``KeychainCommandLine/main(_:context:)`` as the
/// program's entry adds what a whole program needs: exit codes for errors of usage too, closed
/// standard streams, and memory that other processes cannot read.
public struct KeychainCommand: ParsableCommand {
  /// How the command presents itself.
  public static let configuration = CommandConfiguration(
    commandName: "keychain",
    abstract: "Store, read and manage encrypted credentials",
    discussion: """
      Credentials lie encrypted in a vault, one file. The first 'set' makes the vault.

      Example:
        printf %s "$TOKEN" | prefs keychain set alice --service example.com
        prefs keychain get alice --service example.com
      """,
    groupedSubcommands: [
      CommandGroup(
        name: "Credentials",
        subcommands: [
          SetCommand.self, GetCommand.self, UpdateCommand.self, ShowCommand.self,
          ListCommand.self, RenameCommand.self, DeleteCommand.self,
        ]),
      CommandGroup(
        name: "The vault",
        subcommands: [
          InitCommand.self, UnlockCommand.self, LockCommand.self, StatusCommand.self,
          DoctorCommand.self, SlotsCommand.self, ChangePassphraseCommand.self, VerifyCommand.self,
          BackupCommand.self,
          AcceptRestoredCommand.self,
        ]),
    ])

  /// Makes the command; the argument parser fills it.
  public init() {}
}
