internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault
internal import PrephirencesCommandLine

/// The ways to open the vault.
struct SlotsCommand: KeychainCommandGroup {
  static let configuration = CommandConfiguration(
    commandName: "slots",
    abstract: "List, add and remove what opens the vault",
    subcommands: [SlotsListCommand.self, SlotsAddCommand.self, SlotsRemoveCommand.self])
}

/// Lists what opens the vault.
struct SlotsListCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List what opens the vault",
    usage: usage("slots list [<options>]"),
    discussion: """
      Each slot with its number, its kind, what it opens, its name and, of a passphrase, the cost of its \
      hash; of a recipient, the fingerprint that 'identity show' prints where the identity is. In a shared \
      vault, what each member may do. Names and fingerprints are encrypted, and show only where the vault \
      opens, at least by the device key. A slot that somebody put into the file, and that is not in the \
      vault's signed list of members, opens nothing. In a pipe the fields are separated by tabs.

      Example:
        \(keychainPath) slots list
      """,
    aliases: ["ls"])

  @Flag(help: "Print JSON")
  var json = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  func perform(in session: Session) throws(KeychainError) {
    let slots = try session.vault.slots()
    if json { return try CommandOutput.write(try CommandOutput.json(slots.map(SlotJSON.init))) }
    let status = try session.vault.status()
    let table = SlotText.table(
      slots, isShared: status.isShared, deviceKeyExists: status.hasDeviceSecret)
    try CommandOutput.write(StandardOutput.isTerminal ? table.columns : table.lines)
  }
}

/// A slot in JSON.
struct SlotJSON: Encodable {
  let number: UInt32
  let kind: String
  let grant: String
  let memory: UInt64?
  let passes: UInt32?
  let thisDevice: Bool?
  let name: String?
  let recipient: String?
  let fingerprint: String?

  init(_ slot: VaultSlot) {
    number = slot.number
    kind = Self.word(for: slot.kind)
    grant = Self.word(for: slot.grant)
    memory = slot.passwordHash?.memory
    passes = slot.passwordHash?.passes
    thisDevice = slot.isThisDevice
    name = slot.name.isEmpty ? nil : slot.name
    recipient = slot.recipient?.description
    fingerprint = slot.recipient?.fingerprint
  }

  // Programs depend on these words, so they are independent of names in the code.

  private static func word(for kind: SlotKind) -> String {
    switch kind {
    case .passphrase: "passphrase"
    case .keyFile: "keyFile"
    case .device: "device"
    case .recoveryCode: "recoveryCode"
    case .recipient: "recipient"
    }
  }

  private static func word(for grant: SlotGrant) -> String {
    switch grant {
    case .administers: "administers"
    case .openTier: "openTier"
    case .readsAndWrites: "readsAndWrites"
    case .reads: "reads"
    }
  }
}
