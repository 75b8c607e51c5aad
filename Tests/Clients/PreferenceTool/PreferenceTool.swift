import ArgumentParser
import PreferenceCommands

/// A program that mounts the commands of preferences alone, below a group and with a domain of its own.
@main
struct PreferenceTool: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "settingstool", subcommands: [PreferencesCommand.self])

  static func main() {
    PreferenceCommandLine.main(
      Self.self,
      context: PreferenceCommandContext(Self.self, defaultDomain: "com.example.settingstool"))
  }
}
