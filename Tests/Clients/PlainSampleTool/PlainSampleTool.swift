import ArgumentParser
import KeychainCommands

/// A program that mounts the commands but uses the argument parser's own entry point, and has
/// asynchronous commands.
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
