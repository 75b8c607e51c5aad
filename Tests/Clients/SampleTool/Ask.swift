import ArgumentParser
import Keychain

/// Asks for a secret of the program.
struct Ask: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Say how long a secret is")

  @Flag(help: "Ask twice") var twice = false

  func run() throws {
    let secret = try TerminalPrompt.askSecret("token for api\u{1B}: ", twice: twice)
    print("\(secret.count) bytes")
  }
}
