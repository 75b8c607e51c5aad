internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainVault

/// Makes an identity.
struct IdentityCreateCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "create",
    abstract: "Make an identity, and print its recipient",
    usage: usage("identity create [<options>] [<file>]"),
    discussion: """
      The file is the secret: it stays here, closed to others. The recipient that is printed is none: \
      where a vault is, 'slots add --recipient' opens it to the identity. The identity is pinned to the \
      vault that is here, if there is one; 'identity pin' adds others.

      Example:
        \(keychainPath) identity create ~/.config/keychain/identity
      """)

  @Argument(
    help: "The file to make; else $XDG_CONFIG_HOME/keychain/identity", completion: .file())
  var file: String?

  @OptionGroup(title: "Common options") var common: CommonOptions

  func perform(in session: Session) throws(KeychainError) {
    let identity = try session.vault.createIdentity(at: try session.identityPath(file))
    session.interface.say(UserInterface.made(identity))
    session.interface.say(UserInterface.pins(of: identity))
    try StandardOutput.write("\(identity.recipient)\n")
    session.interface.hint(UserInterface.toUse(identity))
  }
}
