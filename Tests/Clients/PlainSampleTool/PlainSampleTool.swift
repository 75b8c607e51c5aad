import ArgumentParser
import KeychainCommands

/// A program that mounts the commands, and knows nothing else of them: it runs by the argument parser's
/// own entry, and has asynchronous commands.
@main
struct PlainSampleTool: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plaintool", subcommands: [Wait.self, KeychainCommand.self])
}

/// Does something asynchronous.
struct Wait: AsyncParsableCommand {
  func run() async throws {
    try await Task.sleep(for: .milliseconds(1))
    print("waited")
  }
}
