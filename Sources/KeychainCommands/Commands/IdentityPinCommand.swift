internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainVault

/// Pins an identity to a vault.
struct IdentityPinCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "pin",
    abstract: "Let an identity open this vault, and only those that it is pinned to",
    usage: usage("identity pin [<options>] [<file>]"),
    discussion: """
      Who can write a vault's file can put another vault there that opens by the same identity. An \
      identity with pins opens only the vaults whose check it names; without, the first sight of a \
      vault is believed. The check stands in 'status', and changes when the vault gets a new root key.

      Example:
        \(keychainPath) identity pin ~/.config/keychain/identity
      """)

  @Argument(
    help: "The identity file; else $XDG_CONFIG_HOME/keychain/identity", completion: .file())
  var file: String?

  @Option(
    help: .init("The check of the vault; else that of the vault here", valueName: "hex"),
    transform: IdentityPinCommand.check)
  var check: VaultCheck?

  @Flag(help: "Drop all other pins")
  var replace = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  func perform(in session: Session) throws(KeychainError) {
    let identity = try session.vault.pinIdentity(
      at: try session.identityPath(file), to: check, replacing: replace)
    session.interface.say(UserInterface.pins(of: identity))
  }

  private static func check(_ text: String) throws -> VaultCheck {
    guard let check = VaultCheck(text: text.lowercased()) else {
      throw ValidationError(UserInterface.Usage.check)
    }
    return check
  }
}
