internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault
internal import PrephirencesCommandLine

/// The texts about slots and their changes.
enum SlotText {
  /// The table of slots.
  static func table(_ slots: [VaultSlot], deviceKeyExists: Bool) -> TextTable {
    TextTable(
      header: ["SLOT", "KIND", "OPENS", "DETAIL"],
      rows: slots.map {
        [
          String($0.number), SlotNames.name(of: $0, deviceKeyExists: deviceKeyExists), opens($0),
          detail($0),
        ]
      })
  }

  private static func opens(_ slot: VaultSlot) -> String {
    switch slot.grant {
    case .root: "everything"
    case .openTier: "what needs no unlock"
    }
  }

  /// Returns the cost of a passphrase's hash, or the recipient.
  private static func detail(_ slot: VaultSlot) -> String {
    if let recipient = slot.recipient { return recipient.description }
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

  static func questionToKeepCode(_ slot: VaultSlot, failures: Int) -> String {
    let again = failures > 0 ? "that is not the code of slot \(slot.number); try again\n" : ""
    return "\(again)recovery code of slot \(slot.number), to keep it: "
  }

  static func questionToRemove(
    _ slot: VaultSlot, deleting count: Int, rekeying: Bool
  ) -> String {
    let also = [
      count == 0 ? nil : "delete \(Words.items(count))", rekeying ? "give the vault new keys" : nil,
    ].compactMap(\.self)
    let what = "remove slot \(slot.number), \(SlotNames.label(of: slot))"
    return also.isEmpty
      ? "\(what)? [y/N] " : "\(what), and \(also.joined(separator: ", and "))? [y/N] "
  }

  static func willDelete(_ identity: CredentialIdentity) -> String {
    "will be deleted: \(identity)"
  }

  static let deviceWillOpenEverything =
    "after that, this machine's device key alone opens everything: whoever has the disk reads it"

  static func removed(_ slot: VaultSlot) -> String {
    "removed slot \(slot.number): \(SlotNames.label(of: slot)); "
      + "copies of the vault that were made before still open with it"
  }

  static var removalKeepsKeys: String {
    let path = KeychainCommandContext.current.commandPath
    return
      "the vault keeps its keys, which whoever opened it with that slot may know: '\(path) rekey' "
      + "gives it new ones, and 'slots remove --rekey' does both in one step"
  }

  static func deleted(_ count: Int) -> String { "deleted \(Words.items(count))" }
}
