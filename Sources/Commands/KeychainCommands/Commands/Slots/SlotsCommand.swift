internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// The ways to open the vault.
struct SlotsCommand: KeychainCommandGroup {
  static let configuration = CommandConfiguration(
    commandName: "slots",
    abstract: "List, add and remove what opens the vault",
    subcommands: [SlotsListCommand.self, SlotsAddCommand.self, SlotsRemoveCommand.self])
}

struct SlotsListCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List what opens the vault",
    usage: usage("slots list [<options>]"),
    discussion: """
      Each slot with its number, its kind, what it opens, its name and, of a passphrase, the cost \
      of its hash; of a recipient, the fingerprint that 'identity show' prints where the identity \
      is. In a shared vault, what each member may do. Names and fingerprints are encrypted, and \
      show only where the vault opens, at least by the device key. A slot that somebody put into \
      the file, and that is not in the vault's signed list of members, opens nothing. In a pipe \
      the fields are separated by tabs.

      Example:
        \(keychainPath) slots list
      """,
    aliases: ["ls"])

  @Flag(help: "Print JSON")
  var json = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  func perform(in session: Session) throws {
    let slots = try session.vault.slots()
    if json { return try session.output.write(json: slots) }
    let status = try session.vault.status()
    let table = SlotText.table(
      slots, isShared: status.isShared, deviceKeyExists: status.hasDeviceSecret)
    try session.output.write(table)
  }
}

extension VaultSlot: JSONConvertible {
  var json: JSONValue {
    .members([
      ("number", number), ("kind", Self.word(for: kind)), ("grant", Self.word(for: grant)),
      ("memory", passwordHash?.memory), ("passes", passwordHash?.passes),
      ("thisDevice", isThisDevice), ("name", name.isEmpty ? nil : name),
      ("recipient", recipient?.description), ("fingerprint", recipient?.fingerprint),
    ])
  }

  // Programs depend on these words, so they don't follow names in the code.

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

enum SlotText {
  /// The table of slots; for a shared vault, with what each member may do.
  static func table(
    _ slots: [VaultSlot], isShared: Bool = false, deviceKeyExists: Bool
  ) -> TextTable {
    TextTable(
      header: ["SLOT", "KIND", isShared ? "MAY" : "OPENS", "NAME", "DETAIL"],
      rows: slots.map {
        [
          String($0.number), SlotNames.name(of: $0, deviceKeyExists: deviceKeyExists),
          isShared ? SharedGrant($0.grant)?.rawValue ?? "" : opens($0), $0.name, detail($0),
        ]
      })
  }

  private static func opens(_ slot: VaultSlot) -> String {
    slot.grant == .openTier ? "what needs no unlock" : "everything"
  }

  /// Returns the cost of a passphrase's hash, or the fingerprint of a recipient.
  private static func detail(_ slot: VaultSlot) -> String {
    if let recipient = slot.recipient { return recipient.fingerprint }
    return slot.passwordHash.map { "\($0.memory >> 20) MiB, \($0.passes) passes" } ?? ""
  }

  static func added(_ slot: VaultSlot) -> String {
    "added slot \(slot.number): \(SlotNames.label(of: slot))"
  }

  static func lockedNow(by slot: VaultSlot) -> String {
    guard Vault.canStayUnlocked else {
      return "the vault is locked now; \(UnlockText.unlockingEachTime)"
    }
    let key = slot.kind == .keyFile ? " --key-file FILE" : ""
    return "the vault is locked now; "
      + "'\(KeychainCommandContext.current.commandPath) unlock\(key)' opens it"
  }

  static func questionToRemove(_ slot: VaultSlot, deleting count: Int) -> String {
    let also = count == 0 ? "" : ", and delete \(Words.items(count))"
    return "remove slot \(slot.number), \(SlotNames.label(of: slot)), and keep the vault's keys"
      + "\(also)? [y/N] "
  }

  static func willDelete(_ identity: CredentialIdentity) -> String {
    "will be deleted: \(identity)"
  }

  static let deviceWillOpenEverything =
    "after that, this machine's device key alone opens everything: anyone who has the disk can "
    + "read it"

  static func removed(_ slot: VaultSlot) -> String {
    "removed slot \(slot.number): \(SlotNames.label(of: slot)); "
      + "copies of the vault that were made before still open with it"
  }

  static func removalKeepsKeys(of slot: VaultSlot) -> String {
    let path = KeychainCommandContext.current.commandPath
    let rekey = slot.grant == .administers ? "rekey --new-administration-key" : "rekey"
    return
      "the vault keeps its keys, which the slot's owner may know; '\(path) \(rekey)' gives it new "
      + "ones"
  }

  static func deleted(_ count: Int) -> String { "deleted \(Words.items(count))" }
}

enum SlotNames {
  /// Returns the kind of a slot; without a device key, it is unknown whether a slot is this
  /// machine's.
  static func name(of slot: VaultSlot, deviceKeyExists: Bool = true) -> String {
    switch slot.kind {
    case .passphrase: "passphrase"
    case .keyFile: "key file"
    case .device where slot.isThisDevice == true: "device (this one)"
    case .device where !deviceKeyExists: "device (its device.key is missing)"
    case .device: "device (another one)"
    case .recoveryCode: "recovery code"
    case .recipient: "recipient"
    }
  }

  /// Returns the kind and name of a slot, and the fingerprint of its recipient.
  static func label(of slot: VaultSlot, deviceKeyExists: Bool = true) -> String {
    called(slot, deviceKeyExists: deviceKeyExists)
      + (slot.recipient.map { " (fingerprint \($0.fingerprint))" } ?? "")
  }

  /// Returns the kind and name of a slot.
  static func called(_ slot: VaultSlot, deviceKeyExists: Bool = true) -> String {
    name(of: slot, deviceKeyExists: deviceKeyExists)
      + (slot.name.isEmpty ? "" : " '\(slot.name)'")
  }
}
