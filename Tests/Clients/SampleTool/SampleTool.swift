import ArgumentParser
import Keychain
import KeychainCommands

/// A command-line program that stores its token in the keychain and mounts the keychain's commands.
@main
struct SampleTool: ParsableCommand {
  static let service = "com.example.mytool"

  static let configuration = CommandConfiguration(
    commandName: "mytool", abstract: "Deploy things", version: "1.2.3",
    subcommands: [
      WhoAmI.self, Ask.self, Fail.self, Arguments.self, Token.self, KeychainCommand.self,
    ])

  static func main() {
    KeychainCommandLine.main(
      Self.self, context: KeychainCommandContext(Self.self, defaultService: service))
  }
}

/// Uses a secret that the commands stored.
struct WhoAmI: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "whoami", abstract: "Say how long the token is")

  @Flag(help: "Ask on the terminal, and say what happens") var ask = false
  @Flag(help: "Name commands in what is said") var namingCommands = false
  @Option(help: "The token to store first") var store: String?

  func run() throws {
    let notice =
      namingCommands
      ? KeychainCommandContext.current.writeToStandardError : Notice.writeToStandardError
    let keychain =
      ask
      ? KeychainPreferences(
        service: SampleTool.service, interaction: .terminal, notice: notice)
      : KeychainPreferences(service: SampleTool.service)
    if let store { try keychain.set(store, for: "api") }
    print(try keychain.string(for: "api").map { "\($0.count) characters" } ?? "nobody")
  }
}

/// Shows the arguments that Swift receives.
struct Arguments: ParsableCommand {
  @Argument(parsing: .allUnrecognized) var words: [String] = []

  func run() { print(CommandLine.arguments.dropFirst().joined(separator: " ")) }
}
