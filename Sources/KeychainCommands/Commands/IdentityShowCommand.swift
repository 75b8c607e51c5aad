internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainVault

/// Shows the recipient and the pins of an identity.
struct IdentityShowCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show the recipient of an identity, and the vaults that it is pinned to",
    usage: usage("identity show [<options>] [<file>]"),
    discussion: """
      The secret in the file is never shown.

      Example:
        \(keychainPath) identity show ~/.config/keychain/identity
      """)

  @Argument(
    help: "The identity file; else $XDG_CONFIG_HOME/keychain/identity", completion: .file())
  var file: String?

  @Flag(help: "Print JSON")
  var json = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  func perform(in session: Session) throws(KeychainError) {
    let identity = try session.vault.identity(at: try session.identityPath(file))
    try StandardOutput.write(
      json ? try JSONText.text(IdentityJSON(identity)) : UserInterface.description(of: identity))
  }
}
