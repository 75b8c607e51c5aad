internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainVault
internal import PrephirencesCommandLine

/// Removes a way to open the vault.
struct SlotsRemoveCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Remove a way to open the vault",
    discussion: """
      Older copies of the vault still open with what is removed here, and whoever opened the vault \
      with it may know its keys. With --rekey the vault gets new keys in the same step, and nothing \
      in the file opens under the old ones: see 'rekey' for what is kept then. The last passphrase takes \
      the credentials with it that need one (whenPasscodeSetThisDeviceOnly): --delete-items \
      allows that, after listing them. If neither a passphrase, a key file nor a recipient is left, \
      this machine's device key alone opens everything. On a terminal a yes is asked for; elsewhere --yes says it.

      Example:
        \(keychainPath) slots remove 2 --yes
        \(keychainPath) slots remove 3 --rekey --keep-key-file ~/backup/vault.key
      """,
    aliases: ["rm"])

  @Argument(help: "The number that 'slots list' shows", completion: .slots)
  var number: UInt32

  @Flag(help: "Also delete the credentials that need the passphrase")
  var deleteItems = false

  @Flag(help: "Also give the vault new keys, in the same step")
  var rekey = false

  @Flag(name: .shortAndLong, help: "Do not ask; with --rekey, remove what is not kept")
  var yes = false

  @OptionGroup(title: "What still opens the vault after --rekey") var kept: KeptSlotOptions
  @OptionGroup(title: "Common options") var common: CommonOptions

  func validate() throws {
    guard rekey || !kept.isGiven else { throw ValidationError(UsageText.keptByRekey) }
    try kept.validate(with: common)
  }

  func perform(in session: Session) throws(KeychainError) {
    let slot = try confirmed(in: session)
    guard !rekey else {
      return try session.rekey(
        removing: number, deletingItems: deleteItems, keeping: kept, assumingYes: yes)
    }
    let deleted = try session.withProgress { progress throws(KeychainError) in
      try session.vault.removeSlot(number, deletingItems: deleteItems, progress: progress)
    }
    session.interface.say(SlotText.removed(slot))
    if !deleted.isEmpty { session.interface.say(SlotText.deleted(deleted.count)) }
    if !isAsked(in: session) { session.interface.hint(SlotText.removalKeepsKeys) }
  }

  /// Returns whether a person is asked to agree.
  private func isAsked(in session: Session) -> Bool { !yes && session.prompt != nil }

  /// Finds the slot, reports the losses, and asks.
  ///
  /// With `--rekey`, losses are reported later, when it is known which slots are kept.
  private func confirmed(in session: Session) throws(KeychainError) -> VaultSlot {
    let slots = try session.vault.slots()
    guard let slot = slots.first(where: { $0.number == number }) else { throw .noSlot(number) }
    let doomed = rekey ? 0 : try listLosses(slots, in: session)
    let question = SlotText.questionToRemove(slot, deleting: doomed, rekeying: rekey)
    guard try session.confirm(question, assumingYes: yes) else { throw .notConfirmed }
    return slot
  }

  /// Reports what is lost with the slot if the others stay.
  ///
  /// - Returns: The number of items that are lost.
  private func listLosses(_ slots: [VaultSlot], in session: Session) throws(KeychainError) -> Int {
    let doomed = deleteItems ? try session.vault.itemsDeleted(withSlot: number) : []
    for credential in doomed {
      session.interface.say(SlotText.willDelete(credential.identity), isAskedAbout: !yes)
    }
    if slots.leaveOnlyTheDevice(without: number) {
      session.interface.say(SlotText.deviceWillOpenEverything, isAskedAbout: !yes)
    }
    if isAsked(in: session) { session.interface.hint(SlotText.removalKeepsKeys) }
    return doomed.count
  }
}

extension [VaultSlot] {
  /// Returns whether only this machine's device key opens everything after a slot is removed,
  /// because no passphrase, key file or identity is left.
  fileprivate func leaveOnlyTheDevice(without number: UInt32) -> Bool {
    let rest = filter { $0.number != number }
    let isDaily = { (slot: VaultSlot) in
      slot.grant == .root && [.passphrase, .keyFile, .recipient].contains(slot.kind)
    }
    return !rest.contains(where: isDaily)
      && rest.contains { $0.isThisDevice == true && $0.grant == .openTier }
  }
}
