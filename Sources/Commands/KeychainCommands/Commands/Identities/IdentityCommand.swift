internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainVault
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// The identities with which several people or services open one vault.
struct IdentityCommand: KeychainCommandGroup {
  static let configuration = CommandConfiguration(
    commandName: "identity",
    abstract: "Create, show and pin identities, by which several share a vault",
    subcommands: [
      IdentityCreateCommand.self, IdentityShowCommand.self, IdentityPinCommand.self,
    ])
}

struct IdentityCreateCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "create",
    abstract: "Create an identity, and print its recipient",
    usage: usage("identity create [<options>] [<file>]"),
    discussion: """
      The file is the secret: keep it here, where others cannot read it. The recipient that is \
      printed is not secret: where a vault is, 'slots add --recipient' lets the identity open it. \
      The identity is pinned to the vault that is here, if there is one; 'identity pin' adds \
      others.

      Example:
        \(keychainPath) identity create ~/.config/keychain/identity
      """)

  @Argument(
    help: "The file to create (default: $XDG_CONFIG_HOME/keychain/identity)", completion: .file())
  var file: String?

  @OptionGroup(title: "Common options") var common: CommonOptions

  func perform(in session: Session) throws {
    let identity = try session.vault.createIdentity(at: try session.identityPath(file))
    session.interface.say(IdentityText.made(identity))
    session.interface.say(IdentityText.pins(of: identity))
    try session.output.write("\(identity.recipient)\n")
    session.interface.hint(IdentityText.toUse(identity))
  }
}

/// Shows the recipient and the pins of an identity.
struct IdentityShowCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show the recipient of an identity, and the vaults that it is pinned to",
    usage: usage("identity show [<options>] [<file>]"),
    discussion: """
      The secret in the file is never shown. The fingerprint is what 'slots list' shows where a \
      vault is: compare the two before you rely on a slot.

      Example:
        \(keychainPath) identity show ~/.config/keychain/identity
      """)

  @Argument(
    help: "The identity file (default: $XDG_CONFIG_HOME/keychain/identity)", completion: .file())
  var file: String?

  @Flag(help: "Print JSON")
  var json = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  func perform(in session: Session) throws {
    let identity = try session.vault.identity(at: try session.identityPath(file))
    if json { return try session.output.write(json: identity) }
    try session.output.write(facts: IdentityText.facts(of: identity))
  }
}

struct IdentityPinCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "pin",
    abstract: "Let an identity open this vault, and no vault that it is not pinned to",
    usage: usage("identity pin [<options>] [<file>]"),
    discussion: """
      Anyone who can write a vault's file can replace it with another vault that opens by the same \
      identity. An identity with pins opens only the vaults whose check it names; without pins, a \
      vault is trusted on first use. 'status' shows the check, which changes when the vault gets a \
      new administration key, as when an administrator is removed.

      Example:
        \(keychainPath) identity pin ~/.config/keychain/identity
      """)

  @Argument(
    help: "The identity file (default: $XDG_CONFIG_HOME/keychain/identity)", completion: .file())
  var file: String?

  @Option(
    help: .init("The check of the vault (default: that of the vault here)", valueName: "hex"),
    transform: VaultCheck.parsed)
  var check: VaultCheck?

  @Flag(help: "Remove all other pins")
  var replace = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  func perform(in session: Session) throws {
    let identity = try session.vault.pinIdentity(
      at: try session.identityPath(file), to: check, replacing: replace)
    session.interface.say(IdentityText.pins(of: identity))
  }
}

extension Session {
  /// Returns the identity file of a command: the given one, or else the user's.
  fileprivate func identityPath(_ file: String?) throws -> String {
    if let file { return file }
    return try vault.defaultIdentityPath()
  }
}

extension IdentityDescription: JSONConvertible {
  var json: JSONValue {
    .members([
      ("file", path), ("recipient", recipient.description), ("fingerprint", recipient.fingerprint),
      ("vaults", pins.map(\.description)),
    ])
  }
}

enum IdentityText {
  static func made(_ identity: IdentityDescription) -> String {
    "created the identity \(identity.path)"
  }

  static func toUse(_ identity: IdentityDescription) -> String {
    let path = KeychainCommandContext.current.commandPath
    return
      "where a vault is, '\(path) slots add --recipient \(identity.recipient)' opens it to the "
      + "identity, which shows there with the fingerprint \(identity.recipient.fingerprint); here, "
      + "--identity or KEYCHAIN_IDENTITY_FILE uses it"
  }

  static func pins(of identity: IdentityDescription) -> String {
    switch identity.pins.count {
    case 0: "it is pinned to no vault: it opens any that has a slot for it"
    case 1: "it is pinned to the vault with the check \(identity.pins[0])"
    default:
      "it is pinned to the vaults with the checks "
        + identity.pins.map(\.description).joined(separator: ", ")
    }
  }

  static func toPin(_ file: String) -> String {
    "pin the identity to this vault, so that it opens no other one: "
      + "'\(KeychainCommandContext.current.commandPath) identity pin \(ShellText.quoted(file))'"
  }

  static func toPin(_ check: VaultCheck) -> String {
    "where the identity is, pin it to this vault: "
      + "'\(KeychainCommandContext.current.commandPath) identity pin FILE --check \(check)'"
  }

  /// Returns everything about an identity except its secret.
  static func facts(of identity: IdentityDescription) -> [(String, String)] {
    [
      ("file", identity.path), ("recipient", identity.recipient.description),
      ("fingerprint", identity.recipient.fingerprint),
    ] + identity.pins.map { ("vault", $0.description) }
  }
}

extension VaultCheck {
  static func parsed(_ text: String) throws -> VaultCheck {
    guard let check = VaultCheck(text: text.lowercased()) else {
      throw ValidationError(UsageText.check)
    }
    return check
  }
}
