internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainStores
internal import KeychainVault
internal import PrephirencesCommandLine

/// Adds a way to open the vault.
struct SlotsAddCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Add a way to open the vault",
    discussion: """
      The options --passphrase-fd, --passphrase-file, --key-file and --identity unlock the vault \
      as it is; what opens it from now on is given by the options below. A recovery code is made \
      by 'recovery create'.

      The first passphrase or key file of a vault gives it new keys, since the device key knew the \
      old ones. Everything else that opens the vault stays: the command lists it, and asks on a \
      terminal; elsewhere, add --yes. A shared vault has recipients only; --may says what a new \
      one may do there.

      Example:
        \(keychainPath) slots add --passphrase
        \(keychainPath) slots add --new-key-file ~/backup/vault.key --name backup
        \(keychainPath) slots add --recipient pkpub2-… --name alice --may read
      """)

  @Flag(help: "Add a passphrase, asked for twice unless --new-passphrase-… is given")
  var passphrase = false

  @OptionGroup(title: "What opens the vault") var newPassphrase: NewPassphraseOptions
  @OptionGroup(title: "What opens the vault") var keyFile: NewKeyFileOptions

  @Flag(help: "Add the device key of this machine")
  var device = false

  @Option(
    help: .init("Add the owner of this recipient's identity", valueName: "pkpub2-…"),
    transform: VaultRecipient.init(argument:))
  var recipient: VaultRecipient?

  @Option(
    parsing: .unconditional,
    help: .init("What people call it, such as 'alice'; encrypted", valueName: "name"))
  var name: String?

  @Option(
    help: .init("What the recipient may do in a shared vault (default: write)", valueName: "what"))
  var may: SharedGrant?

  @Flag(name: .shortAndLong, help: "Do not ask before the vault gets new keys")
  var yes = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  private var wantsPassphrase: Bool { passphrase || newPassphrase.isGiven }

  func validate() throws {
    guard [wantsPassphrase, keyFile.isGiven, device, recipient != nil].count(where: { $0 }) == 1
    else {
      throw ValidationError(UsageText.oneSlot)
    }
    guard may == nil || recipient != nil else {
      throw ValidationError(UsageText.grantOfRecipient)
    }
    if let descriptor = newPassphrase.newPassphraseFd, descriptor == common.unlockDescriptor {
      throw ValidationError(UsageText.descriptorTwice)
    }
  }

  func perform(in session: Session) throws {
    let before = try session.vault.status()
    let slot = try add(in: session)
    session.interface.say(SlotText.added(slot))
    guard let status = session.statusAfterChange() else { return }
    // The first passphrase or key file removes most of the device key's access.
    if before.readable == .unlockedNow, status.readable != .unlockedNow {
      session.interface.hint(SlotText.lockedNow(by: slot))
    }
    guard let check = status.check else { return }
    if slot.kind == .recipient { session.interface.hint(IdentityText.toPin(check)) }
    guard let old = before.check, check != old else { return }
    session.interface.say(RekeyText.newCheck(check))
    let others = status.slots.filter { $0.number != slot.number }
    for hint in RekeyText.hints(aboutNew: check, keeping: others, isFollowed: false) {
      session.interface.hint(hint)
    }
  }

  private func add(in session: Session) throws -> VaultSlot {
    let vault = try session.vault
    if device {
      return try vault.addDeviceSlot(name: name ?? "")
    }
    if let recipient { return try add(recipient, in: session) }
    return wantsPassphrase ? try addPassphrase(in: session) : try addKeyFile(in: session)
  }

  private func add(_ recipient: VaultRecipient, in session: Session) throws -> VaultSlot {
    try session.vault.addRecipientSlot(recipient, name: name ?? "", grant: may?.grant)
  }

  private func addPassphrase(in session: Session) throws -> VaultSlot {
    // Checked before any other question.
    guard newPassphrase.isGiven || session.prompt != nil else {
      throw KeychainError.nobodyToAsk(for: .newPassphrase)
    }
    return try session.withProgress { progress in
      try session.vault.addPassphraseSlot(
        name: name ?? "",
        confirm: { plan throws(KeychainError) in try session.agrees(to: plan, assumingYes: yes) },
        progress: progress
      ) { () throws(KeychainError) in try session.newPassphrase(newPassphrase) }
    }
  }

  private func addKeyFile(in session: Session) throws -> VaultSlot {
    try keyFile.withKeyFile(readers: session.secretFileReaders) { path in
      guard let path else { throw KeychainError.noKeyFile }
      return try session.withProgress { progress in
        try session.vault.addKeyFileSlot(
          path: path, name: name ?? "",
          confirm: { plan throws(KeychainError) in try session.agrees(to: plan, assumingYes: yes) },
          progress: progress)
      }
    }
  }
}

/// Removes a way to open the vault.
struct SlotsRemoveCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Remove a way to open the vault",
    discussion: """
      The vault gets new keys in the same step, so that nothing in the file opens under keys that \
      the removed slot gave. The command needs a secret that opens everything, such as the \
      passphrase, also while the vault is unlocked. Everything else that opens the vault stays, \
      and needs no other secret. The command lists what stays by name and fingerprint, and what is \
      lost, and asks on a terminal; elsewhere, add --yes. Where a slot that administers is \
      removed, the vault gets a new check, too.

      With --keep-keys nothing is sealed again, which is quick. The slot's owner may know these \
      keys, and can read every copy of the vault with them.

      Older copies of the vault still open with what is removed here. The last passphrase takes \
      the credentials with it that need one (whenPasscodeSetThisDeviceOnly): --delete-items allows \
      that, after listing them. If neither a passphrase, a key file nor a recipient is left, this \
      machine's device key alone opens everything.

      Example:
        \(keychainPath) slots remove 3
        \(keychainPath) slots remove 2 --delete-items --yes
      """,
    aliases: ["rm"])

  @Argument(help: "The number that 'slots list' shows", completion: .vaultSlots)
  var number: UInt32

  @Flag(help: "Also delete the credentials that need the passphrase")
  var deleteItems = false

  @Flag(help: "Drop the credentials that do not open, after listing them")
  var dropDamaged = false

  @Flag(help: "Keep the vault's keys, which the slot's owner may know")
  var keepKeys = false

  @Flag(name: .shortAndLong, help: "Do not ask")
  var yes = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  func perform(in session: Session) throws {
    guard keepKeys else {
      return try session.rekey(
        removing: number, deletingItems: deleteItems, droppingDamaged: dropDamaged,
        assumingYes: yes)
    }
    let slot = try confirmed(in: session)
    let deleted = try session.vault.removeSlot(
      number, keepingKeys: true, deletingItems: deleteItems)
    session.interface.say(SlotText.removed(slot))
    if !deleted.isEmpty { session.interface.say(SlotText.deleted(deleted.count)) }
    if !isAsked(in: session) { session.interface.hint(SlotText.removalKeepsKeys(of: slot)) }
  }

  private func isAsked(in session: Session) -> Bool { !yes && session.prompt != nil }

  /// Finds the slot, reports the losses, and asks.
  private func confirmed(in session: Session) throws -> VaultSlot {
    let slots = try session.vault.slots()
    guard let slot = slots.first(where: { $0.number == number }) else {
      throw KeychainError.noSlot(number)
    }
    let doomed = try listLosses(of: slot, among: slots, in: session)
    let question = SlotText.questionToRemove(slot, deleting: doomed)
    guard try session.confirm(question, assumingYes: yes) else { throw KeychainError.notConfirmed }
    return slot
  }

  /// Reports what is lost with the slot if the others stay, and returns the number of lost items.
  private func listLosses(
    of slot: VaultSlot, among slots: [VaultSlot], in session: Session
  ) throws -> Int {
    let doomed = deleteItems ? try session.vault.itemsDeleted(withSlot: number) : []
    for credential in doomed {
      session.interface.say(SlotText.willDelete(credential.identity), isAskedAbout: !yes)
    }
    if slots.leaveOnlyTheDevice(without: number) {
      session.interface.say(SlotText.deviceWillOpenEverything, isAskedAbout: !yes)
    }
    if isAsked(in: session) { session.interface.hint(SlotText.removalKeepsKeys(of: slot)) }
    return doomed.count
  }
}

extension [VaultSlot] {
  /// Whether only this machine's device key opens everything after a slot is removed, because no
  /// passphrase, key file or identity is left.
  fileprivate func leaveOnlyTheDevice(without number: UInt32) -> Bool {
    let rest = filter { $0.number != number }
    let isDaily = { (slot: VaultSlot) in
      slot.grant == .administers && [.passphrase, .keyFile, .recipient].contains(slot.kind)
    }
    return !rest.contains(where: isDaily)
      && rest.contains { $0.isThisDevice == true && $0.grant == .openTier }
  }
}
