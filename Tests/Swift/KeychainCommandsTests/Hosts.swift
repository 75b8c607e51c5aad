import ArgumentParser

@testable import KeychainCommands

/// A program that mounts the commands.
struct Host: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mytool", version: "1.2.3", subcommands: [Other.self, KeychainCommand.self])
}

/// A command of its own.
struct Other: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "other", aliases: ["another"])
}

/// A program whose root has an option.
struct HostWithOption: ParsableCommand {
  static let configuration = CommandConfiguration(subcommands: [KeychainCommand.self])
  @Flag var json = false
}

/// A program that refuses every line.
struct HostThatChecks: ParsableCommand {
  static let configuration = CommandConfiguration(subcommands: [KeychainCommand.self])
  func validate() throws { throw ValidationError("not on this machine") }
}
