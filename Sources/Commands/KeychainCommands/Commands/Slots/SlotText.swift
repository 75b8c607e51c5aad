internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault
internal import PrephirencesCommandLine

/// The texts about slots and their changes.
enum SlotText {
  /// The table of slots; in a shared vault it has what each member may do.
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
    "after that, this machine's device key alone opens everything: whoever has the disk reads it"

  static func removed(_ slot: VaultSlot) -> String {
    "removed slot \(slot.number): \(SlotNames.label(of: slot)); "
      + "copies of the vault that were made before still open with it"
  }

  static func removalKeepsKeys(of slot: VaultSlot) -> String {
    let path = KeychainCommandContext.current.commandPath
    let rekey = slot.grant == .administers ? "rekey --new-administration-key" : "rekey"
    return
      "the vault keeps its keys, which whoever opened it with that slot may know; '\(path) \(rekey)' "
      + "gives it new ones"
  }

  static func deleted(_ count: Int) -> String { "deleted \(Words.items(count))" }
}
