internal import ArgumentParser
internal import KeychainCommands
internal import PreferenceCommands

/// The command `prefs`.
@main
struct Prefs: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prefs",
    abstract: "Keep preferences, and credentials encrypted",
    version: KeychainCommandLine.version,
    groupedSubcommands: [
      CommandGroup(name: "Preferences", subcommands: PreferencesCommand.subcommands),
      CommandGroup(name: "Credentials", subcommands: [KeychainCommand.self]),
    ])

  static func main() {
    PasswordReferences.prepare()
    KeychainCommandLine.main(Self.self)
  }
}
