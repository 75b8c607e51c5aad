internal import ArgumentParser
internal import KeychainCommands

/// The command `prefs`.
@main
struct Prefs: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prefs",
    abstract: "Keep credentials encrypted",
    version: KeychainCommandLine.version,
    subcommands: [KeychainCommand.self])

  static func main() {
    KeychainCommandLine.main(Self.self)
  }
}
