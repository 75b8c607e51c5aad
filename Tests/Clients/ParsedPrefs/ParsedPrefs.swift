import ArgumentParser
import KeychainCommands
import PreferenceCommands

/// The program `prefs`, whose command lines are all read by the argument parser: its root has an
/// option of its own.
@main
struct ParsedPrefs: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prefs",
    abstract: "Keep preferences, and credentials encrypted",
    version: KeychainCommandLine.version,
    groupedSubcommands: [
      CommandGroup(name: "Preferences", subcommands: PreferencesCommand.subcommands),
      CommandGroup(name: "Credentials", subcommands: [KeychainCommand.self]),
    ])

  @Flag(help: .hidden) var parsed = false

  static func main() {
    KeychainCommandLine.main(Self.self)
  }
}
